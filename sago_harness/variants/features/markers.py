"""Finds the words and phrases of a marker list in a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sago_harness.variants.text.scripts import is_han


def marker_pattern(markers: Iterable[str]) -> re.Pattern[str]:
    """Compile a list of markers, the longest first, so that none is counted within another.

    Words of scripts that write words apart must stand alone; Han words may touch others.

    Examples
    --------
    >>> marker_pattern(["thank", "thank you"]).findall("Thank you, thanks, thank")
    ['Thank you', 'thank']
    """
    ordered = sorted(set(markers), key=lambda marker: (-len(marker), marker))
    body = "|".join(_alone(marker) for marker in ordered)
    return re.compile(body or r"(?!)", re.I)


def straighten(text: str) -> str:
    """Return the text with straight apostrophes, as the lists have them."""
    return text.replace("’", "'")


def _alone(marker: str) -> str:
    before = "" if is_han(marker[0]) else r"(?<![^\W_])"
    after = "" if is_han(marker[-1]) or not (marker[-1].isalnum()) else r"(?![^\W_]|'\w)"
    return f"{before}{re.escape(marker)}{after}"
