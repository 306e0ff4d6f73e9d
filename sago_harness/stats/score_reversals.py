"""Rank reversals of every score, from the pairs of each data set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.comparison import SHARES
from sago_harness.stats.pair_results import PairBlock
from sago_harness.stats.pairs import pair_places
from sago_harness.stats.resampling import Settings, document_weights, generator
from sago_harness.stats.reversal import ReversalTable, order_shares, reversals
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles
from sago_harness.stats.workers import Clock, each

#: Pairs of models times pairs of data sets up to which P(reversal) is worked out for every score.
MOST_PROBABLE = 200_000


_BLOCKS = ("p_plus", "p_minus", "difference", "stderr", "ahead", "behind")


def reversal_tables(
    scored: Mapping[str, ScoredTask],
    pairs: Mapping[str, PairBlock],
    models: tuple[str, ...],
    settings: Settings,
    workers: int,
    clock: Clock,
) -> dict[str, ReversalTable]:
    """Look for reversals in every score; pairs of models the same on all data sets.

    Parameters
    ----------
    scored : dict of str to ScoredTask
        Data set -> its scores.
    pairs : dict of str to PairBlock
        Data set -> its pairs; one without any takes no part.
    models : tuple of str
        All of the study.
    settings : Settings
    workers : int
        Data sets, or scores, that are worked on at once.
    clock : Clock
        Told how long it takes.

    Returns
    -------
    dict of str to ReversalTable
        Score -> its reversals; empty where there is no pair of models.
    """
    first, second = pair_places(models, settings.control)
    if not len(first):
        return {}
    tasks = tuple(scored)
    names = dict.fromkeys(name for one in scored.values() for name in one.quantities)
    shape = (len(tasks), len(first))
    cells = len(tasks) * (len(tasks) - 1) // 2 * len(first)
    place = {model: i for i, model in enumerate(models)}
    index = np.full((len(models), len(models)), -1)
    index[first, second] = np.arange(len(first))
    blocks: dict[str, dict[str, Doubles]] = {
        name: {key: np.full(shape, np.nan) for key in _BLOCKS} for name in names
    }

    def enter(q: int) -> None:
        task = tasks[q]
        one, block = scored[task], pairs.get(task)
        if block is None:
            return
        own = np.array([place[model] for model in one.models], dtype=np.intp)
        columns = index[own[block.first], own[block.second]]
        kept = columns >= 0
        rng = generator(settings.seed, "support", task)
        weights = document_weights(len(one.documents), min(settings.resamples, SHARES), rng)
        for name, c in block.columns.items():
            ahead, behind = order_shares(one.quantities[name], weights, (block.first, block.second))
            given = (c.p_plus, c.p_minus, c.difference, c.stderr, ahead, behind)
            for key, values in zip(_BLOCKS, given, strict=True):
                blocks[name][key][q, columns[kept]] = values[kept]

    def turned(name: str) -> ReversalTable:
        block_of = blocks[name]
        kind = next(one.quantities[name] for one in scored.values() if name in one.quantities)
        return reversals(
            block_of["p_plus"],
            block_of["p_minus"],
            block_of["difference"],
            block_of["stderr"],
            tasks=tasks,
            models=models,
            pairs=(first, second),
            quantity=name,
            higher_is_better=kind.higher_is_better,
            ahead=block_of["ahead"],
            behind=block_of["behind"],
            # Most of the time of a reversal table: in a large study for what is ranked alone.
            probability=cells <= MOST_PROBABLE or name in COMPOSITES or kind.kind == "scheme",
            why_not=_why_not(cells),
            settings=settings,
        )

    list(each(clock.timed("reversals", enter), range(len(tasks)), workers))
    # Those with P(reversal) take longest, and go first.
    order = sorted(names, key=lambda name: name not in COMPOSITES)
    made = dict(zip(order, each(clock.timed("reversals", turned), order, workers), strict=True))
    return {name: made[name] for name in names}


def _why_not(cells: int) -> str:
    return (
        f"P(reversal): worked out for {', '.join(COMPOSITES)} alone, not for axes and measures, which takes "
        f"long in a study of {cells:,} pairs of models between two data sets (over {MOST_PROBABLE:,})"
    )
