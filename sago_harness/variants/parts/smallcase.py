"""Writes English in lower case, apart from the words whose capital is their meaning."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.base import Passage
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.graphemes import is_boundary

#: The word lists that the result depends on.
TABLES: tuple[str, ...] = ("proper_words", "capital_words")

_WORD = re.compile(r"[^\W\d_]+")
_JOINED = re.compile(r"[A-Z]?[a-z]+[A-Z][a-z]{2,}")
_HEAD = re.compile(r"(?:\A|[.!?\n])[\s\"'“‘(]*\Z")
_SUBJECT_NEXT = re.compile(
    r" (?:I|you|we|they|he|she|it|there|this|that|these|those|the|a|an|my|your|our|their|his|her"
    r"|people|someone|anyone)\b"
)


def small_letters(passage: Passage) -> list[str]:
    """Return the characters of the text, those outside the kept spans in lower case.

    A capital stays where the small word is another one: names ("Polish", "May"), words of
    capitals ("US", "WHO"), dotted ones ("U.S."), and a single letter that is a name ("plan B").
    So does a letter whose lower case is not one letter that goes back again.

    Examples
    --------
    >>> "".join(small_letters(Passage("Does the WHO meet in Paris in May? I ask.")))
    'does the WHO meet in paris in May? i ask.'
    """
    text = passage.text
    chars = list(text)
    ranges = passage.free(semantic=False)
    held = _held(text)
    for start, end in ranges:
        for at in range(start, end):
            if text[at].isupper() and at not in held and _turns(text[at]) and is_boundary(text, at + 1):
                chars[at] = text[at].lower()
    return chars


def _held(text: str) -> set[int]:
    """Return the places of the capitals that carry meaning."""
    names, capitals, opening = _lists()
    held: set[int] = set()
    for match in _WORD.finditer(text):
        word = match.group()
        if word.islower():
            continue
        start, end = match.span()
        lower = word.lower()
        if len(word) == 1:
            stays = _is_name(text, start, end)
        elif word.isupper():
            stays = lower in capitals
        elif word[1:].islower():
            stays = lower in names
            if stays and lower in opening and _HEAD.search(text, max(0, start - 8), start):
                # "Will you", "May I": the word opens a question, it is no name.
                stays = not _SUBJECT_NEXT.match(text, end)
        else:
            # "pH", "CaCO": letters inside a word have their case for a reason; "YouTube" is a name.
            stays = not _JOINED.fullmatch(word)
        if stays:
            held.update(range(start, end))
    return held


def _is_name(text: str, start: int, end: int) -> bool:
    """Say whether a single capital is a name or an initial: "plan B", "vitamin A", "U.S."."""
    if text[end : end + 1] in ("'", "’"):
        return False
    if text[start] == "A":
        return text[end : end + 1] == "." or not _HEAD.search(text, max(0, start - 8), start)
    return text[start] != "I" or (
        text[end : end + 1] == "." and text[end + 1 : end + 3].strip()[:1].isupper()
    )


def _turns(char: str) -> bool:
    lower = char.lower()
    return lower != char and len(lower) == 1 and lower.upper() == char


@functools.cache
def _lists() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    table = read_table("proper_words")["en"]
    capitals = frozenset(table["capitals"]) | frozenset(read_table("capital_words")["en"])
    return frozenset(table["names"]), capitals, frozenset(table["opening"])
