"""Medians with quartiles, and when a figure is told apart from noise."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

#: Quartiles further apart than this share of the median say nothing.
WIDE = 0.2


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the quartiles; a single value is all three.

    Examples
    --------
    >>> quartiles([4.0, 1.0, 2.0, 3.0, 5.0]), quartiles([7.0])
    ((2.0, 3.0, 4.0), (7.0, 7.0, 7.0))
    """
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def inconclusive(values: Sequence[float]) -> bool:
    """Return whether the quartiles lie further apart than a fifth of the median.

    Examples
    --------
    >>> inconclusive([1.0, 1.05, 1.1]), inconclusive([1.0, 1.5, 2.0])
    (False, True)
    """
    low, middle, high = quartiles(values)
    return high - low > WIDE * abs(middle)


def verdict(values: Sequence[float], aim: float | None) -> str:
    """Return ``inconclusive``, ``met`` or ``missed``; "" without an aim; ``, once`` for one value.

    Examples
    --------
    >>> verdict([0.3, 0.31, 0.32], 0.4), verdict([0.3, 0.4, 0.5], 0.4), verdict([0.5], 0.4)
    ('met', 'inconclusive', 'missed, once')
    """
    if inconclusive(values):
        return "inconclusive"
    told = "" if aim is None else "met" if quartiles(values)[1] <= aim else "missed"
    once = "once" if len(values) == 1 else ""
    return ", ".join(word for word in (told, once) if word)
