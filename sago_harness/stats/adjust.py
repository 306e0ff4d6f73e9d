"""p-values of many tests, corrected for their number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sago_harness.errors import SagoError
from sago_harness.stats.table import Doubles

#: What each correction holds at the level.
METHODS = {"holm": "the chance of any false finding", "bh": "the expected share of false findings"}


def adjust(pvalues: npt.ArrayLike, method: str) -> Doubles:
    """Return adjusted p-values: a test is significant where its own is at most the level.

    Parameters
    ----------
    pvalues : array_like of any shape
        In [0, 1]; NaN where a test is not defined. All entries form one family.
    method : {"holm", "bh"}
        Holm (1979), step-down, under any dependence; Benjamini and Hochberg (1995), step-up, under
        independence or positive dependence.

    Returns
    -------
    ndarray of the same shape
        At most 1, in the order of the p-values. NaN stays NaN and does not count as a test.

    Raises
    ------
    SagoError
        For another method.
    ValueError
        For a p-value outside [0, 1].

    Examples
    --------
    >>> adjust([0.01, 0.04, np.nan], "holm").tolist()
    [0.02, 0.04, nan]
    >>> adjust([0.02, 0.04], "bh").tolist()
    [0.04, 0.04]
    """
    if method not in METHODS:
        raise SagoError(f"unknown correction {method!r}: choose holm or bh")
    p = np.asarray(pvalues, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    defined = ~np.isnan(p)
    known = p[defined]
    if known.size and (known.min() < 0.0 or known.max() > 1.0):
        raise ValueError("a p-value lies outside [0, 1]")
    # Equal p-values are adjusted alike in whatever order they stand, and a stable sort takes much longer.
    order = np.argsort(known)
    rank = np.arange(1, known.size + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(known[order] * (known.size + 1 - rank))
    else:
        stepped = np.minimum.accumulate((known[order] * known.size / rank)[::-1])[::-1]
    back = np.empty(known.size)
    back[order] = np.minimum(stepped, 1.0)
    adjusted[defined] = back
    return adjusted
