"""Fits the weights of the check on one half of the pairs: a logistic regression in the open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def fit_weights(
    rows: Floats, same: npt.NDArray[np.bool_], groups: Sequence[str], ridge: float = 1e-3
) -> tuple[Floats, float]:
    """Return the weights and the intercept of a logistic regression for "same meaning".

    Parameters
    ----------
    rows : ndarray of shape (N, K)
        Evidence; 0 = no difference.
    same : ndarray of shape (N,)
    groups : sequence of str
        Each group counts alike within its class, and both classes count alike, so that a
        large source does not decide for the others.
    ridge : float
        Penalty on the squared weights, not on the intercept.

    Returns
    -------
    weights : ndarray of shape (K,)
        At most 0: no difference may speak for the same meaning.
    intercept : float

    Examples
    --------
    >>> rows = np.array([[0.0], [0.2], [1.0], [1.2]])
    >>> weights, intercept = fit_weights(rows, np.array([True, True, False, False]), ["a"] * 4)
    >>> bool(weights[0] < 0 and intercept + weights[0] * 0.2 > 0 > intercept + weights[0] * 1.0)
    True
    """
    from scipy.optimize import minimize

    share = _shares(same, groups)
    sign = np.where(same, 1.0, -1.0)

    def loss(values: Floats) -> tuple[float, Floats]:
        margin = sign * (values[0] + rows @ values[1:])
        slope = -sign * share / (1.0 + np.exp(np.minimum(margin, 500.0)))
        gradient = np.concatenate([[slope.sum()], rows.T @ slope + 2 * ridge * values[1:]])
        return float(share @ np.logaddexp(0.0, -margin) + ridge * values[1:] @ values[1:]), gradient

    bounds = [(None, None)] + [(None, 0.0)] * rows.shape[1]
    found = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[1:], float(found.x[0])


def fit_threshold(scores: Floats, groups: Sequence[str], share: float) -> float:
    """Return the score below which at most ``share`` of every group of equivalent pairs falls.

    Parameters
    ----------
    scores : ndarray of shape (N,)
        Of equivalent pairs alone.
    groups : sequence of str
    share : float
        Largest share of a group that may be refused.

    Examples
    --------
    >>> fit_threshold(np.array([0.1, 0.5, 0.6, 0.9]), ["a"] * 4, 0.25)
    0.5
    """
    names = np.array(groups)
    return min(
        float(np.sort(scores[names == name])[int(share * (names == name).sum())])
        for name in sorted(set(groups))
    )


def _shares(same: npt.NDArray[np.bool_], groups: Sequence[str]) -> Floats:
    names = np.array([f"{int(flag)} {group}" for flag, group in zip(same, groups, strict=True)])
    share = np.zeros(len(names))
    for flag in (True, False):
        kinds = sorted(set(names[same == flag]))
        for name in kinds:
            share[names == name] = 0.5 / len(kinds) / (names == name).sum()
    return share
