"""Means over what is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sago_harness.stats.table import Doubles, Flags


def divided(sums: Doubles, counts: npt.ArrayLike) -> Doubles:
    """Return sums / counts, NaN where there is nothing to divide by.

    Examples
    --------
    >>> divided(np.array([1.0, 0.0]), [2, 0]).tolist()
    [0.5, nan]
    """
    by = np.asarray(counts)
    value: Doubles = np.divide(sums, by, out=np.full(sums.shape, np.nan), where=by > 0)
    return value


def known_mean(values: Doubles, keep: Flags | None = None) -> Doubles:
    """Return the mean over the last axis of what is finite, or of what ``keep`` marks; NaN for nothing.

    Examples
    --------
    >>> known_mean(np.array([[1.0, np.nan, 3.0], [np.nan] * 3])).tolist()
    [2.0, nan]
    """
    known = np.isfinite(values) if keep is None else keep
    return divided(np.where(known, values, 0.0).sum(axis=-1), known.sum(axis=-1))


def root_mean(values: Doubles) -> Doubles:
    """Return the root of the mean over the last axis of what is finite; NaN for nothing.

    Examples
    --------
    >>> root_mean(np.array([[4.0, np.nan], [np.nan] * 2])).tolist()
    [2.0, nan]
    """
    root: Doubles = np.sqrt(known_mean(values))
    return root
