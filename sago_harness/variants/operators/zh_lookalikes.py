"""Characters taken for others that look alike."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.chinese.slips import slip
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table


class ZhLookalikes(Guarded):
    """Puts a character that looks alike inside a word; the strength is the number of words.

    The wrong form is no word and makes none with its neighbours. Names, numbers, negations
    and question words stay.

    Examples
    --------
    >>> ZhLookalikes(1).apply(Passage("请介绍自己", "zh"), random.Random(1))
    '请介绍自已'
    """

    name = "zh_lookalikes"
    family = "noise"
    languages = ("zh",)
    strengths = (1, 2)
    requires = ("rjieba",)
    tables: ClassVar[tuple[str, ...]] = ("zh_characters", "zh_lookalikes")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Spoil as many words as the strength says."""
        return slip(passage, rng, int(self.strength or 1), _forms)


def _forms(word: str, index: int) -> str:
    return str(read_table("zh_lookalikes")["forms"].get(word[index], ""))
