"""A question with 吗 for one with 是否 or with the verb said twice."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.questions import alternative
from sago_harness.variants.chinese.sentences import cuts, touches
from sago_harness.variants.guarded import Guarded


class ZhMa(Guarded):
    """Asks with 吗 at the end in place of 是否, 是不是, 有没有 and the like.

    Examples
    --------
    >>> ZhMa().apply(Passage("地球是不是圆的？", "zh"), random.Random(1))
    '地球是圆的吗？'
    """

    name = "zh_ma"
    family = "structure"
    languages = ("zh",)
    requires = ("rjieba",)
    tables: ClassVar[tuple[str, ...]] = ("zh_yes_no",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Take the asking word out and put 吗 before the mark."""
        del rng
        (found, end), text = alternative(passage), passage.text
        if touches(passage, found.start, found.end) or cuts(passage, end):
            raise Refused("would touch a literal")
        return f"{text[: found.start]}{found.plain}{text[found.end : end]}吗{text[end:]}"
