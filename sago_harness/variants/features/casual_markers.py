"""How casual the words of a text are."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.base import Feature
from sago_harness.variants.features.markers import marker_pattern, straighten
from sago_harness.variants.phrases import read_table


class CasualMarkers(Feature):
    """Short forms, slang, greetings and fillers per 100 characters.

    Examples
    --------
    >>> CasualMarkers().value("Hey, I'm in!!!!!!!!!")
    10.0
    """

    name = "casual_markers"
    minimum = 0.2
    unit = "per 100 characters"
    version = 2

    def value(self, text: str, language: str = "en") -> float:
        """Count the markers of the language's list; the English one for a language without a list."""
        if not text:
            return 0.0
        pattern = _list(language if language in read_table("casual_markers") else "en")
        return 100.0 * sum(1 for _ in pattern.finditer(straighten(text))) / len(text)


@functools.cache
def _list(language: str) -> re.Pattern[str]:
    return marker_pattern(read_table("casual_markers")[language])
