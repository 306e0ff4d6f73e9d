"""The text set apart by lines of marks."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.text.graphemes import extends
from sago_harness.variants.wrap import body_end

_LINES = ("---", "===", "***", "###", "- - -", "~~~~~")


class Separators(Guarded):
    r"""Puts a line of marks before and after the body, as documents set a passage apart.

    Examples
    --------
    >>> Separators().apply(Passage("Who wrote Emma?"), random.Random(1))
    '===\nWho wrote Emma?\n==='
    """

    name = "separators"
    family = "structure"
    languages = ("en", "zh")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose a kind of line that the text does not contain."""
        text, end = passage.text, body_end(passage)
        if extends(text[0]) or (end < len(text) and extends(text[end])):
            raise Refused("begins or ends with a combining mark")
        lines = [line for line in _LINES if line not in text]
        if not lines:
            raise Refused("has every kind of line")
        line = rng.choice(lines)
        return f"{line}\n{text[:end]}\n{line}{text[end:]}"
