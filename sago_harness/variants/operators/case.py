"""Letters turned to upper case."""

from __future__ import annotations

import math
import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.graphemes import is_boundary
from sago_harness.variants.guarded import Guarded


class Case(Guarded):
    """Turns a share of the lower-case letters to upper case; the strength is the share in percent.

    *prefix* works on the first third of the text, *suffix* on the last. Letters whose upper
    case is not one letter that goes back again ("ß") stay.

    Examples
    --------
    >>> Case(100, "throughout").apply(Passage("Who is it?"), random.Random(1))
    'WHO IS IT?'
    """

    name = "case"
    family = "noise"
    languages = ("en",)
    positions = ("throughout", "prefix", "suffix")
    strengths = tuple(range(10, 101, 10))
    feature = "upper_share"

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
            for start, end in passage.free()
            for at in range(max(start, low), min(end, high))
            if _turns(text[at]) and is_boundary(text, at + 1)
        ]
        if not letters:
            raise Refused("no letter to turn to upper case")
        count = math.ceil(len(letters) * (self.strength or 0) / 100)
        chars = list(text)
        for at in rng.sample(letters, count):
            chars[at] = chars[at].upper()
        return "".join(chars)


def _turns(char: str) -> bool:
    upper = char.upper()
    return upper != char and len(upper) == 1 and upper.lower() == char
