"""How often punctuation marks are repeated."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature

_RUN = re.compile(r"([!?,;.！？，；。])\1+")


class RepeatedMarks(Feature):
    """Sum over runs of one mark of (length - 1), per 100 characters; full-width marks included.

    Examples
    --------
    >>> RepeatedMarks().value("What???!!!")
    40.0
    """

    name = "repeated_marks"
    minimum = 0.5
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the same way in every language."""
        del language
        if not text:
            return 0.0
        return 100.0 * sum(len(match.group()) - 1 for match in _RUN.finditer(text)) / len(text)
