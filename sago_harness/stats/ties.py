"""When are two values equal? One rule for orders of models: a difference below 1e-9 of the scale is a tie.

Differences are compared, not values rounded: two that are next to each other can be rounded apart.
"""

from __future__ import annotations

import numpy as np

from sago_harness.stats.resampling import TIE
from sago_harness.stats.table import Doubles


def scale_of(values: Doubles) -> Doubles:
    """Return the largest size in each row, of shape (..., 1): what differences are small beside.

    Parameters
    ----------
    values : ndarray of shape (..., M)

    Examples
    --------
    >>> scale_of(np.array([0.2, -0.5])).tolist()
    [0.5]
    """
    return np.asarray(np.abs(values).max(axis=-1, keepdims=True, initial=0.0))


def settled(difference: Doubles, scale: Doubles) -> Doubles:
    """Return differences, those that are ties as 0.

    Parameters
    ----------
    difference : ndarray
    scale : ndarray
        Of a shape that can be broadcast to it.

    Examples
    --------
    >>> settled(np.array([0.1 + 0.2 - 0.3, 1e-8, np.nan]), np.array([1.0])).tolist()
    [0.0, 1e-08, nan]
    """
    return np.where(np.abs(difference) <= TIE * scale, 0.0, difference)


def order(difference: Doubles, scale: Doubles) -> Doubles:
    """Return 1 where a difference is above 0, -1 where it is below, 0 in a tie.

    Parameters
    ----------
    difference : ndarray
    scale : ndarray
        Of a shape that can be broadcast to it.

    Examples
    --------
    >>> order(np.array([0.1 + 0.2 - 0.3, 1e-8, -1e-8]), np.array([1.0])).tolist()
    [0.0, 1.0, -1.0]
    """
    return np.asarray(np.sign(settled(difference, scale)))
