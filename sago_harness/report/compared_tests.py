"""Tables of tests: instability, pairs of models, rank reversals, agreement of data sets."""

from __future__ import annotations

import numpy as np

from sago_harness.report.tables import Cell, Column, Table
from sago_harness.stats.compare import Comparison

Rows = list[tuple[Cell, ...]]


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
        verdict = "unstable" if one.adjusted <= found.settings.level else one.reason or "not shown"
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
        Column("interval", f"{found.settings.confidence} interval", "interval"),
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
    for name in _scores_first(found):
        table = found.reversals[name]
        if name in found.scores:
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
    why: dict[str, None] = {}
    for name in _scores_first(found):
        table = found.reversals[name]
        seen = np.argwhere(table.observed | table.confirmed)
        keys = table.pvalue[seen[:, 0], seen[:, 1]]
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
        why |= dict.fromkeys(reason for reason in table.probability_reasons if reason)
    notes += list(why)[:3]
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
                    (name, first, second, float(one.tau[i, j])) for j, second in enumerate(one.rows) if j > i
                ]
    return Table("tau", "Kendall's tau between data sets", columns, tuple(rows))


def _correction(found: Comparison) -> str:
    return "Holm" if found.settings.correction == "holm" else "Benjamini-Hochberg"


def _scores_first(found: Comparison) -> list[str]:
    """Return the names of all scores, composite ones first, then axes, then measures."""
    names = list(found.reversals)
    return sorted(names, key=lambda n: (n not in found.scores, not n.startswith("sago_"), names.index(n)))
