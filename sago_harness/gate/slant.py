"""How far a score lies too low or too high on average, because measures are roots.

The mean of a root is less than the root of the mean: of r = sqrt(q), with a standard error e of r, by about
e^2 / (2 r) (second order of the delta method: Casella & Berger 2002, section 5.5.4). For one measure that is
a small part of its error. A mean over axes and data sets has a smaller error, and the slant stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sago_harness.stats.pair_data import PairData
from sago_harness.stats.table import Doubles


def slant(data: PairData) -> Doubles:
    """Return how much higher the truth of a score lies than its estimate, on average, for every model.

    Parameters
    ----------
    data : PairData
        The score's, of M models on one data set.

    Returns
    -------
    ndarray of shape (M,)
        Under 0 for scores that are better the higher they are; 0 where nothing is known.

    Examples
    --------
    >>> from sago_harness.stats.pair_data import Term
    >>> from sago_harness.stats.quantities import Quantity
    >>> u = np.array([[-0.1, 0.1] * 20]) / 40
    >>> r = Quantity("x_act", "measure", False, np.array([0.4]), u, np.array([40]), ("",))
    >>> one = PairData(r, np.ones((1, 1, 40), dtype=bool), (Term(-0.5, True, r),), lambda at, keep: (r, ()))
    >>> bool(np.isclose(slant(one)[0], -0.5 * float(r.stderr[0]) ** 2 / 0.8))
    True
    """
    found: Doubles = np.zeros(len(data.quantity.values))
    for term in data.terms:
        if term.root:
            r, error = term.quantity.values, term.quantity.stderr
            known = np.isfinite(r) & np.isfinite(error) & (r > 0.0)
            each = np.divide(np.square(error), 2.0 * r, out=np.zeros(len(found)), where=known)
            found += term.weight * each
    return found


def mean_slant(parts: Sequence[PairData]) -> Doubles:
    """Return the same of the unweighted mean over data sets, of shape (M,)."""
    mean: Doubles = np.mean([slant(part) for part in parts], axis=0)
    return mean
