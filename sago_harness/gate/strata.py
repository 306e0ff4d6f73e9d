"""A mean over data sets: documents are drawn within each, and its error knows which of them it comes from.

Documents of different data sets are independent, and how many there are of each is no chance: a sample
holds as many of each as the study has (Davison & Hinkley 1997, section 3.2). In an unweighted mean a small
data set weighs as much as a large one, and most of the error is its own: Student's t has the degrees of
freedom of Welch (1947) and Satterthwaite (1946), not those of all documents together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sago_harness.stats.resampling import Singles, Source, weight_blocks
from sago_harness.stats.table import Doubles


@dataclass(frozen=True, slots=True)
class Stratum:
    """The documents of one data set, side by side among those of a mean over several.

    Attributes
    ----------
    columns : int
        Documents.
    count : int
        Documents that count, at least 2.
    source : Source
        Of the draws: another one for each data set.
    """

    columns: int
    count: int
    source: Source


def welch(variances: Sequence[float], counts: Sequence[int]) -> float:
    """Return the degrees of freedom of a sum of independent estimates.

    Parameters
    ----------
    variances : sequence of float
        Squared standard errors, not all 0.
    counts : sequence of int
        Documents of each, at least 2.

    Returns
    -------
    float
        (sum v)^2 / sum v^2 / (n - 1) (Welch 1947; Satterthwaite 1946): between the smallest n - 1 and
        the sum of all n - 1.

    Examples
    --------
    >>> welch([1.0, 1.0], [11, 11]), welch([1.0, 0.0], [11, 1000])
    (20.0, 10.0)
    """
    v, n = np.asarray(variances, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    v = v / v.max()
    return float(np.square(v.sum()) / (np.square(v) / (n - 1.0)).sum())


def degrees_of_freedom(contributions: Doubles, strata: Sequence[Stratum]) -> float:
    """Return the degrees of freedom of a mean over data sets.

    Parameters
    ----------
    contributions : ndarray of shape (D,)
        Influence of each document on the mean, as :func:`sago_harness.stats.overall.joined` has it.
    strata : sequence of Stratum

    Examples
    --------
    >>> few, many = (Stratum(n, n, np.random.default_rng(0)) for n in (40, 400))
    >>> u = np.concatenate([np.tile([-1.0, 1.0], n // 2) / n for n in (40, 400)])
    >>> round(degrees_of_freedom(u, [few, many]))
    47
    """
    errors = [s.count / (s.count - 1.0) * np.square(x).sum() for x, s in _own(contributions[None], strata)]
    return welch(errors, [s.count for s in strata])


def studentised_within(contributions: Doubles, strata: Sequence[Stratum], resamples: int) -> Singles:
    """Return bootstrap draws of mean / standard error, documents drawn within their data set.

    Parameters
    ----------
    contributions : ndarray of shape (K, D)
        Influence of each document on K means, over a scale at which their errors are about 1; of sum 0
        over the documents of each data set.
    strata : sequence of Stratum
    resamples : int

    Returns
    -------
    ndarray of shape (resamples, K), float32
        As :func:`sago_harness.stats.intervals.studentised` for a single data set.

    Examples
    --------
    >>> strata = [Stratum(40, 40, np.random.default_rng(seed)) for seed in (0, 1)]
    >>> u = np.tile(np.linspace(-1.0, 1.0, 40), 2)[None] / 40.0
    >>> draws = studentised_within(u, strata, 999)
    >>> draws.shape, bool(1.5 < np.quantile(draws, 0.95) < 1.8)
    ((999, 1), True)
    """
    first, variance = (np.zeros((resamples, len(contributions)), dtype=np.float32) for _ in range(2))
    for own, stratum in _own(contributions, strata):
        x = own.astype(np.float32).T
        squares = np.square(x)
        n, done = np.float32(stratum.count), 0
        for weights in weight_blocks(len(x), resamples, stratum.source, len(contributions)):
            rows = slice(done, done + len(weights))
            sums, second = weights @ x, weights @ squares
            first[rows] += sums
            # The floor stands for 0, which single precision does not reach.
            variance[rows] += n / (n - 1) * np.maximum(second - sums * sums / n, 1e-6 * second)
            done += len(weights)
    return (first / np.sqrt(np.maximum(variance, np.float32(1e-20)))).astype(np.float32, copy=False)


def _own(contributions: Doubles, strata: Sequence[Stratum]) -> Iterator[tuple[Doubles, Stratum]]:
    """Yield each data set's part (K, D_k) without the factor that makes errors add up in the mean."""
    total, start = sum(s.count for s in strata), 0
    for s in strata:
        factor = math.sqrt(s.count / (s.count - 1.0) * (total - 1.0) / total)
        yield contributions[:, start : start + s.columns] / factor, s
        start += s.columns
