"""What a difference of two models is made of, document by document.

A relative instability r = sqrt(mean q_s / mean q_c) is a root, and under a root the influence of a
document depends on where each model happens to lie: u is divided by 2 r(a) for one model and by
2 r(b) for the other, so that a model that was lucky also looks surer. With few documents a test on
it rejects too often (8 documents, skewed: 10 to 17 % in place of 5). The difference of two roots is

    r(a) - r(b) = (r(a)^2 - r(b)^2) / (r(a) + r(b)),

and a difference of r^2 with one divisor for both has no such slant (2 to 5 %). This is what pairs
are formed from; to first order it is the difference of the influence values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sago_harness.scores.composite import COMPOSITES, RIGID_CHANCE
from sago_harness.stats.quantities import Quantity, combined, mean_quantity, relative_quantity
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags, Places


@dataclass(frozen=True)
class Term:
    """One measure in a score.

    Attributes
    ----------
    weight : float
        The score's derivative with respect to the measure.
    root : bool
        The measure is the root of a ratio of means.
    quantity : Quantity
        The measure, of M models over D_t documents.
    start : int
        Where its documents begin among those of the score.
    """

    weight: float
    root: bool
    quantity: Quantity
    start: int = 0

    @cached_property
    def scaled(self) -> Doubles:
        """Return the influence values, of r^2 for a root; of shape (M, D_t)."""
        if not self.root:
            return self.quantity.influence
        double = np.where(np.isfinite(self.quantity.values), 2.0 * self.quantity.values, 0.0)
        scaled: Doubles = self.quantity.influence * double[:, None]
        return scaled

    def factors(self, a: Places, b: Places) -> Doubles:
        """Return what differences of scaled values of models a and b are multiplied with, (K,)."""
        if not self.root:
            return np.full(len(a), self.weight)
        both = self.quantity.values[a] + self.quantity.values[b]
        value: Doubles = np.divide(self.weight, both, out=np.zeros(both.shape), where=both > 0.0)
        return value


@dataclass(frozen=True)
class PairData:
    """One score with its measures, and the way to form it again on fewer documents.

    Attributes
    ----------
    quantity : Quantity
        Of M models over D documents.
    masks : ndarray of shape (S, M, D)
        For each measure, the documents that are scored.
    terms : tuple of Term
    restrict : callable
        ``restrict(at, keep)``: the score and the terms of the models at the places ``at`` (K,),
        each measure over the documents in its rows of ``keep`` (S, K, D).
    """

    quantity: Quantity
    masks: Flags
    terms: tuple[Term, ...]
    restrict: Callable[[Places, Flags], tuple[Quantity, tuple[Term, ...]]] = field(repr=False)

    def groups(self) -> Places:
        """Return a number for each model, the same for equal masks; -1 where unscored."""
        seen: dict[bytes, int] = {}
        packed = np.packbits(self.masks, axis=2)
        groups = [seen.setdefault(packed[:, m].tobytes(), len(seen)) for m in range(self.masks.shape[1])]
        return np.where(np.isfinite(self.quantity.values), groups, -1)


def of_quantity(quantity: Quantity) -> PairData:
    """Return a score of which nothing but values and influence is known, the same documents for all."""
    some = np.any(quantity.influence != 0.0, axis=0)
    if some.sum() < quantity.counts.max(initial=0):
        # Documents at a mean have no influence either.
        some = np.ones(len(some), dtype=bool)
    masks = np.broadcast_to(some, (1, *quantity.influence.shape))

    def restrict(at: Places, keep: Flags) -> tuple[Quantity, tuple[Term, ...]]:
        raise AssertionError(f"{len(at)} models of one mask were to be restricted to {keep.sum()} documents")

    return PairData(quantity, masks, (Term(1.0, False, quantity),), restrict)


def pair_data(scored: ScoredTask) -> dict[str, PairData]:
    """Return what pairs of models are formed from, for all scores of a data set."""
    axis_of = {name: values.axis for name, values in scored.reduced.items()}
    squares = {name: values.squares() for name, values in scored.reduced.items()}
    masks = {
        name: np.isfinite(s) & (np.isfinite(scored.reduced[name].chances) | (name == MIRRORING))
        for name, s in squares.items()
    }

    def restricted(
        weights: Mapping[str, float], wanted: str
    ) -> Callable[[Places, Flags], tuple[Quantity, tuple[Term, ...]]]:
        def restrict(at: Places, keep: Flags) -> tuple[Quantity, tuple[Term, ...]]:
            found: dict[str, Quantity] = {}
            for name, documents in zip(weights, keep, strict=True):
                kept = np.where(documents, squares[name][at], np.nan)
                values = scored.reduced[name]
                if name == MIRRORING:
                    found[name] = mean_quantity(name, kept)
                else:
                    least = RIGID_CHANCE.get(name, 0.0)
                    some = values.of_models(at)
                    found[name] = relative_quantity(
                        name, kept, some.chances, some.floors, least, some.controls, some.partners
                    )
            score = found[wanted] if wanted in found else combined(found, axis_of)[wanted]
            return score, _terms(found, weights)

        return restrict

    made = {}
    for name, quantity in scored.quantities.items():
        # A published scheme's scores bear our measures' names and are plain means.
        weights = {} if quantity.kind == "scheme" else _weights(name, axis_of)
        if not weights or not all(part in scored.quantities for part in weights):
            made[name] = of_quantity(quantity)
            continue
        stack = np.array([masks[part] for part in weights])
        terms = _terms(scored.quantities, weights)
        made[name] = PairData(quantity, stack, terms, restricted(weights, name))
    return made


def _weights(name: str, axis_of: Mapping[str, str]) -> dict[str, float]:
    """Return the measures that a score is made of, with their weights; nothing for unknown scores.

    Examples
    --------
    >>> _weights("sago_text", {"x_bleu": "generation", "x_bert": "generation", "x_mr": "mirroring"})
    {'x_bleu': -0.25, 'x_bert': -0.25, 'x_mr': -0.5}
    """
    if name in axis_of:
        return {name: 1.0}
    axes, sign = (COMPOSITES[name], -1.0) if name in COMPOSITES else ((name.removeprefix("sago_"),), 1.0)
    of = {axis: [n for n, own in axis_of.items() if own == axis] for axis in axes}
    return {n: sign / len(axes) / len(parts) for parts in of.values() for n in parts}


def _terms(found: Mapping[str, Quantity], weights: Mapping[str, float]) -> tuple[Term, ...]:
    return tuple(Term(weight, name != MIRRORING, found[name]) for name, weight in weights.items())


def contributions(terms: tuple[Term, ...], a: Places, b: Places, difference: Doubles, part: Flags) -> Doubles:
    """Return c(i) of pairs of models: what each document adds to value(a) - value(b).

    Parameters
    ----------
    terms : tuple of Term
    a, b : ndarray of shape (K,)
        Places in the terms.
    difference : ndarray of shape (K,)
        value(a) - value(b), spread evenly over the documents; the terms sum to 0.
    part : ndarray of shape (K, D)
        Documents of each pair.

    Returns
    -------
    ndarray of shape (K, D)
        Rows sum to the difference. For a plain mean d(i) / n, d(i) the difference on document i.
    """
    share = difference / np.maximum(part.sum(axis=1), 1)
    parts: Doubles = np.where(part, share[:, None], 0.0)
    one = len(a) > 0 and bool((a == a[0]).all())
    for term in terms:
        scaled = term.scaled
        columns = slice(term.start, term.start + scaled.shape[1])
        each = (scaled[a[0]] if one else scaled[a]) - scaled[b]
        each *= term.factors(a, b)[:, None]
        parts[:, columns] += each
    return parts
