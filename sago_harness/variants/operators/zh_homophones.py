"""Characters typed for others of the same sound, as input methods do it."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.chinese.slips import slip
from sago_harness.variants.chinese.sounds import alike, reading
from sago_harness.variants.guarded import Guarded

_CHOICES = 4


class ZhHomophones(Guarded):
    """Puts a frequent character of the same sound and tone inside a word.

    The strength is the number of words. The wrong form is no word and makes none with its
    neighbours. Names, numbers, negations and question words stay.

    Examples
    --------
    >>> ZhHomophones(1).apply(Passage("这个故事", "zh"), random.Random(1))
    '这个故市'
    """

    name = "zh_homophones"
    family = "noise"
    languages = ("zh",)
    strengths = (1, 2)
    requires = ("rjieba", "pypinyin")
    tables: ClassVar[tuple[str, ...]] = ("zh_characters",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Spoil as many words as the strength says."""
        return slip(passage, rng, int(self.strength or 1), _forms)


def _forms(word: str, index: int) -> str:
    sounds = reading(word)
    if len(sounds) != len(word):
        return ""
    return alike().get(sounds[index], "").replace(word[index], "")[:_CHOICES]
