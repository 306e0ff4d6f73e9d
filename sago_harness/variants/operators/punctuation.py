"""Repeated punctuation marks."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.text.graphemes import is_boundary
from sago_harness.variants.wrap import body_end, is_question, put_before

MARKS = "!?,;.！？，；。"
_ASKING_EN = frozenset(
    [
        "what", "who", "whom", "whose", "which", "when", "where", "why", "how", "is", "are", "was", "were",
        "do", "does", "did", "can", "could", "will", "would", "should", "has", "have", "had", "may",
        "might",
    ]
)  # fmt: skip
_ASKING_ZH = ("什么", "谁", "哪", "怎么", "怎样", "为何", "多少", "几", "吗", "呢", "是否")

_MARK_MAY_FOLLOW = ("number", "date", "quote", "label", "numeral", "token")


class Punctuation(Guarded):
    """Repeats marks that the text has; the strength is the number of marks added.

    *suffix* repeats the last mark; a text that ends without one gets the mark of its kind
    first, one that ends with options has the last mark before them repeated. *prefix*
    repeats the first mark, *throughout* spreads the marks over all. Where the closing mark is
    the only one, they put marks in front of the text, or behind words as well.

    Examples
    --------
    >>> Punctuation(3, "suffix").apply(Passage("Who is it?"), random.Random(1))
    'Who is it????'
    >>> Punctuation(1, "suffix").apply(Passage("who is it"), random.Random(1))
    'who is it??'
    """

    name = "punctuation"
    family = "noise"
    languages = ("en", "zh")
    positions = ("suffix", "prefix", "throughout")
    strengths = (1, 3, 5, 10, 20)
    feature = "repeated_marks"
    version = 2

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Repeat the marks outside the kept spans."""
        text, count = passage.text, int(self.strength or 0)
        places = [
            at
            for start, end in passage.free()
            for at in range(start, end)
            if text[at] in MARKS and is_boundary(text, at + 1)
        ]
        if self.position == "suffix":
            return self._at_end(passage, count, places)
        if not places:
            raise Refused("no mark to repeat")
        # With one mark, and that at the end, all three positions would give one text.
        lone = len(places) == 1 and places[0] >= len(text.rstrip()) - 1
        if self.position == "prefix":
            if lone:
                return put_before(passage, text[places[0]] * count)
            chosen = [places[0]] * count
        else:
            spread = places + (_word_ends(passage) if lone else [])
            chosen = sorted(rng.choice(spread) for _ in range(count))
        parts, at = [], 0
        for place in chosen:
            parts += [text[at : place + 1], text[place] if text[place] in MARKS else text[places[0]]]
            at = place + 1
        return "".join([*parts, text[at:]])

    @staticmethod
    def _at_end(passage: Passage, count: int, places: list[int]) -> str:
        text, end = passage.text, body_end(passage)
        places = [place for place in places if place < end]
        kept = next((span for span in passage.keep if span.end == end), None)
        if places and places[-1] == end - 1:
            extra = text[end - 1] * count
        elif not is_boundary(text, end):
            raise Refused("ends inside a character")
        elif kept is None and not text[end - 1].isalnum():
            raise Refused("ends with another mark")
        elif kept is not None and kept.kind not in _MARK_MAY_FOLLOW:
            # A mark glued to an option, an address or a formula would change it: repeat the last one before.
            if not places:
                raise Refused("ends with a literal")
            end = places[-1] + 1
            extra = text[end - 1] * count
        else:
            extra = _own_mark(passage) * (count + 1)
        return text[:end] + extra + text[end:]


def _word_ends(passage: Passage) -> list[int]:
    """Return the last letter of every word before a space, outside the kept spans."""
    text = passage.text
    return [
        at
        for start, end in passage.free()
        for at in range(start, end - 1)
        if text[at].isalnum() and text[at + 1] == " "
    ]


def _own_mark(passage: Passage) -> str:
    """Choose the closing mark that a text without one would have."""
    words = passage.text.lower().split()
    if passage.language == "zh":
        asks = any(word in passage.text for word in _ASKING_ZH)
        return "？" if asks or is_question(passage.text) else "。"
    return "?" if words[0].split("'")[0] in _ASKING_EN or is_question(passage.text) else "."
