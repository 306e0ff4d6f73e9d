"""How often any two of several equal models are told apart, after Holm over all their pairs."""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.stats.pairs import pair_block
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from tests.stats import calibration as made

pytestmark = pytest.mark.filterwarnings("error")


def any_found(law: str, models: int, documents: int, studies: int, seed: int) -> dict[str, float]:
    """Return, for each score, the share of studies that tell any two models apart."""
    rng = np.random.default_rng([seed, models, documents])
    table = made.table(rng, law, [0.6] * models, documents, studies=studies)
    hits: dict[str, list[bool]] = {"x_act": [], "sago_core": []}
    for k in range(studies):
        one = table.with_models(table.models[models * k : models * (k + 1)])
        block = pair_block(score_task(one), Settings(resamples=999, seed=k))
        adjusted = block.adjusted()
        for name, found in hits.items():
            found.append(bool((adjusted[name] <= 0.05).any()))
    return {name: float(np.mean(found)) for name, found in hits.items()}


@pytest.mark.parametrize("law", made.LAWS)
def test_no_pair_of_equal_models_is_told_apart(law: str) -> None:
    found = any_found(law, 5, 40, 100, 1)
    assert max(found.values()) <= 0.05 + 3.0 * made.error(100), found


@pytest.mark.slow
@pytest.mark.parametrize("documents", [12, 40])
@pytest.mark.parametrize("law", made.LAWS)
def test_no_pair_of_equal_models_is_told_apart_long(law: str, documents: int) -> None:
    found = any_found(law, 6, documents, 1000, 2)
    print("family", law, documents, found)
    assert max(found.values()) <= 0.05 + 3.0 * made.error(1000), found


def test_without_the_correction_they_are() -> None:
    """Ten tests of a true null hypothesis: the family is what Holm is for."""
    table = made.table(np.random.default_rng(3), "skewed", [0.6] * 5, 40, studies=100)
    found = []
    for k in range(100):
        one = table.with_models(table.models[5 * k : 5 * k + 5])
        found.append(pair_block(score_task(one), Settings(resamples=499, seed=k)).columns["x_act"].pvalue)
    assert np.mean(np.min(found, axis=1) <= 0.05) > 0.1
