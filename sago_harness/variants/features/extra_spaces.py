"""How many spaces a text has beyond one between words."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature
from sago_harness.variants.text.scripts import is_han

_RUN = re.compile(r" {2,}")
_SPACE = re.compile(r" +")


class ExtraSpaces(Feature):
    """Sum over runs of two or more spaces of (length - 1), per 100 characters.

    In Chinese a run between two Han characters counts whole: no space belongs there.

    Examples
    --------
    >>> ExtraSpaces().value("a   b c  d")
    30.0
    >>> ExtraSpaces().value("中 国", "zh")
    33.333333333333336
    """

    name = "extra_spaces"
    minimum = 1.0
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count spaces (U+0020)."""
        if not text:
            return 0.0
        extra = sum(len(match.group()) - 1 for match in _RUN.finditer(text))
        if language == "zh":
            # The first space of each such run, which the sum above leaves out.
            extra += sum(
                1 for match in _SPACE.finditer(text) if _between_han(text, match.start(), match.end())
            )
        return 100.0 * extra / len(text)


def _between_han(text: str, start: int, end: int) -> bool:
    return start > 0 and end < len(text) and is_han(text[start - 1]) and is_han(text[end])
