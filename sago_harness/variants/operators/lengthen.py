"""A longer text that says nothing more."""

from __future__ import annotations

import bisect
import functools
import itertools
import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import is_question, put_after, put_before

#: How far the length may be from the one that is asked for.
TOLERANCE = 0.15
# Within this share of the nearest length, chance decides.
_PLAY = 0.05


class Lengthen(Guarded):
    """Makes the text 1.5, 2 or 3 times as long, give or take 15 %, with sentences around it.

    The sentences are about the sender, never about the subject or the answer. A text for which
    they are too long, or too few, is refused.

    Examples
    --------
    >>> longer = Lengthen(2).apply(Passage("Who wrote the novel Emma?"), random.Random(1))
    >>> 1.85 <= len(longer) / len("Who wrote the novel Emma?") <= 2.15
    True
    """

    name = "lengthen"
    family = "structure"
    languages = ("en",)
    strengths = (1.5, 2, 3)
    feature = "log_length"
    tables: ClassVar[tuple[str, ...]] = ("lengthen",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose by chance among the sets of sentences that come nearest to the length."""
        size = len(passage.text)
        target = round(size * (self.strength or 1))
        allowed = TOLERANCE * target
        before, after = _choose(is_question(passage.text), target - size, target, rng)
        text = passage.text
        if after:
            text = put_after(passage, " ".join(after))
        if before:
            glue = "\n" if "\n" in passage.text.strip() else ""
            text = put_before(Passage(text, passage.language), " ".join(before) + glue)
        if abs(len(text) - target) > allowed:
            raise Refused("cannot be made so long")
        return text


def _choose(asks: bool, extra: int, target: int, rng: random.Random) -> tuple[list[str], list[str]]:
    """Return sentences before and after that are together about ``extra`` characters long."""
    slots, before, sets = _sets(asks)
    at = bisect.bisect_left(sets, (extra,))
    best = min(abs(found[0] - extra) for found in sets[max(0, at - 1) : at + 1])
    if best > TOLERANCE * target:
        raise Refused("cannot be made so long")
    reach = min(TOLERANCE, best / target + _PLAY) * target
    low = bisect.bisect_left(sets, (extra - reach,))
    high = bisect.bisect_right(sets, (extra + reach, (99,)))
    _, numbers = sets[rng.randrange(low, max(high, low + 1))]
    chosen = [slot[number - 1] if number else "" for slot, number in zip(slots, numbers, strict=True)]
    return [part for part in chosen[:before] if part], [part for part in chosen[before:] if part]


@functools.cache
def _sets(asks: bool) -> tuple[list[list[str]], int, list[tuple[float, tuple[int, ...]]]]:
    """Return the slots, how many stand before the text, and every filling by its length.

    A filling takes one sentence of a slot, by its number, or none (0).
    """
    table = read_table("lengthen")["en"]["question" if asks else "other"]
    slots = [*table["before"], *table["after"]]
    costs = [[0, *(len(sentence) + 1 for sentence in slot)] for slot in slots]
    fillings = itertools.product(*(range(len(cost)) for cost in costs))
    sized = (
        (float(sum(cost[number] for cost, number in zip(costs, numbers, strict=True))), numbers)
        for numbers in fillings
    )
    return slots, len(table["before"]), sorted(filling for filling in sized if filling[0])
