"""Neighbouring function words in the wrong order."""

from __future__ import annotations

import random
import re

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import holds

# A preposition or a verb form, then an article or a possessive: swapped they make no other sense.
_PAIR = re.compile(
    r"(?<![\w'’\-])(of|in|on|at|to|for|from|with|by|into|about|during|through|is|was|are|were|did|does|do)"
    r" (the|a|an|your|their)(?![\w'’\-])"
)
# What a swap could part from the word it belongs to.
_BEFORE = re.compile(
    r"(?:\b(?:not|no|never|nor|only|all|half|most|more|less|than|both)|n['’]t|\d\S*)\s\Z", re.I
)
_HEAD = re.compile(r"(?:\A|[.!?:\n]\s*)\Z")
_WORD_NEXT = re.compile(r" [a-z]")


class Order(Guarded):
    """Swaps two neighbouring function words ("What the is capital").

    Only a preposition or a form of "be" or "do" with the article or possessive behind it: no
    subject and object, no negation and no number can change places. A slip of fast typing
    that is rare: none of the 1,190 typed questions of NoiseQA has its words in another order.

    Examples
    --------
    >>> Order().apply(Passage("Where is the cat?"), random.Random(1))
    'Where the is cat?'
    """

    name = "order"
    family = "noise"
    languages = ("en",)
    version = 2

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose the pairs by chance among those outside the kept spans."""
        text = passage.text
        ranges = passage.free()
        pairs = [
            match.span()
            for match in _PAIR.finditer(text)
            if holds(ranges, *match.span()) and _may_swap(text, *match.span())
        ]
        if not pairs:
            raise Refused("no pair of function words")
        start, end = rng.choice(pairs)
        first, second = text[start:end].split(" ")
        return f"{text[:start]}{second} {first}{text[end:]}"


def _may_swap(text: str, start: int, end: int) -> bool:
    """Say whether a plain word follows, and nothing stands before that belongs to the pair."""
    if not _WORD_NEXT.match(text, end):
        return False
    return not (
        _BEFORE.search(text, max(0, start - 12), start) or _HEAD.search(text, max(0, start - 3), start)
    )
