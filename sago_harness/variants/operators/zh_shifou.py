"""A question with 是否 for one with 吗."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.questions import asked
from sago_harness.variants.chinese.sentences import cuts
from sago_harness.variants.guarded import Guarded


class ZhShifou(Guarded):
    """Asks with 是否 before the predicate in place of 吗 at the end.

    Examples
    --------
    >>> ZhShifou().apply(Passage("地球是圆的吗？", "zh"), random.Random(1))
    '地球是否是圆的？'
    """

    name = "zh_shifou"
    family = "structure"
    languages = ("zh",)
    requires = ("rjieba",)
    tables: ClassVar[tuple[str, ...]] = ("zh_yes_no",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Put 是否 before the predicate and its adverbs, and drop 吗."""
        del rng
        found, text = asked(passage), passage.text
        if cuts(passage, found.adverb):
            raise Refused("would touch a literal")
        return f"{text[: found.adverb]}是否{text[found.adverb : found.particle]}{text[found.particle + 1 :]}"
