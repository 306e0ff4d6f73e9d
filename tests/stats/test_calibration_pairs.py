"""How often the intervals of a difference of two models hold the true one: of one pair, and all at once."""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.stats.flips import Flips
from sago_harness.stats.pair_data import pair_data
from sago_harness.stats.pairs import compare, pair_block
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.shared_sums import SharedSums
from tests.stats import calibration as made

pytestmark = pytest.mark.filterwarnings("error")

#: No draw of signs enters an interval.
SETTINGS = Settings(resamples=19)

#: Studies in one table: room grows with their square.
TOGETHER = 200

#: One model's level, and the other's.
LEVELS = {"equal": (0.6, 0.6), "apart": (0.4, 0.8), "far": (0.2, 0.9)}


def covered(law: str, levels: tuple[float, float], studies: int, seed: int) -> float:
    """Return the share of intervals that hold the true difference, over studies of 40 documents."""
    hits: list[bool] = []
    true = made.truth(law, levels[0]) - made.truth(law, levels[1])
    first = np.arange(0, 2 * TOGETHER, 2)
    for k in range(studies // TOGETHER):
        rng = np.random.default_rng([seed, k])
        scored = score_task(made.table(rng, law, levels, 40, studies=TOGETHER))
        shared = SharedSums(Flips(40, SETTINGS, "pairs", scored.task))
        data = pair_data(scored)["sago_core"]
        found = compare(data, first, first + 1, shared, SETTINGS, scored.models)
        hits += ((found.low <= true) & (true <= found.high)).tolist()
    return float(np.mean(hits))


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("law", made.LAWS)
def test_coverage_of_a_difference(law: str, levels: str) -> None:
    share = covered(law, LEVELS[levels], 400, 1)
    assert 0.93 - 2.0 * made.error(400) <= share <= 0.97 + 2.0 * made.error(400), share


@pytest.mark.slow
@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("law", made.LAWS)
def test_coverage_of_a_difference_long(law: str, levels: str) -> None:
    share = covered(law, LEVELS[levels], 4000, 2)
    print("difference", law, levels, share)
    assert 0.93 <= share <= 0.97, share


#: Four models: equal ones and one far from them.
FOUR = (0.5, 0.5, 0.6, 0.9)


def all_covered(law: str, studies: int, seed: int) -> float:
    """Return the share of studies whose six simultaneous intervals all hold the truth."""
    table = made.table(np.random.default_rng(seed), law, FOUR, 40, studies=studies)
    true = np.array([made.truth(law, level) for level in FOUR])
    hits = []
    for k in range(studies):
        block = pair_block(score_task(table.with_models(table.models[4 * k : 4 * k + 4])), SETTINGS)
        found, gaps = block.columns["sago_core"], true[block.first] - true[block.second]
        hits.append(bool(np.all((found.low_all <= gaps) & (gaps <= found.high_all))))
    return float(np.mean(hits))


@pytest.mark.parametrize("law", made.LAWS)
def test_coverage_of_all_differences_at_once(law: str) -> None:
    share = all_covered(law, 100, 3)
    assert share >= 0.93 - 3.0 * made.error(100), share


@pytest.mark.slow
@pytest.mark.parametrize("law", made.LAWS)
def test_coverage_of_all_differences_at_once_long(law: str) -> None:
    share = all_covered(law, 1000, 4)
    print("simultaneous", law, share)
    assert share >= 0.93, share
