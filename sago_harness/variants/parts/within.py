"""Matches and ranges that lie within the free ranges of a passage, found in one pass over the text."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Sequence


def matches_within(
    pattern: re.Pattern[str], text: str, ranges: Iterable[tuple[int, int]]
) -> Iterator[re.Match[str]]:
    """Yield the matches inside each range; the borders of a word are judged in the whole text.

    In every range the search begins anew at its start, and ends with the first match that
    sticks out. A match beyond the range is kept for the next ones: searching from every range to
    the end of the text would take quadratic time.

    Parameters
    ----------
    pattern : re.Pattern
    text : str
    ranges : iterable of (int, int)
        Sorted and apart, as of :meth:`Passage.free`.

    Examples
    --------
    >>> [match.start() for match in matches_within(re.compile("a+"), "a aa aaa", [(0, 1), (3, 8)])]
    [0, 3, 5]
    """
    found: Iterator[re.Match[str]] | None = None
    ahead: re.Match[str] | None = None
    for start, end in ranges:
        if found is None or (ahead is not None and ahead.start() < start):
            found = pattern.finditer(text, start)
            ahead = next(found, None)
        while ahead is not None and ahead.end() <= end:
            yield ahead
            ahead = next(found, None)
        if ahead is None:
            return


def holds(ranges: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Say whether one of the ranges, sorted and apart, has all of ``start`` to ``end`` inside.

    Examples
    --------
    >>> holds([(0, 4), (6, 9)], 7, 9), holds([(0, 4), (6, 9)], 3, 7)
    (True, False)
    """
    at = bisect.bisect_right(ranges, (start, _BEYOND)) - 1
    return at >= 0 and end <= ranges[at][1]


def overlaps(ranges: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Say whether one of the ranges, sorted and apart, has a part of ``start`` to ``end`` inside.

    Examples
    --------
    >>> [overlaps([(0, 4), (6, 9)], *span) for span in ((4, 6), (5, 7), (2, 2))]
    [False, True, True]
    """
    at = bisect.bisect_left(ranges, (end, end)) - 1
    return at >= 0 and ranges[at][1] > start


_BEYOND = 1 << 60
