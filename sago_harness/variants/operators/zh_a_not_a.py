"""A question with the verb said twice for one with 吗."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.questions import asked
from sago_harness.variants.chinese.sentences import cuts, touches
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table


class ZhANotA(Guarded):
    """Asks with 是不是, 有没有, 会不会 in place of 吗 at the end.

    A predicate with an adverb before it takes 是不是 before both, a longer one 是不是 too.

    Examples
    --------
    >>> ZhANotA().apply(Passage("火星上有水吗？", "zh"), random.Random(1))
    '火星上有没有水？'
    """

    name = "zh_a_not_a"
    family = "structure"
    languages = ("zh",)
    requires = ("rjieba",)
    tables: ClassVar[tuple[str, ...]] = ("zh_yes_no",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Double the predicate and drop 吗."""
        del rng
        found, text = asked(passage), passage.text
        if cuts(passage, found.adverb) or touches(passage, found.start, found.end):
            raise Refused("would touch a literal")
        table = read_table("zh_yes_no")
        if found.adverb < found.start or found.predicate not in table["doubled"]:
            # "是不是" and a second 是 side by side read as a slip.
            if found.predicate == "是":
                raise Refused("an adverb before 是")
            head = text[: found.adverb] + "是不是" + text[found.adverb : found.particle]
        else:
            form = table["predicates"][found.predicate]
            head = text[: found.start] + form + text[found.end : found.particle]
        return head + text[found.particle + 1 :]
