"""What features have in common that count matches of a pattern per 100 characters."""

from __future__ import annotations

import abc
import re

from sago_harness.variants.base import Feature
from sago_harness.variants.features.markers import straighten


class MarkerRate(Feature):
    """Matches of a language's pattern per 100 characters.

    Examples
    --------
    >>> class Stars(MarkerRate):
    ...     name = "stars"
    ...     def pattern(self, language):
    ...         return re.compile(r"[*]")
    >>> Stars().value("a*b* ")
    40.0
    """

    minimum = 0.2
    unit = "per 100 characters"

    @abc.abstractmethod
    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the pattern, compiled once; the English one for a language without a list."""

    def value(self, text: str, language: str = "en") -> float:
        """Count the matches; apostrophes are straight before the pattern is tried."""
        if not text:
            return 0.0
        return 100.0 * sum(1 for _ in self.pattern(language).finditer(straighten(text))) / len(text)
