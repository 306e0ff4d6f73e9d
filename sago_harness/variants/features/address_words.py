"""How often a text addresses its reader."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.features.marker_rate import MarkerRate
from sago_harness.variants.features.set_off import set_off
from sago_harness.variants.phrases import read_table


class AddressWords(MarkerRate):
    """Words of address, set off by marks, per 100 characters.

    Examples
    --------
    >>> AddressWords().value("My friend, a friend is late.")
    3.5714285714285716
    """

    name = "address_words"

    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the language's list; the English one for a language without a list."""
        return _pattern(language if language in read_table("addressing_markers") else "en")


@functools.cache
def _pattern(language: str) -> re.Pattern[str]:
    return re.compile(set_off(read_table("addressing_markers")[language]))
