"""Spaces between Chinese characters and Latin letters or digits."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.mixed import borders
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import overlaps


class ZhMixed(Guarded):
    """Puts a space at every border between Han and Latin letters or digits, or takes it away.

    A text with a border that has no space gets all of them; one with all of them loses them.

    Examples
    --------
    >>> ZhMixed().apply(Passage("用Python怎么写？", "zh"), random.Random(1))
    '用 Python 怎么写？'
    """

    name = "zh_mixed"
    family = "noise"
    languages = ("zh",)
    feature = "mixed_spacing"

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Change the borders outside the kept spans."""
        del rng
        text = passage.text
        spans = sorted((span.start, span.end) for span in (*passage.keep, *passage.leave))
        found = [(start, end) for start, end in borders(text) if not overlaps(spans, start, end)]
        if not found:
            raise Refused("no border between Han and Latin")
        space = " " if any(start == end for start, end in found) else ""
        parts, at = [], 0
        for start, end in found:
            parts += [text[at:start], space]
            at = end
        return "".join([*parts, text[at:]])
