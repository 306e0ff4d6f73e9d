"""The variant must mean what the canonical text means, as far as words show it."""

from __future__ import annotations

from sago_harness.variants.audit.checker import LANGUAGES, load_checker
from sago_harness.variants.base import Check, Constraint, Passage


class Equivalence(Constraint):
    """Passes if numbers, names, negations, comparisons, units and content words agree.

    Misspellings, other spellings of a number or a unit and corrected slips of the tongue are
    forgiven; ``docs/variants.md`` says how often it errs. The value is the score less the
    threshold, 0 or more passes. English only: in another language it passes without a value.

    Examples
    --------
    >>> check = Equivalence()
    >>> check.check(Passage("Did Anna eat two hens?"), "did anna eat 2 hens").passed
    True
    >>> check.check(Passage("Did Anna eat two hens?"), "Did Anna eat three hens?").reason
    'the meaning may differ: numbers'
    """

    name = "equivalence"

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare the words of both texts."""
        if canonical.language not in LANGUAGES:
            return Check(True)
        checker = load_checker()
        passed, score, against = checker.judge(canonical.text, variant)
        return Check(
            passed, score - checker.threshold, "" if passed else f"the meaning may differ: {against}"
        )
