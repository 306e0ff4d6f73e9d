"""How often variants are said to move a model further than asking again does, where they do not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sago_harness.stats.instability import instability
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import TaskTable
from tests.stats import calibration as made

pytestmark = pytest.mark.filterwarnings("error")

#: Studies that share their relabellings; others have their own.
TOGETHER = 20


def exchangeable(rng: np.random.Generator, law: str, documents: int, repeats: int) -> TaskTable:
    """Some models whose repeats are as far off as variants; models are studies of their own.

    Variants of a document have one law, so some of them can stand for its repeats. All are held under
    a third of chance, beyond which a measure is not scored.
    """
    table = made.table(rng, law, [0.6], documents, studies=TOGETHER, measures={"x_act": "activation"})
    cells = 0.3 * table.distances["x_act"]
    keep = np.arange(cells.shape[2]) < cells.shape[2] - repeats
    chance = np.full(table.controls["x_act"].shape, 0.95)
    return replace(
        replace(table, distances={"x_act": cells}, controls={"x_act": chance}).with_variants(keep),
        repeats={"x_act": cells[:, :, ~keep]},
    )


def false_positives(law: str, documents: int, repeats: int, studies: int, seed: int) -> float:
    """Return the share of studies among those that are tested, and thus have documents that move."""
    hits: list[bool] = []
    for k in range(studies // TOGETHER):
        rng = np.random.default_rng([seed, documents, repeats, k])
        table = exchangeable(rng, law, documents, repeats)
        found = instability(score_task(table), Settings(resamples=999, seed=k), table)
        assert {one.reason for one in found} <= {"", "too_few_events"}
        hits += [one.pvalue_noise <= 0.05 for one in found if not one.reason]
    assert len(hits) > 0.7 * studies
    return float(np.mean(hits))


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("law", made.LAWS)
def test_false_positives_against_repeats(law: str, repeats: int) -> None:
    assert false_positives(law, 40, repeats, 300, 1) <= 0.05 + 3.0 * made.error(300)


@pytest.mark.slow
@pytest.mark.parametrize("documents", [12, 40, 100])
@pytest.mark.parametrize("repeats", [1, 2, 3])
@pytest.mark.parametrize("law", made.LAWS)
def test_false_positives_against_repeats_long(law: str, repeats: int, documents: int) -> None:
    share = false_positives(law, documents, repeats, 2000, 2)
    print("repeats", law, documents, repeats, share)
    # Twenty-seven bounds are looked at together.
    assert share <= 0.05 + 4.0 * made.error(2000), share


def test_variants_that_move_further_are_found() -> None:
    table = exchangeable(np.random.default_rng(3), "skewed", 40, 2)
    less = replace(table, repeats={"x_act": 0.5 * table.repeats["x_act"]})
    found = instability(score_task(less), Settings(resamples=999), less)
    assert np.mean([one.pvalue_noise <= 0.05 for one in found]) > 0.8
