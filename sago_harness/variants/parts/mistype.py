"""Typing errors inside English words, of four kinds.

The shares of the kinds are those of NoiseQA (Ravichander et al., EACL 2021, noiseQA/NoiseQA):
1,190 XQuAD questions that people typed again. Of the 587 words with exactly one wrong,
missing or added letter, 265 lack a letter, 89 have a key's neighbour (86 of them on the same
row), 41 have two letters swapped, 36 have a letter doubled; the others (added or replaced
letters from elsewhere) are not made here. The error is inside the word in 345 of the 587, on
the first letter in 111, on the last in 131; those two are left alone, because the last
carries plural and tense and the first makes many other words. Of the 475 questions that kept
their number of words and have wrong ones, 327 have one, 101 two, 36 three and 11 more.
"""

from __future__ import annotations

import functools
import random
import re

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.parts.within import matches_within
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.graphemes import is_boundary

#: Kind of error -> how often it is seen among what people type.
KINDS: dict[str, int] = {"drop": 265, "neighbour": 89, "swap": 41, "double": 36}
#: The word lists that every result depends on.
TABLES: tuple[str, ...] = ("typos", "near_words")

# A whole word of plain letters: no part of an accented, hyphenated or shortened word. No English
# word is longer.
_WORD = re.compile(r"(?<![\w'’\-])[A-Za-z][a-z]{3,60}(?![\w'’\-])")


def mistype(passage: Passage, count: int, kinds: tuple[str, ...], rng: random.Random) -> str:
    """Return the text with typing errors in ``count`` words, one in each.

    Parameters
    ----------
    passage : Passage
    count : int
        Number of words.
    kinds : tuple of str
        Keys of :data:`KINDS`, chosen by their shares.
    rng : random.Random

    Raises
    ------
    Refused
        If fewer words than that can take such an error.

    Examples
    --------
    >>> mistype(Passage("Is it a wave?"), 1, ("swap",), random.Random(0))
    'Is it a wvae?'
    """
    text = passage.text
    words = open_words(passage)
    changed: list[tuple[int, int, str]] = []
    if len(words) >= count:
        for start, end in rng.sample(words, len(words)):
            if new := _wrong(text[start:end], kinds, rng):
                changed.append((start, end, new))
            if len(changed) == count:
                break
    if len(changed) < count:
        raise Refused(f"fewer than {count} words of four letters")
    parts, at = [], 0
    for start, end, new in sorted(changed):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def open_words(passage: Passage) -> list[tuple[int, int]]:
    """Return the ranges of the words that may take an error.

    Words of four plain letters or more; no names (a capital that does not open a usual first
    word), negations, comparatives, quantifiers or number words.

    Examples
    --------
    >>> passage = Passage("What did Anna never like?")
    >>> [passage.text[start:end] for start, end in open_words(passage)]
    ['What', 'like']
    """
    opening, protected = _lists()
    words = []
    for match in matches_within(_WORD, passage.text, passage.free()):
        word = match.group()
        lower = word.lower()
        if lower in protected or (word[0].isupper() and lower not in opening):
            continue
        if is_boundary(passage.text, match.end()):
            words.append(match.span())
    return words


def _wrong(word: str, kinds: tuple[str, ...], rng: random.Random) -> str:
    """Make one error that gives no other common word; "" if there is none."""
    left = list(kinds)
    known = _real_words()
    while left:
        kind = rng.choices(left, [KINDS[kind] for kind in left])[0] if len(left) > 1 else left[0]
        fine = [new for new in _errors(word, kind) if new != word and new.lower() not in known]
        if fine:
            return rng.choice(fine)
        left.remove(kind)
    return ""


def _errors(word: str, kind: str) -> list[str]:
    """Return every result of one kind of error between the first letter and the last."""
    inner = range(1, len(word) - 1)
    if kind == "swap":
        return [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner[:-1]]
    if kind == "drop":
        return [word[:at] + word[at + 1 :] for at in inner]
    if kind == "double":
        return [word[: at + 1] + word[at:] for at in inner]
    beside = _neighbours()
    return [word[:at] + key + word[at + 1 :] for at in inner for key in beside[word[at]]]


@functools.cache
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    table = read_table("typos")
    return frozenset(table["opening"]), frozenset(table["protected"])


@functools.cache
def _real_words() -> frozenset[str]:
    """Return the common words that lie one such error from another common word ("form", "from").

    The list was worked out twice and joined: from the frequency list of pyspellchecker 0.9.1
    (sources that occur at least 2000 times, results 500 times) with the words of GCIDE and
    Webster's Second, and from wordfreq 3.1.1 (sources of Zipf frequency 2.8 or more, results
    2.5) with the words of the CMU Pronouncing Dictionary.
    """
    return frozenset(read_table("near_words")["en"])


@functools.cache
def _neighbours() -> dict[str, str]:
    """Return for each letter the ones beside it on the same row of the keyboard."""
    rows: list[str] = read_table("typos")["keyboard"]
    return {
        letter: row[max(0, at - 1) : at] + row[at + 1 : at + 2]
        for row in rows
        for at, letter in enumerate(row)
    }
