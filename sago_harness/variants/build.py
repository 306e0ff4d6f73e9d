"""Makes the variants of one document.

They depend on (seed, document id, text, operator, version) only: not on other documents,
their order, the number of workers or the interpreter's hash seed.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from dataclasses import replace

from sago_harness.data import CANONICAL, Document, Reject, Variant, VariantSet
from sago_harness.variants.base import SCORED_FAMILIES, Constraint, Operator, Passage, Refused, Span
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.recipe import Recipe
from sago_harness.variants.text.meaning import find_meaning
from sago_harness.variants.text.spans import find_spans


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
    passages = _passages(document, recipe.levels)
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
        _let_through(variant, whole, constraints + operator.constraints, variants, taken, rejects)
    for variant in document.own:
        # Those of a family that the recipe lacks are recorded, but form no score.
        if variant.family not in (*recipe.brought, *SCORED_FAMILIES):
            rejects.append(Reject(variant.id, variant.family, variant.operator, "family not in the recipe"))
        else:
            _let_through(variant, whole, constraints, variants, taken, rejects)
    return VariantSet(document, tuple(variants), tuple(rejects))


def make_passage(
    text: str,
    language: str = "en",
    keep: Iterable[str] = (),
    levels: Iterable[str] = ("literal", "semantic"),
) -> Passage:
    """Return a text with the spans that the levels keep.

    Parameters
    ----------
    text, language : str
    keep : iterable of str
        Literal strings that the task names.
    levels : iterable of str
        ``"literal"``, ``"semantic"``.

    Examples
    --------
    >>> passage = make_passage("Did Anna never eat 3 eggs?")
    >>> [passage.text[span.start : span.end] for span in (*passage.keep, *passage.leave)]
    ['3', 'Anna', 'never']
    """
    kept = find_spans(text, language, keep) if "literal" in levels else ()
    left = find_meaning(text, language, kept) if "semantic" in levels else ()
    return Passage(text, language, kept, left)


def whole_passage(document: Document, levels: Iterable[str]) -> Passage:
    r"""Return all fields of a document as one passage: what constraints compare variants with.

    Examples
    --------
    >>> whole = whole_passage(Document("1", {"q": "3 hens?", "context": "A farm."}), ("literal",))
    >>> whole.text, [whole.text[span.start : span.end] for span in whole.keep]
    ('3 hens?\nA farm.', ['3'])
    """
    return _join(_passages(document, tuple(levels)), document.language)


def holds_for(constraint: str, family: str, operator: str) -> bool:
    """Say whether a variant is held to a constraint.

    What people wrote, or a document brings, is taken as it is, but for its literals; a negative
    control and a translation break on purpose what the others are held to.

    Examples
    --------
    >>> holds_for("length", "noise", "spaces"), holds_for("length", "human", "typed")
    (True, False)
    >>> holds_for("literals", "register", "own"), holds_for("literals", "control", "change_number")
    (True, False)
    """
    if family in ("language", "control"):
        return constraint == "changed"
    generated = family != "human" and operator in OPERATORS
    return generated or constraint in ("changed", "literals")


def _let_through(
    variant: Variant,
    whole: Passage,
    constraints: tuple[Constraint, ...],
    variants: list[Variant],
    taken: set[str],
    rejects: list[Reject],
) -> None:
    """Check a variant and put it where it belongs; the first failed constraint is the reason."""
    checks: dict[str, float | None] = {}
    reason = ""
    for constraint in constraints:
        if not holds_for(constraint.name, variant.family, variant.operator):
            continue
        check = constraint.check(whole, variant.text)
        checks[constraint.name] = check.value
        if not check.passed:
            reason = constraint.name
            break
    if not reason and variant.text in taken:
        reason = "duplicate"
    if not reason and any(variant.id == other.id for other in variants):
        reason = "id taken"
    if reason:
        rejects.append(Reject(variant.id, variant.family, variant.operator, reason))
    else:
        taken.add(variant.text)
        variants.append(replace(variant, checks=checks))


def _apply(
    operator: Operator, passages: dict[str, Passage], document_id: str, seed: int
) -> dict[str, str] | str:
    """Return the new fields, or the reason why there are none."""
    if lacking := missing(operator.requires):
        return lacking
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


def _passages(document: Document, levels: tuple[str, ...]) -> dict[str, Passage]:
    return {
        name: make_passage(text, document.language, document.keep, levels)
        for name, text in document.fields.items()
    }


def _join(passages: dict[str, Passage], language: str) -> Passage:
    """Join the fields as :attr:`Document.text` does, spans shifted along."""
    keep: list[Span] = []
    leave: list[Span] = []
    offset = 0
    for passage in passages.values():
        for spans, shifted in ((passage.keep, keep), (passage.leave, leave)):
            shifted += [Span(span.start + offset, span.end + offset, span.kind) for span in spans]
        offset += len(passage.text) + 1
    text = "\n".join(passage.text for passage in passages.values())
    return Passage(text, language, tuple(keep), tuple(leave))
