"""How many punctuation marks a text has."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature

# Marks inside numbers and addresses ("3.5", "x.org") are no punctuation.
_MARK = re.compile(r"[.,!?;:](?![^\W_])|['’](?=[a-z])|[。，！？；：、]")


class MarkDensity(Feature):
    """Stops, commas, colons, question marks and apostrophes inside words per 100 characters.

    Examples
    --------
    >>> MarkDensity().value("Yes, 3.5.!")
    30.0
    """

    name = "mark_density"
    minimum = 0.5
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the same way in every language."""
        del language
        if not text:
            return 0.0
        return 100.0 * sum(1 for _ in _MARK.finditer(text)) / len(text)
