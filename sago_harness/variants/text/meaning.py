"""Finds the words on which meaning hangs: names, negations, comparatives, quantifiers.

The lists are in ``tables/meaning.json``. Its common English words are those that stand in
lower case at least three times in the questions of TruthfulQA, GSM8K, Disfl-QA and BIG-Bench
Hard: a capital at the head of a sentence makes no name of them. Finding too much only leaves
less to vary.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from sago_harness.variants.base import Span
from sago_harness.variants.phrases import read_table

#: Kinds of semantic spans, in the order of every table.
KINDS: tuple[str, ...] = ("name", "negation", "comparative", "quantifier")

# A word with its hyphens and apostrophes; marks over a letter belong to it.
WORD = re.compile(r"[^\W_][^\W_\u4e00-\u9fff]*(?:[\u0300-\u036f]+[^\W_]*)*(?:['’\-][^\W\d_]+)*")
_NOT = re.compile(r"n['’]t\Z", re.I)
_PRONOUN = re.compile(r"I(?:['’]\w+)?\Z")
_SENTENCE_HEAD = re.compile(r"(?:\A|[.!?:;…\n。！？：；])[\s\"'“”‘’«»(\[\-*•]*\Z")
# Above this share of capitalised words a text is a headline, or shouted.
_HEADLINE = 0.6


def find_meaning(text: str, language: str = "en", keep: tuple[Span, ...] = ()) -> tuple[Span, ...]:
    """Find the semantic spans of a text, apart from the literal ones.

    Parameters
    ----------
    text : str
        Any Unicode text.
    language : str
        ISO 639-1 code; English lists serve every language but Chinese.
    keep : tuple of Span
        Literal spans; a word that touches one is left to it.

    Returns
    -------
    tuple of Span
        Sorted, non-overlapping; ``kind`` is one of :data:`KINDS`.

    Examples
    --------
    >>> text = "Did Anna Karenina never meet more than two officers?"
    >>> [(text[span.start : span.end], span.kind) for span in find_meaning(text)]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('Anna', 'name'), ('Karenina', 'name'), ('never', 'negation'), ('more', 'comparative'),
     ('than', 'comparative'), ('two', 'quantifier')]
    """
    found = list(_english(text))
    if language == "zh":
        found = sorted([*found, *_chinese(text)], key=lambda span: (span.start, -span.end))
    if not keep:
        return tuple(found)
    apart = []
    at = 0
    for span in found:
        while at < len(keep) and keep[at].end <= span.start:
            at += 1
        if at == len(keep) or keep[at].start >= span.end:
            apart.append(span)
    return tuple(apart)


def english_kind(word: str) -> str | None:
    """Return the kind of an English word by the lists, None if it is in none.

    Examples
    --------
    >>> english_kind("Don't"), english_kind("taller"), english_kind("table")
    ('negation', 'comparative', None)
    """
    return "negation" if _NOT.search(word) else _english_lists()[0].get(word.lower())


def is_common(word: str) -> bool:
    """Say whether a folded word is one of the common English words.

    Examples
    --------
    >>> is_common("there"), is_common("karenina")
    (True, False)
    """
    return word in _english_lists()[1]


def is_known_name(word: str) -> bool:
    """Say whether a folded word is on the list of names that lie near others ("iran", "iraq").

    Examples
    --------
    >>> is_known_name("iraq"), is_known_name("karenina")
    (True, False)
    """
    return word in _known_names()


@functools.cache
def _known_names() -> frozenset[str]:
    return frozenset(read_table("meaning")["en"]["names"])


def _english(text: str) -> Iterator[Span]:
    kinds, common = _english_lists()
    words = list(WORD.finditer(text))
    capital = sum(match.group()[0].isupper() for match in words)
    headline = len(words) >= 4 and capital > _HEADLINE * len(words)
    for match in words:
        word = match.group()
        lower = word.lower()
        kind = kinds.get(lower) or ("negation" if _NOT.search(word) else None)
        if kind is None and word[0].isupper() and not _PRONOUN.match(word):
            # A common word has its capital from its place, and so no meaning in it.
            plain = lower.partition("'")[0].partition("’")[0].partition("-")[0]
            placed = headline or _SENTENCE_HEAD.search(text, max(0, match.start() - 8), match.start())
            if not (placed and plain in common):
                kind = "name"
        if kind is not None:
            yield Span(match.start(), match.end(), kind)


@functools.cache
def _english_lists() -> tuple[dict[str, str], frozenset[str]]:
    lists = read_table("meaning")["en"]
    kinds = {word: kind for kind in KINDS[1:] for word in lists[kind]}
    return kinds, frozenset(lists["common"])


def _chinese(text: str) -> Iterator[Span]:
    pattern, kinds = _chinese_lists()
    for match in pattern.finditer(text):
        kind = kinds.get(match.group(), "name" if match.lastgroup == "foreign" else None)
        if kind is not None:
            yield Span(match.start(), match.end(), kind)


@functools.cache
def _chinese_lists() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return one pattern for all words, longest first, and the kind of each; words apart have none."""
    lists = read_table("meaning")["zh"]
    kinds = {word: kind for kind in KINDS for word in lists[kind]}
    apart = [word for word in lists["apart"] if word not in kinds]
    words = sorted({*kinds, *apart}, key=lambda word: (-len(word), word))
    # The characters that foreign names are written in; the dot alone does not say where one ends.
    char = f"[{lists['sounds']}]"
    foreign = f"(?P<foreign>{char}{{1,8}}(?:·{char}{{1,8}})+)"
    return re.compile(f"{foreign}|{'|'.join(words)}"), kinds
