"""One-sided confidence bounds of one number, at any level, and the level at which a bound says something.

Everything that the gate decides, it decides by where a bound lies. A p-value here is the smallest
level at which the bound lies on the right side, so decision and bound cannot contradict each other.

Scores, axes and measures have a bootstrap-t: whole documents are drawn, each sample has a standard
error of its own, and the quantile of (value* - value) / error* takes the place of Student's. Shares of
documents, and means of numbers that cannot leave a known range, have the bound of Gaffke: the value is
formed again and again with random weights (uniform over all ways to share out 1) on the documents and on one
more, which is as bad as can be. For 0 and 1 that is the bound of Clopper and Pearson exactly, and for
documents that all agree it is the "rule of three".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sago_harness.gate.strata import Stratum, degrees_of_freedom, studentised_within
from sago_harness.stats.intervals import studentised
from sago_harness.stats.resampling import TIE, Purpose, Singles
from sago_harness.stats.table import Doubles

#: A measure that fewer documents moved than this is bounded as if other documents might move it, too.
EVENTS = 5

#: By how many n-ths the factor of a bound is wider than draws and Student's t ask for: at 40 documents their
#: quantiles have been seen to leave 5.4 % where 5 % is asked for; 5.9 % where each document has one variant,
#: as squares of single distances are more skewed than means of several.
SPARE, SPARE_OF_SINGLES = 1.0, 5.0

#: Levels between which a p-value is looked for.
_LEAST, _MOST = 1e-9, 1.0 - 1e-9

#: How far the value might lie up and down for what no document has shown, at a level.
Unseen = Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Bounds:
    """A number with what bounds it; this one knows nothing but the range.

    Attributes
    ----------
    value : float
    low, high : float
        The range that the number cannot leave.
    stderr : float
        Standard error; NaN where it is not known.
    """

    value: float
    low: float
    high: float
    stderr: float = math.nan

    #: How the bounds are made, in a word.
    method = "range"

    def upper(self, level: float) -> float:
        """Return the one-sided upper bound: the true number lies above it with chance ``level`` at most."""
        return self.high

    def lower(self, level: float) -> float:
        """Return the one-sided lower bound."""
        return self.low


@dataclass(frozen=True)
class BootstrapT(Bounds):
    """Bounds from studentised draws.

    Attributes
    ----------
    df : float
        Documents less 1; of a mean over data sets those of :func:`sago_harness.gate.strata.welch`.
    draws : ndarray of shape (B,)
        (value* - value) / error*, sorted.
    unseen : callable or None
        ``unseen(level)``: what is added up and down for measures that few documents moved.
    slant : float
        How much higher than the value the truth lies on average.
    spare : float
        :data:`SPARE` or :data:`SPARE_OF_SINGLES`.
    """

    df: float = 1.0
    draws: Singles = field(default_factory=lambda: np.zeros(0, dtype=np.float32), repr=False)
    unseen: Unseen | None = field(default=None, repr=False)
    slant: float = 0.0
    spare: float = SPARE

    method = "bootstrap_t"

    def upper(self, level: float) -> float:
        """Return value + factor x standard error, the factor from the lower tail of the draws."""
        return min(
            self.high, self.value + self._factor(level, self.draws, -1.0) * self.stderr + self._more(level, 0)
        )

    def lower(self, level: float) -> float:
        """Return value - factor x standard error, the factor from the upper tail of the draws."""
        return max(
            self.low,
            self.value - self._factor(level, self.draws[::-1], 1.0) * self.stderr - self._more(level, 1),
        )

    def _factor(self, level: float, ordered: Singles, sign: float) -> float:
        """Return the draws' factor, at least Student's and at most that of two documents."""
        from scipy import special

        at = _place(level, len(ordered))
        drawn = math.inf if at < 0 else -math.inf if at >= len(ordered) else sign * float(ordered[at])
        student = float(special.stdtrit(self.df, 1.0 - level))
        widest = float(special.stdtrit(1.0, 1.0 - min(level, 0.25)))
        return min(max(drawn, student) * (1.0 + self.spare / (self.df + 1.0)), widest)

    def _more(self, level: float, side: int) -> float:
        rare = self.unseen(level)[side] if self.unseen is not None else 0.0
        # It widens one side and never narrows the other.
        return rare + max(0.0, -self.slant if side else self.slant)


@dataclass(frozen=True)
class Gaffke(Bounds):
    """Bounds of a mean of numbers that cannot leave [low, high].

    Attributes
    ----------
    ones : int or None
        For numbers that are ``low`` or ``high`` alone, how many are ``high``: bounds are exact then.
    count : int
        Documents.
    above, below : ndarray of shape (B,)
        Weighted means with one more document at ``high``, and at ``low``; sorted.
    """

    ones: int | None = None
    count: int = 0
    above: Doubles = field(default_factory=lambda: np.zeros(0), repr=False)
    below: Doubles = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def method(self) -> str:  # type: ignore[override]
        """How the bounds are made."""
        return "gaffke" if self.ones is None else "clopper_pearson"

    def upper(self, level: float) -> float:
        """Return the upper bound, 1 - level**(1/n) where all n documents are at the lower end."""
        from scipy import special

        if self.ones is not None:
            if self.ones == self.count:
                return self.high
            share = float(special.betaincinv(self.ones + 1.0, float(self.count - self.ones), 1.0 - level))
            return self.low + share * (self.high - self.low)
        at = _place(level, len(self.above))
        return self.high if at < 0 else self.low if at >= len(self.above) else float(self.above[-1 - at])

    def lower(self, level: float) -> float:
        """Return the lower bound."""
        from scipy import special

        if self.ones is not None:
            if self.ones == 0:
                return self.low
            share = float(special.betaincinv(float(self.ones), self.count - self.ones + 1.0, level))
            return self.low + share * (self.high - self.low)
        at = _place(level, len(self.below))
        return self.low if at < 0 else self.high if at >= len(self.below) else float(self.below[at])


def bounded_mean(values: Doubles, low: float, high: float, resamples: int, source: Purpose) -> Bounds:
    """Return the bounds of the mean of numbers in [low, high], one a document.

    Parameters
    ----------
    values : ndarray of shape (N,)
        Finite.
    low, high : float
    resamples : int
        Random weightings.
    source : Purpose
        Of the draws.

    Returns
    -------
    Bounds
        Those of Clopper and Pearson for numbers at the two ends alone. Else those of Gaffke (2005), of
        which no exception is known, and no proof either; they are wider than they need be where
        documents are few.

    Examples
    --------
    >>> found = bounded_mean(np.zeros(40), 0.0, 1.0, 999, Purpose(0, "gate", "t"))
    >>> found.method, round(found.upper(0.05), 4), found.lower(0.05)
    ('clopper_pearson', 0.0722, 0.0)
    """
    n = len(values)
    if not n:
        return Bounds(math.nan, low, high)
    mean = float(values.mean())
    stderr = float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
    ones = values == high
    if np.all(ones | (values == low)):
        return Gaffke(mean, low, high, stderr, int(ones.sum()), n)
    sums, spare = _weightings(values, resamples, source)
    above, below = sums + spare * high, sums + spare * low
    return Gaffke(mean, low, high, stderr, None, n, np.sort(above), np.sort(below))


def _weightings(values: Doubles, resamples: int, source: Purpose) -> tuple[Doubles, Doubles]:
    """Return weighted sums of the values, and the weight that is left for one more document; (B,) each."""
    rng = source.generator()
    sums, spare = np.empty(resamples), np.empty(resamples)
    step = max(1, 4_000_000 // (len(values) + 1))
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        weights = rng.standard_exponential((stop - start, len(values) + 1))
        total = weights.sum(axis=1)
        sums[start:stop] = weights[:, :-1] @ values / total
        spare[start:stop] = weights[:, -1] / total
    return sums, spare


def bootstrap_bounds(
    value: float,
    contributions: Doubles,
    count: int,
    span: tuple[float, float],
    resamples: int,
    source: Purpose,
    unseen: Unseen | None = None,
    strata: Sequence[Stratum] = (),
    slant: float = 0.0,
    spare: float = SPARE,
) -> Bounds:
    """Return the bounds of a score, or of a difference of two.

    Parameters
    ----------
    value : float
    contributions : ndarray of shape (D,)
        Influence u(i) / n of each document, of sum 0; 0 where it is not part.
    count : int
        Documents that are.
    span : tuple of float
        Range of the value.
    resamples : int
    source : Purpose
        Of the draws: the same for all scores of a data set.
    unseen : callable, optional
        See :class:`BootstrapT`. Without it nothing is said where no document deviates.
    strata : sequence of Stratum, optional
        Data sets that the value is the mean over, where there are several: each has draws of its own.
    slant : float
        Of :func:`sago_harness.gate.slant.mean_slant`.
    spare : float
        n-ths by which the factor is wider.

    Returns
    -------
    Bounds
        The range alone for fewer than two documents.

    Examples
    --------
    >>> u = np.array([-0.5, -0.25, 0.0, 0.25, 0.5] * 8) / 40
    >>> found = bootstrap_bounds(0.5, u, 40, (0.0, 1.0), 999, Purpose(0, "gate", "t"))
    >>> 0.5 + 1.68 * found.stderr < found.upper(0.05) < 0.5 + 1.9 * found.stderr
    True
    """
    low, high = span
    if count < 2 or not math.isfinite(value):
        return Bounds(value, low, high)
    stderr = float(np.sqrt(count / (count - 1.0) * np.square(contributions).sum()))
    if stderr <= TIE * max(1.0, abs(value)):
        if unseen is None:
            return Bounds(value, low, high, 0.0)
        flat = np.zeros(resamples, dtype=np.float32)
        return BootstrapT(value, low, high, 0.0, count - 1.0, flat, unseen)
    scaled, df = contributions[None] / stderr, count - 1.0
    if len(strata) > 1:
        df = degrees_of_freedom(contributions, strata)
        drawn = studentised_within(scaled, strata, resamples)
    else:
        drawn = studentised(scaled, np.array([float(count)]), resamples, source)
    return BootstrapT(value, low, high, stderr, df, np.sort(drawn[:, 0]), unseen, slant, spare)


def smallest_level(holds: Callable[[float], bool]) -> float:
    """Return the smallest level at which something holds that holds at every larger one; 1 if at none.

    Examples
    --------
    >>> round(smallest_level(lambda level: level >= 0.03), 6)
    0.03
    """
    if holds(_LEAST):
        return _LEAST
    if not holds(_MOST):
        return 1.0
    fails, found = math.log(_LEAST), math.log(_MOST)
    for _ in range(60):
        middle = 0.5 * (fails + found)
        if holds(math.exp(middle)):
            found = middle
        else:
            fails = middle
    return min(1.0, math.exp(found))


def _place(level: float, draws: int) -> int:
    """Return the place, from the outer end, of the draw that a bound at this level lies at; -1 for none."""
    return math.floor(level * (draws + 1) + 1e-9) - 1
