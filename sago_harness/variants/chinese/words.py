"""Words of a Chinese text with their parts of speech.

The segmenter is ``rjieba`` (optional): its dictionary comes with it. An instance of our own
is used, so that words which a user adds to the shared one change no variant.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

from sago_harness.variants.base import Refused

# Where the dictionary's tag or its idea of a word misleads.
_TAGS = {"首都": "n", "感冒": "n", "真的": "b", "自己": "rr", "小偷": "n"}
# Slips that the dictionary has among its words.
_SLIPS = frozenset(["自已", "己经"])
_PAIRS = ("这是", "那是")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its tag and its range ``text[start:end]``."""

    text: str
    tag: str
    start: int
    end: int


@functools.lru_cache(maxsize=4096)
def words(text: str) -> tuple[Word, ...]:
    """Cut a text into words; their ranges cover it without a gap.

    Raises
    ------
    Refused
        If the segmenter does not give the text back.

    Examples
    --------
    >>> [(word.text, word.tag) for word in words("小明打破了杯子")]
    [('小明', 'nr'), ('打破', 'v'), ('了', 'ul'), ('杯子', 'n')]
    """
    found, at = [], 0
    plain = _SURROGATE.sub("\ufffd", text)
    for word, tag in _segmenter().tag(plain):
        if word in _PAIRS:
            found += [Word(word[0], "r", at, at + 1), Word(word[1], "v", at + 1, at + 2)]
        else:
            found.append(Word(word, _TAGS.get(word, tag), at, at + len(word)))
        at += len(word)
    if "".join(word.text for word in found) != plain:
        raise Refused("cannot be cut into words")
    return tuple(found)


@functools.lru_cache(maxsize=65536)
def is_word(text: str) -> bool:
    """Say whether the segmenter's dictionary has a word.

    Examples
    --------
    >>> is_word("故事"), is_word("固事")
    (True, False)
    """
    return text not in _SLIPS and bool(_segmenter().has_word(_SURROGATE.sub("\ufffd", text)))


def pieces(text: str) -> list[str]:
    """Cut a text into words of the dictionary and single characters, with no guess at new words.

    Examples
    --------
    >>> pieces("自已来")
    ['自', '已', '来']
    """
    found = []
    for piece in _segmenter().cut(_SURROGATE.sub("\ufffd", text), False):
        found += list(piece) if piece in _SLIPS else [piece]
    return found


@functools.cache
def _segmenter() -> Any:
    import rjieba

    return rjieba.Jieba()
