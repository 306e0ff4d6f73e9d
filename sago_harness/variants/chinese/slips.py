"""Wrong characters inside words, such that no other word can be read."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.script import must_be_simplified
from sago_harness.variants.chinese.words import Word, is_word, pieces, words
from sago_harness.variants.parts.within import holds
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.scripts import is_han

# Names, numbers, times, set phrases, pronouns and question words stay.
_TAGS = ("n", "v", "vn", "vd", "a", "ad", "an", "b", "d", "z", "c", "p", "s", "f", "rr")
# What follows one of these may be a measure word and the thing itself.
_POINTING = ("哪", "这", "那", "几", "每")
_AROUND = 3
#: The characters that may be put in the place of a word's character, best first.
Forms = Callable[[str, int], str]


def slip(passage: Passage, rng: random.Random, count: int, forms: Forms) -> str:
    """Spoil ``count`` words by one character each.

    Parameters
    ----------
    passage : Passage
    rng : random.Random
    count : int
    forms : callable
        ``forms(word, index)`` gives the characters to choose from.

    Raises
    ------
    Refused
        If the text has fewer such words.
    """
    must_be_simplified(passage.text)
    ranges = passage.free()
    places = [
        word
        for word in words(passage.text)
        if len(word.text) > 1
        and passage.text[word.start - 1 : word.start] not in _POINTING
        and word.tag in _TAGS
        and all(is_han(char) for char in word.text)
        and holds(ranges, word.start, word.end)
    ]
    rng.shuffle(places)
    chars, spoilt = list(passage.text), 0
    for word in places:
        wrong = _spoil(passage.text, word, rng, forms)
        if wrong:
            chars[word.start : word.end] = wrong
            spoilt += 1
            if spoilt == count:
                return "".join(chars)
    raise Refused("too few words that a slip leaves readable")


def _spoil(text: str, word: Word, rng: random.Random, forms: Forms) -> str:
    """Return the word with one wrong character, "" if every form could be misread."""
    standing, misleading, fixed = _sets()
    # Words that the segmenter guessed may be two, of which one is a particle.
    if not is_word(word.text) or any(char in fixed or char in standing for char in word.text):
        return ""
    indices = list(range(len(word.text)))
    rng.shuffle(indices)
    before = text[max(0, word.start - _AROUND) : word.start]
    after = text[word.end : word.end + _AROUND]
    for index in indices:
        fitting = [
            wrong
            for char in forms(word.text, index)
            if char not in misleading
            and not is_word(wrong := word.text[:index] + char + word.text[index + 1 :])
            and _falls_apart(before, wrong, after)
        ]
        if fitting:
            return rng.choice(fitting)
    return ""


def _falls_apart(before: str, wrong: str, after: str) -> bool:
    """Say whether no word of the dictionary covers a character of the wrong form."""
    at, low, high = 0, len(before), len(before) + len(wrong)
    for piece in pieces(before + wrong + after):
        if len(piece) > 1 and at < high and at + len(piece) > low:
            return False
        at += len(piece)
    return True


@functools.cache
def _sets() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    table = read_table("zh_characters")
    return frozenset(table["standing"]), frozenset(table["misleading"]), frozenset(table["fixed"])
