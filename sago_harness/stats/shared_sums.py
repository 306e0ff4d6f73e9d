"""Sums of all pairs of models under random signs, from sums of the models.

A pair's sum is a sum over measures of f (S(a) - S(b)), with the flipped sums S of single models and
factors f of the pair. The S are formed once for all scores and pairs. They are laid out model by
model, so that one model's part for many others is a matrix product, and each other's a product of
its own that reads its sums once: several times faster than differences measure by measure.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sago_harness.stats.counts import Floats
from sago_harness.stats.flips import Flips, rounding
from sago_harness.stats.pair_data import Term, contributions
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.table import Doubles, Flags, Places

#: Up to so many terms in a score, sums and scalar products of the terms are cheaper than those of each pair.
SHARED_TERMS = 8


class SharedSums:
    """Flipped sums of every measure of a data set, formed once for all scores and pairs.

    Only for pairs of models with the same documents: others need values of their own.
    """

    def __init__(self, flips: Flips) -> None:
        self.flips = flips
        self._sums: dict[tuple[int, bool], tuple[Quantity, Floats, Doubles]] = {}
        self._part: dict[bytes, Floats] = {}

    def of(self, term: Term) -> tuple[Floats, Doubles]:
        """Return the sums (M, B) of a measure's scaled values, and the sizes of their rounding (M,)."""
        self.prepare([term])
        return self._sums[self._key(term)][1:]

    def prepare(self, terms: Sequence[Term]) -> None:
        """Form the sums of several measures at once, which goes over the signs once."""
        # The same measure comes up in several scores.
        fresh = {self._key(term): term for term in terms if self._key(term) not in self._sums}
        if not fresh:
            return
        blocks = []
        for term in fresh.values():
            # Less what all models have in common: what is left is small, and so is its rounding.
            scaled = term.scaled - term.scaled.mean(axis=0)
            rows = scaled
            if scaled.shape[1] < self.flips.documents:
                rows = np.zeros((len(scaled), self.flips.documents))
                rows[:, term.start : term.start + scaled.shape[1]] = scaled
            blocks.append(rows)
        sums = self.flips.sums(np.concatenate(blocks))
        start = 0
        for (key, term), rows in zip(fresh.items(), blocks, strict=True):
            error = rounding(self.flips.exact) * np.abs(rows).sum(axis=1)
            self._sums[key] = term.quantity, sums[start : start + len(rows)], error
            start += len(rows)

    @staticmethod
    def _key(term: Term) -> tuple[int, bool]:
        return id(term.quantity), term.root

    def some(self, keep: Flags) -> SharedSums:
        """Return these sums under some of the patterns; ``keep`` of shape (B,)."""
        less = SharedSums(self.flips.some(keep))
        less._sums = {
            key: (quantity, np.ascontiguousarray(sums[:, keep]), error)
            for key, (quantity, sums, error) in self._sums.items()
        }
        return less

    def even(self, part: Flags) -> Floats:
        """Return the sums (B,) of 1 / n over documents of a part."""
        key = part.tobytes()
        if key not in self._part:
            self._part[key] = self.flips.sums(part[None] / max(1, int(part.sum())))[0]
        return self._part[key]

    def slack(self, terms: Sequence[Term], a: Places, b: Places, share: Doubles) -> Doubles:
        """Return how much rounding may move the draws of pairs of models a and b, of shape (K,)."""
        slack = rounding(self.flips.exact) * np.abs(share)
        for term in terms:
            _, error = self.of(term)
            slack = slack + np.abs(term.factors(a, b)) * (error[a] + error[b])
        return slack


class PairSums:
    """Flipped sums of pairs of models in one score.

    Parameters
    ----------
    shared : SharedSums
    terms : sequence of Term
        T measures of the score.
    at : ndarray of shape (N,)
        Places of the models; pairs with neighbours in this order are quickest.
    """

    def __init__(self, shared: SharedSums, terms: Sequence[Term], at: Places) -> None:
        self.flips, self.terms, self.at = shared.flips, tuple(terms), at
        self._few = len(self.terms) <= SHARED_TERMS
        self._room: Floats | None = None
        if self._few:
            self._sums = np.empty((len(at), len(self.terms), len(self.flips)), dtype=self.flips.kind)
            for place, term in enumerate(self.terms):
                self._sums[:, place] = shared.of(term)[0][at]

    def draws(
        self,
        i: Places,
        j: Places,
        scale: Doubles,
        share: Doubles | None = None,
        even: Floats | None = None,
    ) -> Floats:
        """Return sums of the pairs of the i-th models with the j-th ones, of shape (K, B).

        Parameters
        ----------
        i, j : ndarray of shape (K,), K > 0
            Places in the order of this object; quickest where those of one i stand together, with
            neighbours as j.
        scale : ndarray of shape (K,)
            What each pair's sums are multiplied with.
        share : ndarray of shape (K,), optional
            Differences that are spread evenly over the documents; without them draws are centred.
        even : ndarray of shape (B,), optional
            :meth:`SharedSums.even` of the documents, with ``share``.

        Returns
        -------
        ndarray of shape (K, B)
            Written over by the next call.
        """
        kind = self.flips.kind
        first, second = self.at[i], self.at[j]
        if not self._few:
            return self._apart(first, second, scale)
        factors = np.stack([term.factors(first, second) * scale for term in self.terms], axis=1).astype(kind)
        spread = None if share is None or even is None else (share * scale).astype(kind)[:, None]
        total, others = self._space(len(j))
        ends = [0, *(np.flatnonzero(np.diff(i)) + 1).tolist(), len(i)]
        for start, stop in itertools.pairwise(ends):
            some = slice(start, stop)
            near = j[some]
            run = near[-1] - near[0] == len(near) - 1
            own = self._sums[i[start]]
            theirs = self._sums[near[0] : near[0] + len(near)] if run else self._sums[near]
            if len(self.terms) == 1:
                # Products of one number each are slow as matrix products.
                np.subtract(own, theirs[:, 0], out=total[some])
                continue
            weights = factors[some]
            np.matmul(weights[:, None, :], theirs, out=others[some][:, None, :])
            if spread is not None and even is not None:
                own = np.concatenate([own, even[None]])
                weights = np.concatenate([weights, spread[some]], axis=1)
            np.matmul(weights, own, out=total[some])
        if len(self.terms) > 1:
            total -= others
            return total
        total *= factors
        if spread is not None and even is not None:
            np.multiply(even[None], spread, out=others)
            total += others
        return total

    def _apart(self, first: Places, second: Places, scale: Doubles) -> Floats:
        """Return centred draws from sums of each pair alone, where a score has many terms."""
        documents = np.zeros((len(first), self.flips.documents), dtype=bool)
        return self.flips.sums(
            contributions(self.terms, first, second, np.zeros(len(first)), documents) * scale[:, None]
        )

    def _space(self, rows: int) -> tuple[Floats, Floats]:
        """Return room for so many rows of draws, twice; always the same."""
        if self._room is None or self._room.shape[1] < rows:
            self._room = np.empty((2, rows, len(self.flips)), dtype=self.flips.kind)
        return self._room[0, :rows], self._room[1, :rows]
