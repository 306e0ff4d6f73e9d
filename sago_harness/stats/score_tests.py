"""Pairs, ranks and intervals of every score, on one data set or over all of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.comparison import OWN, SHARES, Interval
from sago_harness.stats.intervals import IntervalResult, intervals
from sago_harness.stats.overall import OVERALL, OverallTable, overall_pairs, overall_ranks
from sago_harness.stats.pair_results import PairBlock
from sago_harness.stats.pairs import pair_block
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.ranks import RankTable, task_ranks
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.workers import Clock

#: Pairs, if the data set has any to compare, ranks and intervals of one data set, or over all.
Tests = tuple[PairBlock | None, Mapping[str, RankTable], Interval]


def has_documents(scored: ScoredTask) -> bool:
    """Say whether scores are made of documents: without them there is no test."""
    return not any(
        q.kind == "scheme" and np.isfinite(q.values).any() and not q.influence.any()
        for q in scored.quantities.values()
    )


def tests_on_data_set(one: ScoredTask, settings: Settings, clock: Clock) -> Tests:
    """Test the scores of one data set.

    Parameters
    ----------
    one : ScoredTask
    settings : Settings
    clock : Clock
        Told how long each part takes.

    Returns
    -------
    Tests
    """
    block = None
    # A data set that the control model lacks has no pair with it.
    if settings.control in ("", *one.models):
        with clock("pairs"):
            block = pair_block(one, settings)
    with clock("ranks"):
        ranks = task_ranks(one, settings, _ranked_scores(one, settings))
    with clock("intervals"):
        return block, ranks, _intervals(one.quantities, settings, one.task)


def tests_over_data_sets(
    whole: OverallTable, scored: Mapping[str, ScoredTask], settings: Settings, clock: Clock
) -> Tests:
    """Test the means of the scores over data sets.

    Parameters
    ----------
    whole : OverallTable
    scored : dict of str to ScoredTask
        Data set -> its scores.
    settings : Settings
    clock : Clock
        Told how long it takes.

    Returns
    -------
    Tests
    """
    names = _ranked_scores(next(iter(scored.values())), settings)
    with clock("overall"):
        block = overall_pairs(whole, settings)
        ranks = overall_ranks(whole, settings, names)
        return block, ranks, _intervals(whole.quantities, settings, OVERALL)


def _ranked_scores(scored: ScoredTask, settings: Settings) -> tuple[str, ...]:
    return tuple(COMPOSITES) if settings.scheme == OWN else tuple(scored.quantities)


def _intervals(
    quantities: Mapping[str, Quantity], settings: Settings, task: str
) -> dict[str, IntervalResult]:
    return {
        name: intervals(
            q, settings.level, resamples=min(settings.resamples, SHARES), seed=settings.seed, task=task
        )
        for name, q in quantities.items()
    }
