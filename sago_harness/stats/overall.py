"""Scores over all data sets of a study, their pairs and their ranks.

The mean over data sets is unweighted, so that no data set counts more for being larger; the mean
weighted by documents stands beside it. Documents of different data sets are independent: a score
over Q data sets is one over all their documents, each with 1/Q of its influence, and pairs and
ranks are found by the same functions as on one data set. What is said holds for these data sets;
it is no statement about others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.flips import Flips
from sago_harness.stats.pair_data import PairData, Term, pair_data
from sago_harness.stats.pair_results import PairBlock
from sago_harness.stats.pairs import compare, pair_places
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.ranks import RankTable, rank_sets
from sago_harness.stats.resampling import Settings
from sago_harness.stats.rich import Rich
from sago_harness.stats.scored import STOCK_LIMIT, ScoredTask
from sago_harness.stats.shared_sums import SHARED_TERMS, SharedSums
from sago_harness.stats.table import Doubles, Flags, Places

#: In the place of a data set's name.
OVERALL = "overall"

#: From so many documents on a data set's influence values are as good as its measures' terms.
LINEAR = 100


@dataclass(frozen=True)
class OverallTable(Rich):
    """All scores over all data sets.

    Attributes
    ----------
    tasks, models : tuple of str
        Data sets and M models of the study.
    documents : int
        Of all data sets.
    quantities : dict of str to Quantity
        Unweighted means over data sets, with the influence of all documents, data set after data set.
    weighted, weighted_stderr : dict of str to ndarray of shape (M,)
        Means weighted by each data set's documents.
    tasks_of : dict of str to tuple of str
        Score -> the data sets on which any model has it: those that it is the mean over.
    left_out : dict of str to dict of str to tuple of str
        Score -> models without a value -> the data sets that they lack.
    ranked : ndarray of shape (M,)
        Models with at most 10 % stock answers in the mean over data sets, and no run that samples.
    samplers : tuple of str
        Models of which any run samples.
    data : dict of str to PairData
        What pairs are formed from.
    by_documents : bool
        The quantities themselves are means weighted by documents, as a published scheme has them.
    """

    tasks: tuple[str, ...]
    models: tuple[str, ...]
    documents: int
    quantities: Mapping[str, Quantity]
    weighted: Mapping[str, Doubles]
    weighted_stderr: Mapping[str, Doubles]
    tasks_of: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, Mapping[str, tuple[str, ...]]]
    ranked: Flags
    data: Mapping[str, PairData] = field(repr=False, default_factory=dict)
    samplers: tuple[str, ...] = ()
    by_documents: bool = False

    def __str__(self) -> str:
        return f"{len(self.models)} models over {len(self.tasks)} data sets, {self.documents} documents"


def overall(tasks: Sequence[ScoredTask], *, by_documents: bool = False) -> OverallTable:
    """Form the scores over data sets.

    Parameters
    ----------
    tasks : sequence of ScoredTask
        One or more.
    by_documents : bool
        Let every document count the same, in place of every data set.

    Returns
    -------
    OverallTable

    Raises
    ------
    ValueError
        Without data sets.
    """
    if not tasks:
        raise ValueError("an overall score of no data sets")
    models = tuple(sorted({model for task in tasks for model in task.models}))
    places = [_places(models, task.models) for task in tasks]
    parts = [pair_data(task) for task in tasks]
    quantities, weighted, weighted_stderr = {}, {}, {}
    tasks_of, left_out, data = {}, {}, {}
    for name in dict.fromkeys(name for task in tasks for name in task.quantities):
        used = [
            k for k, task in enumerate(tasks)
            if name in task.quantities and np.isfinite(task.quantities[name].values).any()
        ] or [k for k, task in enumerate(tasks) if name in task.quantities]  # fmt: skip
        names = tuple(tasks[k].task for k in used)
        each = [_spread(tasks[k].quantities[name], places[k]) for k in used]
        quantities[name] = joined(each, names, by_documents=by_documents)
        tasks_of[name] = names
        left_out[name] = {
            model: tuple(t for t, q in zip(names, each, strict=True) if not _usable(q)[m])
            for m, model in enumerate(models)
            if not np.isfinite(quantities[name].values[m])
        }
        weighted[name], weighted_stderr[name] = _weighted(each, np.isfinite(quantities[name].values))
        data[name] = _joined_data(
            quantities[name], [parts[k][name] for k in used], [places[k] for k in used], names, by_documents
        )
    stock = np.full((len(tasks), len(models)), np.nan)
    for row, task, place in zip(stock, tasks, places, strict=True):
        row[place >= 0] = task.stock[place[place >= 0]]
    known = np.isfinite(stock)
    share = np.where(known, stock, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    samplers = tuple(model for model in models if any(model in task.samplers for task in tasks))
    ranked = (share <= STOCK_LIMIT) & ~np.isin(np.array(models), samplers)
    return OverallTable(
        tuple(task.task for task in tasks), models, sum(len(task.documents) for task in tasks),
        quantities, weighted, weighted_stderr, tasks_of, left_out, ranked, data, samplers, by_documents,
    )  # fmt: skip


def joined(parts: Sequence[Quantity], tasks: Sequence[str], *, by_documents: bool = False) -> Quantity:
    """Return the mean of one score over data sets; models the same, documents one after another.

    Parameters
    ----------
    parts : sequence of Quantity
        Q, over the same M models and documents of their own.
    tasks : sequence of str
        Q names, for reasons.
    by_documents : bool
        Weigh each data set by the documents that a model has on it, in place of 1/Q.

    Returns
    -------
    Quantity
        Unscored for models that lack a data set or have a single document of one, whose error
        nothing is known of. The influence is scaled so that the squared standard error is exactly
        the sum of those of the data sets times their squared weights, each with its own n / (n - 1).

    Examples
    --------
    >>> from sago_harness.stats.quantities import mean_quantity
    >>> a, b = (mean_quantity("x", np.array([v])) for v in ([1.0, 3.0], [4.0, 6.0, 8.0]))
    >>> q = joined([a, b], ["p", "q"])
    >>> q.values.tolist(), bool(np.isclose(q.stderr[0] ** 2, (1.0 + 4.0 / 3.0) / 4.0))
    ([4.0], True)
    """
    fine = np.all([_usable(q) for q in parts], axis=0)
    held = np.where(fine, [q.values for q in parts], 0.0)
    mean = (_shares(parts, True) * held).sum(axis=0) if by_documents else held.mean(axis=0)
    values = np.where(fine, mean, np.nan)
    counts = np.where(fine, np.sum([q.counts for q in parts], axis=0), 0)
    influence = [
        q.influence * scale[:, None] for q, scale in zip(parts, _scales(parts, by_documents), strict=True)
    ]
    reasons = []
    for m, good in enumerate(fine):
        lacks = [
            f"{task}: {q.reasons[m] or 'one_document'}"
            for task, q in zip(tasks, parts, strict=True)
            if not _usable(q)[m]
        ]
        reasons.append("" if good else "; ".join(lacks))
    name, kind, higher = parts[0].name, parts[0].kind, parts[0].higher_is_better
    return Quantity(name, kind, higher, values, np.concatenate(influence, axis=1), counts, tuple(reasons))


def _shares(parts: Sequence[Quantity], by_documents: bool) -> Doubles:
    """Return the weight of each data set in the mean, (Q, M)."""
    counts = np.array([q.counts for q in parts], dtype=np.float64)
    if not by_documents:
        return np.full_like(counts, 1.0 / len(parts))
    shares: Doubles = counts / np.maximum(counts.sum(axis=0), 1.0)
    return shares


def _scales(parts: Sequence[Quantity], by_documents: bool) -> list[Doubles]:
    """Return what each data set's influence is multiplied with, (M,) each; 0 for models without a mean."""
    fine = np.all([_usable(q) for q in parts], axis=0)
    counts = np.array([np.where(fine, q.counts, 2) for q in parts], dtype=np.float64)
    total = counts.sum(axis=0)
    scales = np.sqrt(counts / (counts - 1.0) * (total - 1.0) / total) * _shares(parts, by_documents)
    return [np.where(fine, scale, 0.0) for scale in scales]


def overall_pairs(table: OverallTable, settings: Settings) -> PairBlock:
    """Compare all pairs of models, or all models with the control, over all data sets.

    Raises
    ------
    SagoError
        If the control is no model of the study.
    """
    first, second = pair_places(table.models, settings.control)
    shared = _SharedBy(settings, "pairs", table.data.values())
    columns = {
        name: compare(data, first, second, shared(data.quantity), settings, table.models)
        for name, data in table.data.items()
    }
    return PairBlock(OVERALL, table.models, first, second, columns, settings.level, settings.correction)


def overall_ranks(
    table: OverallTable, settings: Settings, names: Sequence[str] = tuple(COMPOSITES)
) -> dict[str, RankTable]:
    """Rank the models over all data sets in some scores, by default the composite ones."""
    shared = _SharedBy(settings, "ranks", [table.data[name] for name in names if name in table.data])
    return {
        name: rank_sets(
            table.quantities[name],
            settings,
            models=table.models,
            task=OVERALL,
            ranked=table.ranked,
            samplers=table.samplers,
            data=table.data[name],
            shared=shared(table.quantities[name]),
        )
        for name in names
        if name in table.quantities
    }


class _SharedBy:
    """Random signs for scores; those over as many documents have the same, and their sums at once."""

    def __init__(self, settings: Settings, purpose: str, data: Iterable[PairData]) -> None:
        self.settings, self.purpose = settings, purpose
        self.data = list(data)
        self.last: SharedSums | None = None

    def __call__(self, quantity: Quantity) -> SharedSums:
        documents = quantity.influence.shape[1]
        if self.last is None or self.last.flips.documents != documents:
            self.last = SharedSums(Flips(documents, self.settings, self.purpose, OVERALL))
            alike = [
                one for one in self.data
                if one.quantity.influence.shape[1] == documents and len(one.terms) <= SHARED_TERMS
            ]  # fmt: skip
            self.last.prepare([term for one in alike for term in one.terms])
        return self.last


def _places(models: tuple[str, ...], own: tuple[str, ...]) -> Places:
    """Return the place of every model of the study among a data set's own, -1 where it is none of them."""
    at = {model: i for i, model in enumerate(own)}
    return np.array([at.get(model, -1) for model in models], dtype=np.intp)


def _spread(quantity: Quantity, place: Places) -> Quantity:
    """Return the score of all models of the study; unscored for those that the data set lacks."""
    here = place >= 0
    reasons = tuple(quantity.reasons[p] if p >= 0 else "not_run" for p in place)
    return Quantity(
        quantity.name, quantity.kind, quantity.higher_is_better,
        np.where(here, quantity.values[place], np.nan),
        np.where(here[:, None], quantity.influence[place], 0.0),
        np.where(here, quantity.counts[place], 0), reasons,
    )  # fmt: skip


def _usable(quantity: Quantity) -> Flags:
    usable: Flags = np.isfinite(quantity.values) & (quantity.counts >= 2)
    return usable


def _weighted(parts: Sequence[Quantity], fine: Flags) -> tuple[Doubles, Doubles]:
    """Return the mean weighted by documents, and its standard error with the weights as given."""
    share = _shares(parts, True)
    values = np.where(fine, [q.values for q in parts], 0.0)
    errors = np.where(fine, [q.stderr for q in parts], 0.0)
    mean, stderr = (share * values).sum(axis=0), np.sqrt(np.square(share * errors).sum(axis=0))
    return np.where(fine, mean, np.nan), np.where(fine, stderr, np.nan)


def _joined_data(
    quantity: Quantity,
    parts: Sequence[PairData],
    places: Sequence[Places],
    tasks: Sequence[str],
    by_documents: bool,
) -> PairData:
    """Return what pairs are formed from, over the documents of all data sets."""
    ends = np.cumsum([0, *(part.masks.shape[2] for part in parts)])
    masks = np.zeros((max(len(part.masks) for part in parts), *quantity.influence.shape), dtype=bool)
    for k, (part, place) in enumerate(zip(parts, places, strict=True)):
        block = masks[: len(part.masks), :, ends[k] : ends[k + 1]]
        block[:, place >= 0] = part.masks[:, place[place >= 0]]
    each = [_spread(part.quantity, place) for part, place in zip(parts, places, strict=True)]
    terms = [
        tuple(replace(term, quantity=_spread(term.quantity, place)) for term in part.terms)
        for part, place in zip(parts, places, strict=True)
    ]

    def restrict(at: Places, keep: Flags) -> tuple[Quantity, tuple[Term, ...]]:
        again = [
            part.restrict(place[at], keep[: len(part.masks), :, ends[k] : ends[k + 1]])
            for k, (part, place) in enumerate(zip(parts, places, strict=True))
        ]
        scores = [score for score, _ in again]
        score = joined(scores, tasks, by_documents=by_documents)
        return score, _joined_terms(score, scores, [own for _, own in again], by_documents)

    return PairData(quantity, masks, _joined_terms(quantity, each, terms, by_documents), restrict)


def _joined_terms(
    quantity: Quantity,
    scores: Sequence[Quantity],
    terms: Sequence[tuple[Term, ...]],
    by_documents: bool,
) -> tuple[Term, ...]:
    """Return the terms of a score over data sets: one for all large ones, those of each small one."""
    found: list[Term] = []
    linear = quantity.influence.copy()
    start = 0
    for score, own, scale in zip(scores, terms, _scales(scores, by_documents), strict=True):
        stop = start + score.influence.shape[1]
        if stop - start < LINEAR:
            linear[:, start:stop] = 0.0
            for term in own:
                influence = term.quantity.influence * scale[:, None]
                found.append(Term(term.weight, term.root, replace(term.quantity, influence=influence), start))
        start = stop
    whole = Term(1.0, False, replace(quantity, influence=linear))
    return tuple(found) if linear.shape[1] and not linear.any() else (whole, *found)
