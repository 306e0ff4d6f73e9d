"""Marks that a hasty typist leaves out."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.marks import (
    asks_without_mark,
    is_abbreviation,
    joins_numbers,
    may_go,
    sentences,
)
from sago_harness.variants.parts.within import holds
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import body_end

_MARK = re.compile(r", |(?<![\w'’\-])(?P<word>[A-Za-z]+)['’](?P<tail>[A-Za-z]+)(?![\w'’\-])")


class Missing(Guarded):
    """Leaves out the final mark (strength 1), and apostrophes and commas as well (2).

    Of 1,160 questions with a question mark, 61 lost it when people typed them (NoiseQA).
    Apostrophes go only from short forms that are no other common word without it: "dont", "whats",
    never "well", "were", "its". Commas go only after an opening clause and before "which",
    "so" and the like, never from a list.

    Examples
    --------
    >>> Missing(1).apply(Passage("What's it, if you don't mind?"), random.Random(1))
    "What's it, if you don't mind"
    >>> Missing(2).apply(Passage("If you don't sleep at night, what's next?"), random.Random(1))
    'If you dont sleep at night whats next'
    """

    name = "missing"
    family = "noise"
    languages = ("en",)
    strengths = (1, 2)
    feature = "mark_density"
    tables: ClassVar[tuple[str, ...]] = ("bare_forms",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Drop the marks outside the kept spans."""
        del rng
        gone = _final(passage)
        if self.strength == 2:
            inner = _inner(passage)
            if not inner:
                raise Refused("no apostrophe or comma to leave out")
            gone |= inner
        if not gone:
            raise Refused("no final mark to leave out")
        return "".join(char for at, char in enumerate(passage.text) if at not in gone)


def _final(passage: Passage) -> set[int]:
    """Return the places of the marks that close the text, if they can go."""
    text = passage.text
    end = _body_end(passage)
    start = end
    while start > 0 and text[start - 1] in ".!?":
        start -= 1
    places = set(range(start, end))
    closing = text[start:end]
    if not places or not _all_free(passage, start, end) or not text[start - 1 : start].isalnum():
        return set()
    # "..." and "U.S." are no end of a sentence.
    if ".." in closing or (closing == "." and is_abbreviation(text, start)):
        return set()
    if "?" in closing and not asks_without_mark(sentences(text[:end])[-1]):
        return set()
    return places


def _body_end(passage: Passage) -> int:
    try:
        return body_end(passage)
    except Refused:
        return 0


def _all_free(passage: Passage, start: int, end: int) -> bool:
    return holds(passage.free(semantic=False), start, end)


def _inner(passage: Passage) -> set[int]:
    """Return the places of the apostrophes and commas that can go."""
    text, forms = passage.text, _bare_forms()
    ranges = passage.free(forms=("negation",))
    places = set()
    for match in _MARK.finditer(text):
        at = match.start()
        last = match.end() if match["word"] else at + 1
        if not holds(ranges, at, last):
            continue
        if match.group() == ", ":
            goes = may_go(text, at) and not joins_numbers(passage, at)
        else:
            goes = f"{match['word']}'{match['tail']}".lower() in forms
            at = match.end("word")
        if goes:
            places.add(at)
    return places


@functools.cache
def _bare_forms() -> frozenset[str]:
    """Return the short forms that are no other common word without their apostrophe."""
    return frozenset(read_table("bare_forms")["en"])
