"""The tables of ``sago compare``, in the order in which a reader needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from sago_harness.report.tables import Cell, Column, Table
from sago_harness.stats.compare import OWN, Comparison
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.ranks import RankTable
from sago_harness.stats.scored import STOCK_LIMIT, ScoredTask

#: Where so many documents were not scored, or gave such responses, a flag says so.
HEALTH_LIMIT = 0.1

#: Share of scored documents under which coverage is a flag.
COVERAGE_LIMIT = 0.8

_BESIDE = ("acc", "acc_mean", "acc_worst", "flip")

Rows = list[tuple[Cell, ...]]


def sections(found: Comparison) -> list[Table]:
    """Return all tables of a study.

    Parameters
    ----------
    found : Comparison

    Returns
    -------
    list of Table
        In the order of :data:`TABLES`.
    """
    return [make(found) for make in TABLES.values()]


# ---------------------------------------------------------------- who is more stable


def leaderboard(found: Comparison) -> Table:
    """Return one row a model: scores over data sets with interval and rank set, axes, accuracy, health."""
    notes = list(found.notes)
    if found.total is not None:
        quantities, place = found.total.quantities, "overall"
        left = found.total.left_out
        for name in found.scores:
            for model, lacks in left.get(name, {}).items():
                if lacks and name == found.scores[0]:
                    notes.append(f"{model} is not in the mean over data sets: it lacks {', '.join(lacks)}")
        notes.append(
            f"unweighted mean over {len(found.tasks)} data sets, for these data sets alone; "
            f"rank sets hold all true ranks at once with {1 - found.settings.level:.0%} confidence"
        )
    else:
        task = found.tasks[0]
        quantities, place = found.scored[task].quantities, task
        notes.append(f"one data set: {task}")
    columns, rows = _scores(found, quantities, found.models, place)
    beside = _beside_over(found)
    columns += [Column(name, digits=3) for name in beside]
    columns += [Column("documents", "n", "count"), Column("flags", kind="text")]
    for i, model in enumerate(found.models):
        n = sum(_count(one, model) for one in found.scored.values())
        flags = dict.fromkeys(f for one in found.scored.values() for f in _flags(one, model))
        extra: tuple[Cell, ...] = (*(beside[name][i] for name in beside), n, " ".join(flags))
        rows[i] = (*rows[i], *extra)
    order = _order(found, quantities, found.models)
    notes += _rank_notes(found, place)
    return Table("leaderboard", "Leaderboard", tuple(columns), tuple(rows[i] for i in order), tuple(notes))


def weighted(found: Comparison) -> Table:
    """Return the document-weighted means over data sets, beside the unweighted ones."""
    columns = [Column("model", kind="text")]
    rows: Rows = []
    if found.total is not None:
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
                    _f(found.total.weighted[name][m]),
                    _f(found.total.weighted_stderr[name][m]),
                    _f(found.total.quantities[name].values[m]),
                ]
            rows.append(tuple(cells))
    note = "each data set counts by its documents" if rows else "one data set: nothing to weight"
    return Table("weighted", "Means weighted by documents", tuple(columns), tuple(rows), (note,))


def ranking(found: Comparison) -> Table:
    """Return the ranking on every data set."""
    columns: list[Column] = [Column("task", "data set", "text")]
    rows: Rows = []
    notes: list[str] = []
    made = False
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
                Column("tokens", digits=1),
                Column("flags", kind="text"),
            ]
            made = True
        for i in _order(found, one.quantities, one.models):
            values = tuple(_f(one.beside[n].values[i]) if n in one.beside else None for n in beside)
            left = int(sum(v.left_out[i] for v in one.reduced.values())) if len(one.reduced) else 0
            tail: tuple[Cell, ...] = (
                int(one.scored[i]),
                len(one.documents),
                left,
                _f(one.stock[i]),
                _f(one.tokens[i]),
                " ".join(_flags(one, one.models[i])),
            )
            rows.append((task, *cells[i], *values, *tail))
        missing = [model for model in found.models if model not in one.models]
        for model in missing:
            rows.append((task, model, *[None] * (len(columns) - 3), "missing"))
        notes += [f"{task}: {note}" for note in _rank_notes(found, task)]
    return Table("ranking", "Ranking on each data set", tuple(columns), tuple(rows), tuple(notes))


def measures(found: Comparison) -> Table:
    """Return relative instability by measure: r with its standard error, per model and data set."""
    names = list(dict.fromkeys(name for one in found.scored.values() for name in one.reduced))
    columns = [Column("task", "data set", "text"), Column("model", kind="text")]
    for name in names:
        columns += [Column(name), Column(f"{name}_stderr", "±")]
    columns.append(Column("reasons", kind="text"))
    rows: Rows = []
    for task, one in found.scored.items():
        for i, model in enumerate(one.models):
            cells: list[Cell] = [task, model]
            why = []
            for name in names:
                q = one.quantities.get(name)
                cells += [None, None] if q is None else [_f(q.values[i]), _f(q.stderr[i])]
                if q is not None and q.reasons[i]:
                    why.append(f"{name}: {q.reasons[i]}")
                counts = found.reasons.get((task, model), {}).get(name, {})
                why += [f"{name}: {count} variants {reason}" for reason, count in counts.items()]
            rows.append((*cells, "; ".join(why)))
    notes = (
        "relative instability r: 0 = nothing moves, 1 = as far as for an unrelated question; x_mr: share of "
        "the prompt's change that the response takes over",
    )
    return Table("measures", "Measures", tuple(columns), tuple(rows), notes)


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
            columns.append(Column(f"{name}_interval", f"{1 - found.settings.level:.0%} interval", "interval"))
        if ranks is not None:
            columns.append(Column(f"{name}_ranks", "ranks", "ranks"))
        for i, row in enumerate(rows):
            row.append(_f(q.values[i]))
            if interval is not None:
                row.append((float(interval.low[i]), float(interval.high[i])))
            if ranks is not None:
                row.append(_rank(ranks, models[i]))
    if found.settings.scheme == OWN:
        for name, q in quantities.items():
            if q.kind == "axis":
                columns.append(Column(name, name.removeprefix("sago_")))
                for i, row in enumerate(rows):
                    row.append(_f(q.values[i]))
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
    """Return accuracy and flips over the data sets that have them, unweighted."""
    made: dict[str, list[float]] = {}
    for name in _BESIDE:
        values = []
        for model in found.models:
            each = [
                float(one.beside[name].values[one.models.index(model)])
                for one in found.scored.values()
                if name in one.beside and model in one.models
            ]
            known = [v for v in each if np.isfinite(v)]
            values.append(float(np.mean(known)) if known else float("nan"))
        if np.isfinite(values).any():
            made[name] = values
    return made


def _count(one: ScoredTask, model: str) -> int:
    return int(one.scored[one.models.index(model)]) if model in one.models else 0


def _flags(one: ScoredTask, model: str) -> Iterator[str]:
    """Yield what makes a score doubtful."""
    if model not in one.models:
        yield "missing"
        return
    i = one.models.index(model)
    if one.stock[i] > STOCK_LIMIT:
        yield "stock"
    for name, shares in one.health.items():
        if name != "truncated" and shares[i] > HEALTH_LIMIT:
            yield name
    if one.documents and one.scored[i] < COVERAGE_LIMIT * len(one.documents):
        yield "coverage"
    if one.mixed and one.mixed[i]:
        yield "mixed"


def _f(value: float | np.floating) -> float:
    return float(value)


# ---------------------------------------------------------------- is it unstable, who differs


def unstable(found: Comparison) -> Table:
    """Return the tests of instability."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("measure", kind="text"),
        Column("documents", "n", "count"),
        Column("s"),
        Column("chance"),
        Column("r"),
        Column("floor", "noise floor"),
        Column("excess"),
        Column("statistic", "t", digits=2),
        Column("p_chance", "p chance", "p"),
        Column("p_noise", "p noise", "p"),
        Column("p_adjusted", "adjusted p", "p"),
        Column("verdict", kind="text"),
    )
    rows: Rows = []
    for one in found.unstable:
        sure = one.adjusted <= found.settings.level
        verdict = "unstable" if sure else one.reason or "not shown"
        rows.append(
            (
                one.task,
                one.model,
                one.measure,
                one.documents,
                one.s,
                one.chance,
                one.r,
                one.floor,
                one.excess,
                one.statistic,
                one.pvalue_chance,
                one.pvalue_noise,
                one.adjusted,
                verdict,
            )
        )
    tested = sum(np.isfinite(one.pvalue) for one in found.unstable)
    sure = sum(one.adjusted <= found.settings.level for one in found.unstable)
    notes = (
        f"{sure} of {tested} tests find instability above {found.settings.epsilon:g} of chance "
        f"({_correction(found)} over the table, level {found.settings.level:g})",
    )
    return Table("unstable", "Is it unstable?", columns, tuple(rows), notes)


def pairs(found: Comparison) -> Table:
    """Return all pairs of models in the composite scores, over data sets and on each."""
    columns = (
        Column("task", "data set", "text"),
        Column("score", kind="text"),
        Column("a", kind="text"),
        Column("b", kind="text"),
        Column("n", kind="count"),
        Column("difference", kind="signed"),
        Column("interval", f"{1 - found.settings.level:.0%} interval", "interval"),
        Column("p", kind="p"),
        Column("p_adjusted", "adjusted p", "p"),
        Column("effect", "effect size", "signed", 2),
        Column("detectable"),
        Column("verdict", kind="text"),
    )
    rows: Rows = []
    for place in ("overall", *found.tasks):
        block = found.pairs.get(place)
        if block is None:
            continue
        adjusted = {n: p for n, p in block.adjusted().items() if n in found.scores or n.startswith("sago_")}
        for one in block.rows(adjusted):
            if one.reason:
                verdict = one.reason
            elif one.too_close:
                least = one.smallest_pvalue
                verdict = "too close to call" + (f" (smallest p {least:.3g})" if least is not None else "")
            else:
                verdict = f"{one.a if one.p_plus < one.p_minus else one.b} is more stable"
            rows.append(
                (
                    place,
                    one.quantity,
                    one.a,
                    one.b,
                    one.n,
                    one.difference,
                    one.confidence_interval,
                    one.pvalue,
                    one.pvalue_adjusted,
                    one.effect_size,
                    one.detectable,
                    verdict,
                )
            )
    notes = (
        f"difference = a - b; {_correction(found)} over the pairs of one score and data set; detectable: "
        "difference that such documents would find four times out of five",
    )
    return Table("pairs", "Which of two models", columns, tuple(rows), notes)


# ---------------------------------------------------------------- does the ranking turn round


def reversals(found: Comparison) -> Table:
    """Return, per score, the headline: how many pairs of models are confirmed to swap places."""
    columns = (
        Column("score", kind="text"),
        Column("a", kind="text"),
        Column("b", kind="text"),
        Column("data_sets", "data sets", "count"),
        Column("a_ahead", "a ahead on", "text"),
        Column("b_ahead", "b ahead on", "text"),
        Column("p", kind="p"),
        Column("p_adjusted", "adjusted p", "p"),
        Column("confirmed", kind="yes"),
    )
    rows: Rows = []
    notes = []
    for name, table in found.reversals.items():
        notes.append(table.headline)
        some = [one for one in table.pairs() if not one.reason]
        for one in sorted(some, key=lambda r: (r.pvalue_adjusted, r.pvalue)):
            rows.append(
                (
                    name,
                    one.a,
                    one.b,
                    one.data_sets,
                    one.a_ahead,
                    one.b_ahead,
                    one.pvalue,
                    one.pvalue_adjusted,
                    one.confirmed,
                )
            )
    if not found.reversals:
        notes.append("one model, or one data set: a ranking cannot turn round")
    return Table("reversals", "Rank reversals, somewhere", columns, tuple(rows), tuple(notes))


#: Rows of reversals between two named data sets: the confirmed ones, then the best supported.
MOST_REVERSALS = 200


def where_reversed(found: Comparison) -> Table:
    """Return reversals between two named data sets: all confirmed ones, then those seen in the values."""
    columns = (
        Column("score", kind="text"),
        Column("a", kind="text"),
        Column("b", kind="text"),
        Column("first", "on", "text"),
        Column("ahead_first", "ahead", "text"),
        Column("second", "and on", "text"),
        Column("ahead_second", "ahead", "text"),
        Column("p", kind="p"),
        Column("p_adjusted", "adjusted p", "p"),
        Column("support", "resampling support", "share"),
        Column("probability", "P(reversal)", "share"),
        Column("confirmed", kind="yes"),
    )
    rows: Rows = []
    notes = []
    for table in found.reversals.values():
        seen = np.argwhere(table.observed | table.confirmed)
        keys = [float(table.pvalue[c, k]) for c, k in seen]
        order = np.argsort(keys, kind="stable")[:MOST_REVERSALS]
        if len(seen) > len(order):
            notes.append(f"{table.quantity}: {len(seen) - len(order):,} more are seen in the values alone")
        for place in order:
            one = table.result(int(seen[place][0]), int(seen[place][1]))
            rows.append(
                (
                    one.quantity,
                    one.a,
                    one.b,
                    one.first,
                    one.ahead_first or "neither",
                    one.second,
                    one.ahead_second or "neither",
                    one.pvalue,
                    one.pvalue_adjusted,
                    one.support,
                    one.probability,
                    one.confirmed,
                )
            )
        reasons = {reason for reason in table.probability_reasons if reason}
        notes += [f"{table.quantity}: P(reversal): {reason}" for reason in sorted(reasons)[:1]]
    notes.append("resampling support is no probability that the ranking reverses")
    return Table(
        "where-reversed", "Rank reversals, between two data sets", columns, tuple(rows), tuple(notes)
    )


def agreement(found: Comparison) -> Table:
    """Return how far the data sets' rankings agree."""
    columns = (
        Column("score", kind="text"),
        Column("models", kind="count"),
        Column("data_sets", "data sets", "count"),
        Column("kendall_w", "Kendall W"),
        Column("friedman", "Friedman chi2", digits=2),
        Column("p", kind="p"),
        Column("mean_tau", "mean tau"),
        Column("lowest_tau", "lowest tau"),
        Column("lowest", "between", "text"),
        Column("changed", "pairs that change order", "count"),
        Column("pairs", "of", "count"),
        Column("groups", "groups not told apart (Nemenyi)", "text"),
        Column("reason", kind="text"),
    )
    rows: Rows = [
        (
            name,
            len(one.models),
            len(one.rows),
            one.kendall_w,
            one.statistic,
            one.pvalue,
            one.mean_tau,
            one.lowest_tau,
            " and ".join(one.lowest_rows),
            None if one.reason else one.changed,
            None if one.reason else one.pairs,
            "; ".join(" = ".join(group) for group in one.groups),
            one.reason,
        )
        for name, one in found.agreement.items()
    ]
    return Table("agreement", "Agreement of the data sets", columns, tuple(rows))


def tau(found: Comparison) -> Table:
    """Return Kendall's tau between each two data sets."""
    columns = (
        Column("score", kind="text"),
        Column("first", "data set", "text"),
        Column("second", "data set", "text"),
        Column("tau", kind="signed"),
    )
    rows: Rows = []
    for name, one in found.agreement.items():
        if not one.reason and (name in found.scores or name.startswith("sago_")):
            for i, first in enumerate(one.rows):
                rows += [
                    (name, first, second, _f(one.tau[i, j])) for j, second in enumerate(one.rows) if j > i
                ]
    return Table("tau", "Kendall's tau between data sets", columns, tuple(rows))


# ---------------------------------------------------------------- what it is made of


def independence(found: Comparison) -> Table:
    """Return correlations of axes and measures, cross-half and disattenuated."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("kind", kind="text"),
        Column("first", kind="text"),
        Column("second", kind="text"),
        Column("correlation", kind="signed", digits=2),
        Column("interval", f"{1 - found.settings.level:.0%} interval", "interval", 2),
        Column("plain", kind="signed", digits=2),
        Column("reliability_first", "reliability", digits=2),
        Column("reliability_second", "reliability", digits=2),
        Column("documents", "n", "count"),
        Column("verdict", kind="text"),
    )
    order = {"axis": 0, "measure": 1, "models": 2}
    # All models together first: that is what most readers look for.
    chosen = sorted(found.independence, key=lambda one: (order[one.kind], bool(one.model)))
    rows: Rows = [
        (
            one.task or "all data sets",
            one.model or "all models",
            one.kind,
            one.first,
            one.second,
            one.statistic,
            one.confidence_interval,
            one.cross,
            one.reliability[0],
            one.reliability[1],
            one.documents if one.kind != "models" else one.models,
            one.reason or one.verdict,
        )
        for one in chosen
    ]
    notes = (
        "each pair on different halves of the variants, divided by the axes' own half-to-half correlations; "
        "independent: the whole interval lies within .3 of 0",
    )
    return Table("independence", "Do the axes catch different failures?", columns, tuple(rows), notes)


def variance(found: Comparison) -> Table:
    """Return shares of variance."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("measure", kind="text"),
        Column("component", kind="text"),
        Column("share", kind="share"),
        Column("variance", digits=5),
        Column("interval", "interval of the variance", "interval", 5),
        Column("negative", "was negative", "yes"),
        Column("reason", kind="text"),
    )
    rows: Rows = []
    for one in found.variance:
        for m, model in enumerate(one.models):
            for c, component in enumerate(one.components):
                rows.append(
                    (
                        one.task,
                        model,
                        one.measure,
                        component,
                        _f(one.shares[m, c]),
                        _f(one.statistic[m, c]),
                        (_f(one.low[m, c]), _f(one.high[m, c])),
                        bool(one.negative[m, c]),
                        one.reasons[m][c],
                    )
                )
    return Table("variance", "Where it comes from", columns, tuple(rows))


def dose(found: Comparison) -> Table:
    """Return dose and response of every operator."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("measure", kind="text"),
        Column("operator", kind="text"),
        Column("strength", digits=2),
        Column("distance"),
        Column("interval", f"{1 - found.settings.level:.0%} interval", "interval"),
        Column("n", kind="count"),
        Column("floor", "noise floor"),
        Column("threshold", "smallest strength above it", digits=2),
        Column("correlation", "rank correlation", "signed", 2),
        Column("monotone", kind="yes"),
        Column("reason", kind="text"),
    )
    rows: Rows = []
    for one in found.dose:
        for m, model in enumerate(one.models):
            why = one.reasons[m] or one.threshold_reasons[m]
            head = (one.task, model, one.measure, f"{one.family}/{one.operator}{one.arm}")
            strengths: Sequence[float | None] = one.strengths or (None,)
            for s, strength in enumerate(strengths):
                known = one.means.shape[1] > s
                rows.append(
                    (
                        *head,
                        strength,
                        _f(one.means[m, s]) if known else None,
                        (_f(one.low[m, s]), _f(one.high[m, s])) if known else None,
                        int(one.counts[m, s]) if known else None,
                        _f(one.floors[m]),
                        _f(one.threshold[m]),
                        _f(one.statistic[m]),
                        None if one.reasons[m] else bool(one.monotone[m]),
                        " ".join(w for w in (why, one.note) if w),
                    )
                )
    return Table("dose", "Dose and response", columns, tuple(rows))


def worst(found: Comparison) -> Table:
    """Return the documents that moved most, with texts where they are known."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("document", kind="text"),
        Column("value", "instability", digits=2),
        Column("variant", kind="text"),
        Column("distance", digits=2),
        Column("prompt", kind="text"),
        Column("response", kind="text"),
        Column("canonical", "canonical response", "text"),
    )
    rows: Rows = []
    for one in found.worst:
        for case in one.cases if one.model else ():
            said = found.canonical.get((one.task, case.model, case.document), None)
            rows.append(
                (
                    one.task,
                    one.model,
                    case.document,
                    case.value,
                    case.variant or case.reason,
                    case.distance,
                    case.prompt,
                    case.response,
                    said,
                )
            )
    return Table(
        "worst", "The worst documents", columns, tuple(rows), ("as a share of chance; larger = worse",)
    )


def firmness(found: Comparison) -> Table:
    """Return whether the order stays when the records are looked at otherwise."""
    columns = (
        Column("score", kind="text"),
        Column("kind", "looked at", "text"),
        Column("detail", kind="text"),
        Column("tau", kind="signed", digits=2),
        Column("moved", "largest change of rank", "count"),
        Column("best_kept", "same best", "yes"),
        Column("models", kind="count"),
        Column("data_sets", "data sets", "count"),
        Column("reason", kind="text"),
    )
    rows: Rows = [
        (
            one.score,
            one.kind,
            one.detail,
            one.tau,
            None if one.reason else one.moved,
            None if one.reason else one.best_kept,
            len(one.models),
            one.tasks,
            one.reason,
        )
        for one in found.firmness
    ]
    return Table("firmness", "How firm is this?", columns, tuple(rows), ("these are no tests",))


def schemes(found: Comparison) -> Table:
    """Return the totals under the published schemes."""
    columns = (
        Column("scheme", kind="text"),
        Column("measure", kind="text"),
        Column("model", kind="text"),
        Column("total", digits=4),
        Column("threshold", digits=2),
        Column("t", digits=2),
        Column("p", "uncorrected p", "p"),
        Column("reason", kind="text"),
    )
    rows: Rows = []
    for name, one in found.schemes.items():
        for measure in one.measures:
            test = one.tests.get(measure)
            for m, model in enumerate(one.models):
                head = (name, measure, model, _f(one.totals[measure][m]))
                reason = one.reasons[measure][m][-1]
                if test is None:
                    rows.append((*head, None, None, None, reason))
                    continue
                for k, threshold in enumerate(test.thresholds):
                    rows.append(
                        (
                            *head,
                            threshold,
                            _f(test.total_statistic[m, k]),
                            _f(test.total_pvalue[m, k]),
                            reason,
                        )
                    )
    notes = tuple(dict.fromkeys(note for one in found.schemes.values() for note in one.notes))
    return Table("schemes", "Published schemes", columns, tuple(rows), notes)


def _correction(found: Comparison) -> str:
    return "Holm" if found.settings.correction == "holm" else "Benjamini-Hochberg"


#: Name -> function that makes the table, in the order in which they are shown.
TABLES: dict[str, Callable[[Comparison], Table]] = {
    "leaderboard": leaderboard,
    "weighted": weighted,
    "ranking": ranking,
    "measures": measures,
    "unstable": unstable,
    "pairs": pairs,
    "reversals": reversals,
    "where-reversed": where_reversed,
    "agreement": agreement,
    "tau": tau,
    "independence": independence,
    "variance": variance,
    "dose": dose,
    "worst": worst,
    "firmness": firmness,
    "schemes": schemes,
}
