"""Names from outside as labels: short, in one line, every character visible, no two alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from sago_harness.report.changes import escape_line

#: Columns that a label may take; a Chinese character takes two.
LABEL = 30

#: Characters of a name that a tooltip shows.
WHOLE = 300

#: What every JavaScript object has: as the key of a group such a name would not be found again.
_OBJECT = frozenset({
    "__proto__", "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
    "toString", "valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
})  # fmt: skip

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def labels(names: Iterable[str], most: int = LABEL) -> dict[str, str]:
    """Return a label for each name; long ones lose their middle, as ends often tell models apart.

    Parameters
    ----------
    names : iterable of str
        Any text.
    most : int
        Columns of a label, at least 8.

    Returns
    -------
    dict of str to str
        Labels are unique.

    Examples
    --------
    >>> labels(["a" * 40 + "-instruct", "b"], 16)
    {'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-instruct': 'aaaaaaa…instruct', 'b': 'b'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        label = _cut(escape_line(name[: 4 * WHOLE]).strip() or "(no name)", most)
        if label in _OBJECT:
            label = f"‘{label}’"
        number = 1
        free = label
        while free in taken:
            number += 1
            free = f"{_cut(label, most - 4)} #{number}"
        taken.add(free)
        found[name] = free
    return found


def fitting(width: int) -> int:
    """Return the columns of a title above a panel so many pixels wide.

    Examples
    --------
    >>> fitting(118)
    18
    """
    return max(8, int((width + 14) / 7.0))


def whole(name: str) -> str:
    """Return a name for a tooltip: all of it, in one line, unless it is very long.

    Examples
    --------
    >>> len(whole("x" * 1000))
    300
    """
    text = escape_line(name[: 4 * WHOLE])
    return text if len(text) <= WHOLE and len(name) <= 4 * WHOLE else text[: WHOLE - 1] + "…"


def slug(name: str) -> str:
    """Return a name that is safe as part of a file name.

    Examples
    --------
    >>> slug("../org/model (a)"), slug("模型")
    ('org-model-a', 'x')
    """
    return _UNSAFE.sub("-", name[:400]).strip("-._")[:60] or "x"


def columns(text: str) -> int:
    """Return the columns that a text takes.

    Examples
    --------
    >>> columns("ab"), columns("模型")
    (2, 4)
    """
    return sum(map(_width, text))


def _width(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _cut(text: str, most: int) -> str:
    if columns(text) <= most:
        return text
    half = (most - 1) // 2
    head = _within(text, half)
    tail = _within(text[::-1], most - 1 - half)[::-1]
    return f"{head}…{tail}"


def _within(text: str, most: int) -> str:
    taken = 0
    for place, char in enumerate(text):
        taken += _width(char)
        if taken > most:
            return text[:place]
    return text
