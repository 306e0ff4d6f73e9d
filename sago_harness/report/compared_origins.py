"""Tables of where instability comes from, and how firm the ranking is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sago_harness.report.cells import Bounds, Cell, CellRows, Coding, numbers
from sago_harness.report.compared_matrices import LEAST_NAMES, independence_matrices
from sago_harness.report.tables import Column, Table
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.independence import IndependenceResult
from sago_harness.stats.table import Doubles, Flags
from sago_harness.stats.variance import VarianceResult

Rows = list[tuple[Cell, ...]]


def independence(found: Comparison) -> Table:
    """Return correlations of axes and measures, cross-half and disattenuated."""
    order = {"axis": 0, "measure": 1, "models": 2}
    # All models together first: that is what most readers look for.
    chosen = sorted(found.independence, key=lambda one: (order[one.kind], bool(one.model)))
    notes = (
        "each pair on different halves of the variants, divided by the axes' own half-to-half correlations; "
        "independent: the whole interval lies within .3 of 0",
    )
    made = independence_table("independence", "Do the axes catch different failures?", chosen, found, notes)
    wide = len({name for one in chosen for name in (one.first, one.second)}) >= LEAST_NAMES
    return replace(made, matrices=independence_matrices) if wide else made


def independence_table(
    name: str,
    title: str,
    results: Sequence[IndependenceResult],
    found: Comparison,
    notes: tuple[str, ...] = (),
) -> Table:
    """Return a table of some of the correlations, in their order."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("kind", kind="text"),
        Column("first", kind="text"),
        Column("second", kind="text"),
        Column("correlation", kind="signed", digits=2),
        Column("interval", f"{found.settings.confidence} interval", "interval", 2),
        Column("plain", kind="signed", digits=2),
        Column("reliability_first", "reliability", digits=2),
        Column("reliability_second", "reliability", digits=2),
        Column("documents", "n", "count"),
        Column("verdict", kind="text"),
    )
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
        for one in results
    ]
    return Table(name, title, columns, tuple(rows), notes)


def variance(found: Comparison) -> Table:
    """Return shares of variance."""
    return variance_table("variance", "Where it comes from", found.variance)


def variance_table(
    name: str, title: str, results: Sequence[VarianceResult], order: Sequence[str] | None = None
) -> Table:
    """Return a table of some of the shares; models in the order that is given, or in their own."""
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
    task, of, measure, component, negative, reason = (Coding() for _ in range(6))
    values: dict[str, list[Doubles]] = {name: [] for name in ("shares", "statistic", "low", "high")}
    for one in results:
        named = one.models if order is None else [model for model in order if model in one.models]
        at = [one.models.index(model) for model in named]
        parts = len(one.components)
        size = len(at) * parts
        task.same(one.task, size)
        of.add(np.repeat(of.codes(named), parts))
        measure.same(one.measure, size)
        component.add(np.tile(component.codes(one.components), len(at)))
        for block, some in values.items():
            some.append(getattr(one, block)[at].reshape(-1))
        negative.add(negative.codes((False, True))[one.negative[at].reshape(-1).astype(np.intp)])
        reason.add(reason.codes(why for m in at for why in one.reasons[m]))
    share, total, low, high = (numbers(parts) for parts in values.values())
    rows = CellRows(
        [task.made(), of.made(), measure.made(), component.made(), share, total,
         Bounds(low.values, high.values), negative.made(), reason.made()]
    )  # fmt: skip
    return Table(name, title, columns, rows)


def dose(found: Comparison) -> Table:
    """Return dose and response of every operator."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("measure", kind="text"),
        Column("operator", kind="text"),
        Column("strength", digits=2),
        Column("distance"),
        Column("interval", f"{found.settings.confidence} interval", "interval"),
        Column("n", kind="count"),
        Column("floor", "noise floor"),
        Column("threshold", "smallest strength above it", digits=2),
        Column("correlation", "rank correlation", "signed", 2),
        Column("monotone", kind="yes"),
        Column("reason", kind="text"),
    )
    task, of, measure, operator, n, monotone, reason = (Coding() for _ in range(7))
    values: dict[str, list[Doubles]] = {name: [] for name in _OF_DOSE}
    known: list[Flags] = []
    for one in found.dose:
        models, steps = len(one.models), len(one.strengths)
        # An operator without any strength has a row that says so.
        each = max(1, steps)
        size = models * each
        task.same(one.task, size)
        of.add(np.repeat(of.codes(one.models), each))
        measure.same(one.measure, size)
        operator.same(f"{one.family}/{one.operator}{one.arm}", size)
        given = (
            np.broadcast_to(np.array(one.strengths or (np.nan,)), (models, each)),
            *(block if steps else np.full((models, 1), np.nan) for block in (one.means, one.low, one.high)),
            *(np.broadcast_to(of_model[:, None], (models, each))
              for of_model in (one.floors, one.threshold, one.statistic)),
        )  # fmt: skip
        for some, block in zip(values.values(), given, strict=True):
            some.append(block.reshape(-1))
        known.append(np.full(size, steps > 0))
        n.add(n.codes(one.counts.reshape(-1).tolist() if steps else [None] * models))
        grows = (
            None if why else rises for why, rises in zip(one.reasons, one.monotone.tolist(), strict=True)
        )
        monotone.add(np.repeat(monotone.codes(grows), each))
        said = (
            " ".join(word for word in (why or unreached, one.note) if word)
            for why, unreached in zip(one.reasons, one.threshold_reasons, strict=True)
        )
        reason.add(np.repeat(reason.codes(said), each))
    made = {name: numbers(parts) for name, parts in values.items()}
    interval = Bounds(
        made["low"].values, made["high"].values, np.concatenate([np.zeros(0, dtype=bool), *known])
    )
    rows = CellRows(
        [task.made(), of.made(), measure.made(), operator.made(), made["strength"], made["mean"], interval,
         n.made(), made["floor"], made["threshold"], made["statistic"], monotone.made(), reason.made()]
    )  # fmt: skip
    return Table("dose", "Dose and response", columns, rows)


_OF_DOSE = ("strength", "mean", "low", "high", "floor", "threshold", "statistic")


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
                head = (name, measure, model, float(one.totals[measure][m]))
                reason = one.reasons[measure][m][-1]
                if test is None:
                    rows.append((*head, None, None, None, reason))
                    continue
                for k, threshold in enumerate(test.thresholds):
                    rows.append(
                        (
                            *head,
                            threshold,
                            float(test.total_statistic[m, k]),
                            float(test.total_pvalue[m, k]),
                            reason,
                        )
                    )
    notes = tuple(dict.fromkeys(note for one in found.schemes.values() for note in one.notes))
    return Table("schemes", "Published schemes", columns, tuple(rows), notes)
