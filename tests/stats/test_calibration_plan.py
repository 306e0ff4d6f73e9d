"""From a pilot to a plan to the test: is a difference found as often as the planner promised?"""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.stats.flips import Flips
from sago_harness.stats.pair_data import pair_data
from sago_harness.stats.pairs import compare, pair_block
from sago_harness.stats.pilot import pilot_components
from sago_harness.stats.power import plan
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.shared_sums import SharedSums
from tests.stats import calibration as made
from tests.stats.made import variants

pytestmark = pytest.mark.filterwarnings("error")

#: Variants of a made table, and documents of a pilot.
VARIANTS, PILOT = len(variants()), 100

#: Two models' levels for a difference that takes some 30 to 150 documents.
LEVELS = (0.5, 0.65)


def sizes(law: str, pilots: int, power: float, seed: int) -> list[int]:
    """Return how many documents each of many pilots asks for, to find the true difference."""
    table = made.table(np.random.default_rng([seed, 1]), law, LEVELS, PILOT, studies=pilots)
    difference = made.truth(law, LEVELS[0]) - made.truth(law, LEVELS[1])
    found = []
    for k in range(pilots):
        components = pilot_components(table.with_models(table.models[2 * k : 2 * k + 2]))
        found.append(plan(components, VARIANTS, difference=difference, power=power).documents)
    return found


def found_by_test(law: str, documents: int, studies: int, seed: int) -> list[bool]:
    """Say for each of some studies of this size whether its pair is told apart."""
    rng = np.random.default_rng([seed, 2])
    scored = score_task(made.table(rng, law, LEVELS, documents, studies=studies))
    settings = Settings(resamples=999, seed=seed)
    shared = SharedSums(Flips(documents, settings, "pairs", scored.task))
    first = np.arange(0, 2 * studies, 2)
    data = pair_data(scored)["sago_core"]
    p = compare(data, first, first + 1, shared, settings, scored.models).pvalue
    return [bool(one) for one in p <= 0.05]


def power_found(law: str, power: float, pilots: int, studies: int, seed: int) -> float:
    """Return the share of studies that find the difference, each of a size that a pilot asked for."""
    needs = sizes(law, pilots, power, seed)
    found = [one for k, n in enumerate(needs) for one in found_by_test(law, n, studies, 1000 * seed + k)]
    print("plan", law, power, min(needs), float(np.median(needs)), max(needs), np.mean(found))
    return float(np.mean(found))


@pytest.mark.parametrize("law", made.LAWS)
def test_power_is_what_the_pilot_promised(law: str) -> None:
    """Twenty pilots of 100 documents, ten studies each: within 5 points and the error of 200 studies."""
    found = power_found(law, 0.8, 20, 10, 1)
    assert abs(found - 0.8) <= 0.05 + 2.0 * made.error(200, 0.8), found


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.8, 0.9])
@pytest.mark.parametrize("law", made.LAWS)
def test_power_is_what_the_pilot_promised_long(law: str, power: float) -> None:
    found = power_found(law, power, 100, 20, 2)
    assert abs(found - power) <= 0.05, found


def test_a_block_of_pairs_says_the_same() -> None:
    """One study among others: its test does not depend on them."""
    table = made.table(np.random.default_rng(3), "skewed", LEVELS, 40, studies=5)
    scored, settings = score_task(table), Settings(resamples=999)
    shared = SharedSums(Flips(40, settings, "pairs", scored.task))
    first = np.arange(0, 10, 2)
    many = compare(pair_data(scored)["sago_core"], first, first + 1, shared, settings, scored.models)
    for k in range(5):
        one = pair_block(score_task(table.with_models(table.models[2 * k : 2 * k + 2])), settings)
        assert one.columns["sago_core"].pvalue[0] == pytest.approx(many.pvalue[k], abs=0.002)
