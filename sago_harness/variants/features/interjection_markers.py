"""How many interjections a text has."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.features.marker_rate import MarkerRate
from sago_harness.variants.features.markers import marker_pattern
from sago_harness.variants.phrases import read_table


class InterjectionMarkers(MarkerRate):
    """Interjections per 100 characters.

    Examples
    --------
    >>> InterjectionMarkers().value("Oh, hmm, is it late?")
    10.0
    """

    name = "interjection_markers"

    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the language's list; the English one for a language without a list."""
        return _pattern(language if language in read_table("interjection_markers") else "en")


@functools.cache
def _pattern(language: str) -> re.Pattern[str]:
    return marker_pattern(read_table("interjection_markers")[language])
