"""What a task says of itself in YAML beside the host's keys, and what ``--metadata`` may change."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sago_harness.axes.answers import MATCHES
from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.documents.bundles import ON_ACCELERATOR, ON_CPU
from sago_harness.errors import SagoError, unknown
from sago_harness.logs import warn_once

#: Keys that this project reads; everything else in a YAML is the host's.
KEYS: tuple[str, ...] = (
    "vary",
    "id_field",
    "cluster_field",
    "language",
    "recipe",
    "pack",
    "documents",
    "local",
    "columns",
    "answers",
    "match",
    "extract",
    "keep",
    "shipped",
    "variants_column",
)

#: Options of ``--metadata``, with the type each must have. The host mixes the model's arguments in,
#: so a name that a model takes (``seed``, ``layers``) must not be one of these.
OPTIONS: dict[str, type | tuple[type, ...]] = {
    "recipe": str,
    "pack": str,
    "documents": (int, str),
    "variant_seed": int,
    "controls": int,
    "canonical_repeats": int,
    "encoder": str,
    "pooling": str,
    "states": str,
    "representation": str,
    "representation_documents": int,
    "data_dir": str,
    "file": str,
    "variants_column": str,
    "negatives": bool,
    "bundle": int,
}


#: Documents whose hidden states are kept for measures over the data set, unless it is said otherwise.
KEPT_DOCUMENTS = 128

#: Options whose attribute has another name.
_ATTRIBUTES = {"variant_seed": "seed", "states": "layers"}


@dataclass(frozen=True, slots=True)
class Vary:
    """A field that variants change, or the part of it between two literal marks."""

    field: str
    after: str = ""
    before: str = ""

    def split(self, text: str) -> tuple[str, str, str]:
        """Return what stands before the varied part, the part, and what follows it.

        Raises
        ------
        ValueError
            If a mark is not in the text.
        """
        start = text.index(self.after) + len(self.after) if self.after else 0
        end = text.index(self.before, start) if self.before else len(text)
        return text[:start], text[start:end], text[end:]


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task's own keys, checked.

    Attributes
    ----------
    task : str
    vary : tuple of Vary
    language : str
    recipe : str
        Empty where a pack is named and ``--metadata`` names no recipe beside it.
    pack : str or None
        File of frozen variants, taken instead of making them.
    documents : int or None
        Number of documents drawn; None = all.
    seed, controls, canonical_repeats : int
    encoder : str or None
    pooling, layers : str
    representation : tuple of str
        Measures over the whole data set.
    representation_documents : int
        Documents that they look at; 0 = all.
    data_dir, file : str or None
        Where local data lies.
    variants_column : str or None
        Column with the documents' own variants, where it is not called ``variants``.
    negatives : bool
        Edits that change the meaning are asked too, as family ``control``.
    bundle : int
        Documents that are computed together (``documents/bundles.py``).
    """

    task: str
    vary: tuple[Vary, ...]
    id_field: str | None = None
    cluster_field: str | None = None
    language: str = "en"
    recipe: str = "default"
    pack: str | None = None
    documents: int | None = None
    local: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    answers: str | None = None
    match: str = "contains"
    extract: tuple[Mapping[str, Any], ...] = ()
    keep: tuple[str, ...] = ()
    shipped: str | None = None
    seed: int = 42
    controls: int = 2
    canonical_repeats: int = 0
    encoder: str | None = None
    pooling: str = "last"
    layers: str = "blocks"
    representation: tuple[str, ...] = ("x_cka",)
    representation_documents: int = KEPT_DOCUMENTS
    data_dir: str | None = None
    file: str | None = None
    variants_column: str | None = None
    negatives: bool = False
    bundle: int = ON_CPU


def read_spec(config: dict[str, Any]) -> TaskSpec:
    """Take this project's keys out of a task's configuration.

    Parameters
    ----------
    config : dict
        The YAML as the host read it; the project's keys are removed from it in place.

    Returns
    -------
    TaskSpec

    Raises
    ------
    SagoError
        For a missing ``vary``, a value of the wrong kind, or an unknown choice.

    Examples
    --------
    >>> read_spec({"task": "t", "vary": "question", "doc_to_text": "{{question}}"}).vary
    (Vary(field='question', after='', before=''),)
    """
    task = str(config.get("task", "?"))
    own = {key: config.pop(key) for key in KEYS if key in config}
    if "vary" not in own:
        raise SagoError(f"task {task!r}: the YAML has no `vary:`, the field that variants change")
    options = _options(task, config.get("metadata") or {})
    own.update({key: value for key, value in options.items() if value is not None})
    if own.get("pack"):
        # A YAML's recipe is mostly an included default; one that the user names must be the pack's.
        own["recipe"] = options.get("recipe") or ""
    own["data_dir"] = own.get("data_dir") or os.environ.get("SAGO_DATA_DIR") or None
    own["file"] = own.get("file") or os.environ.get("SAGO_FILE") or None
    own["vary"] = tuple(_vary(task, item) for item in _as_list(own["vary"]))
    own["documents"] = _documents(task, own.get("documents"))
    for key in ("extract", "keep"):
        own[key] = tuple(_as_list(own.get(key)))
    for key in ("local", "columns"):
        own[key] = own.get(key) or {}
    _choice(task, "match", own.get("match", "contains"), MATCHES)
    _choice(task, "pooling", own.get("pooling", "last"), ("last", "span"))
    _choice(task, "states", own.get("layers", "blocks"), ("blocks", "attention"))
    own["representation"] = _representation(task, own.get("representation", "cka"))
    own["bundle"] = own.get("bundle") or default_bundle()
    return TaskSpec(task=task, **own)


def default_bundle() -> int:
    """Return how many documents are computed together on this machine."""
    import torch

    return ON_ACCELERATOR if torch.accelerator.is_available() else ON_CPU


def _options(task: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Read ``--metadata``; the model's arguments stand in it too, so strange keys are not errors."""
    found: dict[str, Any] = {}
    for key, value in metadata.items():
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # the host reads "-1" as a float
        if key in OPTIONS:
            kind = OPTIONS[key]
            if isinstance(value, bool) != (kind is bool) or not isinstance(value, kind):
                names = kind if isinstance(kind, tuple) else (kind,)
                wanted = " or ".join(k.__name__ for k in names)
                raise SagoError(f"task {task!r}: {key}={value!r} in --metadata: it must be {wanted}")
            if isinstance(value, int) and value < 0:
                raise SagoError(f"task {task!r}: {key}={value} in --metadata: it is 0 or more")
            found[_ATTRIBUTES.get(key, key)] = value
        elif close := difflib.get_close_matches(key, OPTIONS, n=1, cutoff=0.85):
            warn_once(f"--metadata has {key!r}, which is no option of sago tasks: did you mean {close[0]!r}?")
    return found


def _vary(task: str, item: Any) -> Vary:
    if isinstance(item, str):
        return Vary(item)
    if isinstance(item, Mapping) and "field" in item and set(item) <= {"field", "after", "before"}:
        return Vary(**item)
    raise SagoError(f"task {task!r}: `vary: {item!r}` must be a field, or field with after/before")


def _documents(task: str, value: Any) -> int | None:
    if value is None or value == "all":
        return None
    if isinstance(value, int) and value > 0:
        return value
    raise SagoError(f"task {task!r}: documents={value!r}: it must be a number above 0, or all")


def _representation(task: str, value: str) -> tuple[str, ...]:
    """Read names without ``x_``, joined by ``+`` or commas, or ``off``."""
    words = [word for word in re.split(r"[+,\s]+", value) if word]
    known = {name.removeprefix("x_"): name for name in REPRESENTATIONS}
    if not words or words == ["off"]:
        return ()
    for word in words:
        _choice(task, "representation", word, (*known, "off") if len(words) == 1 else tuple(known))
    return tuple(name for word, name in known.items() if word in words)


def _choice(task: str, key: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise unknown(key, value, known, f"task {task!r}")


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
