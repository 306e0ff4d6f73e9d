"""Sums of squared differences of two models over documents, for many pairs at once.

The squared length of a difference follows from scalar products, |x - y|^2 = x.x + y.y - 2 x.y, and
those of all models are one matrix product: no pair needs to go over the documents. Where two models
are nearly the same, what is left of the scalar products is rounding; such pairs are formed as they
are written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sago_harness.stats.pair_data import Term, contributions
from sago_harness.stats.shared_sums import SHARED_TERMS
from sago_harness.stats.table import Doubles, Places

#: Rows of scalar products at most (models x terms): so many squared are 128 MB.
MOST_ROWS = 4096

#: Squares below this share of what they are the difference of have lost too many digits.
LOST = 1e-4


class Spreads:
    """Sums of squared contributions of pairs of models in one score.

    Parameters
    ----------
    terms : sequence of Term
        T measures of the score, over D documents.
    documents : int

    Examples
    --------
    >>> from sago_harness.stats.quantities import mean_quantity
    >>> x = mean_quantity("x", np.array([[1.0, 3.0, 2.0], [2.0, 0.0, 1.0]]))
    >>> Spreads([Term(1.0, False, x)], 3).of(0, np.array([1]), np.array([1.0]), 3).round(6).tolist()
    [1.222222]
    >>> round(float(np.square(np.array([-1.0, 3.0, 1.0]) / 3).sum()), 6)
    1.222222
    """

    def __init__(self, terms: Sequence[Term], documents: int) -> None:
        self.terms, self.documents = tuple(terms), documents
        models = len(self.terms[0].scaled) if self.terms else 0
        self._few = 0 < len(self.terms) <= SHARED_TERMS and models * len(self.terms) <= MOST_ROWS
        if self._few:
            rows = np.zeros((models, len(self.terms), documents))
            for place, term in enumerate(self.terms):
                rows[:, place, term.start : term.start + term.scaled.shape[1]] = term.scaled
            flat = rows.reshape(models * len(self.terms), documents)
            self._products = (flat @ flat.T).reshape(*rows.shape[:2], *rows.shape[:2])
            self._sums = rows.sum(axis=2)

    def of(self, a: int, b: Places, difference: Doubles, n: int) -> Doubles:
        """Return the sums of squared contributions of model a's pairs with models b, of shape (K,).

        Parameters
        ----------
        a : int
        b : ndarray of shape (K,)
        difference : ndarray of shape (K,)
            value(a) - value(b), spread evenly over the documents; 0 = none.
        n : int
            Documents that it is spread over; those on which a term is not 0 are among them.
        """
        first = np.full(len(b), a, dtype=np.intp)
        if not self._few:
            return self._plain(first, b) + np.square(difference) / max(1, n)
        factors = np.stack([term.factors(first, b) for term in self.terms], axis=1)
        products = self._products
        own, theirs = products[a, :, a], products[b, :, b]
        cross = products[a][:, b].transpose(1, 0, 2)
        both = own + theirs - cross - cross.transpose(0, 2, 1)
        squares = np.einsum("kt,ktu,ku->k", factors, both, factors)
        diagonal = np.diagonal(own) + np.diagonal(theirs, axis1=1, axis2=2)
        size = len(self.terms) * (np.square(factors) * diagonal).sum(axis=1)
        lost = np.flatnonzero(squares <= LOST * size)
        if lost.size:
            squares[lost] = self._plain(first[lost], b[lost])
        share = difference / max(1, n)
        sums = (factors * (self._sums[a] - self._sums[b])).sum(axis=1)
        value: Doubles = squares + share * (difference + 2.0 * sums)
        return np.maximum(value, 0.0)

    def _plain(self, first: Places, second: Places) -> Doubles:
        none = np.zeros(len(first))
        nowhere = np.zeros((len(first), self.documents), dtype=bool)
        value: Doubles = np.square(contributions(self.terms, first, second, none, nowhere)).sum(axis=1)
        return value
