"""How far each document moved a model, and each variant: the values that the worst cases are ranked by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sago_harness.runs.columns import CONTROL, REPEAT, VARIANT, Codes, Columns
from sago_harness.scores.reduce import scored_families
from sago_harness.stats.independence import chance_levels
from sago_harness.stats.means import known_mean
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags
from sago_harness.stats.worst import (
    WorstResult,
    document_values,
    levelled,
    measures_of,
    of_variants,
    parts_of,
)

#: Values that differ by less than this share of the largest one are equal.
_EQUAL = 1e-9


@dataclass(frozen=True)
class Unrest:
    """Instability of D documents of one data set, by model.

    Attributes
    ----------
    score : str
        What it is the instability of.
    models : tuple of str
        M names.
    values : ndarray of shape (M, D)
        As a share of the model's chance level; larger = less stable, NaN = unscored.
    reasons : tuple of str
        Why a model has no values; "" where it has.
    orders : list of list of int
        For each model its documents, the least stable first; unscored ones last.
    """

    score: str
    models: tuple[str, ...]
    values: Doubles
    reasons: tuple[str, ...]
    orders: list[list[int]]


def unrest(scored: ScoredTask, worst: Sequence[WorstResult]) -> Unrest:
    """Return the instability of every document.

    Parameters
    ----------
    scored : ScoredTask
    worst : sequence of WorstResult
        Of a whole study: they say which score is meant, and why a model has none.

    Returns
    -------
    Unrest
        Mean over the score's axes of the mean over their measures of a document's value as a share of
        chance, as in :func:`sago_harness.stats.worst.worst_cases`; a document needs all of them.
    """
    own = {one.model: one for one in worst if one.task == scored.task and one.model}
    score = next((one.score for one in own.values()), "sago_core")
    values = document_values(scored.reduced, parts_of(score), (len(scored.models), len(scored.documents)))
    reasons = tuple(own[model].reason if model in own else "not_measured" for model in scored.models)
    values[[bool(reason) for reason in reasons]] = np.nan
    return Unrest(score, scored.models, values, reasons, [_order(row, scored.documents) for row in values])


def variant_shares(columns: Columns, scored: ScoredTask, place: int, score: str) -> Doubles:
    """Return how far each row moved the model, of shape (N,), on the scale of the documents' instability.

    Parameters
    ----------
    columns : Columns
    scored : ScoredTask
    place : int
        Of the model among those of ``scored``.
    score : str

    Returns
    -------
    ndarray of shape (N,)
        NaN for rows that are no variants, or lack one of the score's distances. Composites are taken
        without mirroring, which few variants have.
    """
    axes = []
    shape = (len(columns.document),)
    for part in of_variants(score, parts_of(score)):
        found = []
        for name in measures_of(scored.reduced, part):
            own = columns.numbers[name]
            own = own - columns.numbers["x_mr_floor"] if name == MIRRORING else own
            level = chance_levels(scored.reduced[name])[place]
            found.append(own / level if level > 0.0 else np.full(shape, np.nan))
        axes.append(_mean(found, shape))
    return np.where(columns.role == VARIANT, _mean(axes, shape), np.nan)


def floor_share(scored: ScoredTask, place: int, score: str) -> float:
    """Return a model's noise floor on the scale of :func:`variant_shares`; NaN where it has none.

    Parameters
    ----------
    scored : ScoredTask
    place : int
        Of the model among those of ``scored``.
    score : str

    Returns
    -------
    float
        Mean over the score's axes of the mean over their measures of the root mean square distance of
        the canonical repeats as a share of chance, from 0 on. Mirroring has its floor taken off and has
        none.
    """
    axes = []
    for part in of_variants(score, parts_of(score)):
        found = []
        for name in measures_of(scored.reduced, part):
            values = scored.reduced[name]
            level = chance_levels(values)[place]
            floor = np.sqrt(known_mean(values.floors)[place])
            found.append(floor / level if level > 0.0 and name != MIRRORING else np.nan)
        axes.append(float(np.mean(found)) if found else np.nan)
    return float(np.mean(axes)) if axes else float("nan")


def levels(columns: Columns, name: str) -> tuple[float, float]:
    """Return a measure's chance level and noise floor, NaN without any.

    Roots of the mean over documents of the mean square of their chance controls and of their repeats.
    """
    squares = np.square(columns.numbers[name])
    found = []
    for role in (CONTROL, REPEAT):
        rows = np.flatnonzero((columns.role == role) & np.isfinite(squares))
        document = columns.document[rows]
        sums = np.bincount(document, squares[rows], len(columns.documents))
        counts = np.bincount(document, minlength=len(columns.documents))
        known = counts > 0
        found.append(float(np.sqrt((sums[known] / counts[known]).mean())) if known.any() else float("nan"))
    return found[0], found[1]


def inside(columns: Columns) -> Flags:
    """Return which keys belong to a family that forms a score, of shape (K,)."""
    families = scored_families(columns.families)
    return np.array([key.family in families for key in columns.keys], dtype=bool)


def furthest(shares: Doubles, names: Sequence[str]) -> Codes:
    """Return the place of each document's largest share; of equal ones that with the first name.

    Parameters
    ----------
    shares : ndarray of shape (D, K)
        NaN for what has no share.
    names : sequence of str

    Returns
    -------
    ndarray of int of shape (D,)
        -1 where there is none.

    Examples
    --------
    >>> furthest(np.array([[0.1, 0.7, 0.7], [np.nan] * 3]), ["c", "b", "a"]).tolist()
    [2, -1]
    """
    if not len(names):
        return np.full(len(shares), -1, dtype=np.intp)
    order = np.array(sorted(range(len(names)), key=lambda place: names[place]), dtype=np.intp)
    filled = np.where(np.isfinite(shares), shares, -np.inf)[:, order]
    most = filled.max(axis=1, initial=-np.inf)
    first = np.argmax(filled >= (most - _EQUAL * np.abs(most))[:, None], axis=1)
    found: Codes = np.where(np.isfinite(most), order[first], -1)
    return found


def _mean(values: Sequence[Doubles], shape: tuple[int, ...]) -> Doubles:
    """Return the mean of arrays that are all needed; NaN for none."""
    mean: Doubles = np.mean(np.stack(values), axis=0) if values else np.full(shape, np.nan)
    return mean


def _order(values: Doubles, documents: Sequence[str]) -> list[int]:
    """Order documents by value, largest first; equal ones by id, unscored ones last."""
    known: list[int] = np.flatnonzero(np.isfinite(values)).tolist()
    rank = dict(zip(known, levelled(values[known]).tolist(), strict=True))
    rest = [place for place in range(len(values)) if place not in rank]
    return [
        *sorted(known, key=lambda place: (-rank[place], documents[place])),
        *sorted(rest, key=lambda place: documents[place]),
    ]
