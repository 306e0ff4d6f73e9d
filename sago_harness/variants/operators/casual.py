"""Casual wording: a greeting, a closing, or short forms and slang throughout."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import matches_within
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import put_after, put_before

# Short forms that lean on the word after them.
_LEANING = ("'s", "'m", "'re", "'ll")


class Casual(Guarded):
    """Makes the register casual; 1 mild, 2 colloquial, 3 slang.

    *throughout* swaps words and short forms of the step and of those below it: no word is
    added and a negation stays one.

    Examples
    --------
    >>> Casual(1, "throughout").apply(Passage("What is it that they do not like?"), random.Random(1))
    "What's it that they don't like?"
    """

    name = "casual"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix", "throughout")
    strengths = (1, 2, 3)
    feature = "casual_markers"
    version = 3
    tables: ClassVar[tuple[str, ...]] = ("casual",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Add a phrase, or swap words outside the kept spans."""
        table = read_table("casual")[passage.language]
        if self.position == "throughout":
            return self._swap(passage, table["throughout"])
        phrase = rng.choice(table[self.position][f"{self.strength:g}"])
        return put_before(passage, phrase) if self.position == "prefix" else put_after(passage, phrase)

    def _swap(self, passage: Passage, steps: dict[str, dict[str, str]]) -> str:
        swaps: dict[str, str] = {}
        for step, words in steps.items():
            if float(step) <= (self.strength or 0):
                swaps |= words
        pattern = _pattern(tuple(swaps.items()), passage.language)
        lowered = {word.lower(): short for word, short in swaps.items()}

        def short_form(match: re.Match[str]) -> str:
            word = match.group()
            short = lowered[word.lower()]
            return short[0].upper() + short[1:] if word[0].isupper() else short

        parts: list[str] = []
        at = 0
        for match in matches_within(pattern, passage.text, passage.free(forms=("negation",))):
            parts += [passage.text[at : match.start()], short_form(match)]
            at = match.end()
        if not parts:
            raise Refused("no word with a casual form")
        return "".join([*parts, passage.text[at:]])


@functools.lru_cache(maxsize=16)
def _pattern(swaps: tuple[tuple[str, str], ...], language: str) -> re.Pattern[str]:
    longest_first = sorted(swaps, key=lambda swap: (-len(swap[0]), swap[0]))
    if language == "zh":
        return re.compile("|".join(re.escape(word) for word, _ in longest_first))
    leaning = [re.escape(word) for word, short in longest_first if short.endswith(_LEANING)]
    free = [re.escape(word) for word, short in longest_first if not short.endswith(_LEANING)]
    # "I know what it is." and "what it is and does" keep the full form: nothing follows to lean on.
    follower = r"(?= (?!(?:and|or|but|than|if|when)\b)[^\W\d_])"
    # Nor does "where he is now": the question word took away what the verb leans on.
    asked = "".join(rf"(?<!\b{word} )" for word in ("where", "what", "who", "how"))
    body = "|".join(part for part in ("|".join(free), f"{asked}(?:{'|'.join(leaning)}){follower}") if part)
    return re.compile(rf"(?<![\w'’\-])(?:{body})(?![\w'’\-])", re.I)
