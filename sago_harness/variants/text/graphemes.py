"""Where a text may be cut: never inside what a reader sees as one character."""

from __future__ import annotations

import bisect
import functools
import re
import unicodedata

JOINER = "\u200d"

_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+")


def extends(char: str) -> bool:
    r"""Say whether a character continues the one before it.

    Combining marks, the zero-width joiner and non-joiner, variation selectors, emoji
    skin tones and tag characters do.

    Examples
    --------
    >>> extends("\u0301"), extends("a")
    (True, False)
    """
    if char < "\u0300":
        return False
    return (
        unicodedata.category(char) in ("Mn", "Me", "Mc")
        or char in "\u200c\u200d"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1160" <= char <= "\u11ff"  # Hangul vowels and finals compose with what stands before
    )


def is_boundary(text: str, at: int) -> bool:
    r"""Say whether ``text`` may be cut at ``at`` without splitting a visible character.

    A short form of Unicode annex 29: marks, joined emoji, flags (pairs of regional
    indicators) and line endings (CR LF) stay whole.

    Parameters
    ----------
    text : str
    at : int
        Offset, 0..len(text).

    Examples
    --------
    >>> [at for at in range(4) if is_boundary("ae\u0301", at)]
    [0, 1, 3]
    """
    if at <= 0 or at >= len(text):
        return 0 <= at <= len(text)
    before, after = text[at - 1], text[at]
    if extends(after) or before == JOINER or (before == "\r" and after == "\n"):
        return False
    if _is_regional(before) and _is_regional(after):
        starts = _flag_runs(text)
        return (at - starts[bisect.bisect_right(starts, at) - 1]) % 2 == 0
    return True


def _is_regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


@functools.lru_cache(maxsize=4)
def _flag_runs(text: str) -> list[int]:
    """Return where the runs of regional indicators begin."""
    return [match.start() for match in _FLAGS.finditer(text)]


def widen(text: str, start: int, end: int) -> tuple[int, int]:
    r"""Grow a range until both ends are boundaries.

    Examples
    --------
    >>> widen("5e\u0301", 0, 2)
    (0, 3)
    """
    while not is_boundary(text, start):
        start -= 1
    while not is_boundary(text, end):
        end += 1
    return start, end
