"""How often the intervals of means over data sets hold the true ones: of models, and of their differences."""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.stats.intervals import intervals
from sago_harness.stats.overall import OverallTable, overall, overall_pairs
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from tests.stats import calibration as made

pytestmark = pytest.mark.filterwarnings("error")

#: Four data sets of 40 documents: their law, and the levels of two models.
DATA_SETS = (
    ("skewed", (0.4, 0.6)),
    ("zeros", (0.6, 0.5)),
    ("ties", (0.5, 0.5)),
    ("skewed", (0.8, 0.6)),
)


def studies_of(studies: int, seed: int) -> OverallTable:
    """Two models of every study over the same data sets, study after study."""
    rng = np.random.default_rng(seed)
    return overall(
        [
            score_task(made.table(rng, law, levels, 40, studies=studies, task=f"t{k}"))
            for k, (law, levels) in enumerate(DATA_SETS)
        ]
    )


def true(model: int) -> float:
    return float(np.mean([made.truth(law, levels[model]) for law, levels in DATA_SETS]))


def covered(studies: int, seed: int, resamples: int) -> float:
    quantity = studies_of(studies, seed).quantities["sago_core"]
    found = intervals(quantity, resamples=resamples, seed=seed, task="overall")
    target = np.tile([true(0), true(1)], studies)
    return float(np.mean((found.low <= target) & (target <= found.high)))


def pairs_covered(studies: int, seed: int) -> float:
    hits = []
    for k in range(studies):
        # No draw of signs enters an interval.
        found = overall_pairs(studies_of(1, 10_000 * seed + k), Settings(resamples=19)).columns["sago_core"]
        hits.append(bool(found.low[0] <= true(0) - true(1) <= found.high[0]))
    return float(np.mean(hits))


def test_coverage_over_four_data_sets() -> None:
    share = covered(300, 1, 499)
    assert 0.93 - 2.0 * made.error(300) <= share <= 0.97 + 2.0 * made.error(300), share


def test_coverage_of_a_difference_over_four_data_sets() -> None:
    share = pairs_covered(60, 1)
    assert share >= 0.95 - 3.0 * made.error(60), share


@pytest.mark.slow
def test_coverage_over_four_data_sets_long() -> None:
    share = covered(2000, 2, 1999)
    print("overall", share)
    assert 0.93 <= share <= 0.97, share


@pytest.mark.slow
def test_coverage_of_a_difference_over_four_data_sets_long() -> None:
    share = pairs_covered(1000, 2)
    print("overall difference", share)
    assert 0.93 <= share <= 0.97, share
