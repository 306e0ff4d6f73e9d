"""How many spoken fillers a text has."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.features.marker_rate import MarkerRate
from sago_harness.variants.features.set_off import set_off
from sago_harness.variants.phrases import read_table


class FillerWords(MarkerRate):
    """Spoken fillers per 100 characters.

    "um" counts anywhere, "well" or "you know" only where marks set it off.

    Examples
    --------
    >>> FillerWords().value("Um, is it, like, so?")
    10.0
    """

    name = "filler_words"

    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the language's list; the English one for a language without a list."""
        return _pattern(language if language in read_table("filler_markers") else "en")


@functools.cache
def _pattern(language: str) -> re.Pattern[str]:
    lists = read_table("filler_markers")[language]
    # Letter case counts: "ER" and "UM" are names.
    alone = rf"(?<![\w'])(?:{'|'.join(lists['alone'])})(?![\w'])|" if lists["alone"] else ""
    return re.compile(alone + set_off(lists["set_off"]))
