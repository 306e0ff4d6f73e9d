"""Full-width forms of letters and marks turned to half-width, or the other way."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.text.graphemes import is_boundary

# U+FF01..U+FF5E mirror U+0021..U+007E; the Chinese full stop and comma of lists have no such mirror.
_TO_HALF = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)} | {"。": ".", "、": ","}
_TO_FULL = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)} | {".": "。"}


class Width(Guarded):
    """Types the marks and Latin letters of a Chinese text in the other width.

    A text with full-width forms gets half-width ones; one without gets full-width ones.

    Examples
    --------
    >>> Width().apply(Passage("谁写了它？", "zh"), random.Random(1))
    '谁写了它?'
    """

    name = "width"
    family = "noise"
    languages = ("zh",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Change the width of every character outside the kept spans that has another one."""
        del rng
        text = passage.text
        places = [
            at
            for start, end in passage.free()
            for at in range(start, end)
            if is_boundary(text, at + 1) and not _joins_numbers(text, at)
        ]
        forms = _TO_HALF if any(text[at] in _TO_HALF for at in places) else _TO_FULL
        chars = list(text)
        for at in places:
            chars[at] = forms.get(chars[at], chars[at])
        if chars == list(text):
            raise Refused("no letter or mark with another width")
        return "".join(chars)


def _joins_numbers(text: str, at: int) -> bool:
    """Say whether a mark stands between two digits, where "3，4" would become a decimal or thousands."""
    return 0 < at < len(text) - 1 and text[at - 1].isdigit() and text[at + 1].isdigit()
