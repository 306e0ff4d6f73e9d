"""Rates with intervals, areas, accuracies: what a table of the audit holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of pairs with a 95 % interval.

    Attributes
    ----------
    n, clusters : int
    hits : int
    value, low, high : float
        NaN without pairs.
    """

    n: int
    clusters: int
    hits: int
    value: float
    low: float
    high: float


def rate(hits: Flags, clusters: Sequence[str], seed: int = 0) -> Rate:
    """Return the share of hits with an interval that takes clusters, not pairs, for independent.

    Percentiles of 2,000 resamples of whole clusters. Where all or none of the pairs are hits
    these say nothing, and the exact interval of Clopper and Pearson with as many trials as
    there are clusters stands in.

    Parameters
    ----------
    hits : ndarray of bool, shape (N,)
    clusters : sequence of str
    seed : int

    Examples
    --------
    >>> rate(np.zeros(20, bool), [str(n) for n in range(20)]).high == clopper_pearson(0, 20)[1]
    True
    """
    names, at = np.unique(np.array(clusters, dtype=object).astype(str), return_inverse=True)
    n, found = len(hits), int(hits.sum())
    if not n:
        return Rate(0, 0, 0, math.nan, math.nan, math.nan)
    if found in (0, n):
        low, high = clopper_pearson(len(names) if found else 0, len(names))
    else:
        sizes = np.bincount(at, minlength=len(names)).astype(float)
        counts = np.bincount(at, weights=hits.astype(float), minlength=len(names))
        drawn = draw_clusters(len(names), seed)
        low, high = np.percentile((drawn @ counts) / (drawn @ sizes), [2.5, 97.5])
    return Rate(n, len(names), found, found / n, float(low), float(high))


def draw_clusters(count: int, seed: int) -> Floats:
    """Return how often each cluster stands in each resample, shape (2000, count)."""
    return np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), RESAMPLES).astype(float)


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper and Pearson 1934).

    Examples
    --------
    >>> [round(bound, 4) for bound in clopper_pearson(0, 20)]
    [0.0, 0.1684]
    """
    from scipy.stats import beta

    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - tail, hits + 1, n - hits))
    return low, high


def area(same: Floats, different: Floats) -> float:
    """Return the area under the curve: how often a same pair scores above a different one, ties half.

    Examples
    --------
    >>> area(np.array([3.0, 2.0]), np.array([1.0, 2.0]))
    0.875
    """
    same, different = same[~np.isnan(same)], different[~np.isnan(different)]
    if not len(same) or not len(different):
        return math.nan
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([same, different]))[: len(same)]
    return float((ranks.sum() - len(same) * (len(same) + 1) / 2) / (len(same) * len(different)))


def precision(refused_good: float, accepted_bad: float, bad_rate: float) -> float:
    """Return the share of good ones among accepted variants, at a rate of bad ones made.

    Examples
    --------
    >>> precision(refused_good=0.0, accepted_bad=0.5, bad_rate=0.5)
    0.6666666666666666
    """
    good = (1 - bad_rate) * (1 - refused_good)
    bad = bad_rate * accepted_bad
    return good / (good + bad) if good + bad else math.nan


def best_cut(same: Floats, different: Floats) -> float:
    """Return the threshold with the largest mean of both shares judged right, for a baseline."""
    cuts = np.unique(np.concatenate([same, different]))
    kept = 1 - np.searchsorted(np.sort(same), cuts, side="left") / len(same)
    refused = np.searchsorted(np.sort(different), cuts, side="left") / len(different)
    return float(cuts[int(np.argmax(kept + refused))])
