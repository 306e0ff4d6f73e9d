"""Confidence intervals of one score, for all models of a data set."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sago_harness.errors import SagoError
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.resampling import NEAR, TIE, Purpose, Singles, Source, weight_blocks
from sago_harness.stats.rich import Rich
from sago_harness.stats.table import Doubles, Flags

#: Under this many documents an interval or a rank may cover less often than it says.
FEW_DOCUMENTS = 40

METHODS = ("bootstrap_t", "t")

#: Scores that are a mean of document values, beside those whose kind says so.
_MEANS = (MIRRORING, "sago_mirroring")


@dataclass(frozen=True)
class IntervalResult(Rich):
    """Confidence intervals of one score of M models.

    Attributes
    ----------
    quantity : str
    method : {"bootstrap_t", "t"}
    level : float
        Error rate; the intervals cover with probability 1 - ``level``.
    statistic : ndarray of shape (M,)
        The score.
    standard_error : ndarray of shape (M,)
    low, high : ndarray of shape (M,)
        Ends, held to the score's natural bounds. NaN where there is no interval.
    counts : ndarray of shape (M,)
        Documents behind the score.
    few_documents : ndarray of shape (M,), bool
        Fewer than :data:`FEW_DOCUMENTS`: may cover less often than ``level`` says.
    reasons : tuple of str
        "" for an interval as it should be; ``no_spread``: all documents agree and the interval is
        the point itself, which says nothing about other documents; ``one_document``, or why the
        score itself is missing: no interval.
    """

    quantity: str
    method: str
    level: float
    statistic: Doubles
    standard_error: Doubles
    low: Doubles
    high: Doubles
    counts: npt.NDArray[np.intp]
    few_documents: Flags
    reasons: tuple[str, ...] = field(default=())

    @property
    def confidence_interval(self) -> Doubles:
        """Return the ends as an array of shape (M, 2)."""
        return np.stack([self.low, self.high], axis=1)

    def __str__(self) -> str:
        shown = ", ".join(
            f"{v:.3f} [{a:.3f}, {b:.3f}]" if np.isfinite(a) else f"no interval ({reason})"
            for v, a, b, reason in zip(self.statistic, self.low, self.high, self.reasons, strict=True)
        )
        return f"{self.quantity}, {1 - self.level:.0%}: {shown}"


def bounds(quantity: Quantity) -> tuple[float, float]:
    """Return the range that a score cannot leave.

    [0, 1] for axes, ``sago``, accuracy and flips; r cannot be under 0; the mean of mirroring less
    its floor lies in [-2, 2]. Scores of a published scheme are distances without an upper end.
    """
    if quantity.name == MIRRORING:
        return -2.0, 2.0
    return (0.0, np.inf) if quantity.kind in ("measure", "scheme") else (0.0, 1.0)


def intervals(
    quantity: Quantity,
    level: float = 0.05,
    *,
    method: str = "bootstrap_t",
    resamples: int = 9999,
    seed: int = 0,
    task: str = "",
) -> IntervalResult:
    """Return a confidence interval of one score for every model.

    ``t``: value +- t(n - 1) times the standard error. ``bootstrap_t``: the factor is the quantile
    of abs(change* / standard error*) over samples of whole documents, each with a standard error
    of its own, so that it widens where few documents carry the value; never past the factor
    that Student's t gives for two documents. All models share the draws. Changes of relative
    scores are those of roots (:func:`studentised`).

    Parameters
    ----------
    quantity : Quantity
    level : float
        Error rate, between 0 and 1.
    method : {"bootstrap_t", "t"}
    resamples, seed, task
        Of the bootstrap; scores of one data set share their draws.

    Returns
    -------
    IntervalResult

    Raises
    ------
    SagoError
        For another method, or a level outside (0, 1).

    Examples
    --------
    >>> from sago_harness.stats.quantities import mean_quantity
    >>> one = mean_quantity("acc", np.array([[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]), "beside")
    >>> found = intervals(one, method="t")
    >>> print(found)
    acc, 95%: 0.333 [0.000, 0.875]
    >>> found.few_documents.tolist()
    [True]
    """
    from scipy import special

    if method not in METHODS:
        raise SagoError(f"unknown interval {method!r}: choose bootstrap_t or t")
    if not 0.0 < level < 1.0:
        raise SagoError(f"the level is {level}: choose an error rate between 0 and 1, such as 0.05")
    values, counts = quantity.values, np.asarray(quantity.counts)
    known = np.isfinite(values)
    error = quantity.stderr
    several = known & (counts >= 2)
    # Rounding leaves a spread of about 1e-17 where all documents agree.
    spread = np.zeros(known.shape, dtype=bool)
    spread[several] = error[several] > TIE * np.maximum(1.0, np.abs(values[several]))
    factor = np.zeros(known.shape)
    if spread.any():
        factor[spread] = special.stdtrit(counts[spread] - 1.0, 1.0 - level / 2.0)
        if method == "bootstrap_t":
            scaled = quantity.influence[spread] / error[spread][:, None]
            source = Purpose(seed, "intervals", task)
            sizes, roots = counts[spread].astype(np.float64), _roots(quantity)[spread] / error[spread]
            factor[spread] = factors(scaled, sizes, level, resamples, source, roots=roots)
    half = np.where(spread, factor * np.where(spread, error, 0.0), 0.0)
    low, high = bounds(quantity)
    reasons = []
    for i, reason in enumerate(quantity.reasons):
        if not known[i]:
            reasons.append(reason or "not_scored")
        elif not several[i]:
            reasons.append("one_document")
        else:
            reasons.append("" if spread[i] else "no_spread")
    return IntervalResult(
        quantity.name,
        method,
        level,
        values,
        error,
        np.where(several, np.maximum(values - half, low), np.nan),
        np.where(several, np.minimum(values + half, high), np.nan),
        counts,
        counts < FEW_DOCUMENTS,
        tuple(reasons),
    )


def _roots(quantity: Quantity) -> Doubles:
    """Return r, or the mean of such roots that a score is formed of, with the sign of its influence; (M,).

    Infinite where the score is a plain mean. Mirroring, a plain mean, is taken along in composite scores.
    """
    if quantity.kind not in ("measure", "axis", "composite") or quantity.name in _MEANS:
        return np.full(len(quantity.values), np.inf)
    roots = quantity.values - 1.0 if quantity.kind == "composite" else quantity.values
    return np.where(roots == 0.0, np.inf, roots)


def factors(
    values: Doubles,
    sizes: Doubles,
    level: float,
    resamples: int,
    source: Source,
    members: Flags | None = None,
    roots: Doubles | None = None,
) -> Doubles:
    """Return what a bootstrap-t multiplies each standard error with, of shape (K,).

    The quantile of abs(mean* / standard error*), never past the factor that Student's t gives for two
    documents: samples without any of few moved documents have no spread of their own.

    Parameters
    ----------
    values, sizes, resamples, source, members, roots
        As in :func:`studentised`.
    level : float
        Error rate.

    Examples
    --------
    >>> even = np.tile([-1.0, 1.0], 50)[None]
    >>> bool(1.8 < factors(even, np.array([100.0]), 0.05, 999, np.random.default_rng(0))[0] < 2.2)
    True
    """
    from scipy import special

    drawn = np.abs(studentised(values, sizes, resamples, source, members, roots))
    at = min(resamples, int(np.ceil((1.0 - level) * (resamples + 1)))) - 1
    widest = special.stdtrit(1.0, 1.0 - level / 2.0)
    factor: Doubles = np.minimum(np.partition(drawn, at, axis=0)[at], widest)
    return factor


def studentised(
    values: Doubles,
    sizes: Doubles,
    resamples: int,
    source: Source,
    members: Flags | None = None,
    roots: Doubles | None = None,
) -> Singles:
    """Return bootstrap draws of mean / standard error, each with its own standard error.

    To first order a root r = sqrt(m) changes by half of the relative change e = (m* - m) / m, but

        t(m) = (m* - m) / se(m*),    t(r) = (r* - r) / se(r*) = t(m) 2 sqrt(1 + e) / (1 + sqrt(1 + e)),

    and where few documents moved the quantiles of t(m) are too large (intervals of r covered 97 to 99 %
    in place of 95 with 85 % of 40 or 100 documents unmoved), those of t(r) too small (89 to 95 %). Their
    mean is taken for roots [sim].

    Parameters
    ----------
    values : ndarray of shape (K, D)
        Of mean 0 and a spread of about 1 (any scale per row will do), 0 for documents not part of a row.
    sizes : ndarray of shape (K,)
        Documents that are part of each row, at least 2.
    resamples : int
    source : Source
    members : ndarray of shape (K, D), optional
        Which documents these are; without it every sample counts as one of ``sizes`` documents.
    roots : ndarray of shape (K,), optional
        Where a row is the influence on a root, that root in the unit in which the row's sum is its
        change, negative where the row falls as the root rises; infinite for plain means.

    Returns
    -------
    ndarray of shape (resamples, K), float32
        Very large where a sample has no spread of its own, 0 where it holds zeros alone.

    Examples
    --------
    >>> draws = studentised(np.array([[-1.0, 0.0, 1.0]]), np.array([3.0]), 999, np.random.default_rng(0))
    >>> draws.shape, bool(abs(np.median(draws)) < 0.3)
    ((999, 1), True)
    """
    scale = np.sqrt(np.square(values).sum(axis=1) / sizes)
    x = (values / np.where(scale > 0.0, scale, 1.0)[:, None]).astype(np.float32).T
    squares = np.square(x)
    n = sizes.astype(np.float32)
    # What the relative change of r^2 is in a row's own scale.
    double = None if roots is None else (2.0 * np.where(scale > 0.0, scale, 1.0) / roots).astype(np.float32)
    partial = members is not None and not members.all()
    if partial and members is not None:
        # Most rows lack the same documents as another one, or none.
        patterns, place = np.unique(members, axis=0, return_inverse=True)
        inside, place = patterns.astype(np.float32).T, place.reshape(-1)
    found = np.empty((resamples, len(sizes)), dtype=np.float32)
    done, rows = 0, max(1, NEAR // max(1, len(sizes)))
    for kept in weight_blocks(len(x), resamples, source, len(sizes)):
        for start in range(0, len(kept), rows):
            weights = kept[start : start + rows]
            if partial:
                n = np.take(np.maximum(weights @ inside, 2.0), place, axis=1)
            first, second = weights @ x, weights @ squares
            # The floor stands for 0, which single precision does not reach.
            variance = np.maximum(second - first * first / n, 1e-6 * second + np.float32(1e-20))
            part = np.divide(first, np.sqrt(n / (n - 1.0) * variance), out=found[done : done + len(weights)])
            if double is not None:
                root = np.sqrt(np.maximum(1.0 + first * double, 0.0))
                part *= (1.0 + 3.0 * root) / (2.0 + 2.0 * root)
            done += len(weights)
    return found
