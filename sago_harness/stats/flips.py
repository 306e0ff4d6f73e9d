"""Sums over documents under random signs, and the p-values of pairs of models from them.

A pair of models is a row of contributions c(i) that sum to its difference. T, their sum under
random signs, is compared with the difference through t = T / sqrt(n / (n - 1) (sum c^2 - T^2 / n));
as signs leave sum c^2 as it is, t rises with T alone, and counting T is counting t. Where contributions are
skewed against the difference, its t is taken smaller (``moments.py``).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np

from sago_harness.stats.counts import Extremes, Floats, Marks
from sago_harness.stats.moments import share_left
from sago_harness.stats.resampling import (
    ANCHOR,
    CARRIED,
    TIE,
    Settings,
    beyond_anchor,
    enumerated,
    generator,
    sign_flips,
)
from sago_harness.stats.table import Doubles, Flags, Places
from sago_harness.stats.ties import settled

#: Elements of a block of draws or patterns that are worked on at once.
BLOCK = 2**23

#: Signs that are kept as numbers beside the small ones: to make them again costs as much as a product.
KEPT = 2**24

#: Standard deviations beyond which the draws are that could anchor a tail.
FAR = 2.5

#: Rows of draws that are worked on together: fewer cost more calls than the cache saves.
ROWS = 128


class Flips:
    """Patterns of signs over documents, kept small, and sums under them.

    Parameters
    ----------
    documents : int
    settings : Settings
    purpose, task : str
        What the draws are for: the same for all scores, so that these are compared on equal terms.

    Attributes
    ----------
    exact : bool
        All patterns are there, not a sample of them.
    """

    def __init__(self, documents: int, settings: Settings, purpose: str, task: str) -> None:
        rng = generator(settings.seed, purpose, task)
        # Signs as numbers, for products; made when they are first needed.
        self._numbers: Floats | None = None
        self.exact = enumerated(documents, settings.resamples)
        step = max(1, BLOCK // max(1, documents))
        if self.exact or settings.resamples <= step:
            self.patterns = sign_flips(documents, settings.resamples, rng).astype(np.int8)
        else:
            self.patterns = np.empty((settings.resamples, documents), dtype=np.int8)
            for start in range(0, settings.resamples, step):
                stop = min(start + step, settings.resamples)
                self.patterns[start:stop] = sign_flips(documents, stop - start, rng)

    def __len__(self) -> int:
        return len(self.patterns)

    @property
    def documents(self) -> int:
        """Number of documents."""
        return int(self.patterns.shape[1])

    @property
    def kind(self) -> type[np.floating]:
        """Precision of sums: double where all patterns are there and must be told apart exactly."""
        return np.float64 if self.exact else np.float32

    def some(self, keep: Flags) -> Flips:
        """Return some of the patterns; ``keep`` of shape (B,)."""
        less = copy.copy(self)
        less.patterns, less._numbers = self.patterns[keep], None
        return less

    def sums(self, rows: Doubles) -> Floats:
        """Return the sums of rows (K, D) under every pattern, of shape (K, B)."""
        kind = self.kind
        values = rows.astype(kind)
        if self.patterns.size <= KEPT:
            if self._numbers is None:
                self._numbers = np.ascontiguousarray(self.patterns.T, dtype=kind)
            found: Floats = values @ self._numbers
            return found
        sums = np.empty((len(rows), len(self)), dtype=kind)
        step = max(1, BLOCK // max(1, rows.shape[1]))
        for start in range(0, len(self), step):
            sums[:, start : start + step] = values @ self.patterns[start : start + step].T.astype(kind)
        return sums


@dataclass
class Tally:
    """What the draws say of each pair, filled block by block; arrays of shape (P,).

    Attributes
    ----------
    difference : ndarray
        NaN where there is none.
    squares, plain : ndarray
        Sum of c(i)^2, and of the squared differences of influence values.
    n, documents : ndarray
        Documents of the sparser measure of a score, and of any of its measures.
    exact, total : ndarray
        Whether all patterns were taken, and how many there were.
    scale : ndarray
        Size of a document's value.
    left : ndarray
        Share of the difference's t that counts.
    up, both, above : ndarray
        Draws at or beyond the difference in its own direction, in either, and those beyond it.
    anchor_one, anchor_two : ndarray
        Where few draws reach the difference: draws that the tail is anchored at.
    marks : Marks
        Room for counting.
    """

    difference: Doubles
    squares: Doubles
    plain: Doubles
    n: Places
    documents: Places
    exact: Flags
    total: Doubles
    scale: Doubles
    left: Doubles
    up: Doubles
    both: Doubles
    above: Doubles
    anchor_one: Doubles
    anchor_two: Doubles
    marks: Marks = field(default_factory=Marks, repr=False)

    @classmethod
    def of(cls, pairs: int) -> Tally:
        """Return an empty tally."""
        difference, squares, plain, scale, up, both, above, one, two = np.full((9, pairs), np.nan)
        n, documents = np.zeros((2, pairs), dtype=np.intp)
        total, left = np.ones((2, pairs))
        exact = np.zeros(pairs, dtype=bool)
        return cls(
            difference, squares, plain, n, documents, exact, total, scale, left, up, both, above, one, two
        )

    def enter(
        self,
        places: Places,
        difference: Doubles,
        moments: tuple[Doubles, Doubles],
        plain: Doubles,
        scale: Doubles,
    ) -> tuple[Doubles, Doubles]:
        """Enter differences with what their contributions sum to, all (K,).

        Parameters
        ----------
        places : ndarray of shape (K,)
        difference : ndarray of shape (K,)
        moments : tuple of ndarray of shape (K,)
            Sums of squares and of cubes of the contributions less their mean.
        plain, scale : ndarray of shape (K,)
            As in the attributes.

        Returns
        -------
        signs, sizes : ndarray of shape (K,)
            Of the differences; sizes as they are counted, with the t that is left of them.
        """
        difference = settled(difference, scale)
        documents = np.maximum(self.documents[places], 1)
        centred, cubes = moments
        size = np.abs(difference)
        squares = centred + np.where(np.isfinite(difference), np.square(difference), 0.0) / documents
        # Rounding alone is no spread: sums of squares under (1e-9 of the scale)^2 / n are none.
        least = np.square(TIE * scale) / documents
        spread = centred > least
        left = np.where(spread, share_left(centred, cubes, difference), 1.0)
        less = left < 1.0
        # The size T' that has the t that is left: t^2 rises with T^2 / (sum c^2 - T^2 / n).
        steep = np.divide(np.square(left * size), centred, out=np.zeros(len(left)), where=less)
        counted = np.where(less, np.sqrt(steep * squares / (1.0 + steep / documents)), size)
        self.difference[places] = difference
        self.squares[places] = np.where(squares <= least, 0.0, squares)
        self.plain[places] = plain
        self.scale[places] = scale
        self.left[places] = left
        return np.where(difference < 0.0, -1.0, 1.0), counted

    def count(self, places: Places, draws: Floats, observed: Doubles, slack: Doubles) -> None:
        """Count the draws (K, B) beyond observed values, which are not negative; slack = rounding."""
        total = draws.shape[1]
        self.total[places] = total
        edges = np.sqrt(self.squares[places]) * FAR
        far = (observed - slack > edges) & ~self.exact[places] & (total >= CARRIED)
        if not far.any():
            self._count_all(places, draws, observed, slack)
        elif far.all():
            self._count_far(places, draws, observed, slack, edges)
        else:
            self._count_far(places[far], draws[far], observed[far], slack[far], edges[far])
            self._count_all(places[~far], draws[~far], observed[~far], slack[~far])

    def _count_all(self, places: Places, draws: Floats, observed: Doubles, slack: Doubles) -> None:
        kind, total = draws.dtype, draws.shape[1]
        low, high = (observed - slack).astype(kind)[:, None], (observed + slack).astype(kind)[:, None]
        marks = self.marks
        up = marks.count(np.greater_equal, draws, low)
        down = marks.count(np.less_equal, draws, -low)
        self.up[places], self.above[places] = up, marks.count(np.greater, draws, high)
        self.both[places] = np.minimum(up + down, total)
        if total >= CARRIED:
            for k in np.flatnonzero((up < ANCHOR) & ~self.exact[places]):
                self._anchor(int(places[k]), draws[k], up[k] + down[k])

    def _count_far(
        self, places: Places, draws: Floats, observed: Doubles, slack: Doubles, edges: Doubles
    ) -> None:
        """Count where observed values lie beyond nearly all draws: the few that are out there suffice."""
        low, high = (observed - slack).astype(draws.dtype), (observed + slack).astype(draws.dtype)
        few = Extremes(draws, edges)
        up, down = few.above(low), few.below(-low)
        self.up[places], self.above[places] = up, few.above(high, equal=False)
        self.both[places] = up + down
        if not (up < ANCHOR).any():
            return
        one, two = few.largest(ANCHOR), few.largest(ANCHOR, magnitude=True)
        for k in np.flatnonzero((up < ANCHOR) & (np.isnan(one) | np.isnan(two))):
            self._anchor(int(places[k]), draws[k], up[k] + down[k])
        near = (up < ANCHOR) & np.isfinite(one) & np.isfinite(two)
        self.anchor_one[places[near]] = one[near]
        both = near & (up + down < ANCHOR)
        self.anchor_two[places[both]] = two[both]

    def _anchor(self, place: int, draws: Floats, beyond: float) -> None:
        """Anchor the tail of one pair at the ANCHOR-th largest draw, and magnitude."""
        at = len(draws) - ANCHOR
        self.anchor_one[place] = np.partition(draws, at)[at]
        if beyond < ANCHOR:
            self.anchor_two[place] = np.partition(np.abs(draws), at)[at]

    def pvalues(self, known: Flags, statistic: Doubles, df: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """Return p-values in the direction of the difference, against it, and two-sided.

        (1 + draws as extreme) / (1 + draws), or the share of all patterns; beyond the draws as in
        :func:`sago_harness.stats.resampling.exceedance`. Never below what all patterns could give.

        Parameters
        ----------
        known : ndarray of shape (P,)
            Pairs that have a p-value.
        statistic, df : ndarray of shape (P,)
            Student's t of the differences.
        """
        add = np.where(self.exact, 0.0, 1.0)
        total = add + self.total
        squares = np.where(known, self.squares, 0.0)
        size = np.where(known, np.abs(self.difference), 0.0)
        floor = 2.0 ** -np.minimum(np.maximum(self.n, 1), 1000).astype(np.float64)
        found = []
        shares = (add + self.up, total - self.above, add + self.both)
        anchors = (self.anchor_one, None, self.anchor_two)
        for share, anchor, least in zip(shares, anchors, (floor, floor, 2.0 * floor), strict=True):
            # Without any spread nothing speaks for either side.
            p = np.where(squares > 0.0, share / total, 1.0)
            if anchor is not None:
                p = np.minimum(p, self._beyond(np.abs(statistic) * self.left, anchor, squares, df))
            found.append(np.clip(p, least, 1.0))
        toward, against, two = found
        return toward, against, np.where(size > 0.0, two, 1.0)

    def _beyond(self, statistic: Doubles, anchor: Doubles, squares: Doubles, df: Doubles) -> Doubles:
        """Return p-values that fall on from the anchor as Student's t does; 1 where there is none."""
        p = np.ones(len(statistic))
        at = np.flatnonzero((squares > 0.0) & np.isfinite(anchor))
        at = at[anchor[at] > 0.0]
        t = student(anchor[at], squares[at], self.n[at], self.documents[at])
        at, t = at[np.isfinite(t)], t[np.isfinite(t)]
        if at.size:
            p[at] = beyond_anchor(statistic[at], t, self.total[at], df[at])
        return p


def student(sums: Doubles, squares: Doubles, n: Places, documents: Places) -> Doubles:
    """Return t = T / sqrt(n / (n - 1) (sum c^2 - T^2 / documents)), infinite without spread.

    Examples
    --------
    >>> d = np.array([1.0, 2.0, 3.0]) / 3
    >>> student(d.sum(), np.square(d).sum(), np.array(3), np.array(3)).round(6).item()
    3.464102
    """
    wide = np.maximum(n, 2).astype(np.float64)
    left = np.maximum(squares - np.square(sums) / np.maximum(documents, 1), 0.0)
    return ratio(np.asarray(sums), np.sqrt(wide / (wide - 1.0) * left))


def ratio(value: Doubles, spread: Doubles) -> Doubles:
    """Return value / spread: 0 for no value, infinite for a value without spread."""
    sure = np.where(value == 0.0, 0.0, np.copysign(np.inf, value))
    return np.divide(value, spread, out=sure, where=spread > 0.0)


def rounding(exact: bool) -> float:
    """Return the error of a sum, as a share of the sum of magnitudes, that must not part equal sums."""
    return 1e-12 if exact else 4e-7
