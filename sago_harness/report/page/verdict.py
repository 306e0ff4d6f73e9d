"""Does the ranking turn round elsewhere? The answer in one of three forms, with its numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from sago_harness.report.main_score import main_score
from sago_harness.report.page.markup import line
from sago_harness.report.tables import Column, shown
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.reversal import ReversalTable
from sago_harness.stats.table import Doubles

CONFIRMED, NOT_SHOWN, IMPOSSIBLE = "Confirmed", "Not shown", "Cannot be shown with these data"


@dataclass(frozen=True)
class Verdict:
    """What is known of rank reversals.

    Attributes
    ----------
    state : str
        One of the three of this module.
    number : str
        Confirmed pairs of models out of those tested; "" where nothing could be.
    text : Markup
    others : tuple of str
        The findings in the other scores.
    """

    state: str
    number: str
    text: Markup
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.state}: {self.number}" if self.number else self.state


def verdict(found: Comparison) -> Verdict:
    """Return the verdict on the score by which the study is ordered.

    *Cannot be shown*: one model or data set, nothing that can be tested, or so few documents that the
    smallest p-value they can give is above the level once it is corrected for all pairs.
    """
    name = main_score(found)
    table = found.reversals.get(name)
    others = tuple(
        _in_short(one) for key, one in found.reversals.items() if key in found.scores and key != name
    )
    if table is None:
        return Verdict(IMPOSSIBLE, "", _lacks(found))
    tested = int(np.isfinite(table.somewhere).sum())
    sure = int(table.confirmed_somewhere.sum())
    if not tested:
        return Verdict(IMPOSSIBLE, "", line(table.headline), others)
    number = f"{sure} of {tested} {'pair' if tested == 1 else 'pairs'} of models"
    if sure:
        return Verdict(CONFIRMED, number, _confirmed(table, tested, sure), others)
    least = smallest_adjusted(found, table)
    if least > table.level:
        text = Markup(
            "With so few documents no reversal could be: the smallest p-value that they can give is {} after "
            "the correction for {} {}, above the level of {}. {}"
        ).format(_p(least), tested, _pairs(tested), f"{table.level:g}", _seen(table, tested))
        return Verdict(IMPOSSIBLE, number, text, others)
    text = Markup("{} {}").format(_seen(table, tested), _scale(found, table))
    return Verdict(NOT_SHOWN, number, text, others)


def smallest_adjusted(found: Comparison, table: ReversalTable) -> float:
    """Return the smallest corrected p-value that the documents of the study could give any pair of models.

    A reversal takes two data sets, so the second smallest p-value of a pair bounds its test
    from below; Holm's first step multiplies with the number of pairs, that of Benjamini-Hochberg may not.
    """
    smallest = np.full(table.difference.shape, np.nan)
    for row, task in zip(smallest, table.tasks, strict=True):
        block = found.pairs.get(task)
        if block is None or table.quantity not in block.columns:
            continue
        # Of one side: half of that of both.
        least = block.columns[table.quantity].smallest / 2.0
        of = {
            frozenset((block.models[i], block.models[j])): float(p)
            for i, j, p in zip(block.first.tolist(), block.second.tolist(), least.tolist(), strict=True)
        }
        for k, (i, j) in enumerate(zip(table.a.tolist(), table.b.tolist(), strict=True)):
            row[k] = of.get(frozenset((table.models[i], table.models[j])), np.nan)
    known = np.isfinite(smallest) & np.isfinite(table.p_plus)
    ordered: Doubles = np.sort(np.where(known, smallest, np.inf), axis=0)
    if len(ordered) < 2:
        return 1.0
    bound = np.minimum(1.0, np.maximum(1, table.data_sets - 1) * ordered[1])
    tested = np.isfinite(table.somewhere)
    factor = int(tested.sum()) if table.correction == "holm" else 1
    return float(min(1.0, bound[tested].min() * factor)) if tested.any() else 1.0


def _in_short(table: ReversalTable) -> str:
    tested = int(np.isfinite(table.somewhere).sum())
    if not tested:
        return table.headline
    sure, swapped = int(table.confirmed_somewhere.sum()), int(table.observed.any(axis=0).sum())
    return (
        f"{table.quantity}: {sure} of {tested} {_pairs(tested)} confirmed; "
        f"{swapped or 'none'} {'changes' if swapped < 2 else 'change'} order in the values alone"
    )


def _lacks(found: Comparison) -> Markup:
    models, tasks = len(found.models), len(found.spanning)
    if models < 2 or tasks < 2:
        has = f"This study has {_count(models, 'model')} on {_count(tasks, 'data set')}"
        return Markup("{}; a ranking can only turn round between two data sets with two models.").format(has)
    return Markup("The scores are not made of documents, so nothing about them can be tested.")


def _confirmed(table: ReversalTable, tested: int, sure: int) -> Markup:
    best = table.pair(int(np.nanargmin(table.somewhere)))
    where = int(table.confirmed.sum())
    among = int(np.isfinite(table.pvalue).sum())
    return Markup(
        "{} of {} {} of models {} places between data sets in {} ({}): most clearly {}, ahead on {}, and {}, "
        "ahead on {} (p = {}). Between two named data sets {} of {} are confirmed. {}"
    ).format(
        sure, tested, _pairs(tested), "swaps" if sure == 1 else "swap", line(table.quantity), _how(table),
        line(best.a), line(best.a_ahead), line(best.b), line(best.b_ahead), _p(best.pvalue_adjusted),
        where, among, _seen(table, tested),
    )  # fmt: skip


def _seen(table: ReversalTable, tested: int) -> Markup:
    swapped = int(table.observed.any(axis=0).sum())
    where = Markup("in {} over {} data sets").format(line(table.quantity), len(table.tasks))
    if not swapped:
        return Markup("In the values alone no pair changes order {}.").format(where)
    return Markup("In the values alone {} of {} {} {} order somewhere {}.").format(
        swapped, tested, _pairs(tested), "changes" if swapped == 1 else "change", where
    )


def _scale(found: Comparison, table: ReversalTable) -> Markup:
    """Say how large a difference these documents would have found: a reversal takes two of them."""
    given = [
        found.pairs[task].columns[table.quantity].detectable
        for task in table.tasks
        if task in found.pairs and table.quantity in found.pairs[task].columns
    ]
    known = np.concatenate(given) if given else np.zeros(0)
    known = known[np.isfinite(known)]
    how = Markup(
        "None is confirmed ({}), which does not show that the ranking is the same everywhere"
    ).format(_how(table))
    if not len(known):
        return Markup("{}.").format(how)
    return Markup(
        "{}: on one data set these documents find a difference of {} four times out of five (median over "
        "pairs), and a reversal takes such a difference on two, in opposite directions."
    ).format(how, shown(float(np.median(known)), Column("d")))


def _how(table: ReversalTable) -> str:
    return f"{'Holm' if table.correction == 'holm' else 'Benjamini-Hochberg'}, level {table.level:g}"


def _p(value: float) -> str:
    return shown(value, Column("p", kind="p"))


def _pairs(count: int) -> str:
    return "pair" if count == 1 else "pairs"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
