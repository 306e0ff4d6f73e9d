"""Confidence axis: how the probabilities of one fixed response change with the prompt.

All values are taken over the canonical response's own kept tokens, forced after every
prompt, so that the same tokens are compared. Log-probabilities and entropies are in nats.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]

#: Values depend on length, so every document is read over at most this many tokens.
FORCED_TOKENS = 32


def relative_change(values: FloatArray, canonical: FloatArray, tokens: int = FORCED_TOKENS) -> float:
    """Return the mean over the first tokens of ``1 - exp(-|a - b|)``.

    With log-probabilities this is ``x_prob``: the relative change of each token's
    probability, ``1 - min(p, q) / max(p, q)``; changes of opposite sign do not cancel.
    With entropies it is ``x_ent``.

    Parameters
    ----------
    values, canonical : ndarray of shape (T,)
        Forced log-probabilities or entropies after the variant and the canonical prompt.
    tokens : int
        Read at most this many.

    Returns
    -------
    float
        In [0, 1]; NaN for no tokens or where a value is not finite.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> round(relative_change(np.log([0.5, 0.2]), np.log([0.25, 0.4])), 12)
    0.5
    """
    if values.shape != canonical.shape:
        raise ValueError(f"forced values of shapes {values.shape} and {canonical.shape} cannot be compared")
    a = np.asarray(values[:tokens], dtype=np.float64)
    b = np.asarray(canonical[:tokens], dtype=np.float64)
    if a.size == 0 or not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        return float("nan")
    return float(np.mean(-np.expm1(-np.abs(a - b))))


def divergence(log_p: FloatArray, log_q: FloatArray) -> npt.NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of each position's distributions, over ln 2.

    Parameters
    ----------
    log_p, log_q : ndarray of shape (T, vocabulary)
        Log-probabilities, normalised.

    Returns
    -------
    ndarray of shape (T,), float64
        In [0, 1] (Lin 1991).

    Examples
    --------
    >>> with np.errstate(divide="ignore"):
    ...     p, q = np.log([[1.0, 0.0]]), np.log([[0.0, 1.0]])
    >>> divergence(p, q).tolist()
    [1.0]
    """
    a = np.asarray(log_p, dtype=np.float64)
    b = np.asarray(log_q, dtype=np.float64)
    middle = np.logaddexp(a, b) - np.log(2.0)
    with np.errstate(invalid="ignore"):
        # 0 * (-inf) is 0 here: a token of no probability adds nothing.
        left = np.where(np.isneginf(a), 0.0, np.exp(a) * (a - middle))
        right = np.where(np.isneginf(b), 0.0, np.exp(b) * (b - middle))
    total = 0.5 * (left.sum(axis=-1) + right.sum(axis=-1)) / np.log(2.0)
    return np.asarray(np.clip(total, 0.0, 1.0), dtype=np.float64)
