"""How formal the words of a text are."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.base import Feature
from sago_harness.variants.features.markers import marker_pattern, straighten
from sago_harness.variants.phrases import read_table


class FormalMarkers(Feature):
    """Formal minus informal words per 100 characters; short forms such as "don't" are informal.

    Examples
    --------
    >>> FormalMarkers().value("I hereby attempt to."), FormalMarkers().value("Don't.....")
    (10.0, -10.0)
    """

    name = "formal_markers"
    minimum = 0.2
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the markers of the language's lists; English ones for a language without lists."""
        if not text:
            return 0.0
        pattern, formal = _lists(language if language in read_table("formal_markers") else "en")
        found = [match.group().lower() for match in pattern.finditer(straighten(text))]
        return 100.0 * sum(1 if word in formal else -1 for word in found) / len(text)


@functools.cache
def _lists(language: str) -> tuple[re.Pattern[str], frozenset[str]]:
    lists = read_table("formal_markers")[language]
    return marker_pattern(lists["formal"] + lists["informal"]), frozenset(
        word.lower() for word in lists["formal"]
    )
