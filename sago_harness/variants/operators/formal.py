"""Formal wording: a salutation, a closing, or full forms and formal words throughout."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.parts.full_forms import full_forms
from sago_harness.variants.parts.phrased import Phrased
from sago_harness.variants.phrases import read_table

_HEAD = re.compile(r"(?:\A|[.!?:;]\s|\n)[\s\"'“”‘’(\[\-*•]*\Z")


class Formal(Phrased):
    """Makes the register formal; 1 a touch, 2 ceremonious.

    *throughout* writes short forms out; from 2 it puts formal words for everyday ones as well,
    where the swap reads the same in any sentence. English only: in Chinese it is refused.

    Examples
    --------
    >>> Formal(2, "throughout").apply(Passage("What's it that kids want to buy?"), random.Random(1))
    "What's it that children wish to purchase?"
    """

    name = "formal"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix", "throughout")
    strengths = (1, 2)
    feature = "formal_markers"
    tables: ClassVar[tuple[str, ...]] = ("formal", "formal_words", "full_forms")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Add a phrase, or swap words outside the kept spans."""
        if self.position != "throughout":
            return super().vary(passage, rng)
        if passage.language != "en":
            raise Refused(f"no formal words for language {passage.language}")
        edits = list(full_forms(passage.text))
        if (self.strength or 0) >= 2:
            edits = sorted([*edits, *_formal_words(passage.text)])
        ranges = passage.free(forms=("negation",))
        parts, at, here = [], 0, 0
        for start, end, new in edits:
            while here < len(ranges) and ranges[here][1] < end:
                here += 1
            if here == len(ranges):
                break
            if start >= max(at, ranges[here][0]):
                parts += [passage.text[at:start], new]
                at = end
        if not parts:
            raise Refused("no word with a formal form")
        return "".join([*parts, passage.text[at:]])


def _formal_words(text: str) -> Iterator[tuple[int, int, str]]:
    pattern, swaps, lower_only = _swaps()
    for match in pattern.finditer(text):
        word = match.group()
        new = swaps.get(word.lower())
        if new is None:
            continue
        if word != word.lower():
            # A capital inside a sentence makes a name of it, and "Mom" is one anywhere.
            first = word[1:] == word[1:].lower() and _HEAD.search(
                text, max(0, match.start() - 8), match.start()
            )
            if not first or word.lower() in lower_only:
                continue
            new = new[0].upper() + new[1:]
        yield match.start(), match.end(), new


@functools.cache
def _swaps() -> tuple[re.Pattern[str], dict[str, str], frozenset[str]]:
    table: dict[str, dict[str, str]] = read_table("formal_words")

    def any_of(*groups: str) -> str:
        words = sorted(
            (word for group in groups for word in table[group]), key=lambda word: (-len(word), word)
        )
        return "|".join(map(re.escape, words))

    # "What happens to", "it so happened": another sense.
    happen = rf"(?<!\bit )(?<!\bso )(?<!\bas )(?:{any_of('happen')})(?! to\b)"
    clause = rf"(?:{any_of('before_clause')})(?= (?:what|who|whose|whether|how|why|when|where|which|that)\b)"
    body = f"{any_of('verbs', 'plain', 'kin')}|{happen}|{clause}"
    swaps = {word: new for words in table.values() for word, new in words.items()}
    return re.compile(rf"(?<![\w'’\-])(?:{body})(?![\w'’\-])", re.I), swaps, frozenset(table["kin"])
