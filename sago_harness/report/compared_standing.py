"""Tables of who is more stable: leaderboard, ranking on each data set, measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sago_harness.report.cells import Cell
from sago_harness.report.tables import Column, Table
from sago_harness.stats.comparison import OWN, Comparison
from sago_harness.stats.overall import OVERALL
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.ranks import RankTable
from sago_harness.stats.scored import STOCK_LIMIT, ScoredTask

#: Where so many documents gave such responses, a flag says so.
HEALTH_LIMIT = 0.1

#: Share of scored documents under which coverage is a flag.
COVERAGE_LIMIT = 0.8

#: Notes on models with too few scored documents; columns have all of them.
MOST_NOTES = 10

_BESIDE = ("acc", "acc_mean", "acc_worst", "flip")

Rows = list[tuple[Cell, ...]]


def leaderboard(found: Comparison) -> Table:
    """Return one row a model: scores over data sets with interval and rank set, axes, accuracy, health."""
    notes = list(found.notes)
    if found.total is not None:
        quantities, place = found.total.quantities, OVERALL
        left = found.total.left_out
        for name in found.scores:
            for model, lacks in left.get(name, {}).items():
                if not lacks or name != found.scores[0]:
                    continue
                absent = [task for task in lacks if model not in found.scored[task].models]
                unscored = [task for task in lacks if task not in absent]
                why = [f"it lacks {', '.join(absent)}"] if absent else []
                why += [f"it has no {name} on {', '.join(unscored)}"] if unscored else []
                notes.append(f"{model} is not in the mean over data sets: {', and '.join(why)}")
        for name in found.scores:
            own = found.total.tasks_of.get(name, ())
            if own and len(own) < len(found.spanning):
                notes.append(f"{name} is a mean over {len(own)} of the data sets: {', '.join(own)}")
        kind = "mean over all documents of" if found.total.by_documents else "unweighted mean over"
        notes.append(
            f"{kind} {len(found.spanning)} data sets, for these data sets alone; "
            f"rank sets hold all true ranks at once with {found.settings.confidence} confidence"
        )
    else:
        task = found.spanning[0]
        quantities, place = found.scored[task].quantities, task
        notes.append(f"one data set: {task}")
    columns, rows = _scores(found, quantities, found.models, place)
    beside = _beside_over(found)
    columns += [Column(name, digits=3) for name in beside]
    columns += [
        Column("documents", "n", "count"),
        Column("of", kind="count"),
        Column("flags", kind="text"),
    ]
    spanning = [found.scored[task] for task in found.spanning]
    for i, model in enumerate(found.models):
        n, of = np.sum([_count(one, model) for one in spanning], axis=0).tolist()
        flags = dict.fromkeys(f for one in spanning for f in _flags(one, model))
        extra: tuple[Cell, ...] = (*(beside[name][i] for name in beside), n, of, " ".join(flags))
        rows[i] = (*rows[i], *extra)
    order = _order(found, quantities, found.models)
    notes += [*_rank_notes(found, place), *_coverage_notes(found)]
    return Table("leaderboard", "Leaderboard", tuple(columns), tuple(rows[i] for i in order), tuple(notes))


def weighted(found: Comparison) -> Table:
    """Return the document-weighted means over data sets, beside the unweighted ones."""
    columns = [Column("model", kind="text")]
    rows: Rows = []
    if found.total is not None and not found.total.by_documents:
        names = [n for n in found.scores if n in found.total.weighted]
        for name in names:
            columns += [
                Column(name),
                Column(f"{name}_stderr", "±"),
                Column(f"{name}_unweighted", "unweighted"),
            ]
        for m, model in enumerate(found.total.models):
            cells: list[Cell] = [model]
            for name in names:
                cells += [
                    float(found.total.weighted[name][m]),
                    float(found.total.weighted_stderr[name][m]),
                    float(found.total.quantities[name].values[m]),
                ]
            rows.append(tuple(cells))
    note = "each data set counts by its documents" if rows else "one data set: nothing to weight"
    if found.total is not None and found.total.by_documents:
        note = f"{found.settings.scheme}: the leaderboard itself is weighted by documents"
    return Table("weighted", "Means weighted by documents", tuple(columns), tuple(rows), (note,))


def ranking(found: Comparison) -> Table:
    """Return the ranking on every data set."""
    columns: list[Column] = [Column("task", "data set", "text")]
    rows: Rows = []
    notes: list[str] = []
    made = False
    health = list(dict.fromkeys(name for one in found.scored.values() for name in one.health))
    for task, one in found.scored.items():
        own, cells = _scores(found, one.quantities, one.models, task)
        beside = [name for name in _BESIDE if any(name in s.beside for s in found.scored.values())]
        if not made:
            columns += own + [Column(name) for name in beside]
            columns += [
                Column("scored", "n", "count"),
                Column("of", kind="count"),
                Column("left_out", "variants left out", "count"),
                Column("stock", kind="share"),
                *(Column(name, kind="share") for name in health),
                Column("tokens", digits=1),
                Column("flags", kind="text"),
            ]
            made = True
        for i in _order(found, one.quantities, one.models):
            values = tuple(float(one.beside[n].values[i]) if n in one.beside else None for n in beside)
            left = int(sum(v.left_out[i] for v in one.reduced.values())) if len(one.reduced) else 0
            tail: tuple[Cell, ...] = (
                int(one.scored[i]),
                len(one.documents),
                left,
                float(one.stock[i]),
                *(float(one.health[name][i]) if name in one.health else None for name in health),
                float(one.tokens[i]),
                " ".join(_flags(one, one.models[i])),
            )
            rows.append((task, *cells[i], *values, *tail))
        missing = [model for model in found.models if model not in one.models]
        for model in missing:
            rows.append((task, model, *[None] * (len(columns) - 3), "missing"))
        notes += [f"{task}: {note}" for note in (*_rank_notes(found, task), *_stock_notes(found, one))]
    notes += _coverage_notes(found)
    return Table("ranking", "Ranking on each data set", tuple(columns), tuple(rows), tuple(notes))


def measures(found: Comparison) -> Table:
    """Return r of every measure with its standard error, and every axis with its interval.

    First over all data sets, if there are several, then on each.
    """
    names = list(dict.fromkeys(name for one in found.scored.values() for name in one.reduced))
    columns = [Column("task", "data set", "text"), Column("model", kind="text")]
    for name in names:
        columns += [Column(name), Column(f"{name}_stderr", "±")]
    places = [(task, one.models, one.quantities) for task, one in found.scored.items()]
    if found.total is not None:
        places.insert(0, (OVERALL, found.total.models, found.total.quantities))
    own = found.settings.scheme == OWN
    axes = dict.fromkeys(name for *_, some in places for name, q in some.items() if own and q.kind == "axis")
    for name in axes:
        columns.append(Column(name, name.removeprefix("sago_")))
        columns.append(Column(f"{name}_interval", f"{found.settings.confidence} interval", "interval"))
    columns.append(Column("reasons", kind="text"))
    rows: Rows = []
    for task, models, quantities in places:
        given = {
            # Standard errors are worked out for all models at once.
            name: (q, q.values.tolist(), q.stderr.tolist())
            for name in names
            if (q := quantities.get(name)) is not None
        }
        intervals = found.intervals.get(task, {})
        for i, model in enumerate(models):
            cells: list[Cell] = [task, model]
            why = []
            for name in names:
                q, values, errors = given.get(name, (None, (), ()))
                cells += [None, None] if q is None else [values[i], errors[i]]
                if q is not None and q.reasons[i]:
                    why.append(f"{name}: {q.reasons[i]}")
                counts = found.reasons.get((task, model), {}).get(name, {})
                why += [f"{name}: {count} variants {reason}" for reason, count in counts.items()]
            for name in axes:
                known, interval = quantities.get(name), intervals.get(name)
                cells.append(None if known is None else float(known.values[i]))
                cells.append(None if interval is None else (float(interval.low[i]), float(interval.high[i])))
            rows.append((*cells, "; ".join(why)))
    notes = [
        "relative instability r: 0 = nothing moves, 1 = as far as for an unrelated question; x_mr: share of "
        "the prompt's change that the response takes over"
        if found.settings.scheme == OWN
        else f"{found.settings.scheme}: 0 = nothing moves; there is no level of chance to hold it against"
    ]
    if found.total is not None:
        kind = "mean over all documents" if found.total.by_documents else "unweighted mean"
        notes.append(f"{OVERALL}: {kind} over data sets, of models that have all of them")
    return Table("measures", "Measures", tuple(columns), tuple(rows), tuple(notes))


def _scores(
    found: Comparison, quantities: Mapping[str, Quantity], models: Sequence[str], place: str
) -> tuple[list[Column], Rows]:
    """Return the columns of scores and axes and one row a model, in the order of the models."""
    columns = [Column("model", kind="text")]
    rows: list[list[Cell]] = [[model] for model in models]
    for name in found.scores:
        if name not in quantities:
            continue
        q = quantities[name]
        interval = found.intervals.get(place, {}).get(name)
        ranks = found.ranks.get(place, {}).get(name)
        columns.append(Column(name))
        if interval is not None:
            columns.append(Column(f"{name}_interval", f"{found.settings.confidence} interval", "interval"))
        if ranks is not None:
            columns.append(Column(f"{name}_ranks", "ranks", "ranks"))
        for i, row in enumerate(rows):
            row.append(float(q.values[i]))
            if interval is not None:
                row.append((float(interval.low[i]), float(interval.high[i])))
            if ranks is not None:
                row.append(_rank(ranks, models[i]))
    if found.settings.scheme == OWN:
        for name, q in quantities.items():
            if q.kind == "axis":
                columns.append(Column(name, name.removeprefix("sago_")))
                for i, row in enumerate(rows):
                    row.append(float(q.values[i]))
    return columns, [tuple(row) for row in rows]


def _rank(table: RankTable, model: str) -> Cell:
    if model not in table.models:
        return None
    at = table.models.index(model)
    return (float(table.lower[at]), float(table.upper[at]))


def _rank_notes(found: Comparison, place: str) -> list[str]:
    notes = []
    for name, table in found.ranks.get(place, {}).items():
        for model, why in table.excluded.items():
            notes.append(f"{name}: {model} is not ranked: {table.reasons.get(model) or why}")
        if table.few_documents and name == next(iter(found.ranks[place])):
            notes.append("under 40 documents: rank sets hold a little less often than they say")
    return notes


def _stock_notes(found: Comparison, one: ScoredTask) -> Iterator[str]:
    """Yield what a model that gives stock answers is worth on its other documents."""
    if not (one.stock > STOCK_LIMIT).any() or found.settings.scheme != OWN:
        return
    others = one.of(~one.stock_of)
    for i, model in enumerate(one.models):
        if one.stock[i] > STOCK_LIMIT:
            told = [
                f"{name} {_with_error(others[name], i)}"
                for name in found.scores
                if name in others and np.isfinite(others[name].values[i])
            ]
            what = ", ".join(told) or "nothing is scored"
            yield f"{model}: {one.stock[i]:.0%} stock answers; over its other documents: {what}"


def _with_error(q: Quantity, i: int) -> str:
    """Return a value and its standard error, which a single document does not have."""
    error = q.stderr[i]
    return f"{q.values[i]:.3f}" + (f" ± {error:.3f}" if np.isfinite(error) else "")


def _coverage_notes(found: Comparison) -> list[str]:
    """Return which models have few scored documents on a data set, and what that means."""
    told = [
        f"{task}: {model}: {scored} of {documents} scored"
        for task, one in found.scored.items()
        for model in one.models
        for scored, documents in [_count(one, model)]
        if "coverage" in _flags(one, model)
    ]
    if not told:
        return []
    more = [f"{len(told) - MOST_NOTES} more: columns n and of"] if len(told) > MOST_NOTES else []
    meaning = (
        f"coverage: under {COVERAGE_LIMIT:.0%} of the documents are scored on every measure that the model "
        "can give; its values are those of the documents left"
    )
    return [*told[:MOST_NOTES], *more, meaning]


def _order(found: Comparison, quantities: Mapping[str, Quantity], models: Sequence[str]) -> list[int]:
    """Return the places of the models, the most stable first; those without a score last."""
    for name in found.scores:
        q = quantities.get(name)
        if q is not None and np.isfinite(q.values).any():
            sign = -1.0 if q.higher_is_better else 1.0
            keys = np.where(np.isfinite(q.values), sign * q.values, np.inf)
            return sorted(range(len(models)), key=lambda i: (float(keys[i]), models[i]))
    return list(range(len(models)))


def _beside_over(found: Comparison) -> dict[str, list[float]]:
    """Return accuracy and flips over the data sets that have them, of models with all of these."""
    made: dict[str, list[float]] = {}
    for name in _BESIDE:
        values = []
        for model in found.models:
            each = [
                float(one.beside[name].values[one.models.index(model)]) if model in one.models else np.nan
                for one in (found.scored[task] for task in found.spanning)
                if name in one.beside and np.isfinite(one.beside[name].values).any()
            ]
            # A mean over other data sets than those of the next row would be no column.
            values.append(float(np.mean(each)) if each else float("nan"))
        if np.isfinite(values).any():
            made[name] = values
    return made


def _count(one: ScoredTask, model: str) -> tuple[int, int]:
    """Return the scored documents of a model and all of the data set; none where it has no run."""
    if model not in one.models:
        return 0, 0
    return int(one.scored[one.models.index(model)]), len(one.documents)


def _flags(one: ScoredTask, model: str) -> Iterator[str]:
    """Yield what makes a score doubtful."""
    if model not in one.models:
        yield "missing"
        return
    i = one.models.index(model)
    if one.stock[i] > STOCK_LIMIT:
        yield "stock"
    if model in one.samplers:
        yield "sampling"
    for name, shares in one.health.items():
        if name != "truncated" and shares[i] > HEALTH_LIMIT:
            yield name
    if one.documents and one.scored[i] < COVERAGE_LIMIT * len(one.documents):
        yield "coverage"
    if one.mixed and one.mixed[i]:
        yield "mixed"
