"""What noise looks like: which edits, where in the word, how many; generated beside human."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

KINDS = ("insertion", "deletion", "substitution", "transposition", "case", "space", "punctuation")
PLACES = ("first", "inner", "last", "outside")


@dataclass(frozen=True, slots=True)
class Profile:
    """The edits of many pairs of texts.

    Attributes
    ----------
    n : int
        Pairs.
    kinds, places : dict of str to float
        Shares of the edits.
    words_hit : dict of str to float
        Shares of the pairs with 0, 1, 2, 3 or more words touched.
    error_rate : tuple of float
        Quartiles of edits per character of the canonical text.
    """

    n: int
    kinds: dict[str, float]
    places: dict[str, float]
    words_hit: dict[str, float]
    error_rate: tuple[float, float, float]


def edits_of(old: str, new: str) -> list[tuple[str, int]]:
    """Return (kind, place in the old text) of the edits of a shortest way from one text to the other.

    Examples
    --------
    >>> edits_of("which", "whihc"), edits_of("Team", "team!")
    ([('transposition', 3)], [('case', 0), ('punctuation', 4)])
    """
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    cost = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if not i or not j:
                cost[i][j] = i + j
                continue
            best = min(cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if _swapped(a, b, i, j):
                best = min(best, cost[i - 2][j - 2] + 1)
            cost[i][j] = best
    found: list[tuple[str, int]] = []
    i, j = len(a), len(b)
    while i or j:
        if i and j and a[i - 1] == b[j - 1] and cost[i][j] == cost[i - 1][j - 1]:
            i, j = i - 1, j - 1
            continue
        if _swapped(a, b, i, j) and cost[i][j] == cost[i - 2][j - 2] + 1:
            i, j = i - 2, j - 2
            found.append(("transposition", head + i))
        elif i and j and cost[i][j] == cost[i - 1][j - 1] + 1:
            i, j = i - 1, j - 1
            found.append((_kind(a[i], b[j]), head + i))
        elif i and cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
            found.append((_kind(a[i], ""), head + i))
        else:
            j -= 1
            found.append((_kind("", b[j]), head + i))
    return found[::-1]


def make_profile(pairs: Iterable[tuple[str, str]]) -> Profile:
    """Return the profile of (canonical, variant) pairs."""
    kinds: Counter[str] = Counter()
    places: Counter[str] = Counter()
    hit: Counter[str] = Counter()
    rates = []
    for old, new in pairs:
        edits = edits_of(old, new)
        kinds.update(kind for kind, _ in edits)
        places.update(_place(old, at) for _, at in edits)
        words = len({_word(old, at) for kind, at in edits if kind != "punctuation"})
        hit["3+" if words > 2 else str(words)] += 1
        rates.append(len(edits) / max(1, len(old)))
    low, middle, high = np.percentile(rates, [25, 50, 75]) if rates else (0.0, 0.0, 0.0)
    return Profile(
        len(rates),
        _shares(kinds, KINDS),
        _shares(places, PLACES),
        _shares(hit, ("0", "1", "2", "3+")),
        (float(low), float(middle), float(high)),
    )


def divergence(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the Jensen-Shannon divergence of two distributions in bits: 0 equal, 1 nothing shared.

    Examples
    --------
    >>> divergence({"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}), divergence({"a": 1.0}, {"a": 1.0})
    (1.0, 0.0)
    """
    p, q = (np.array([side[name] for name in sorted(one)]) for side in (one, other))
    middle = (p + q) / 2

    def kl(side: np.ndarray) -> float:
        present = side > 0
        return float((side[present] * np.log2(side[present] / middle[present])).sum())

    return max(0.0, (kl(p) + kl(q)) / 2)


def _swapped(a: str, b: str, i: int, j: int) -> bool:
    return i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1] and a[i - 1] != a[i - 2]


def _kind(old: str, new: str) -> str:
    if old and new and old.casefold() == new.casefold():
        return "case"
    touched = (old + new).replace("'", "").replace("’", "")
    if touched.isspace():
        return "space"
    if not any(char.isalnum() for char in touched):
        return "punctuation"
    return "substitution" if old and new else "deletion" if old else "insertion"


def _place(text: str, at: int) -> str:
    """Say where in a word an offset lies; an insertion behind the last letter is at its end."""
    if at >= len(text) or not text[at].isalnum():
        return "last" if at and text[at - 1].isalnum() and at >= len(text) else "outside"
    if not at or not text[at - 1].isalnum():
        return "first"
    return "inner" if at + 1 < len(text) and text[at + 1].isalnum() else "last"


def _word(text: str, at: int) -> int:
    return text.count(" ", 0, at)


def _shares(counts: Counter[str], names: tuple[str, ...]) -> dict[str, float]:
    total = max(1, counts.total())
    return {name: counts[name] / total for name in names}
