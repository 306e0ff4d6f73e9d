"""Words in full-width forms, as an East Asian keyboard writes them."""

from __future__ import annotations

import math
import random
import re

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.text.graphemes import is_boundary

_RUN = re.compile(r"[!-~]+")
_LETTER = re.compile(r"[A-Za-z]")
# A full-width apostrophe or hyphen joins no word any more: "didn't" would be two words.
_FULL = {code: code + 0xFEE0 for code in range(0x21, 0x7F) if chr(code) not in "'-"}


class Fullwidth(Guarded):
    """Writes words with their marks in full-width forms; the strength is the share of words in percent.

    The words stand in one run, as where an input method was left on for a while. Apostrophes and
    hyphens stay.

    Examples
    --------
    >>> Fullwidth(25).apply(Passage("Who is it?"), random.Random(1))
    'Ｗｈｏ is it?'
    """

    name = "fullwidth"
    family = "noise"
    languages = ("en",)
    strengths = (25, 100)
    version = 2
    feature = "fullwidth_share"

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose where the run begins; kept spans inside it stay."""
        text = passage.text
        # The letters stay the same ones, so names and negations need no care.
        words = [
            match.span()
            for start, end in passage.free(semantic=False)
            for match in _RUN.finditer(text, start, end)
            if _LETTER.search(text, *match.span()) and is_boundary(text, match.end())
        ]
        if not words:
            raise Refused("no word of plain letters")
        count = math.ceil(len(words) * (self.strength or 0) / 100)
        first = rng.randrange(len(words) - count + 1)
        parts, at = [], 0
        for start, end in words[first : first + count]:
            parts += [text[at:start], text[start:end].translate(_FULL)]
            at = end
        return "".join([*parts, text[at:]])
