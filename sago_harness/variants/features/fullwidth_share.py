"""How much of a text is in full-width forms."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature

_ASCII = re.compile(r"[!-~]")
_FULL = re.compile(r"[\uff01-\uff5e]")


class FullwidthShare(Feature):
    """Full-width forms (U+FF01..FF5E) as a share of these and of printable ASCII, spaces left out.

    Examples
    --------
    >>> FullwidthShare().value("ａｂ cd")
    0.5
    """

    name = "fullwidth_share"
    minimum = 0.02
    unit = "share of characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the same way in every language."""
        del language
        full = sum(1 for _ in _FULL.finditer(text))
        return full / max(1, full + sum(1 for _ in _ASCII.finditer(text)))
