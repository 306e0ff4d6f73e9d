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
