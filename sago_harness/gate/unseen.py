"""What a measure might be on documents of which none has been seen.

Forty documents that no variant moved do not show that no document is ever moved: with chance .05
seven in a hundred are, and none of the forty was among them. An interval of no width would say otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sago_harness.gate.bounds import EVENTS, Unseen
from sago_harness.stats.pair_data import PairData, Term
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags

#: Largest mirroring less its floor.
_MOST_MIRRORING = 2.0


@dataclass(frozen=True)
class _Part:
    """A measure in a score of which too few documents have shown anything.

    ``up`` and ``down`` are the instabilities that its value might rise from, and fall from.
    """

    weight: float
    root: bool
    up: float
    down: float
    documents: int

    def reach(self, level: float) -> tuple[float, float]:
        """Return how far the score might lie up and down."""
        share = 1.0 - level ** (1.0 / max(1, self.documents))
        if self.root:
            rise, fall = _root_rise(self.up, share), _root_rise(self.down, share)
        else:
            rise, fall = share * (_MOST_MIRRORING - self.up), share * (_MOST_MIRRORING + self.down)
        size = abs(self.weight)
        return (size * rise, size * fall) if self.weight > 0.0 else (size * fall, size * rise)


def _root_rise(r: float, share: float) -> float:
    """Return how much r rises if a share of documents is moved as far as by another question."""
    held = min(1.0, max(0.0, r))
    return math.sqrt(held**2 + share * (1.0 - held**2)) - held


def of_run(scored: ScoredTask, data: PairData, model: int, *, flat: bool) -> Unseen | None:
    """Return what is unseen of a model's score.

    Parameters
    ----------
    scored : ScoredTask
    data : PairData
        The score's.
    model : int
        Its place.
    flat : bool
        No document deviates from the score at all: every measure counts as unseen.

    Returns
    -------
    callable or None
        With chance ``level`` none of n documents is of a kind that 1 - level**(1/n) of all are. Such
        documents are taken to be moved as far as by another question (r = 1); as much is left open on
        the other side. None where every measure was moved by :data:`EVENTS` documents or more.
    """
    parts = []
    for term in _measures(scored, data):
        moved = _moved(scored, term, model)
        if flat or moved.sum() < EVENTS:
            r = float(term.quantity.values[model])
            parts.append(_Part(term.weight, term.root, r, r, int(term.quantity.counts[model])))
    return _together(parts)


def of_pair(scored: ScoredTask, data: PairData, *, flat: bool) -> Unseen | None:
    """Return what is unseen of the difference of two models' scores, the first less the second.

    A document counts as seen where its value differs between the two. Unseen ones move the first
    model, or the second, as far as another question does.
    """
    parts = []
    for term in _measures(scored, data):
        squares = _squares(scored, term)
        both = np.isfinite(squares).all(axis=0)
        differ = np.abs(np.where(both, squares[0] - squares[1], 0.0)) > 1e-12
        if flat or differ.sum() < EVENTS:
            a, b = (float(v) for v in term.quantity.values[:2])
            parts.append(_Part(term.weight, term.root, a, b if term.root else -b, int(both.sum())))
    return _together(parts)


def moved_by_any(scored: ScoredTask, data: PairData) -> int | None:
    """Return how many documents any model was moved on, by the measure that moved fewest.

    Of measures that moved any; 0 where none did. None for scores without a measure that is the root
    of a ratio: those are no means of few documents.
    """
    counts: list[int] = []
    for term in _measures(scored, data):
        if term.root:
            squares = _squares(scored, term)
            both = np.isfinite(squares).all(axis=0)
            counts.append(int((both & (np.where(both, squares, 0.0) > 0.0).any(axis=0)).sum()))
    return fewest(counts)


def fewest(counts: Sequence[int]) -> int | None:
    """Return the smallest count above 0, or 0; None without any.

    Examples
    --------
    >>> fewest([0, 12, 50]), fewest([0]), fewest([])
    (12, 0, None)
    """
    return min((count for count in counts if count), default=0 if counts else None)


def mean_of(parts: Sequence[Unseen | None]) -> Unseen | None:
    """Return what is unseen of the mean over data sets."""
    known = [part for part in parts if part is not None]
    if not known:
        return None

    def reach(level: float) -> tuple[float, float]:
        found = [part(level) for part in known]
        return sum(up for up, _ in found) / len(parts), sum(down for _, down in found) / len(parts)

    return reach


def _together(parts: Sequence[_Part]) -> Unseen | None:
    if not parts:
        return None

    def reach(level: float) -> tuple[float, float]:
        found = [part.reach(level) for part in parts]
        return sum(up for up, _ in found), sum(down for _, down in found)

    return reach


def _measures(scored: ScoredTask, data: PairData) -> list[Term]:
    return [term for term in data.terms if term.quantity.name in scored.reduced]


def _squares(scored: ScoredTask, term: Term) -> Doubles:
    return scored.reduced[term.quantity.name].squares()


def _moved(scored: ScoredTask, term: Term, model: int) -> Flags:
    squares = _squares(scored, term)[model]
    least = 0.0 if term.quantity.name != MIRRORING else 1e-12
    moved: Flags = np.isfinite(squares) & (np.abs(np.where(np.isfinite(squares), squares, 0.0)) > least)
    return moved
