"""An operator of another package."""

from __future__ import annotations

import random

from sago_harness.variants.base import Operator, Passage


class Pirate(Operator):
    """Says arr before or behind the text, once or more."""

    name = "pirate"
    family = "register"
    languages = ("en",)
    positions = ("prefix", "suffix")
    strengths = (1.0, 3.0)
    feature = "arrs"

    def apply(self, passage: Passage, rng: random.Random) -> str:
        """Draw the length of each arr by chance."""
        cry = " ".join("A" + "r" * rng.randint(2, 4) + "!" for _ in range(int(self.strength or 1)))
        return f"{cry} {passage.text}" if self.position == "prefix" else f"{passage.text} {cry}"
