"""Typing errors inside words."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.graphemes import is_boundary
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table

# A whole word of plain letters: no part of an accented, hyphenated or shortened word.
_WORD = re.compile(r"(?<![\w'’\-])[A-Za-z][a-z]{3,}(?![\w'’\-])")


class Typos(Guarded):
    """Makes as many typing errors as the strength says, each in a word of its own.

    Neighbours swapped, a letter dropped, doubled, or replaced by its neighbour on the
    keyboard; never the first letter, nor the last, which carries plural and tense. Names
    (a capital that does not open a usual first word), negations, comparatives, quantifiers
    and number words stay as they are.

    Examples
    --------
    >>> Typos(1).apply(Passage("Who wrote the novel?"), random.Random(3))
    'Who wrte the novel?'
    """

    name = "typos"
    family = "noise"
    languages = ("en",)
    strengths = (1, 2, 3)
    tables: ClassVar[tuple[str, ...]] = ("typos", "near_words")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose words by chance, then one error for each."""
        text, count = passage.text, int(self.strength or 0)
        words = _open_words(passage)
        if len(words) < count:
            raise Refused(f"fewer than {count} words of four letters")
        parts, at = [], 0
        for start, end in sorted(rng.sample(words, count)):
            parts += [text[at:start], _misspell(text[start:end], rng)]
            at = end
        return "".join([*parts, text[at:]])


def _open_words(passage: Passage) -> list[tuple[int, int]]:
    table = read_table("typos")
    opening, protected = set(table["opening"]), set(table["protected"])
    words = []
    for start, end in passage.free():
        for match in _WORD.finditer(passage.text, start):
            if match.end() > end:
                break
            word = match.group()
            if word.lower() in protected or (word[0].isupper() and word.lower() not in opening):
                continue
            if is_boundary(passage.text, match.end()):
                words.append(match.span())
    return words


def _misspell(word: str, rng: random.Random) -> str:
    """Make one error that gives no other common word, between the first letter and the last."""
    inner = range(1, len(word) - 1)
    errors = {
        "swap": [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in inner[:-1]],
        "drop": [word[:at] + word[at + 1 :] for at in inner],
        "double": [word[: at + 1] + word[at:] for at in inner],
        "neighbour": [
            word[:at] + beside + word[at + 1 :] for at in inner for beside in _neighbours(word[at])
        ],
    }
    words = _real_words()
    offered = {
        kind: fine
        for kind, made in errors.items()
        if (fine := [new for new in made if new != word and new.lower() not in words])
    }
    return rng.choice(offered[rng.choice(list(offered))])


@functools.lru_cache(maxsize=1)
def _real_words() -> frozenset[str]:
    """Return the common words that lie one such error from another common word ("form", "from").

    The list was worked out from the frequency list of pyspellchecker 0.9.1 (sources that
    occur at least 2000 times, results 500 times) and the words of GCIDE and Webster's Second.
    """
    return frozenset(read_table("near_words")["en"])


def _neighbours(letter: str) -> str:
    """Return the letters beside one on the same row of the keyboard."""
    rows: list[str] = read_table("typos")["keyboard"]
    row = next(row for row in rows if letter in row)
    at = row.index(letter)
    return row[max(0, at - 1) : at] + row[at + 1 : at + 2]
