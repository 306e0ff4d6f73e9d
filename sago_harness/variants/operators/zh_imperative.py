"""A request to tell what a Chinese question asks."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.script import must_be_simplified
from sago_harness.variants.chinese.sentences import ASKING, cuts, last_question, touches
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table

_OPENING = re.compile(
    r"请|麻烦|劳驾|那么|那(?![个些位座条])|难道|究竟|到底|如果|假如|说|写|列|为何不|能|可|会不会|我想|想"
)
_ASKED_OF = re.compile("告诉我|帮我|[你您]")
_CLOSED = re.compile(r"[吗嗎吧呢呀啊嘛哦么]$")
_WHY = re.compile("为什么|为何|怎么会|怎样|如何|怎么")


class ZhImperative(Guarded):
    """Turns the last question into a request: "请告诉我…。"

    Questions of one clause without 吗 only; the words of the question stay as they are.

    Examples
    --------
    >>> ZhImperative().apply(Passage("天空为什么是蓝色的？", "zh"), random.Random(1))
    '请说明天空为什么是蓝色的。'
    """

    name = "zh_imperative"
    family = "structure"
    languages = ("zh",)
    tables: ClassVar[tuple[str, ...]] = ("zh_imperative",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Put the request before the question and close it with a full stop."""
        must_be_simplified(passage.text)
        sentence, text = last_question(passage), passage.text
        if not sentence or not ASKING.search(sentence.text) or _OPENING.match(sentence.text):
            raise Refused("no question that a request could take up")
        if _ASKED_OF.search(sentence.text):
            raise Refused("asks the reader")
        ends = _CLOSED.search(sentence.text) and not sentence.text.endswith(("什么", "怎么"))
        if ends or re.search("[，,：:]", sentence.text):
            raise Refused("not a plain question")
        mark = text.index(sentence.mark, sentence.end)
        if text[mark + 1 : mark + 2] in ("？", "?", "！", "!"):
            raise Refused("ends with several marks")
        if cuts(passage, sentence.start) or touches(passage, mark, mark + 1):
            raise Refused("would touch a literal")
        phrases = read_table("zh_imperative")["why" if _WHY.search(sentence.text) else "other"]
        # "告诉我我们…" stumbles.
        first = sentence.text.startswith("我")
        phrase = rng.choice([phrase for phrase in phrases if not (first and phrase.endswith("我"))])
        stop = "。" if sentence.mark == "？" else "."
        return f"{text[: sentence.start]}{phrase}{text[sentence.start : mark]}{stop}{text[mark + 1 :]}"
