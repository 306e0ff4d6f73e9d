"""How often a reversal is confirmed where there is none, on distances with ties, zeros and long tails.

The least favourable case: one data set has large gaps, so that its order is sure, and models are
equal on the others, where an error in one direction is all that a false reversal needs.
"""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.stats.pair_results import PairBlock
from sago_harness.stats.pairs import pair_block
from sago_harness.stats.resampling import Settings
from sago_harness.stats.reversal import ReversalTable, reversals
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import Doubles, TaskTable
from tests.stats import calibration as made

pytestmark = pytest.mark.filterwarnings("error")

ONE = {"x_bleu": "generation"}


def turned(blocks: list[PairBlock], settings: Settings) -> ReversalTable:
    columns = [block.columns["x_bleu"] for block in blocks]
    p_plus, p_minus, difference, stderr = (
        np.array([getattr(c, name) for c in columns])
        for name in ("p_plus", "p_minus", "difference", "stderr")
    )
    return reversals(
        p_plus, p_minus, difference, stderr,
        tasks=[block.task for block in blocks], models=blocks[0].models,
        pairs=(blocks[0].first, blocks[0].second), quantity="x_bleu", higher_is_better=False,
        probability=False, settings=settings,
    )  # fmt: skip


def tables(law: str, data_sets: int, models: int, studies: int, seed: int) -> list[TaskTable]:
    """The first with levels that double from model to model, on documents that hardly differ."""
    rng = np.random.default_rng([seed, data_sets, models])
    apart: Doubles = 0.1 * np.exp2(np.arange(models, dtype=np.float64))
    equal: Doubles = np.full(models, 0.5)
    return [
        made.table(
            rng, law if q else "even", equal if q else apart, 40,
            studies=studies, task=f"t{q}", measures=ONE,
        )
        for q in range(data_sets)
    ]  # fmt: skip


def false_findings(law: str, data_sets: int, models: int, studies: int, seed: int) -> tuple[float, float]:
    """Return the shares of studies with a reversal between named data sets, and somewhere."""
    whole = tables(law, data_sets, models, studies, seed)
    counts = np.zeros(2)
    for k in range(studies):
        settings = Settings(resamples=999, seed=k)
        names = whole[0].models[models * k : models * (k + 1)]
        blocks = [pair_block(score_task(one.with_models(names)), settings) for one in whole]
        found = turned(blocks, settings)
        counts += found.confirmed.any(), found.confirmed_somewhere.any()
    named, somewhere = counts / studies
    return float(named), float(somewhere)


def test_the_gaps_are_sure() -> None:
    """Of the data set apart every order is right, and beyond the corrected level."""
    (first, *_) = tables("skewed", 2, 3, 20, 5)
    for k in range(20):
        block = pair_block(
            score_task(first.with_models(first.models[3 * k : 3 * k + 3])), Settings(resamples=999)
        )
        c = block.columns["x_bleu"]
        assert np.all(c.difference < 0.0)
        assert c.p_plus.max() < 0.05 / 9


@pytest.mark.parametrize("law", made.LAWS)
def test_nothing_is_confirmed_in_the_least_favourable_case(law: str) -> None:
    assert max(false_findings(law, 2, 3, 150, 1)) <= 0.05 + 3.0 * made.error(150)


@pytest.mark.slow
@pytest.mark.parametrize(("data_sets", "models"), [(2, 2), (3, 3)])
@pytest.mark.parametrize("law", made.LAWS)
def test_nothing_is_confirmed_in_the_least_favourable_case_long(
    law: str, data_sets: int, models: int
) -> None:
    found = false_findings(law, data_sets, models, 1000, 2)
    print("reversal", law, data_sets, models, found)
    assert max(found) <= 0.05 + 3.0 * made.error(1000), found


def test_a_reversal_is_found() -> None:
    """The same laws, with two models that do change places: what finds nothing would pass the others."""
    rng = np.random.default_rng(6)
    both = [
        made.table(rng, "ties", levels, 40, studies=40, task=f"t{q}", measures=ONE)
        for q, levels in enumerate([(0.3, 0.9), (0.9, 0.3)])
    ]
    found = []
    for k in range(40):
        settings = Settings(resamples=999, seed=k)
        names = both[0].models[2 * k : 2 * k + 2]
        blocks = [pair_block(score_task(one.with_models(names)), settings) for one in both]
        found.append(turned(blocks, settings).confirmed_somewhere.any())
    assert np.mean(found) > 0.8
