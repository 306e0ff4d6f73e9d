"""Whether the words of a text are spelled the British or the American way."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature
from sago_harness.variants.parts.spellings import american_to_british, british_to_american

_WORD = re.compile(r"[a-z]+")


class BritishSpellings(Feature):
    """British minus American spellings per 100 characters, of words that have both.

    Examples
    --------
    >>> BritishSpellings().value("The colour."), BritishSpellings().value("Traveler's")
    (9.090909090909092, -10.0)
    """

    name = "british_spellings"
    minimum = 0.2
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count English words in every language."""
        del language
        if not text:
            return 0.0
        british, american = british_to_american(), american_to_british()
        words = _WORD.findall(text.lower())
        score = sum((word in british) - (word in american) for word in words)
        return 100.0 * score / len(text)
