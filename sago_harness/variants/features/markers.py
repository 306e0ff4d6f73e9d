"""Finds the words and phrases of a marker list in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sago_harness.variants.text.scripts import is_han

#: Not within a word.
_BEFORE = r"(?<![^\W_])"


def marker_pattern(markers: Iterable[str]) -> re.Pattern[str]:
    """Compile a list of markers, the longest first, so that none is counted within another.

    Words of scripts that write words apart must stand alone; Han words may touch others.

    Examples
    --------
    >>> marker_pattern(["thank", "thank you"]).findall("Thank you, thanks, thank")
    ['Thank you', 'thank']
    """
    ordered = sorted(set(markers), key=lambda marker: (-len(marker), marker))
    if not ordered:
        return re.compile(r"(?!)")
    apart = not any(is_han(marker[0]) for marker in ordered)
    body = "|".join(re.escape(marker) + _after(marker) if apart else _alone(marker) for marker in ordered)
    # Looked at once a place, not once a marker: most places are within a word.
    return re.compile(f"{_BEFORE}(?:{body})" if apart else body, re.I)


def straighten(text: str) -> str:
    """Return the text with straight apostrophes, as the lists have them."""
    return text.replace("’", "'")


def _alone(marker: str) -> str:
    before = "" if is_han(marker[0]) else _BEFORE
    return f"{before}{re.escape(marker)}{_after(marker)}"


def _after(marker: str) -> str:
    return "" if is_han(marker[-1]) or not marker[-1].isalnum() else r"(?![^\W_]|'\w)"
