"""Which script a character belongs to, and the other script of a Chinese text (``OpenCC``, optional)."""

from __future__ import annotations

import functools
from typing import Any

#: Taiwan's standard forms (為, 裡) are what readers of traditional text expect; words stay.
TO_TRADITIONAL = "s2tw"
TO_SIMPLIFIED = "t2s"


def is_han(char: str) -> bool:
    """Say whether a character is a Han ideograph.

    Examples
    --------
    >>> is_han("国"), is_han("。"), is_han("a")
    (True, False, False)
    """
    return (
        "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff" or "\uf900" <= char <= "\ufaff"
    )


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


@functools.cache
def _converter(config: str) -> Any:
    import opencc

    return opencc.OpenCC(config)
