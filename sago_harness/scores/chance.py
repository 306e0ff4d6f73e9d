"""What each document adds to the error of a chance level that documents share.

A chance control is another document's prompt, so its distance belongs to two documents: to the
one that it is held against and to the one that is asked. Neighbours therefore go together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


def chance_influence(
    controls: npt.NDArray[np.floating],
    partners: npt.NDArray[np.integer] | None,
    both: npt.NDArray[np.bool_],
) -> Doubles:
    r"""Return each document's part in the error of mean q_c, with the controls it is asked as.

    With n documents that form r, k_i scored controls of document i and m = mean q_c::

        x(i, j) = (d^2(i, j) - m) / k_i                 for every scored control j of i
        v(i)    = sum_j x(i, j) + sum_j x(j, i), less its mean over the n documents
        X       = sum over pairs {i, j} of (x(i, j) + x(j, i))^2
        kappa   = sqrt(min(1, max(1/2, 1 - X / sum v^2)) (1 + 3 / n))

    and kappa v(i) is returned. Only controls that are themselves among the n documents stand in the
    second sum of v and in X; where a model has none of them, kappa is 1.

    Parameters
    ----------
    controls : ndarray of shape (M, D, K)
        Squared distances of the chance controls, NaN where missing.
    partners : ndarray of int of shape (M, D, K), optional
        Place of the control's document among the D documents, -1 where it is none of them. Without
        partners q_c(i) - mean q_c is returned.
    both : ndarray of bool of shape (M, D)
        Documents that form r; each needs a scored control.

    Returns
    -------
    ndarray of shape (M, D)
        In units of a squared distance; rows sum to 0, and it is 0 where not ``both``.

    Notes
    -----
    With d^2(i, j) = mu + a_i + a_j + e, the variance of mean q_c is that of all pairs of distances
    that share a document (the dyadic-robust variance, Aronow, Samii and Assenova 2015), and its
    estimate is (sum v^2 - X) / n^2: in sum v^2 every distance stands twice, once is right. So that a
    document stays the unit, v is shrunk to this sum of squares: kappa^2 is 1/2 where distances alone
    vary and 2k / (2k + 1) where documents alone do; centring takes 4/n of it, n / (n - 1) gives 1/n back.

    Examples
    --------
    Two documents that are each other's control have one distance, and nothing to tell them apart:

    >>> both, ring = np.ones((1, 2), dtype=bool), np.array([[[1], [0]]])
    >>> chance_influence(np.array([[[0.5], [0.7]]]), ring, both).round(12).tolist()
    [[0.0, 0.0]]
    >>> chance_influence(np.array([[[0.5], [0.7]]]), None, both).round(12).tolist()
    [[-0.1, 0.1]]
    """
    models, documents = both.shape
    # Controls first: sums over them are sums of whole blocks.
    squares = np.ascontiguousarray(np.moveaxis(controls, 2, 0))
    known = np.isfinite(squares) & both
    scored = np.maximum(known.sum(axis=0), 1)
    n = np.maximum(both.sum(axis=1), 1)
    mean = (np.where(known, squares, 0.0).sum(axis=0) / scored).sum(axis=1) / n
    x = np.where(known, (squares - mean[:, None]) / scored, 0.0)
    own: Doubles = x.sum(axis=0)
    if partners is None:
        return own
    places = np.ascontiguousarray(np.moveaxis(partners, 2, 0))
    there = np.maximum(places, 0) + (np.arange(models) * documents)[:, None]
    inside = known & (places >= 0) & both.reshape(-1)[there]
    within = np.where(inside, x, 0.0)
    asked = np.bincount(there.reshape(-1), within.reshape(-1), models * documents)
    v = own + asked.reshape(models, documents)
    v = np.where(both, v - (v.sum(axis=1) / n)[:, None], 0.0)
    twice = _pairs(within, places, there)
    total = np.square(v).sum(axis=1)
    share = np.divide(twice, total, out=np.zeros(models), where=total > 0.0)
    squared = np.clip(1.0 - share, 0.5, 1.0) * (1.0 + 3.0 / n)
    kappa = np.sqrt(np.where(inside.any(axis=(0, 2)), squared, 1.0))
    found: Doubles = kappa[:, None] * v
    return found


def _pairs(within: Doubles, places: npt.NDArray[np.integer], there: npt.NDArray[np.integer]) -> Doubles:
    """Return X of every model, of arrays (K, M, D): the square of what a pair of documents adds, once."""
    documents = np.arange(within.shape[2])
    found: Doubles = np.square(within).sum(axis=(0, 2))
    for mine, at in zip(within, there, strict=True):
        for theirs, back in zip(within, places, strict=True):
            # Where two documents ask each other, both their distances belong to one pair.
            mutual = back.reshape(-1)[at] == documents
            if mutual.any():
                found += np.where(mutual, mine * theirs.reshape(-1)[at], 0.0).sum(axis=1)
    return found
