"""Letters of another script that look the same."""

from __future__ import annotations

import math
import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.graphemes import is_boundary


class Lookalikes(Guarded):
    r"""Puts Cyrillic letters in place of Latin ones of the same shape.

    The strength is the share of the Latin letters in percent. The pairs are the ones that
    look alike in nearly every typeface, all of them in Unicode's table of confusables
    (UTS 39).

    Examples
    --------
    >>> ascii(Lookalikes(5).apply(Passage("What is that?"), random.Random(1)))
    "'What \\u0456s that?'"
    """

    name = "lookalikes"
    family = "noise"
    languages = ("en",)
    strengths = (5, 10, 25)
    feature = "mixed_letters"
    tables: ClassVar[tuple[str, ...]] = ("lookalikes",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose the letters by chance among those outside the kept spans."""
        text = passage.text
        alike: dict[str, str] = read_table("lookalikes")["en"]
        letters, places = 0, []
        for start, end in passage.free():
            for at in range(start, end):
                char = text[at]
                if char.isascii() and char.isalpha():
                    letters += 1
                    if char in alike and is_boundary(text, at + 1):
                        places.append(at)
        if not places:
            raise Refused("no letter that has a look-alike")
        count = min(math.ceil(letters * (self.strength or 0) / 100), len(places))
        chars = list(text)
        for at in rng.sample(places, count):
            chars[at] = alike[chars[at]]
        return "".join(chars)
