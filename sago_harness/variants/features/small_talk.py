"""How much small talk a text has."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.features.marker_rate import MarkerRate
from sago_harness.variants.features.markers import marker_pattern
from sago_harness.variants.phrases import read_table


class SmallTalk(MarkerRate):
    """Words of small talk (weather, coffee, the bus) per 100 characters.

    Examples
    --------
    >>> SmallTalk().value("More rain, more soup")
    10.0
    """

    name = "small_talk"

    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the language's list; the English one for a language without a list."""
        return _pattern(language if language in read_table("small_talk") else "en")


@functools.cache
def _pattern(language: str) -> re.Pattern[str]:
    return marker_pattern(read_table("small_talk")[language])
