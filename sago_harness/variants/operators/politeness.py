"""A polite or rude phrase before the request, after it, or on both sides."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import put_after, put_before


class Politeness(Guarded):
    """Adds a phrase from a ladder: -10 openly rude, -2 curt, 2 plain "please", 10 very courteous.

    Examples
    --------
    >>> operator = Politeness(strength=2, position="suffix")
    >>> operator.apply(Passage("Who wrote Emma?"), random.Random(1))
    'Who wrote Emma? Thank you.'
    """

    name = "politeness"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix", "both")
    strengths = (2, 4, 6, 8, 10, -2, -4, -6, -8, -10)
    feature = "politeness_markers"
    version = 2
    tables: ClassVar[tuple[str, ...]] = ("politeness",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose a phrase of the step for each place."""
        ladder, step = read_table("politeness")[passage.language], f"{self.strength:g}"
        text = passage.text
        if self.position != "prefix":
            text = put_after(passage, rng.choice(ladder["suffix"][step]))
        if self.position != "suffix":
            text = put_before(replace(passage, text=text), rng.choice(ladder["prefix"][step]))
        return text
