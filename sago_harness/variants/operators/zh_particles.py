"""Particles at the end of a Chinese question or request."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.sentences import ASKING, BLOCK, Sentence, cuts, last_question, sentences
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.scripts import is_han

_FORMAL = re.compile(r"是否|为何|何时|何地|何处|何人|如何")
_CLOSED = re.compile(r"[吗嗎吧么麼]$")


class ZhParticles(Guarded):
    """Ends the last question or request with a particle; 1 呢 or 哦, 2 呀, 啊 or 哟.

    Questions with 吗 and sentences with a particle stay; so does a request without 请.

    Examples
    --------
    >>> ZhParticles(1).apply(Passage("这是谁写的？", "zh"), random.Random(1))
    '这是谁写的呢？'
    """

    name = "zh_particles"
    family = "register"
    languages = ("zh",)
    strengths = (1, 2)
    feature = "final_particles"
    tables: ClassVar[tuple[str, ...]] = ("zh_particles",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Put the particle before the mark."""
        del rng
        table = read_table("zh_particles")
        sentence, kind = _ending(passage)
        last = sentence.text[-1]
        if _CLOSED.search(sentence.text) and not sentence.text.endswith(("什么", "什麼", "怎么", "怎麼")):
            raise Refused("has a particle")
        if last in table["soft"]:
            raise Refused("has a particle")
        if cuts(passage, sentence.end) or not (is_han(last) or last == BLOCK):
            raise Refused("no place for a particle")
        particle: str = table[kind][f"{self.strength:g}"][0]
        if particle == "呀" and (_FORMAL.search(sentence.text) or last not in table["open_vowels"]):
            particle = "啊"
        return passage.text[: sentence.end] + particle + passage.text[sentence.end :]


def _ending(passage: Passage) -> tuple[Sentence, str]:
    sentence = last_question(passage)
    if sentence:
        if not ASKING.search(sentence.text):
            raise Refused("asks for yes or no")
        return sentence, "question"
    found = [item for item in sentences(passage) if item.text.startswith("请") and item.mark in ("。", "！")]
    if not found or "，" in found[-1].text or len(found[-1].text) > 24:
        raise Refused("no question and no short request")
    return found[-1], "request"
