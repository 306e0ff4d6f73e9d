"""Which script a character belongs to, as far as operators and features ask."""

from __future__ import annotations


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
