"""Colloquial words and internet spellings in Chinese."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.script import must_be_simplified
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table


class ZhInternet(Guarded):
    """Swaps words for colloquial ones (1: 啥, 咋) or for internet spellings (2: 神马, 肿么).

    Step 2 takes the word of step 1 where it has none of its own.

    Examples
    --------
    >>> ZhInternet(2).apply(Passage("为什么朋友不来？", "zh"), random.Random(1))
    '为神马盆友不来？'
    """

    name = "zh_internet"
    family = "register"
    languages = ("zh",)
    strengths = (1, 2)
    feature = "internet_markers"
    tables: ClassVar[tuple[str, ...]] = ("zh_internet",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Swap every word outside the kept spans that has another form."""
        del rng
        must_be_simplified(passage.text)
        pattern, forms = _forms(f"{self.strength:g}")
        text, parts, at = passage.text, [], 0
        for start, end in passage.free():
            for match in pattern.finditer(text, start, end):
                parts += [text[at : match.start()], forms[match.group()]]
                at = match.end()
        if not parts:
            raise Refused("no word with an internet form")
        return "".join([*parts, text[at:]])


@functools.cache
def _forms(step: str) -> tuple[re.Pattern[str], dict[str, str]]:
    table = read_table("zh_internet")
    forms = {**table["1"], **(table["2"] if step == "2" else {})}
    return re.compile("|".join(sorted(map(re.escape, forms), key=lambda word: (-len(word), word)))), forms
