"""The worst cases: documents that moved a model most, and the variant that did it.

For reading, not for inference: what stands at an end of a list is there by chance too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.independence import chance_levels
from sago_harness.stats.quantities import AXES, Quantity, quantities
from sago_harness.stats.reduce import MIRRORING, MeasureValues, reduce_task
from sago_harness.stats.rich import Rich
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Places, TaskTable

#: Gives prompt and response of a task's model, document and variant.
Texts = Callable[[str, str, str, str], tuple[str, str]]

#: Values that differ by less than this share of the largest one are equal, whatever the machine.
_EQUAL = 1e-9


@dataclass(frozen=True)
class WorstCase(Rich):
    """One document, and the variant that moved the model furthest on it.

    Attributes
    ----------
    document, variant : str
        ``variant`` "" where none has all the distances that the score is made of.
    model : str
        Whose variant it is; in a list over models the model that it moved most.
    value : float
        Instability of the document, as a share of chance (mean over models); larger = worse.
    distance : float
        Of the variant, on the same scale; NaN without a variant.
    distances : dict of str to float
        Plain distance of the variant on each measure, NaN where unscored.
    prompt, response : str or None
        None until :func:`with_texts` has joined them.
    reason : str
        Why ``variant`` is "": ``no_complete_variant``.
    """

    document: str
    variant: str
    model: str
    value: float
    distance: float
    distances: Mapping[str, float]
    prompt: str | None = None
    response: str | None = None
    reason: str = ""


@dataclass(frozen=True)
class WorstResult(Rich):
    """The worst documents of one model, or over models.

    Attributes
    ----------
    task : str
    model : str
        "" = over models.
    score : str
    cases : tuple of WorstCase
        Worst first; equal values by document id.
    documents, unscored : int
        Documents with a value, and without one.
    models : tuple of str
        Models that the values are formed of.
    reason : str
        Why ``cases`` is empty, with the measure or axis first where it is one's.
    """

    task: str
    model: str
    score: str
    cases: tuple[WorstCase, ...]
    documents: int
    unscored: int
    models: tuple[str, ...]
    reason: str = ""

    def __str__(self) -> str:
        who = self.model or "all models"
        if self.reason:
            return f"{self.task}, {who}: none, {self.reason}"
        first = self.cases[0]
        return f"{self.task}, {who}: {first.document} ({first.value:.2f}) at {first.variant or 'no variant'}"


def worst_cases(
    table: TaskTable, *, score: str = "sago_core", k: int = 10, scored: ScoredTask | None = None
) -> tuple[WorstResult, ...]:
    """Return the k documents with the largest instability of each model, then over models.

    Parameters
    ----------
    table : TaskTable
    score : str
        A measure (``x_act``), an axis (``sago_activation`` or ``activation``) or ``sago``,
        ``sago_core``, ``sago_text``.
    k : int
    scored : ScoredTask, optional
        The same data set, where it is reduced already.

    Returns
    -------
    tuple of WorstResult
        In the order of the table's models; the last one (``model`` "") over models.

    Raises
    ------
    ValueError
        If there is no such score.

    Notes
    -----
    A document's value on a measure is the root of its mean square (families balanced, the variants
    that every model was scored on) as a share of the model's chance level; for mirroring the
    mean of ``x_mr - x_mr_floor``. An axis is the mean of its measures, a composite the mean of its
    axes, nothing held to 1; a document needs all of them. Over models: the mean over the models that have
    the score, of documents scored for all of these.

    A variant's distance is formed the same way from its own distances, of whatever model was
    scored on it; where the score is a composite, without mirroring, which few variants have.
    """
    parts = parts_of(score)
    reduced = reduce_task(table) if scored is None else scored.reduced
    made = (quantities(reduced) if reduced else {}) if scored is None else scored.quantities
    missing = _missing(table, made, parts)
    values = document_values(reduced, parts, table.shape[:2])
    for m, reason in enumerate(missing):
        if reason:
            values[m] = np.nan
    having = [m for m, reason in enumerate(missing) if not reason and np.isfinite(values[m]).any()]
    mean = values[having].mean(axis=0) if having else np.full(table.shape[1], np.nan)
    # Only what is shown needs its variants: a few documents of each model, and a few of all.
    worst = [_worst(row, table.documents, k) for row in values]
    models = np.repeat(np.arange(len(worst)), [len(documents) for documents in worst])
    shown = of_variants(score, parts)
    shares = _variant_values(table, reduced, shown, models, np.concatenate([*worst, []]).astype(np.intp))
    over = _worst(mean, table.documents, k)
    shares_over = _variant_values(table, reduced, shown, np.array(having, dtype=np.intp)[:, None], over)
    found = []
    for m, model in enumerate(table.models):
        cells = shares[models == m][None]
        found.append(_result(table, model, score, values[m], worst[m], cells, [m], missing[m]))
    reason = "" if having else "no_model"
    return (*found, _result(table, "", score, mean, over, shares_over, having, reason))


def with_texts(results: Sequence[WorstResult], texts: Texts) -> tuple[WorstResult, ...]:
    """Return the results with prompt and response of every variant in them.

    Parameters
    ----------
    results : sequence of WorstResult
    texts : callable
        ``texts(task, model, document, variant) -> (prompt, response)``; asked once for each case
        that has a variant.
    """
    joined = []
    for result in results:
        cases = []
        for case in result.cases:
            if case.variant:
                prompt, response = texts(result.task, case.model, case.document, case.variant)
                case = replace(case, prompt=prompt, response=response)
            cases.append(case)
        joined.append(replace(result, cases=tuple(cases)))
    return tuple(joined)


def parts_of(score: str) -> tuple[str, ...]:
    """Return the axes of a composite or an axis, or the measure alone."""
    if score in COMPOSITES:
        return COMPOSITES[score]
    axis = score.removeprefix("sago_")
    if axis in AXES:
        return (axis,)
    if score.startswith("x_"):
        return (score,)
    known = ", ".join([*COMPOSITES, *(f"sago_{axis}" for axis in AXES)])
    raise ValueError(f"no score {score!r}: it is a measure (x_...) or one of {known}")


def of_variants(score: str, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts that a variant's own share is formed of: few variants have mirroring."""
    return tuple(part for part in parts if part != "mirroring") if score in COMPOSITES else parts


def measures_of(reduced: Mapping[str, MeasureValues], part: str) -> list[str]:
    """Return the measures of an axis, or the measure itself."""
    return [name for name, values in reduced.items() if part in (name, values.axis)]


def _missing(table: TaskTable, made: Mapping[str, Quantity], parts: Sequence[str]) -> list[str]:
    """Return why each model has no values, "" where it has."""
    reasons = [""] * len(table.models)
    for part in parts:
        quantity = made.get(part) or made.get(f"sago_{part}")
        for m, reason in enumerate(reasons):
            if not reason:
                why = quantity.reasons[m] if quantity is not None else "not_measured"
                reasons[m] = f"{part}: {why}" if why and len(parts) > 1 else why
    return reasons


def _levels(values: MeasureValues) -> Doubles:
    """Return the level that each model's values are shares of, of shape (M,); NaN where there is none."""
    levels = chance_levels(values)
    return np.where(levels > 0.0, levels, np.nan)


def document_values(
    reduced: Mapping[str, MeasureValues], parts: Sequence[str], shape: tuple[int, int]
) -> Doubles:
    """Return how far each document moved each model, as a share of chance, of shape (M, D)."""
    axes = []
    for part in parts:
        found = []
        for name in measures_of(reduced, part):
            squares = reduced[name].squares()
            own = squares if name == MIRRORING else np.sqrt(squares)
            found.append(own / _levels(reduced[name])[:, None])
        axes.append(np.mean(found, axis=0) if found else np.full(shape, np.nan))
    mean: Doubles = np.mean(axes, axis=0)
    return mean


def _variant_values(
    table: TaskTable, reduced: Mapping[str, MeasureValues], parts: Sequence[str], models: Places,
    documents: Places,
) -> Doubles:  # fmt: skip
    """Return each variant's own share of chance; places of models and documents as an index, (..., V)."""
    inside = table.operator_of >= 0
    blank = np.full((*np.broadcast_shapes(models.shape, documents.shape), len(inside)), np.nan)
    axes = []
    for part in parts:
        found = []
        for name in measures_of(reduced, part):
            own = table.distances[name][models, documents]
            own = own - table.distances["x_mr_floor"][models, documents] if name == MIRRORING else own
            found.append(np.where(inside, own, np.nan) / _levels(reduced[name])[models][..., None])
        axes.append(np.mean(found, axis=0) if found else blank)
    mean: Doubles = np.mean(axes, axis=0)
    return mean


def _worst(values: Doubles, names: Sequence[str], k: int) -> Places:
    """Return the places of the k largest values, largest first; of equal ones by name."""
    scored = np.flatnonzero(np.isfinite(values))
    rounded = levelled(values[scored])
    # Only what may be among the k is put in order.
    cut = np.sort(rounded)[-k] if 0 < k < len(scored) else 0
    order = sorted(np.flatnonzero(rounded >= cut), key=lambda i: (-rounded[i], names[int(scored[i])]))
    return scored[order[: max(k, 0)]]


def _result(
    table: TaskTable, model: str, score: str, values: Doubles, worst: Places, shares: Doubles, at: list[int],
    reason: str,
) -> WorstResult:  # fmt: skip
    """Form one list; ``values`` of shape (D,), ``shares`` (models, worst, V) of the models ``at``."""
    scored = int(np.isfinite(values).sum())
    if not reason and not scored:
        reason = "no_scored_document"
    cases = [] if reason else [_case(table, values, shares[:, i], at, int(d)) for i, d in enumerate(worst)]
    names = tuple(table.models[m] for m in at)
    return WorstResult(table.task, model, score, tuple(cases), scored, len(values) - scored, names, reason)


def _case(table: TaskTable, values: Doubles, cells: Doubles, at: list[int], document: int) -> WorstCase:
    """Return the document with the variant of the largest mean over models; ``cells`` (models, V)."""
    complete = np.flatnonzero(np.isfinite(cells).all(axis=0))
    if not len(complete):
        nothing = dict.fromkeys(_shown(table), math.nan)
        name = table.models[at[0]] if len(at) == 1 else ""
        return WorstCase(
            table.documents[document], "", name, float(values[document]), math.nan, nothing,
            reason="no_complete_variant",
        )  # fmt: skip
    means = cells[:, complete].mean(axis=0)
    best = _first(means, [table.variants[v].id for v in complete])
    variant = int(complete[best])
    m = at[0] if len(at) == 1 else at[_first(cells[:, variant], [table.models[m] for m in at])]
    distances = {name: float(table.distances[name][m, document, variant]) for name in _shown(table)}
    return WorstCase(
        table.documents[document], table.variants[variant].id, table.models[m],
        float(values[document]), float(means[best]), distances,
    )  # fmt: skip


def _shown(table: TaskTable) -> list[str]:
    beside = [name for name in (MIRRORING, "flip") if name in table.distances]
    return [name for name in table.measures if name in table.distances] + beside


def _first(values: Doubles, names: Sequence[str]) -> int:
    """Return the place of the largest value; of equal ones that with the first name."""
    rounded = levelled(values)
    return min(range(len(names)), key=lambda i: (-rounded[i], names[i]))


def levelled(values: Doubles) -> npt.NDArray[np.int64]:
    """Return ranks, 0 = smallest, in which values that differ by rounding alone are equal."""
    order = np.argsort(values, kind="stable")
    scale = np.abs(values).max(initial=0.0)
    steps = np.diff(values[order], prepend=values[order][:1]) > _EQUAL * scale
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks
