"""The object before the verb with 把."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.clauses import transitive
from sago_harness.variants.chinese.sentences import masked
from sago_harness.variants.guarded import Guarded


class ZhBa(Guarded):
    """Turns "subject verb 了 object" into "subject 把 object verb 了", for verbs of disposal.

    Examples
    --------
    >>> ZhBa().apply(Passage("小明打破了那个杯子。", "zh"), random.Random(1))
    '小明把那个杯子打破了。'
    """

    name = "zh_ba"
    family = "structure"
    languages = ("zh",)
    requires = ("rjieba",)
    tables: ClassVar[tuple[str, ...]] = ("zh_voice",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Rewrite the first clause that fits."""
        del rng
        found = transitive(passage, masked(passage), "ba")
        if not found:
            raise Refused("no plain clause with a verb of disposal")
        subject, verb, thing, tail, start, end = found
        return f"{passage.text[:start]}{subject}把{thing}{verb}了{tail}{passage.text[end:]}"
