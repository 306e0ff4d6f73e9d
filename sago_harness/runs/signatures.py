"""What identifies the numbers of one run of one task, from its results file or its records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError

Signature = Mapping[str, Any]

#: Part of a signature in one line -> field of the whole one.
_SHORT = {
    "task": "task",
    "v": "version",
    "recipe": "recipe",
    "variants": "variants",
    "pack": "pack",
    "n": "documents",
    "seed": "seed",
    "ctl": "controls",
    "rep": "canonical_repeats",
    "shots": "shots",
    "tpl": "template",
    "enc": "encoder",
}
_NUMBERS = ("documents", "seed", "controls", "canonical_repeats", "shots")

#: Characters of the pack's hash that a signature in one line holds.
PACK_DIGITS = 16


def of_results(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the signature that a results file holds of one task.

    Parameters
    ----------
    own : mapping
        ``configs[task].metadata.sago``.

    Returns
    -------
    dict
        The fields of :class:`sago_harness.signature.Signature`, and under ``model`` what the backend
        said of itself; empty where there is no signature.

    Examples
    --------
    >>> of_results({"signature": {"seed": 42}, "model": {"dtype": "float32"}})
    {'seed': 42, 'model': {'dtype': 'float32'}}
    >>> of_results({})
    {}
    """
    signature = own.get("signature")
    if not isinstance(signature, Mapping):
        return {}
    return {**signature, "model": dict(own.get("model") or {})}


def of_text(text: str) -> dict[str, Any]:
    """Return what a signature in one line says; what it does not say is not there.

    Examples
    --------
    >>> of_text("task:a|v:1.0|recipe:quick.3|variants:b8|seed:42|tpl:no|enc:m:6/token|pool:last/blocks")
    {'task': 'a', 'version': '1.0', 'recipe': 'quick.3', 'variants': 'b8', 'seed': 42, 'template': False, \
'encoder': 'm:6/token', 'pooling': 'last', 'layers': 'blocks', 'pack': ''}
    """
    found: dict[str, Any] = {}
    for part in text.split("|"):
        key, _, value = part.partition(":")
        if key == "pool":
            found["pooling"], _, found["layers"] = value.partition("/")
        elif key == "tpl":
            found["template"] = value == "yes"
        elif key in _SHORT:
            name = _SHORT[key]
            found[name] = int(value) if name in _NUMBERS and value.isdigit() else value
    if "variants" in found:
        # Left out of the line where the variants were made, not read.
        found.setdefault("pack", "")
    return found


def of_records(path: Path) -> dict[str, Any]:
    """Return what the records themselves say; for a run without its results file.

    Parameters
    ----------
    path : Path
        Records as Parquet, or samples.

    Returns
    -------
    dict
        As :func:`of_text`, with ``model``; empty where no record has a signature.

    Raises
    ------
    SagoError
        If the file cannot be read.
    """
    canonical = _of_parquet(path) if path.suffix == ".parquet" else _of_samples(path)
    if not canonical.get("signature"):
        return {}
    model = canonical.get("model") or {}
    if not isinstance(model, Mapping):
        raise SagoError(
            f"{path} holds no records of sago-harness: its model is {model!r:.40}, and no mapping"
        )
    return {**of_text(str(canonical["signature"])), "model": dict(model)}


def precision(signature: Signature) -> str:
    """Return the model's dtype, with the one it is mixed with; "" where it is not known.

    Examples
    --------
    >>> precision({"model": {"dtype": "float32", "mixed_precision": "bfloat16"}})
    'float32/bfloat16'
    """
    model = signature.get("model") or {}
    return "/".join(str(model[name]) for name in ("dtype", "mixed_precision") if model.get(name))


def quantised(signature: Signature) -> str:
    """Return whether the model's weights are quantised, "yes" or "no"; "" where it is not known.

    Examples
    --------
    >>> quantised({"model": {"quantised": False}}), quantised({"model": {"backend": "api"}})
    ('no', '')
    """
    said = (signature.get("model") or {}).get("quantised")
    return {"True": "yes", "False": "no"}.get(str(said), "")


def first_sample(path: Path) -> list[Any] | None:
    """Return the filtered responses of the first line that is a sample; None where there is none.

    Raises
    ------
    SagoError
        If the file cannot be read.
    """
    try:
        with path.open("rb") as lines:
            for line in lines:
                try:
                    responses = json.loads(line.decode("utf-8-sig"))["filtered_resps"]
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
                return list(responses)
    except OSError as error:
        raise SagoError(f"{path} cannot be read: {error.strerror}") from error
    return None


def _of_samples(path: Path) -> dict[str, Any]:
    try:
        # A document's canonical response comes first.
        record = json.loads((first_sample(path) or ["{}"])[0])
    except (ValueError, TypeError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _of_parquet(path: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names = [n for n in ("signature", "model") if n in file.schema_arrow.names]
            rows = next(iter(file.iter_batches(batch_size=64, columns=names, use_threads=False)), None)
    except (OSError, pa.ArrowException) as error:
        raise SagoError(f"{path} is no Parquet file: {error}") from error
    for row in rows.to_pylist() if rows is not None else ():
        if row.get("signature"):
            try:
                return {**row, "model": json.loads(row.get("model") or "{}")}
            except (ValueError, RecursionError) as error:
                raise SagoError(f"{path} holds no records of sago-harness: {error}") from error
    return {}
