"""How polite the words of a text are."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.base import Feature
from sago_harness.variants.features.markers import marker_pattern, straighten
from sago_harness.variants.phrases import read_table


class PolitenessMarkers(Feature):
    """Polite minus rude words and phrases per 100 characters; negative = rude.

    Examples
    --------
    >>> PolitenessMarkers().value("Thank you!")
    10.0
    """

    name = "politeness_markers"
    minimum = 0.2
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the markers of the language's lists; English ones for a language without lists."""
        if not text:
            return 0.0
        pattern, polite = _lists(language if language in read_table("politeness_markers") else "en")
        found = [match.group().lower() for match in pattern.finditer(straighten(text))]
        score = sum(1 if word in polite else -1 for word in found)
        return 100.0 * score / len(text)


@functools.cache
def _lists(language: str) -> tuple[re.Pattern[str], frozenset[str]]:
    lists = read_table("politeness_markers")[language]
    return marker_pattern(lists["polite"] + lists["rude"]), frozenset(
        word.lower() for word in lists["polite"]
    )
