"""A word of request before the verb, or before the question, in Chinese."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.script import must_be_simplified
from sago_harness.variants.chinese.sentences import ASKING, Sentence, cuts, last_question, sentences, touches
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table

_PLEASE = re.compile(r"请问(?:一下)?[，,]?|请[你您]?(?!求|假|客|教|柬|帖|愿|示|安|罪|命|缨|战)")
_RHETORICAL = re.compile(r"难道|莫非|岂|何不|何必")
_YES_NO = re.compile(r"[吗呢吧]$|(.)不\1")
_POLITE = re.compile(r"请|麻烦|劳驾|劳烦|烦请|有劳")


class ZhRequest(Guarded):
    """Asks with a word of request; 1 请, 2 麻烦, 3 劳驾.

    It goes before the verb of a request ("请说出…") and before a question ("请问…"), in the
    last sentence that asks. A 请 that is there gives way to a stronger step.

    Examples
    --------
    >>> ZhRequest(1).apply(Passage("天是蓝的。列出三种鸟。", "zh"), random.Random(1))
    '天是蓝的。请列出三种鸟。'
    """

    name = "zh_request"
    family = "register"
    languages = ("zh",)
    positions = ("prefix",)
    strengths = (1, 2, 3)
    feature = "politeness_markers"
    tables: ClassVar[tuple[str, ...]] = ("zh_request",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Put the word in, in place of one that is there."""
        text, table = passage.text, read_table("zh_request")
        must_be_simplified(text)
        sentence, start = _asking(passage)
        please = _PLEASE.match(sentence.text)
        asks = sentence.asks
        end = start
        if please:
            if self.strength == 1:
                raise Refused("has a word of request")
            asks = please.group().startswith("请问")
            end = start + please.end()
            if not asks and not _verbs("verbs", "openers").match(sentence.text, please.end()):
                raise Refused("no verb of request")
        elif _POLITE.search(sentence.text):
            raise Refused("has a word of request")
        if cuts(passage, start) or touches(passage, start, end):
            raise Refused("would touch a literal")
        kind = "question" if asks else "request"
        word: str = rng.choice(table[kind][f"{self.strength:g}"])
        return text[:start] + word + text[end:]


def _asking(passage: Passage) -> tuple[Sentence, int]:
    """Return the sentence that asks, and the offset where its request begins."""
    sentence = last_question(passage)
    if sentence:
        if _verbs("verbs").match(sentence.text):
            # "说说…是什么？" is a request with a question in it.
            raise Refused("a question that begins as a request")
        if _RHETORICAL.match(sentence.text) or not (
            _YES_NO.search(sentence.text) or ASKING.search(sentence.text)
        ):
            raise Refused("no plain question")
        return sentence, sentence.start
    for item in sentences(passage):
        please = _PLEASE.match(item.text)
        if _verbs("verbs", "openers").match(item.text, please.end() if please else 0):
            return item, item.start
    raise Refused("no request")


@functools.cache
def _verbs(*kinds: str) -> re.Pattern[str]:
    table = read_table("zh_request")
    verbs = sorted((verb for kind in kinds for verb in table[kind]), key=lambda verb: (-len(verb), verb))
    return re.compile("|".join(verbs))
