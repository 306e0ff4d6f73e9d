"""b: how similar unrelated texts are to an encoder, the zero point of its distances."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.resources
import itertools
import json
import math
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sago_harness.axes.encoders.base import Encoder
from sago_harness.errors import SagoError

#: Raise it when the way b is computed changes.
_VERSION = 1

_FIELDS = ("question", "instruction")


@functools.cache
def demo_texts() -> dict[str, tuple[str, ...]]:
    """Return the texts of the shipped demo documents, by language.

    Returns
    -------
    dict of str to tuple of str
        Distinct texts in the order of the files' names and lines. A file whose name ends
        in ``_xx`` is in the language ``xx``, any other in English.

    Raises
    ------
    SagoError
        If the demo files are not there.

    Examples
    --------
    >>> sorted(demo_texts())
    ['en', 'zh']
    """
    found: dict[str, dict[str, None]] = {}
    for name, content in _demo_files():
        tail = name.removesuffix(".jsonl").rpartition("_")[2]
        language = tail if len(tail) == 2 and "_" in name else "en"
        for line in content.splitlines():
            row = json.loads(line)
            texts = [str(row[field]) for field in _FIELDS if field in row]
            found.setdefault(language, {}).update(dict.fromkeys(texts))
    return {language: tuple(texts) for language, texts in found.items()}


def _demo_files() -> list[tuple[str, str]]:
    """Return name and content of the demo files of the installed package, or of the source tree."""
    folders: list[Any] = [Path(__file__).parents[3] / "task_configs" / "demo"]
    # Run from its source tree the package has no such subpackage; the folder lies beside it.
    with contextlib.suppress(ModuleNotFoundError):
        folders.insert(0, importlib.resources.files("sago_harness.task_configs") / "demo")
    for folder in folders:
        if folder.is_dir():
            files = [entry for entry in folder.iterdir() if entry.name.endswith(".jsonl")]
            files.sort(key=lambda entry: str(entry.name))
            return [(entry.name, entry.read_text(encoding="utf-8")) for entry in files]
    raise SagoError("the demo texts (task_configs/demo) are missing: reinstall sago-harness")


def texts_digest(texts: Sequence[str]) -> str:
    """Return a sha256 of texts, by which a stored b knows what it was computed on."""
    return hashlib.sha256(json.dumps(list(texts), ensure_ascii=False).encode()).hexdigest()


def mean_similarity(encoder: Encoder, texts: Sequence[str]) -> float | None:
    """Return the mean similarity over all pairs of different texts.

    Parameters
    ----------
    encoder : Encoder
    texts : sequence of str
        Distinct, unrelated texts.

    Returns
    -------
    float or None
        None if the encoder cannot score at least half of the pairs.
    """
    found = encoder.compare(list(itertools.combinations(texts, 2)))
    values = [similarity.value for similarity in found if similarity.value is not None]
    if not values or 2 * len(values) < len(found):
        return None
    return math.fsum(values) / len(values)


@functools.cache
def shipped_table() -> Mapping[str, Any]:
    """Return ``tables/baselines.json``: values with their sources."""
    table = importlib.resources.files("sago_harness.axes") / "tables" / "baselines.json"
    found: dict[str, Any] = json.loads(table.read_text(encoding="utf-8"))
    return found


def baseline(encoder: Encoder, language: str = "en") -> float:
    """Return b, the mean similarity of unrelated texts.

    From the shipped table for the encoders named there. For any other computed once, over
    all pairs of the shipped demo texts of the language, and kept under ``sago_home()``.

    Parameters
    ----------
    encoder : Encoder
    language : str
        ISO 639-1 code. English texts are taken where there is no demo set of the language
        or the encoder does not know it.

    Returns
    -------
    float
        Below 1; the same for every run with this encoder, layer and language.

    Raises
    ------
    SagoError
        If the encoder can read none of the demo texts, or finds them all alike.
    """
    code = language.strip().lower().replace("_", "-").partition("-")[0]
    for candidate in dict.fromkeys((code, "en")):
        value = _shipped(encoder, candidate)
        if value is None and candidate in demo_texts():
            value = _kept(encoder, demo_texts()[candidate])
        if value is not None:
            return value
    raise SagoError(
        f"encoder {encoder.name} can read the demo texts neither in {code} nor in en: take another encoder"
    )


def _shipped(encoder: Encoder, language: str) -> float | None:
    for row in shipped_table()["baselines"]:
        named = (row["encoder"], row["layer"]) == (encoder.name, encoder.layer)
        # A value computed here belongs to the very weights it was computed with.
        if named and row["language"] in (language, "*") and row.get("weights") in (None, encoder.weights):
            return float(row["b"])
    return None


def _kept(encoder: Encoder, texts: Sequence[str]) -> float | None:
    """Return b from the user's folder, computing and keeping it the first time."""
    from sago_harness.models.home import sago_home

    key = {
        "version": _VERSION,
        "encoder": encoder.name,
        "kind": encoder.kind,
        "layer": encoder.layer,
        "max_tokens": encoder.max_tokens,
        "weights": encoder.weights,
        "texts": texts_digest(texts),
    }
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    path = sago_home() / "baselines" / f"{digest}.json"
    if path.is_file():
        return _read(path)
    value = mean_similarity(encoder, texts)
    if value is not None:
        if not value < 1.0:
            raise SagoError(f"encoder {encoder.name} finds all texts alike (b = {value}): take another one")
        _write(path, {**key, "b": value})
    return value


def _read(path: Path) -> float:
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))["b"])
    except (ValueError, KeyError, TypeError) as error:
        raise SagoError(f"{path} is not a baseline file: delete it, it is computed again") from error


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Put the file in place by one rename, so that no other process sees half of it."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise SagoError(
            f"cannot write {path} ({error.strerror or error}): set SAGO_HOME to a folder you can write to"
        ) from error
