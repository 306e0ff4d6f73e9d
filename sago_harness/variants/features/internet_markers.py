"""How many colloquial and internet words a Chinese text has."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.base import Feature
from sago_harness.variants.features.markers import marker_pattern
from sago_harness.variants.phrases import read_table


class InternetMarkers(Feature):
    """Colloquial words and internet spellings (啥, 咋, 神马, 木有 ...) per 100 characters.

    Examples
    --------
    >>> InternetMarkers().value("这是啥东西呀咋回事呀", "zh")
    20.0
    """

    name = "internet_markers"
    minimum = 0.2
    unit = "per 100 characters"

    def value(self, text: str, language: str = "zh") -> float:
        """Count the forms that the table of swaps produces."""
        return 100.0 * sum(1 for _ in _list().finditer(text)) / len(text) if text else 0.0


@functools.cache
def _list() -> re.Pattern[str]:
    table = read_table("zh_internet")
    return marker_pattern([form for step in ("1", "2") for form in table[step].values()])
