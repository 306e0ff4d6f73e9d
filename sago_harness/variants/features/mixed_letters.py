"""How many letters come from another script than their word."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-z]")
# Greek and Cyrillic, which have letters of the same shapes.
_ALIKE = re.compile(r"[\u0370-\u03ff\u0400-\u04ff\u0500-\u052f]")


class MixedLetters(Feature):
    r"""Greek and Cyrillic letters in words that have Latin letters too, as a share of all letters.

    Examples
    --------
    >>> MixedLetters().value("c\u0430t"), MixedLetters().value("\u043a\u043e\u0442")
    (0.3333333333333333, 0.0)
    """

    name = "mixed_letters"
    minimum = 0.02
    unit = "share of letters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the same way in every language."""
        del language
        words = _WORD.findall(text)
        mixed = sum(len(_ALIKE.findall(word)) for word in words if _LATIN.search(word))
        return mixed / max(1, sum(map(len, words)))
