"""The passive with 被."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.clauses import transitive
from sago_harness.variants.chinese.sentences import masked
from sago_harness.variants.guarded import Guarded


class ZhBei(Guarded):
    """Turns "subject verb 了 object" into "object 被 subject verb 了", for verbs that bear it.

    Examples
    --------
    >>> ZhBei().apply(Passage("谁打败了拿破仑？", "zh"), random.Random(1))
    '拿破仑被谁打败了？'
    """

    name = "zh_bei"
    family = "structure"
    languages = ("zh",)
    requires = ("rjieba",)
    tables: ClassVar[tuple[str, ...]] = ("zh_voice",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Rewrite the first clause that fits."""
        del rng
        found = transitive(passage, masked(passage), "bei")
        if not found:
            raise Refused("no plain clause with a verb for the passive")
        subject, verb, thing, tail, start, end = found
        return f"{passage.text[:start]}{thing}被{subject}{verb}了{tail}{passage.text[end:]}"
