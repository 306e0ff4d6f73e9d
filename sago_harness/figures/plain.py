"""Numbers and texts as a specification holds them, and as tooltips and descriptions tell them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from sago_harness.report.tables import Column, shown


def number(value: float | None) -> float | None:
    """Return a number with at most 7 decimals, None where it is missing: JSON has no NaN.

    Examples
    --------
    >>> number(1 / 3), number(float("nan")), number(None)
    (0.3333333, None, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return round(float(value), 7)


def told(value: float | None, digits: int = 3, kind: str = "number") -> str:
    """Return a number as people read it.

    Examples
    --------
    >>> told(0.25), told(float("nan")), told(0.253, kind="share")
    ('.250', '-', '25 %')
    """
    return shown(value, Column("value", kind=kind, digits=digits))


def span(low: float, high: float, digits: int = 3) -> str:
    """Return an interval as people read it.

    Examples
    --------
    >>> span(0.1, 0.25)
    '[.100, .250]'
    """
    return shown((float(low), float(high)), Column("interval", kind="interval", digits=digits))


def some(words: Iterable[str], most: int = 4) -> str:
    """Return a list in words, cut after ``most``.

    Examples
    --------
    >>> some(["a", "b", "c"], 2), some([])
    ('a, b and 1 more', '')
    """
    given = list(words)
    more = f" and {len(given) - most} more" if len(given) > most else ""
    return ", ".join(given[:most]) + more
