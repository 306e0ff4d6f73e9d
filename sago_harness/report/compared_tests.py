"""Tables of tests: instability, pairs of models, rank reversals, agreement of data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from sago_harness.report.cells import Bounds, Cell, CellRows, Codes, Coding, counts, numbers
from sago_harness.report.compared_matrices import LEAST_NAMES, tau_matrices
from sago_harness.report.tables import Column, Table
from sago_harness.stats.adjust import adjust
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.pair_results import PairBlock
from sago_harness.stats.table import Doubles, Places

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
    tested = sum(math.isfinite(one.pvalue) for one in found.unstable)
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
    task, score, a, b, said = (Coding() for _ in range(5))
    n: list[Places] = []
    values: dict[str, list[Doubles]] = {name: [] for name in _OF_PAIRS}
    for place in ("overall", *found.tasks):
        block = found.pairs.get(place)
        if block is None:
            continue
        models = np.array([[side.code(model) for model in block.models] for side in (a, b)])
        axes = [name for name in block.columns if name.startswith("sago_") and name not in found.scores]
        # Scores first: of many models the rows that are shown go no further.
        for name in [*(name for name in found.scores if name in block.columns), *axes]:
            c = block.columns[name]
            adjusted = adjust(c.pvalue, block.correction)
            task.same(place, len(block))
            score.same(name, len(block))
            a.add(models[0, block.first])
            b.add(models[1, block.second])
            n.append(c.n)
            given = (c.difference, c.low, c.high, c.pvalue, adjusted, c.effect_size, c.detectable)
            for key, some in zip(_OF_PAIRS, given, strict=True):
                values[key].append(some)
            said.add(_verdicts(block, name, adjusted, said))
    made = {key: numbers(parts) for key, parts in values.items()}
    interval = Bounds(made.pop("low").values, made.pop("high").values)
    difference, *others = made.values()
    rows = CellRows(
        [task.made(), score.made(), a.made(), b.made(), counts(n), difference, interval, *others, said.made()]
    )
    notes = (
        f"difference = a - b; {_correction(found)} over the pairs of one score and data set; detectable: "
        "difference that such documents would find four times out of five, after the correction",
    )
    if not found.pairs and len(found.models) < 2:
        notes = ("there is one model: it has no pair",)
    return Table("pairs", "Which of two models", columns, rows, notes)


_OF_PAIRS = ("difference", "low", "high", "p", "p_adjusted", "effect", "detectable")


def _verdicts(block: PairBlock, name: str, adjusted: Doubles, said: Coding) -> Codes:
    """Return the codes of what is said of each pair in a score."""
    c = block.columns[name]
    winner = said.codes(f"{model} is more stable" for model in block.models)
    codes = winner[np.where(c.p_plus < c.p_minus, block.first, block.second)]
    close = adjusted > block.level
    codes[close] = said.code("too close to call")
    limited = close & (c.smallest > block.needed(name))
    least, at = np.unique(c.smallest[limited], return_inverse=True)
    told = said.codes(f"too close to call (smallest p {value:.3g})" for value in least.tolist())
    codes[limited] = told[at.reshape(-1)]
    if any(c.reasons):
        missing = np.array([bool(reason) for reason in c.reasons])
        codes[missing] = said.codes(reason for reason in c.reasons if reason)
    return codes


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
    score, a, b, a_ahead, b_ahead, sure = (Coding() for _ in range(6))
    shared: list[Places] = []
    p: list[Doubles] = []
    adjusted: list[Doubles] = []
    notes = []
    for name in _scores_first(found.reversals, found):
        table = found.reversals[name]
        if name in found.scores:
            notes.append(table.headline)
        tested = np.flatnonzero(np.isfinite(table.somewhere))
        # The clearest pairs first; of equal ones, as they stand.
        order = tested[np.lexsort((table.somewhere[tested], table.somewhere_adjusted[tested]))]
        score.same(name, len(order))
        for side, at in ((a, table.a), (b, table.b)):
            side.add(side.codes(table.models)[at[order]])
        shared.append(table.data_sets[order])
        for side, one_sided in ((a_ahead, table.p_plus), (b_ahead, table.p_minus)):
            side.add(_clearest(one_sided[:, order], table.tasks, side))
        p.append(table.somewhere[order])
        adjusted.append(table.somewhere_adjusted[order])
        sure.add(sure.codes((False, True))[table.confirmed_somewhere[order].astype(np.intp)])
    rows = CellRows(
        [score.made(), a.made(), b.made(), counts(shared), a_ahead.made(), b_ahead.made(),
         numbers(p), numbers(adjusted), sure.made()]
    )  # fmt: skip
    if not found.reversals:
        notes.append("one model, or one data set: a ranking cannot turn round")
    return Table("reversals", "Rank reversals, somewhere", columns, rows, tuple(notes))


def _clearest(p: Doubles, tasks: Sequence[str], names: Coding) -> Codes:
    """Return the code of the data set where a model leads most clearly, of "" where it leads nowhere.

    Parameters
    ----------
    p : ndarray of shape (Q, P)
        One-sided, NaN where a pair is not tested; of every pair some are.
    tasks : sequence of str
    names : Coding
    """
    known = np.where(np.isfinite(p), p, np.inf)
    at = known.argmin(axis=0)
    leads = known[at, np.arange(known.shape[1])] < 0.5
    return np.where(leads, names.codes(tasks)[at], names.code(""))


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
    for name in _scores_first(found.reversals, found):
        table = found.reversals[name]
        seen = np.flatnonzero(table.observed | table.confirmed)
        chosen = seen[_smallest(table.pvalue.reshape(-1)[seen], MOST_REVERSALS)]
        if len(seen) > len(chosen):
            notes.append(f"{table.quantity}: {len(seen) - len(chosen):,} more are seen in the values alone")
        for place in chosen.tolist():
            one = table.result(*divmod(place, len(table.a)))
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


def _smallest(values: Doubles, most: int) -> Places:
    """Return the places of the smallest values, in order; of equal ones the first, NaN last."""
    if len(values) > most:
        # Few of very many: those that cannot be among them are not sorted.
        limit = np.partition(values, most - 1)[most - 1]
        if not np.isnan(limit):
            few = np.flatnonzero(values <= limit)
            return few[np.argsort(values[few], kind="stable")[:most]]
    return np.argsort(values, kind="stable")[:most]


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
    blank: dict[str, list[str]] = {}
    for name in _scores_first(found.agreement, found):
        one = found.agreement[name]
        if one.reason:
            blank.setdefault(one.reason, []).append(name)
            continue
        for i, first in enumerate(one.rows):
            rows += [
                (name, first, second, float(one.tau[i, j])) for j, second in enumerate(one.rows) if j > i
            ]
    notes = tuple(f"{', '.join(names)}: {reason}" for reason, names in blank.items())
    wide = len({name for row in rows for name in row[1:3]}) >= LEAST_NAMES
    return Table(
        "tau", "Kendall's tau between data sets", columns, tuple(rows), notes, tau_matrices if wide else None
    )


def _correction(found: Comparison) -> str:
    return "Holm" if found.settings.correction == "holm" else "Benjamini-Hochberg"


def _scores_first(names: Iterable[str], found: Comparison) -> list[str]:
    """Return names of scores in their order, but composite ones first, then axes, then measures."""
    scores = found.scores
    return sorted(names, key=lambda name: 0 if name in scores else 1 if name.startswith("sago_") else 2)
