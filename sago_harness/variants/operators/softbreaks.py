"""Lines broken inside sentences, as in a text pasted from an e-mail."""

from __future__ import annotations

import random
import re

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import holds

_GAP = re.compile(r"(?<=[^\s\u200d]) +(?=[^\s])")
# A new line that begins so would be read as a list, a heading, a quotation or an option.
_READ_AS_LIST = re.compile(r"[-–—*•#>+=|~]|\(?\w{1,3}[.):、]|\d+\s")


class SoftBreaks(Guarded):
    r"""Breaks every line after at most as many characters as the strength says.

    A break stands between words only, never inside a kept span, nor before a word that would
    be read as the head of a list; a line without a gap stays longer.

    Examples
    --------
    >>> SoftBreaks(20).apply(Passage("Who wrote the novel that Emma is named after?"), random.Random(1))
    'Who wrote the novel\nthat Emma is named\nafter?'
    """

    name = "softbreaks"
    family = "noise"
    languages = ("en",)
    strengths = (40, 20)
    feature = "line_breaks"

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Break at the last possible gap of each line."""
        del rng
        text, width = passage.text, int(self.strength or 0)
        ranges = passage.free(semantic=False)
        gaps = [
            match.span()
            for match in _GAP.finditer(text)
            if not _READ_AS_LIST.match(text, match.end()) and holds(ranges, *match.span())
        ]
        parts: list[str] = []
        line = copied = 0
        for index, (start, end) in enumerate(gaps):
            line = max(line, text.rfind("\n", line, start) + 1)
            following = gaps[index + 1][0] if index + 1 < len(gaps) else len(text.rstrip())
            newline = text.find("\n", end, following)
            if (newline if newline >= 0 else following) - line > width:
                parts += [text[copied:start], "\n"]
                copied = line = end
        if not parts:
            raise Refused(f"no line longer than {width} characters")
        return "".join([*parts, text[copied:]])
