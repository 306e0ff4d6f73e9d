"""Enough of the canonical text must still stand in the variant."""

from __future__ import annotations

from rapidfuzz.distance import LCSseq

from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.constraints.options import check_number
from sago_harness.variants.text.alike import fold


class Edits(Constraint):
    """Passes if no more than a share of the canonical characters is gone or moved.

    One minus the longest common subsequence over the canonical length, both folded for case
    and width: what is added does not count, the `length` constraint sees to that.

    Parameters
    ----------
    maximum : float
        Largest share, 0 to 1.

    Raises
    ------
    SagoError
        If an option is out of range.

    Examples
    --------
    >>> Edits().check(Passage("Who wrote Emma?"), "Hello! who wrote emma?").value
    0.0
    """

    name = "edits"

    def __init__(self, maximum: float = 0.6) -> None:
        check_number(self.name, "maximum", maximum, 0, 1)
        self.maximum = maximum

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare the characters in order."""
        before, after = fold(canonical.text), fold(variant)
        share = 1 - LCSseq.similarity(before, after) / len(before) if before else 0.0
        if share > self.maximum:
            return Check(False, share, f"{share:.0%} of the text is gone or moved, over {self.maximum:.0%}")
        return Check(True, share)
