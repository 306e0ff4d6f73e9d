"""A measure of another package."""

from __future__ import annotations

from collections.abc import Sequence

from sago_harness.axes.base import Context, Measure, Scored
from sago_harness.backends.base import Response


class LengthDistance(Measure):
    """Relative difference of the lengths of two texts."""

    name = "x_len"
    axis = "generation"
    requires = ("text",)
    symmetric = True
    reference = "this test"

    def distances(self, pairs: Sequence[tuple[Response, Response]], context: Context) -> list[Scored]:
        """0 for equal lengths, 1 where one text is empty."""
        found = []
        for one, other in pairs:
            longest = max(len(one.text), len(other.text), 1)
            found.append(Scored(abs(len(one.text) - len(other.text)) / longest))
        return found
