"""Added spaces before, after or between words."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.text.graphemes import is_boundary
from sago_harness.variants.text.scripts import is_han
from sago_harness.variants.wrap import body_end


class Spaces(Guarded):
    """Adds as many spaces as the strength says.

    *throughout* spreads them over the gaps between words; in Chinese, which has none, over
    the places between two characters.

    Examples
    --------
    >>> Spaces(5, "prefix").apply(Passage("Who is it?"), random.Random(1))
    '     Who is it?'
    """

    name = "spaces"
    family = "noise"
    languages = ("en", "zh")
    positions = ("prefix", "suffix", "throughout")
    strengths = (1, 5, 20, 50, 100)
    feature = "extra_spaces"

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Add the spaces at one place or over all gaps."""
        text, count = passage.text, int(self.strength or 0)
        if self.position == "prefix":
            if not is_boundary(" " + text, 1):
                raise Refused("begins with a combining mark")
            return " " * count + text
        if self.position == "suffix":
            end = body_end(passage)
            if not is_boundary(text, end):
                raise Refused("ends inside a character")
            return text[:end] + " " * count + text[end:]
        gaps = self._gaps(passage)
        if not gaps:
            raise Refused("no gap between words")
        chosen = sorted(rng.choice(gaps) for _ in range(count))
        parts, at = [], 0
        for gap in chosen:
            parts += [text[at:gap], " "]
            at = gap
        return "".join([*parts, text[at:]])

    @staticmethod
    def _gaps(passage: Passage) -> list[int]:
        """Return the offsets where a space may go, never inside or beside a kept span in Chinese."""
        text = passage.text
        inside = [at for start, end in passage.free() for at in range(max(start, 1), end)]
        if passage.language == "zh":
            starts = {span.end for span in passage.keep}
            between = [at for at in inside if at not in starts and is_han(text[at - 1]) and is_han(text[at])]
            if between:
                return between
        # A text without Han characters has its words apart in any language.
        return [at for at in inside if text[at] == " "]
