"""Keys hit beside the right one."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.mistype import TABLES, mistype


class Keyboard(Guarded):
    """Replaces a letter inside a word by its neighbour on the same row of the keyboard.

    The strength is the number of words hit. Names, negations, comparatives, quantifiers,
    number words and words of fewer than four letters stay as they are, and no result is
    another common word.

    Examples
    --------
    >>> Keyboard(1).apply(Passage("Is it a wave?"), random.Random(0))
    'Is it a wace?'
    """

    name = "keyboard"
    family = "noise"
    languages = ("en",)
    strengths = (1, 2, 3)
    tables = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose words by chance, then the letter in each."""
        return mistype(passage, int(self.strength or 0), ("neighbour",), rng)
