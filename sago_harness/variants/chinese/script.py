"""Simplified and traditional characters.

Conversion is in ``text/scripts.py``. Which script a text is in is told by the two
national character sets: GB 2312 has the simplified characters, Big5 the traditional ones.
"""

from __future__ import annotations

import functools

from sago_harness.variants.base import Refused
from sago_harness.variants.text.scripts import is_han


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


def _encodes(char: str, codec: str) -> int:
    try:
        char.encode(codec)
    except UnicodeEncodeError:
        return 0
    return 1
