"""A variant must be about as long as the canonical text."""

from __future__ import annotations

from sago_harness.errors import SagoError
from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.constraints.options import check_number


class Length(Constraint):
    """Passes if the ratio of lengths is within bounds, or the difference within an allowance.

    White space is not counted. The allowance lets a phrase stand before a very short text.

    Parameters
    ----------
    lower, upper : float
        Bounds of variant / canonical, both included.
    allowance : int
        Characters by which any variant may be longer.

    Raises
    ------
    SagoError
        If an option is out of range.

    Examples
    --------
    >>> Length().check(Passage("Who?"), "Good morning! Who?").passed
    True
    """

    name = "length"

    def __init__(self, lower: float = 0.3, upper: float = 4.0, allowance: int = 120) -> None:
        check_number(self.name, "lower", lower, 0)
        check_number(self.name, "upper", upper, 0)
        check_number(self.name, "allowance", allowance, 0)
        if upper < lower:
            raise SagoError(f"constraint {self.name!r}: upper {upper:g} is under lower {lower:g}")
        self.lower = lower
        self.upper = upper
        self.allowance = allowance

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare the numbers of characters that are no white space; the value is their ratio."""
        before, after = (sum(not char.isspace() for char in text) for text in (canonical.text, variant))
        if not before:
            return Check(after <= self.allowance, None, "" if after <= self.allowance else "too long")
        ratio = after / before
        if ratio < self.lower:
            return Check(False, ratio, f"{ratio:.2f} times as long, under {self.lower:g}")
        if ratio > self.upper and after - before > self.allowance:
            return Check(False, ratio, f"{ratio:.2f} times as long, over {self.upper:g}")
        return Check(True, ratio)
