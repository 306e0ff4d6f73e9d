"""Tables of where instability comes from, and how firm the ranking is."""

from __future__ import annotations

from collections.abc import Sequence

from sago_harness.report.tables import Cell, Column, Table
from sago_harness.stats.compare import Comparison
from sago_harness.stats.independence import IndependenceResult
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
    return independence_table("independence", "Do the axes catch different failures?", chosen, found, notes)


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
    rows: Rows = []
    for one in results:
        for model in one.models if order is None else [m for m in order if m in one.models]:
            m = one.models.index(model)
            for c, component in enumerate(one.components):
                rows.append(
                    (
                        one.task,
                        model,
                        one.measure,
                        component,
                        float(one.shares[m, c]),
                        float(one.statistic[m, c]),
                        (float(one.low[m, c]), float(one.high[m, c])),
                        bool(one.negative[m, c]),
                        one.reasons[m][c],
                    )
                )
    return Table(name, title, columns, tuple(rows))


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
                        float(one.means[m, s]) if known else None,
                        (float(one.low[m, s]), float(one.high[m, s])) if known else None,
                        int(one.counts[m, s]) if known else None,
                        float(one.floors[m]),
                        float(one.threshold[m]),
                        float(one.statistic[m]),
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
