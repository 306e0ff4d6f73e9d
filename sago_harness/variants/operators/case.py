"""Letters turned to upper case."""

from __future__ import annotations

import math
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.graphemes import is_boundary

_WORD = re.compile(r"[^\W\d_]+")


class Case(Guarded):
    """Turns a share of the lower-case letters to upper case; the strength is the share in percent.

    *prefix* works on the first third of the text, *suffix* on the last. Letters whose upper
    case is not one letter that goes back again ("ß") stay. A short word whose capitals are
    another word ("who", "it", "us") keeps one small letter, chosen by chance.

    Examples
    --------
    >>> Case(100, "throughout").apply(Passage("Where was the cap?"), random.Random(1))
    'WHERE WAS THE CAP?'
    """

    name = "case"
    family = "noise"
    languages = ("en",)
    positions = ("throughout", "prefix", "suffix")
    strengths = (10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100)
    feature = "upper_share"
    version = 2
    tables: ClassVar[tuple[str, ...]] = ("capital_words",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose the letters by chance among those outside the kept spans."""
        text = passage.text
        low, high = 0, len(text)
        if self.position == "prefix":
            high = math.ceil(len(text) / 3)
        elif self.position == "suffix":
            low = len(text) - math.ceil(len(text) / 3)
        letters = [
            at
            for start, end in passage.free(semantic=False)
            for at in range(max(start, low), min(end, high))
            if _turns(text[at]) and is_boundary(text, at + 1)
        ]
        free = sorted(set(letters) - _held(text, letters, rng))
        if not free:
            raise Refused("no letter to turn to upper case")
        count = math.ceil(len(letters) * (self.strength or 0) / 100)
        chars = list(text)
        for at in rng.sample(free, min(count, len(free))):
            chars[at] = chars[at].upper()
        return "".join(chars)


def _held(text: str, letters: list[int], rng: random.Random) -> set[int]:
    """Return a letter that stays small for each word whose capitals are another word."""
    known, open_letters = set(read_table("capital_words")["en"]), set(letters)
    held = set()
    for word in _WORD.finditer(text):
        small = [at for at in range(*word.span()) if not text[at].isupper()]
        # A letter that cannot be turned keeps the word from being all capitals.
        if small and word.group().lower() in known and open_letters.issuperset(small):
            held.add(rng.choice(small))
    return held


def _turns(char: str) -> bool:
    upper = char.upper()
    return upper != char and len(upper) == 1 and upper.lower() == char
