"""Makes the variants of one document.

They depend on (seed, document id, text, operator, version) only: not on other documents,
their order, the number of workers or the interpreter's hash seed.
"""

from __future__ import annotations

import hashlib
import importlib.util
import random
import unicodedata

from sago_harness.data import CANONICAL, Document, Reject, Variant, VariantSet
from sago_harness.variants.base import Operator, Passage, Refused, Span
from sago_harness.variants.recipe import Recipe
from sago_harness.variants.spans import find_spans


def build(document: Document, recipe: Recipe, seed: int) -> VariantSet:
    """Make a document's variants.

    Parameters
    ----------
    document : Document
        A document with a reason, or without text, keeps its canonical variant only.
    recipe : Recipe
        Operators and constraints.
    seed : int
        Part of the key of every choice by chance.

    Returns
    -------
    VariantSet
        The canonical variant, one per operator in the recipe's order, then the document's
        own; what was refused stands in ``rejects`` with the reason. Reasons are the name
        of the constraint that failed, ``"duplicate"``, ``"missing library X"``, or what
        the operator said.

    Raises
    ------
    SagoError
        If the recipe has no variant for the document's language.

    Examples
    --------
    >>> from sago_harness.variants.recipe import load_recipe
    >>> made = build(Document("1", {"question": "Who wrote the novel?"}), load_recipe("quick"), seed=0)
    >>> [variant.id for variant in made.variants][:4]
    ['canonical', 'politeness+6@prefix', 'casual2@suffix', 'spaces5@throughout']
    """
    variants = [Variant(CANONICAL, CANONICAL, "", dict(document.fields))]
    if document.reason or not document.text.strip():
        return VariantSet(document, tuple(variants))
    rejects: list[Reject] = []
    passages = {
        name: Passage(text, document.language, find_spans(text, document.language, document.keep))
        for name, text in document.fields.items()
    }
    whole = _join(passages, document.language)
    constraints = recipe.make_constraints()
    taken = {document.text}
    for operator in recipe.for_language(document.language):
        made = _apply(operator, passages, document.id, seed)
        if isinstance(made, str):
            rejects.append(Reject(operator.variant_id, operator.family, operator.name, made))
            continue
        variant = Variant(
            operator.variant_id,
            operator.family,
            operator.name,
            made,
            operator.strength,
            # A place that cannot be chosen is no fact about the variant worth a column.
            operator.position if len(operator.positions) > 1 else None,
            operator.feature,
        )
        failed = [check.name for check in constraints if not check.check(whole, variant.text).passed]
        reason = failed[0] if failed else "duplicate" if variant.text in taken else ""
        if reason:
            rejects.append(Reject(variant.id, variant.family, variant.operator, reason))
        else:
            taken.add(variant.text)
            variants.append(variant)
    for variant in document.own:
        reason = _own_reason(variant, document, variants, taken)
        if reason:
            rejects.append(Reject(variant.id, variant.family, variant.operator, reason))
        else:
            taken.add(variant.text)
            variants.append(variant)
    return VariantSet(document, tuple(variants), tuple(rejects))


def _apply(
    operator: Operator, passages: dict[str, Passage], document_id: str, seed: int
) -> dict[str, str] | str:
    """Return the new fields, or the reason why there are none."""
    for library in operator.requires:
        if importlib.util.find_spec(library.partition(".")[0]) is None:
            return f"missing library {library}"
    rng = _generator(seed, document_id, operator)
    fields: dict[str, str] = {}
    reasons: list[str] = []
    for name, passage in passages.items():
        try:
            fields[name] = operator.apply(passage, rng)
        except Refused as error:
            fields[name] = passage.text
            reasons.append(str(error) or "refused")
    return fields if len(reasons) < len(passages) else reasons[0]


def _generator(seed: int, document_id: str, operator: Operator) -> random.Random:
    key = f"{seed}|{document_id}|{operator.variant_id}|{operator.version}"
    return random.Random(
        int.from_bytes(hashlib.sha256(key.encode("utf-8", "backslashreplace")).digest(), "big")
    )


def _join(passages: dict[str, Passage], language: str) -> Passage:
    """Join the fields as :attr:`Document.text` does, spans shifted along."""
    keep: list[Span] = []
    offset = 0
    for passage in passages.values():
        keep += [Span(span.start + offset, span.end + offset, span.kind) for span in passage.keep]
        offset += len(passage.text) + 1
    return Passage("\n".join(passage.text for passage in passages.values()), language, tuple(keep))


def _own_reason(variant: Variant, document: Document, variants: list[Variant], taken: set[str]) -> str:
    if unicodedata.normalize("NFC", variant.text) == unicodedata.normalize("NFC", document.text):
        return "changed"
    if variant.text in taken:
        return "duplicate"
    return "id taken" if any(variant.id == other.id for other in variants) else ""
