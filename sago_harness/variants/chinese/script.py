"""Simplified and traditional characters.

Conversion is that of ``OpenCC`` (optional). Which script a text is in is told by the two
national character sets: GB 2312 has the simplified characters, Big5 the traditional ones.
"""

from __future__ import annotations

import functools
from typing import Any

from sago_harness.variants.base import Refused
from sago_harness.variants.text.scripts import is_han

#: Taiwan's standard forms (為, 裡) are what readers of traditional text expect; words stay.
TO_TRADITIONAL = "s2tw"
TO_SIMPLIFIED = "t2s"


@functools.lru_cache(maxsize=8192)
def lean(char: str) -> int:
    """Return -1 for a simplified character, 1 for a traditional one, 0 for what both share.

    Examples
    --------
    >>> lean("国"), lean("國"), lean("中"), lean("a")
    (-1, 1, 0, 0)
    """
    if not is_han(char):
        return 0
    return _encodes(char, "big5") - _encodes(char, "gb2312")


def traditional_share(text: str) -> float:
    """Return traditional minus simplified characters, as a share of both; 0 without either.

    Examples
    --------
    >>> traditional_share("中国"), traditional_share("中國")
    (-1.0, 1.0)
    """
    leans = [side for side in map(lean, text) if side]
    return sum(leans) / len(leans) if leans else 0.0


def must_be_simplified(text: str) -> None:
    """Refuse a traditional text, in which the simplified words of the tables would stand out.

    Raises
    ------
    Refused
        If the text has more traditional than simplified characters.
    """
    if traditional_share(text) > 0:
        raise Refused("a text in traditional characters")


def convert(text: str, config: str) -> str:
    r"""Convert a text by an OpenCC configuration.

    Examples
    --------
    >>> convert("头发和发现", TO_TRADITIONAL)
    '頭髮和發現'
    >>> convert("国\0家", TO_TRADITIONAL)
    '國\x00家'
    """
    # The C interface takes a NUL for the end of the text.
    return "\0".join(str(_converter(config).convert(part)) for part in text.split("\0"))


def _encodes(char: str, codec: str) -> int:
    try:
        char.encode(codec)
    except UnicodeEncodeError:
        return 0
    return 1


@functools.cache
def _converter(config: str) -> Any:
    import opencc

    return opencc.OpenCC(config)
