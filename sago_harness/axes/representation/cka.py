"""Debiased linear CKA: are the documents arranged alike, whatever the axes?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sago_harness.axes.representation.base import Doubles, Representation, Side


class Cka(Representation):
    """``x_cka`` = 1 - HSIC_1(K, L) / sqrt(HSIC_1(K, K) HSIC_1(L, L)), of linear kernels.

    HSIC_1 is the unbiased estimator (Song et al. 2012, eq. 5), so unrelated states give 1 on
    average for any n and D, where the usual estimate calls them alike as soon as D > n. An
    unbiased estimate scatters round its value: 0 and 1 are both exceeded at times, and
    nothing is clipped.
    """

    name = "x_cka"
    symmetric = True
    bounded = False
    reference = "Kornblith et al. 2019 (CKA); Song et al. 2012 (HSIC_1); Nguyen et al. 2021 (both together)"
    one_by_one = True

    def compare(self, x: Side, y: Side) -> float:
        """See :class:`Representation`."""
        k, m = _hollow(x.gram), _hollow(y.gram)
        return float(1.0 - _ratio(_hsic(k, m), _hsic(k, k), _hsic(m, m)))

    def left_out(self, x: Side, y: Side, groups: npt.NDArray[np.intp], count: int) -> Doubles:
        """Return the distance without each document, in closed form.

        Parameters
        ----------
        x, y : Side
        groups : ndarray of shape (n,), int
            All different.
        count : int
        """
        k, m = _hollow(x.gram), _hollow(y.gram)
        found = np.full(count, self.compare(x, y))
        found[groups] = 1.0 - _ratio(_hsic_without(k, m), _hsic_without(k, k), _hsic_without(m, m))
        return found


def _hollow(gram: Doubles) -> Doubles:
    made = gram.copy()
    np.fill_diagonal(made, 0.0)
    return made


def _hsic(k: Doubles, m: Doubles) -> Doubles:
    """Return HSIC_1 of two kernel matrices with an empty diagonal, as an array without axes."""
    n = len(k)
    a, b = k.sum(axis=1), m.sum(axis=1)
    return _combined(n, np.asarray(np.sum(k * m)), np.asarray(np.dot(a, b)), np.asarray(a.sum() * b.sum()))


def _hsic_without(k: Doubles, m: Doubles) -> Doubles:
    """Return HSIC_1 without each of the n documents, shape (n,), from the sums over all."""
    n = len(k)
    a, b = k.sum(axis=1), m.sum(axis=1)
    both = (k * m).sum(axis=1)
    products = both.sum() - 2.0 * both
    # Sum over the others of (a_i - k_id) (b_i - m_id); the diagonals are empty.
    rows = np.dot(a, b) - a * b - m @ a - k @ b + both
    totals = (a.sum() - 2.0 * a) * (b.sum() - 2.0 * b)
    return _combined(n - 1, products, rows, totals)


def _combined(n: int, products: Doubles, rows: Doubles, totals: Doubles) -> Doubles:
    """Put tr(KL), 1'KL1 and 1'K1 1'L1 together (Song et al. 2012, eq. 5)."""
    inner = products + totals / ((n - 1) * (n - 2)) - 2.0 * rows / (n - 2)
    return np.asarray(inner / (n * (n - 3)))


def _ratio(both: Doubles, left: Doubles, right: Doubles) -> Doubles:
    """Return the similarity; NaN where a normaliser is not above 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        defined = (left > 0.0) & (right > 0.0)
        return np.asarray(np.where(defined, both / np.sqrt(np.where(defined, left * right, 1.0)), np.nan))
