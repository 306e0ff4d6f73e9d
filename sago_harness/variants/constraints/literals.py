"""Every kept span must stand in the variant."""

from __future__ import annotations

import re
from collections import Counter

from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.text.spans import keeps_order


class Literals(Constraint):
    """Passes if the kept spans stand byte for byte, in order, and no more or less often.

    The value is the share of distinct literals whose number of occurrences is unchanged.

    Examples
    --------
    >>> from sago_harness.variants.base import Span
    >>> Literals().check(Passage("3 hens", keep=(Span(0, 1, "number"),)), "4 hens").passed
    False
    """

    name = "literals"

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare the literals of the canonical text with the variant."""
        literals = Counter(canonical.text[span.start : span.end] for span in canonical.keep)
        if not literals:
            return Check(True, 1.0)
        changed = [text for text in literals if _count(text, canonical.text) != _count(text, variant)]
        value = 1 - len(changed) / len(literals)
        if changed:
            return Check(False, value, f"literal {changed[0]!r} does not occur as often")
        if not keeps_order(canonical, variant):
            return Check(False, value, "the literals are not in order")
        return Check(True, value)


def _count(literal: str, text: str) -> int:
    """Count occurrences that are no part of a longer run of letters or digits."""
    before = r"(?<![A-Za-z0-9])" if literal[0].isascii() and literal[0].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if literal[-1].isascii() and literal[-1].isalnum() else ""
    return sum(1 for _ in re.finditer(before + re.escape(literal) + after, text))
