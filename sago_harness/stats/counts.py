"""Counting draws beyond limits, many rows of draws at once.

Two ways. *Marks* compare every draw with a limit and add up the marks. *Extremes* pick out the few
draws far from 0 and put them in order; where a limit is far out, they are all that there is to count,
and the draws at which a tail is anchored are among them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sago_harness.stats.table import Doubles, Flags, Places

Floats = npt.NDArray[np.floating]


class Marks:
    """Room for marks of draws (K, B), and their number in each row.

    Marks are bytes of 0 or 1. Eight of them added as one whole number stay apart up to 255 times.
    The room is used again for the next draws.

    Examples
    --------
    >>> Marks().count(np.greater, np.array([[1.0, 3.0, 2.0]]), np.array([[1.5]])).tolist()
    [2.0]
    """

    def __init__(self) -> None:
        self._bytes = np.zeros((0, 0), dtype=np.uint8)
        self._draws = 0

    def count(self, compare: np.ufunc, draws: Floats, limits: Floats) -> Doubles:
        """Return how many draws of each row compare to its limit (K, 1) as asked, of shape (K,)."""
        rows, width = draws.shape
        if width != self._draws or rows > len(self._bytes):
            # What lies beyond the draws stays 0.
            self._bytes = np.zeros((rows, -(-width // (8 * 255)) * 8 * 255), dtype=np.uint8)
            self._draws = width
        used = self._bytes[:rows]
        compare(draws, limits, out=used[:, :width].view(np.bool_))
        sums = used.view(np.uint64).reshape(rows, -1, 255).sum(axis=2)
        counts: Doubles = sums.view(np.uint8).reshape(rows, sums.shape[1] * 8).sum(axis=1).astype(np.float64)
        return counts


class Extremes:
    """The draws of each row that are at least as far from 0 as its edge.

    Parameters
    ----------
    draws : ndarray of shape (K, B)
    edges : ndarray of shape (K,)
        Not negative.

    Examples
    --------
    >>> few = Extremes(np.array([[0.0, 3.0, -4.0, 1.0, 5.0]]), np.array([2.0]))
    >>> few.above(np.array([2.5])).tolist(), few.below(np.array([-4.0])).tolist(), few.largest(2).tolist()
    ([2.0], [1.0], [3.0])
    """

    def __init__(self, draws: Floats, edges: Doubles) -> None:
        rows, width = draws.shape
        marked = np.abs(draws) >= edges.astype(draws.dtype)[:, None]
        # One row of marks is searched far faster than many.
        places = np.flatnonzero(marked.ravel())
        self._rows = places // width
        self._values = draws.ravel()[places]
        self._counts = np.bincount(self._rows, minlength=rows)
        self._kind = draws.dtype

    def above(self, limits: Floats, *, equal: bool = True) -> Doubles:
        """Return how many are at or above each row's limit (K,), or above it; limits beyond the edges."""
        each = limits[self._rows]
        return self._sum(self._values >= each if equal else self._values > each)

    def below(self, limits: Floats) -> Doubles:
        """Return how many are at or below each row's limit (K,)."""
        return self._sum(self._values <= limits[self._rows])

    def largest(self, nth: int, *, magnitude: bool = False) -> Doubles:
        """Return the nth largest draw, or magnitude, of each row (K,); NaN where it lies within the edge."""
        values = np.abs(self._values) if magnitude else self._values
        starts = np.cumsum(self._counts) - self._counts
        table = np.full((len(self._counts), max(nth, int(self._counts.max(initial=0)))), -np.inf, self._kind)
        table[self._rows, np.arange(len(values)) - starts[self._rows]] = values
        at = table.shape[1] - nth
        found: Doubles = np.partition(table, at, axis=1)[:, at].astype(np.float64)
        return np.where(found > 0.0, found, np.nan)

    def _sum(self, marked: Flags) -> Doubles:
        rows: Places = self._rows[marked]
        return np.bincount(rows, minlength=len(self._counts)).astype(np.float64)
