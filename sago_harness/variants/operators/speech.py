"""Text as a speech recogniser writes it."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.marks import (
    asks_without_mark,
    is_abbreviation,
    joins_numbers,
    may_go,
    runs_on,
    sentences,
)
from sago_harness.variants.parts.smallcase import TABLES, small_letters

_MARKS = frozenset(".,!?;")
# Without these the parts of the text could not be told apart, or a gap would be lost.
_NEEDED = frozenset('()[]{}"“”«»…–—:/*#|<>=+_•')
_MOST_SENTENCES = 4


class Speech(Guarded):
    """Writes the text in lower case and without marks, its sentences run together.

    Of the 1,190 XQuAD questions that NoiseQA had a recogniser write down, none ends with a
    question mark, 1,142 begin with a small letter and 3 of 68 keep a comma; its recogniser
    kept the capitals of names, which go here as well unless the small word is another one.
    Literals, apostrophes, hyphens and line breaks stay. Texts that need a mark to be
    read (lists, brackets, colons, "in 5 years. In 3 years", "You like it?") and those of more
    than four sentences are refused.

    Examples
    --------
    >>> Speech().apply(Passage("Emma is a novel. Who wrote it?"), random.Random(1))
    'emma is a novel who wrote it'
    """

    name = "speech"
    family = "noise"
    languages = ("en",)
    feature = "mark_density"
    tables = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Drop the marks outside the kept spans, then the capitals."""
        del rng
        text = passage.text
        if any("?" in part and not asks_without_mark(part) for part in sentences(text)):
            raise Refused("a question only by its mark")
        chars = small_letters(passage)
        last, ends = len(text.rstrip()), 0
        for start, end in passage.free(semantic=False):
            for at in range(start, end):
                char = text[at]
                if char in _NEEDED:
                    raise Refused("brackets, colons or dashes that part the text")
                if char in ",;" and not may_go(text, at):
                    raise Refused("a list or clause that its comma parts")
                if char == " " and at > start and text[at - 1] == " ":
                    chars[at] = ""
                if char not in _MARKS or (char == "." and at + 1 < last and is_abbreviation(text, at)):
                    continue
                if joins_numbers(passage, at) or (at + 1 < last and char != "," and runs_on(text, at)):
                    raise Refused("sentences that only their mark parts")
                ends += char in ".!?"
                # A mark between two words without a space parts them still.
                glued = 0 < at < len(text) - 1 and text[at - 1].isalnum() and text[at + 1].isalnum()
                chars[at] = " " if glued else ""
        if ends > _MOST_SENTENCES:
            raise Refused("more than four sentences")
        if "".join(chars).lower() == text.lower():
            raise Refused("no mark to leave out")
        return "".join(chars)
