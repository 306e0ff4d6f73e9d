"""Whether Latin words and digits in Chinese stand apart."""

from __future__ import annotations

from sago_harness.variants.base import Feature
from sago_harness.variants.chinese.mixed import borders


class MixedSpacing(Feature):
    """Borders with a space minus borders without, as a share of all; 0 for a text without any.

    Examples
    --------
    >>> MixedSpacing().value("用 Python 写", "zh"), MixedSpacing().value("用Python写", "zh")
    (1.0, -1.0)
    """

    name = "mixed_spacing"
    minimum = 0.5
    unit = "share of borders"

    def value(self, text: str, language: str = "zh") -> float:
        """Look at every border between Han and Latin letters or digits."""
        found = borders(text)
        spaced = sum(end > start for start, end in found)
        return (2 * spaced - len(found)) / len(found) if found else 0.0
