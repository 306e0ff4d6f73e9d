"""What identifies a set of variants."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from sago_harness.data import VariantSet


def pack_digest(sets: Iterable[VariantSet]) -> str:
    """Return the sha256 of the variants of many documents.

    It covers each variant's id, family, operator, strength, position and fields with the
    document's id and language. The order of the documents does not matter, that of the
    variants and fields of one document does.

    Parameters
    ----------
    sets : iterable of VariantSet
        Read once; only one hash per document is held.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> from sago_harness.data import Document, Variant
    >>> def one(name: str) -> VariantSet:
    ...     fields = {"q": name}
    ...     return VariantSet(Document(name, fields), (Variant("canonical", "canonical", "", fields),))
    >>> pack_digest([one("a"), one("b")]) == pack_digest([one("b"), one("a")])
    True
    """
    digests = sorted(_set_digest(variants) for variants in sets)
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _set_digest(made: VariantSet) -> str:
    content = [
        made.document.id,
        made.document.language,
        [
            [
                variant.id,
                variant.family,
                variant.operator,
                None if variant.strength is None else float(variant.strength),
                variant.position,
                list(variant.fields.items()),
            ]
            for variant in made.variants
        ],
    ]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
