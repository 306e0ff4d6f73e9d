"""How long a text is."""

from __future__ import annotations

import math

from sago_harness.variants.base import Feature


class LogLength(Feature):
    """Natural logarithm of 1 + the number of characters, so that twice as long is one step anywhere.

    Examples
    --------
    >>> LogLength().value("")
    0.0
    """

    name = "log_length"
    #: A fifth longer: ln 1.2 = 0.18.
    minimum = 0.18
    unit = "log characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count code points."""
        del language
        return math.log1p(len(text))
