"""One line of a pack: a document, its variants with their checks, and what was rejected."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from sago_harness.data import CANONICAL, Document, Reject, Variant, VariantSet
from sago_harness.errors import SagoError
from sago_harness.jsonsafe import clean_text, dumps

#: Decimals of a constraint's value: those of a model differ in the last bits between machines.
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class PackLine:
    """A line as it is written, with what a summary counts.

    Attributes
    ----------
    id : str
        The document's.
    data : bytes
        UTF-8 with its line end.
    made : tuple of (str, str)
        Family and operator of each variant.
    refused : tuple of (str, str, str)
        Family, operator and reason of each reject.
    """

    id: str
    data: bytes
    made: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, str, str], ...]


def encode_set(made: VariantSet) -> PackLine:
    r"""Return the line of a document's variants.

    Lone surrogates, which no UTF-8 file can hold, become U+FFFD.

    Examples
    --------
    >>> fields = {"q": "Wer\u2028?"}
    >>> made = VariantSet(Document("1", fields), (Variant("canonical", "canonical", "", fields),))
    >>> encode_set(made).data.count(b"\n")
    1
    """
    document = made.document
    content = {
        "id": document.id,
        "language": document.language,
        "cluster": document.cluster,
        "keep": list(document.keep),
        "reason": document.reason,
        "fields": dict(document.fields),
        "variants": [
            {
                "id": variant.id,
                "family": variant.family,
                "operator": variant.operator,
                "strength": variant.strength,
                "position": variant.position,
                "feature": variant.feature,
                "fields": dict(variant.fields),
                "checks": {
                    name: None if value is None else round(float(value), DECIMALS)
                    for name, value in variant.checks.items()
                },
            }
            for variant in made.variants
            if variant.id != CANONICAL
        ],
        "rejects": [
            {"id": reject.id, "family": reject.family, "operator": reject.operator, "reason": reject.reason}
            for reject in made.rejects
        ],
    }
    return PackLine(
        clean_text(document.id),
        _line(content),
        tuple((variant.family, variant.operator) for variant in made.variants if variant.id != CANONICAL),
        tuple((reject.family, reject.operator, reject.reason) for reject in made.rejects),
    )


def _line(content: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode() + b"\n"
    except ValueError:
        # A lone surrogate, or a value that is no number: rare, and slower to put right.
        return dumps(content).encode() + b"\n"


def decode_set(line: bytes, where: str) -> VariantSet:
    """Read a line.

    Parameters
    ----------
    line : bytes
    where : str
        Names file and line in messages.

    Raises
    ------
    SagoError
        If it is not one that :func:`encode_set` could have written.

    Examples
    --------
    >>> fields = {"q": "Who?"}
    >>> made = VariantSet(Document("1", fields), (Variant("canonical", "canonical", "", fields),))
    >>> decode_set(encode_set(made).data, "x.jsonl line 2") == made
    True
    """
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SagoError(f"{where} is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise SagoError(f"{where} is no document of a pack")
    keep = _take(row, "keep", (list,), where)
    if not all(isinstance(literal, str) for literal in keep):
        raise SagoError(f"{where}: 'keep' must hold texts")
    fields = _texts(row, "fields", where)
    document = Document(
        id=_take(row, "id", (str,), where),
        fields=fields,
        language=_take(row, "language", (str,), where),
        cluster=_take(row, "cluster", (str, type(None)), where),
        keep=tuple(keep),
        reason=_take(row, "reason", (str,), where),
    )
    where = f"{where} (document {document.id!r})"
    variants = [Variant(CANONICAL, CANONICAL, "", dict(fields))]
    for entry in _take(row, "variants", (list,), where):
        variants.append(_variant(entry, where))
        if list(variants[-1].fields) != list(fields):
            raise SagoError(
                f"{where}: variant {variants[-1].id!r} has the fields {', '.join(variants[-1].fields)}, "
                f"the document {', '.join(fields)}"
            )
    ids = [variant.id for variant in variants]
    for name in ids:
        if ids.count(name) > 1:
            raise SagoError(f"{where} has variant {name!r} twice")
    rejects = tuple(
        Reject(*(_take(entry, key, (str,), where) for key in ("id", "family", "operator", "reason")))
        for entry in _take(row, "rejects", (list,), where)
    )
    return VariantSet(document, tuple(variants), rejects)


def _variant(entry: Any, where: str) -> Variant:
    text_or_none = (str, type(None))
    checks = _take(entry, "checks", (dict,), where)
    for name, value in checks.items():
        if isinstance(value, bool) or not isinstance(value, int | float | None) or _beyond(value):
            raise SagoError(f"{where}: the value of check {name!r} is no number")
    strength = _take(entry, "strength", (int, float, type(None)), where)
    if _beyond(strength):
        raise SagoError(f"{where}: 'strength' is no number")
    return Variant(
        id=_take(entry, "id", (str,), where),
        family=_take(entry, "family", (str,), where),
        operator=_take(entry, "operator", (str,), where),
        fields=_texts(entry, "fields", where),
        strength=strength,
        position=_take(entry, "position", text_or_none, where),
        feature=_take(entry, "feature", text_or_none, where),
        checks=checks,
    )


def _beyond(value: float | None) -> bool:
    """Say whether a number is beyond what a float holds: JSON gives whole numbers of any length."""
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _take(row: Any, key: str, kinds: tuple[type, ...], where: str) -> Any:
    if not isinstance(row, dict) or key not in row:
        raise SagoError(f"{where} lacks {key!r}: it is no line of a pack")
    value = row[key]
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise SagoError(f"{where}: {key!r} is of type {type(value).__name__}")
    return value


def _texts(row: Any, key: str, where: str) -> dict[str, str]:
    texts: dict[str, str] = _take(row, key, (dict,), where)
    if not all(isinstance(text, str) for text in texts.values()):
        raise SagoError(f"{where}: {key!r} must hold texts")
    return texts
