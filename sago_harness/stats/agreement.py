"""Do data sets order the models alike? Concordance of rankings over a grid."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from sago_harness.stats.grid import Grid
from sago_harness.stats.rich import Rich
from sago_harness.stats.table import Doubles, Flags
from sago_harness.stats.ties import order, scale_of

#: Under so many models, or rows, rankings can agree by luck alone: nothing is said.
LEAST_MODELS = 4

#: Mean ranks that differ in later digits are the same.
_DIGITS = 12

#: Step and end of the sum that stands for an integral over a normal density. For a smooth function that
#: falls off on both sides such a sum is exact to rounding; beyond the end there is less than that.
_STEP, _END = 1.0 / 32.0, 10.0


@dataclass(frozen=True)
class AgreementResult(Rich):
    """Agreement of Q rankings of the M models that have a value in every row.

    Attributes
    ----------
    name, unit : str
        Of the grid.
    models : tuple of str
        The M models compared.
    rows : tuple of str
        The Q rows compared.
    left_out : tuple of str
        Models without a value in some row.
    empty_rows : tuple of str
        Rows without a value for any model.
    kendall_w : float
        Concordance in [0, 1]: 1 = the same order everywhere; corrected for ties.
    statistic : float
        Friedman chi2 = Q (M - 1) W.
    pvalue : float
        Of chi2 with M - 1 degrees of freedom: no agreement at all. Approximate with few rows.
    mean_ranks : ndarray of shape (M,)
        1 = best.
    groups : tuple of tuple of str
        Largest sets of models that Nemenyi's test does not tell apart, best first.
    critical_difference : float
        Difference of mean ranks from which on it does.
    level : float
    tau : ndarray of shape (Q, Q)
        Kendall's tau-b between rows; NaN where all models tie in one of them.
    mean_tau, lowest_tau : float
        Over pairs of rows.
    lowest_rows : tuple of str
        The two rows of ``lowest_tau``.
    changed, pairs : int
        Pairs of models that some row orders one way and another row the other way, out of so many.
        A tie is no order: a difference below 1e-9 of the row's largest value.
    reason : str
        Why numbers are NaN, "" where they are not.
    """

    name: str
    unit: str
    models: tuple[str, ...]
    rows: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    empty_rows: tuple[str, ...] = ()
    kendall_w: float = float("nan")
    statistic: float = float("nan")
    pvalue: float = float("nan")
    mean_ranks: Doubles = field(default_factory=lambda: np.zeros(0))
    groups: tuple[tuple[str, ...], ...] = ()
    critical_difference: float = float("nan")
    level: float = 0.05
    tau: Doubles = field(default_factory=lambda: np.zeros((0, 0)))
    mean_tau: float = float("nan")
    lowest_tau: float = float("nan")
    lowest_rows: tuple[str, ...] = ()
    changed: int = 0
    pairs: int = 0
    reason: str = ""

    @cached_property
    def nemenyi(self) -> Doubles:
        """Two-sided p of each difference of mean ranks, all pairs at once, (M, M); 1 on the diagonal."""
        m = len(self.models)
        if self.reason or not m:
            return np.full((m, m), np.nan)
        gaps = np.abs(self.mean_ranks[:, None] - self.mean_ranks[None, :])
        # Mean ranks are multiples of a half over Q: few gaps differ, and each p is an integral.
        distinct, at = np.unique(np.round(gaps / _unit(len(self.rows), m), _DIGITS), return_inverse=True)
        return range_sf(distinct, m)[at].reshape(gaps.shape)

    def __str__(self) -> str:
        counts = f"{self.name}: {len(self.models)} models on {_counted(len(self.rows), self.unit)}"
        if self.left_out:
            counts += f" (without {', '.join(self.left_out)})"
        if self.reason:
            return f"{counts}: {self.reason}"
        friedman = f"Friedman {self.statistic:.2f}, p {told_p(self.pvalue)}"
        return (
            f"{counts}: Kendall W {self.kendall_w:.3f} ({friedman}), "
            f"mean tau {_told(self.mean_tau)}, lowest {_told(self.lowest_tau)}, "
            f"{self.changed} of {self.pairs} pairs of models change order somewhere"
        )


def agreement(grid: Grid, level: float = 0.05) -> AgreementResult:
    """Compare the rankings of a grid's rows.

    Kendall W = chi2 / (Q (M - 1)) with Friedman's statistic corrected for ties; Nemenyi's p from
    the studentised range of M independent ranks; Kendall's tau-b for each pair of rows.

    Parameters
    ----------
    grid : Grid
        A model without a value in some row is left out and named, since its ranks there are
        unknown; a row without any value likewise.
    level : float
        Of the groups.

    Returns
    -------
    AgreementResult
        Blank, with a reason, for one row, for under 4 models, or if all models tie in every row.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0], [2.0, 1.0, 3.0, 4.0]])
    >>> result = agreement(Grid("sago", ("p", "q", "r"), ("a", "b", "c", "d"), values))
    >>> print(result)
    sago: 4 models on 3 data sets: Kendall W 0.822 (Friedman 7.40, p 0.06), mean tau 0.56, lowest 0.33, 2 of 6 pairs of models change order somewhere
    >>> result.groups
    (('d', 'c', 'b', 'a'),)
    """  # noqa: E501
    known = np.isfinite(grid.values)
    filled: Flags = np.any(known, axis=1)
    whole: Flags = np.all(known[filled], axis=0)
    rows, models = _chosen(grid.rows, filled), _chosen(grid.models, whole)
    left_out, empty = _chosen(grid.models, ~whole), _chosen(grid.rows, ~filled)
    values = grid.values[filled][:, whole]
    q, m = values.shape
    signs = _order(values if grid.higher_is_better else -values)
    reason = ""
    if q < 2:
        reason = f"{'one' if q else 'no'} {grid.unit}: rankings can agree only over two or more"
    elif m < LEAST_MODELS:
        missing = f" ({len(left_out)} left out)" if left_out else ""
        reason = f"{m} model{'' if m == 1 else 's'}{missing}: agreement is not told under {LEAST_MODELS}"
    elif not signs.any():
        reason = f"all models tie in every {grid.unit}"
    if reason:
        return AgreementResult(
            grid.name, grid.unit, models, rows, left_out, empty,
            mean_ranks=np.full(m, np.nan), level=level,
            tau=np.full((q, q), np.nan), reason=reason,
        )  # fmt: skip
    from scipy import special

    ranks = _ranks(signs, m)
    statistic = friedman(ranks)
    critical = _unit(q, m) * range_quantile(level, m)
    tau = _tau(signs)
    mean_tau, lowest_tau, lowest = _over_rows(tau)
    return AgreementResult(
        grid.name, grid.unit, models, rows, left_out, empty,
        kendall_w=statistic / (q * (m - 1)),
        statistic=statistic,
        pvalue=float(special.chdtrc(m - 1, statistic)),
        mean_ranks=ranks.mean(axis=0),
        groups=_groups(ranks.mean(axis=0), critical, models),
        critical_difference=critical,
        level=level,
        tau=tau,
        mean_tau=mean_tau,
        lowest_tau=lowest_tau,
        lowest_rows=tuple(rows[place] for place in lowest),
        changed=int(np.sum((signs > 0).any(axis=0) & (signs < 0).any(axis=0))),
        pairs=m * (m - 1) // 2,
    )  # fmt: skip


def friedman(ranks: Doubles) -> float:
    """Return Friedman's chi2 of ranks, corrected for ties.

    chi2 = (M - 1) sum_j (R_j - Q (M + 1) / 2)^2 / sum_ij (r_ij - (M + 1) / 2)^2 with R_j the sum of
    a model's ranks (Conover, *Practical Nonparametric Statistics*, section 5.8).

    Parameters
    ----------
    ranks : ndarray of shape (Q, M)
        Mean ranks for ties, 1 to M within a row; not all tied.

    Returns
    -------
    float
        In [0, Q (M - 1)].

    Examples
    --------
    >>> friedman(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]))
    4.0
    """
    m = ranks.shape[1]
    centred = ranks - (m + 1) / 2.0
    return float((m - 1) * np.square(centred.sum(axis=0)).sum() / np.square(centred).sum())


def _order(values: Doubles) -> npt.NDArray[np.float32]:
    """Return the sign of each difference of two models, of shape (Q, pairs)."""
    a, b = np.triu_indices(values.shape[1], 1)
    return order(values[:, a] - values[:, b], scale_of(values)).astype(np.float32)


def _ranks(signs: npt.NDArray[np.float32], m: int) -> Doubles:
    """Return ranks, 1 = best and the mean of them in a tie: half a place for each model ahead or behind."""
    a, b = np.triu_indices(m, 1)
    led = [np.bincount(a, row, minlength=m) - np.bincount(b, row, minlength=m) for row in signs]
    return 0.5 * (m + 1) - 0.5 * np.array(led)


def _tau(signs: npt.NDArray[np.float32]) -> Doubles:
    """Return tau-b: agreeing less disagreeing pairs over the geometric mean of the pairs not tied."""
    together = (signs @ signs.T).astype(np.float64)
    untied = np.sqrt(np.diag(together))
    scale = np.outer(untied, untied)
    tau = np.divide(together, scale, out=np.full(scale.shape, np.nan), where=scale > 0.0)
    held: Doubles = np.clip(tau, -1.0, 1.0)
    return held


def _over_rows(tau: Doubles) -> tuple[float, float, tuple[int, ...]]:
    """Return mean and lowest over pairs of rows, and the two rows of the lowest."""
    p, q = np.triu_indices(len(tau), 1)
    pairs = tau[p, q]
    known = np.isfinite(pairs)
    if not known.any():
        return float("nan"), float("nan"), ()
    at = int(np.argmin(np.where(known, pairs, np.inf)))
    return float(pairs[known].mean()), float(pairs[at]), (int(p[at]), int(q[at]))


def _unit(q: int, m: int) -> float:
    """Return the standard deviation of a mean rank that Nemenyi's test counts in."""
    return float(np.sqrt(m * (m + 1) / (12.0 * q)))


def range_sf(distance: npt.ArrayLike, m: int) -> Doubles:
    """Return P(the range of m independent normal variables of variance 1 is larger than a distance).

    1 - m integral phi(z) (Phi(z + distance) - Phi(z))^(m - 1) dz: the studentised range without degrees
    of freedom to estimate the variance from (Tukey's and Nemenyi's tests).

    Parameters
    ----------
    distance : array_like of shape (N,)
        From 0 on.
    m : int
        At least 2.

    Returns
    -------
    ndarray of shape (N,)
        In [0, 1].

    Examples
    --------
    >>> [round(float(p), 3) for p in range_sf([0.0, 3.314], 3)]
    [1.0, 0.05]
    """
    from scipy import special

    gaps = np.atleast_1d(np.asarray(distance, dtype=np.float64))
    z = np.arange(-_END, _END + _STEP, _STEP)
    weight = m * _STEP * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
    below = special.ndtr(z)
    inside = [weight @ (special.ndtr(z + gap) - below) ** (m - 1) for gap in gaps]
    found: Doubles = np.clip(1.0 - np.array(inside), 0.0, 1.0)
    # Without a distance to exceed there is nothing to sum.
    found[gaps <= 0.0] = 1.0
    return found


@cache
def range_quantile(level: float, m: int) -> float:
    """Return the distance that the range of m normal variables exceeds with a probability.

    Parameters
    ----------
    level : float
        In (0, 1).
    m : int
        At least 2.

    Examples
    --------
    >>> round(range_quantile(0.05, 3), 3)
    3.314
    """
    low, high = 0.0, 2.0
    while range_sf(high, m)[0] > level:
        low, high = high, 2.0 * high
    # Halved until the two ends are neighbours.
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if range_sf(middle, m)[0] > level else (low, middle)
    return high


def _groups(means: Doubles, critical: float, models: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the largest runs of neighbours, by mean rank, whose ends are not told apart."""
    order = np.argsort(means, kind="stable")
    sorted_means = means[order]
    ends = np.searchsorted(sorted_means, sorted_means + critical, side="left")
    found, reached = [], 0
    for start, end in enumerate(ends):
        if end > reached:
            found.append(tuple(models[place] for place in order[start:end]))
            reached = int(end)
    return tuple(found)


def _chosen(names: tuple[str, ...], keep: Flags) -> tuple[str, ...]:
    return tuple(name for name, kept in zip(names, keep, strict=True) if kept)


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'}"


def told_p(p: float) -> str:
    """Return a p-value in two digits; one too small for a float is not called 0.

    Examples
    --------
    >>> told_p(0.0123), told_p(0.0)
    ('0.012', '<1e-300')
    """
    return f"{p:.2g}" if p >= 1e-300 else "<1e-300"


def _told(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "unknown (ties)"
