"""How much a text presses for time."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.features.marker_rate import MarkerRate
from sago_harness.variants.features.markers import marker_pattern
from sago_harness.variants.phrases import read_table


class UrgencyMarkers(MarkerRate):
    """Words and phrases of haste per 100 characters.

    Examples
    --------
    >>> UrgencyMarkers().value("Hurry, it is urgent!")
    10.0
    """

    name = "urgency_markers"

    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the language's list; the English one for a language without a list."""
        return _pattern(language if language in read_table("urgency_markers") else "en")


@functools.cache
def _pattern(language: str) -> re.Pattern[str]:
    return marker_pattern(read_table("urgency_markers")[language])
