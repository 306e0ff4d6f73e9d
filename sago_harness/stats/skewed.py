"""Intervals of means of skewed values, in closed form: for where there are too many cells to resample."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sago_harness.stats.table import Doubles

#: Skewness under which the transformation is the identity, to rounding.
_STRAIGHT = 1e-6


def skewed_reach(
    skewness: npt.ArrayLike, count: npt.ArrayLike, quantile: npt.ArrayLike
) -> tuple[Doubles, Doubles]:
    """Return how far an interval reaches below and above a mean, in standard errors.

    Hall's (1992) monotone transformation takes the skewness out of Student's statistic
    T = (mean - truth) / error: g(T) = T + s T^2 / (3 r) + s^2 T^3 / (27 r^2) + s / (6 r) with skewness s and
    r = sqrt(n) is nearly normal, and the ends are those T with g(T) = -+ the quantile.

    Parameters
    ----------
    skewness : array_like
        Third central moment over the cube of the standard deviation (both with divisor n).
    count : array_like
        Values of each mean, at least 1.
    quantile : array_like
        Of Student's t, positive.

    Returns
    -------
    below, above : ndarray
        Both quantile where the skewness is 0; the longer one is on the side of the long tail.

    Notes
    -----
    With 40 beta distributed values it covers 96.6 % where 60 % of them are 0 and 97.7 % where 85 % are,
    Student's t 94.1 and 90.9; 94.6 % of exponential ones, t 93.2 [sim].

    References
    ----------
    P. Hall (1992). On the removal of skewness by transformation. Journal of the Royal Statistical
    Society B 54, 221-228.

    Examples
    --------
    >>> below, above = skewed_reach([0.0, 1.0], [40, 40], [2.0, 2.0])
    >>> below.round(2).tolist(), above.round(2).tolist()
    ([2.0, 1.8], [2.0, 2.29])
    """
    s, n, q = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (skewness, count, quantile)))
    root = np.sqrt(np.maximum(n, 1.0))
    bent = np.abs(s) >= _STRAIGHT
    slope = np.where(bent, s, 1.0) / 3.0

    def inverse(y: Doubles) -> Doubles:
        inside = 1.0 + 3.0 * slope * (y / root - s / (6.0 * root * root))
        return np.where(bent, root / slope * (np.cbrt(inside) - 1.0), y)

    return inverse(q), -inverse(-q)
