"""Hesitant wording before or after the request."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import put_after, put_before


class Hedging(Guarded):
    """Adds a hesitant phrase; 1 a touch, 2 unsure how to say it, 3 hesitating at length.

    The doubt is about the way of asking, never about what is asked or its premise.

    Examples
    --------
    >>> Hedging(1, "suffix").apply(Passage("Who wrote Emma?"), random.Random(1))
    'Who wrote Emma? I was just wondering.'
    """

    name = "hedging"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix")
    strengths = (1, 2, 3)
    feature = "hedging_markers"
    tables: ClassVar[tuple[str, ...]] = ("hedging",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose a phrase of the step and put it in its place."""
        phrase = rng.choice(read_table("hedging")[passage.language][self.position][f"{self.strength:g}"])
        return put_before(passage, phrase) if self.position == "prefix" else put_after(passage, phrase)
