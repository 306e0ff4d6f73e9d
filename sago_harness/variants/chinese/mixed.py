"""Borders between Han characters and Latin letters or digits."""

from __future__ import annotations

import re

_HAN = "\u3400-\u9fff"
_BORDER = re.compile(rf"(?<=[{_HAN}]) ?(?=[A-Za-z0-9])|(?<=[A-Za-z0-9]) ?(?=[{_HAN}])")


def borders(text: str) -> list[tuple[int, int]]:
    """Return the range of the space at each border, empty where there is none.

    Examples
    --------
    >>> borders("用 Python写")
    [(1, 2), (8, 8)]
    """
    return [match.span() for match in _BORDER.finditer(text)]
