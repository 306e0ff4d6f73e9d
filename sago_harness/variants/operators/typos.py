"""Typing errors inside words."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.mistype import KINDS, TABLES, mistype


class Typos(Guarded):
    """Makes as many typing errors as the strength says, each in a word of its own.

    Neighbours swapped, a letter dropped, doubled, or replaced by its neighbour on the
    keyboard, as often as people make them (see :mod:`sago_harness.variants.parts.mistype`);
    never the first letter, nor the last, which carries plural and tense. Names
    (a capital that does not open a usual first word), negations, comparatives, quantifiers
    and number words stay as they are.

    Examples
    --------
    >>> Typos(1).apply(Passage("Who wrote the novel?"), random.Random(1))
    'Who wrte the novel?'
    """

    name = "typos"
    family = "noise"
    languages = ("en",)
    strengths = (1, 2, 3)
    version = 2
    tables = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose words by chance, then one error for each."""
        return mistype(passage, int(self.strength or 0), tuple(KINDS), rng)
