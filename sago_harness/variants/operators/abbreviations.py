"""Written abbreviations of whole words."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import matches_within
from sago_harness.variants.phrases import read_table

_HEAD = re.compile(r"(?:\A|[.!?:;]\s|\n)[\s\"'“”‘’(\[\-*•]*\Z")


class Abbreviations(Guarded):
    """Shortens every word that has an abbreviation; 1 those of the office, 2 those of chats too.

    Examples
    --------
    >>> Abbreviations(2).apply(Passage("Are you with people of the government?"), random.Random(1))
    'Are u w/ ppl of the govt?'
    """

    name = "abbreviations"
    family = "register"
    languages = ("en",)
    strengths = (1, 2)
    feature = "abbreviations"
    tables: ClassVar[tuple[str, ...]] = ("abbreviations",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Swap words outside the kept spans."""
        del rng
        text = passage.text
        pattern, shorts = _shorts(int(self.strength or 0))
        parts: list[str] = []
        at = 0
        for match in matches_within(pattern, text, passage.free()):
            short = _fitting(text, match, shorts[match.group().lower()])
            if short:
                parts += [text[at : match.start()], short]
                at = match.end()
        if not parts:
            raise Refused("no word with an abbreviation")
        return "".join([*parts, text[at:]])


def _fitting(text: str, match: re.Match[str], short: str) -> str:
    """Return the abbreviation as it is written here, "" where the word is better left."""
    word = match.group()
    if short.endswith(".") and text[match.end() : match.end() + 1] == ".":
        short = short[:-1]
    if word == word.lower():
        return short
    head = word[1:] == word[1:].lower() and _HEAD.search(text, max(0, match.start() - 8), match.start())
    # A capital inside a sentence makes a name of the word; "U" and "&" open no sentence.
    return short[0].upper() + short[1:] if head and len(short) > 2 and short[0].isalpha() else ""


@functools.cache
def _shorts(step: int) -> tuple[re.Pattern[str], dict[str, str]]:
    shorts: dict[str, str] = {}
    for grade, words in read_table("abbreviations").items():
        if int(grade) <= step:
            shorts |= words
    longest = sorted(shorts, key=lambda word: (-len(word), word))
    # "w/" and "&" lean on the word after them.
    leaning = [word for word in longest if shorts[word][-1] in "/&"]
    free = [word for word in longest if shorts[word][-1] not in "/&"]
    body = f"{'|'.join(free)}|(?:{'|'.join(leaning)})(?= [^\\W_])"
    return re.compile(rf"(?<![\w'’\-])(?:{body})(?![\w'’\-])", re.I), shorts
