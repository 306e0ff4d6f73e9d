"""Emoji before, after or between the clauses."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.graphemes import is_boundary
from sago_harness.variants.wrap import put_after, put_before

# A clause ends here and the text goes on; a stop needs a word and a capital beside it ("U.S. state"),
# and "and" goes on with a list.
_BORDER = {
    "en": re.compile(r"(?:(?<=[^\W\d_][,;!?:])|(?<=[a-z]{4}[.])(?= [A-Z]))(?= (?!and\b|or\b)[^\W\d_])"),
    "zh": re.compile(r"(?<=[^\W\d_][，；。！？：])(?=[^\W\d_])"),
}


class Emoji(Guarded):
    """Adds as many neutral emoji as the strength says, each another one.

    *throughout* puts them at the borders of clauses, at most one each; the text's start and
    end serve where the borders are too few.

    Examples
    --------
    >>> Emoji(2, "suffix").apply(Passage("Who wrote Emma?"), random.Random(1))
    'Who wrote Emma? 🤔😊'
    """

    name = "emoji"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix", "throughout")
    strengths = (1, 2, 3)
    feature = "emoji"
    tables: ClassVar[tuple[str, ...]] = ("emoji",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose the emoji, then their places."""
        signs = rng.sample(read_table("emoji")[self.position], int(self.strength or 0))
        if self.position == "prefix":
            return put_before(passage, "".join(signs))
        if self.position == "suffix":
            return put_after(passage, "".join(signs))
        return self._spread(passage, signs, rng)

    @staticmethod
    def _spread(passage: Passage, signs: list[str], rng: random.Random) -> str:
        text = passage.text
        places = [
            at
            for start, end in passage.free()
            for at in (match.start() for match in _BORDER[passage.language].finditer(text, start, end))
            if start < at < end and is_boundary(text, at)
        ]
        if not places:
            raise Refused("no border of clauses")
        if len(places) + 2 < len(signs):
            raise Refused(f"fewer than {len(signs)} borders of clauses")
        chosen = sorted(rng.sample(places, min(len(signs), len(places))))
        first, rest = signs[: len(chosen)], signs[len(chosen) :]
        glue = "" if passage.language == "zh" else " "
        parts, at = [], 0
        for place, sign in zip(chosen, first, strict=True):
            parts += [text[at:place], glue, sign]
            at = place
        varied = "".join([*parts, text[at:]])
        if rest:
            # The closing place lies behind every border, so its offset is only shifted.
            shift = len(varied) - len(text)
            end = put_after(passage, rest[0])
            tail = end[chosen[-1] :]
            varied = varied[: chosen[-1] + shift] + tail
        if len(rest) > 1:
            varied = put_before(Passage(varied, passage.language), rest[1])
        return varied
