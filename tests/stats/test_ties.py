"""One rule for ties: a difference below 1e-9 of the scale, wherever orders of models are formed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sago_harness.stats.agreement import agreement
from sago_harness.stats.firmness import FirmnessResult, against
from sago_harness.stats.grid import Grid
from sago_harness.stats.quantities import mean_quantity
from sago_harness.stats.ranks import rank_sets
from sago_harness.stats.resampling import Settings

NAMES = ("a", "b", "c", "d")

#: Two values that are a tie, beside .5 and .6; the last two lie on both sides of a multiple of 1e-9.
TIED = [
    (0.1 + 0.2, 0.3),
    (0.3 + 1e-11, 0.3),
    (0.3, 0.3 + 2e-10),
    (0.3 + 0.5e-9 + 1e-12, 0.3 + 0.5e-9 - 1e-12),
    (0.3 + 1.5e-9 + 1e-12, 0.3 + 1.5e-9 - 1e-12),
]


def held(whole: list[float], other: list[float]) -> FirmnessResult:
    return against("kind", "", "sago", dict(zip(NAMES, whole, strict=True)), [(NAMES, np.array(other))])


@pytest.mark.parametrize("scale", [1.0, 250.0, 1e-3])
@pytest.mark.parametrize(("first", "second"), TIED)
def test_a_tie_everywhere(first: float, second: float, scale: float) -> None:
    rows = scale * np.array([[first, second, 0.5, 0.6], [second, first, 0.5, 0.6]])
    found = agreement(Grid("sago", ("p", "q"), NAMES, rows))
    assert found.mean_ranks.tolist() == [3.5, 3.5, 2.0, 1.0]
    assert (found.changed, found.tau[0, 1]) == (0, pytest.approx(1.0))
    row = held(rows[0].tolist(), rows[1].tolist())
    assert row.tau == pytest.approx(1.0)
    assert (row.moved, row.best_kept) == (0, True)
    # The same in ranks, where each model's documents agree.
    quantity = mean_quantity("x", np.repeat(rows[0][:, None], 40, axis=1), "beside", higher=True)
    table = rank_sets(quantity, Settings(resamples=99), models=NAMES, task="made")
    assert dict(zip(table.models, table.rank.tolist(), strict=True)) == {"a": 3, "b": 3, "c": 2, "d": 1}


@pytest.mark.parametrize("gap", [1e-8, 1e-6])
def test_more_than_that_is_an_order(gap: float) -> None:
    rows = np.array([[0.3 + gap, 0.3, 0.5, 0.6], [0.3, 0.3 + gap, 0.5, 0.6]])
    found = agreement(Grid("sago", ("p", "q"), NAMES, rows))
    assert found.changed == 1
    assert found.tau[0, 1] == pytest.approx(stats.kendalltau(*rows).statistic, abs=1e-6)
    row = held(rows[0].tolist(), rows[1].tolist())
    assert row.tau == pytest.approx(stats.kendalltau(*rows).statistic)
    assert row.moved == 1


def test_a_tie_for_the_first_place() -> None:
    """The best model stays if the same ones share the first place, whichever is named first."""
    tied, alone = [0.6, 0.6 + 1e-11, 0.3, 0.2], [0.6, 0.7, 0.3, 0.2]
    assert held(tied, [0.6 + 1e-11, 0.6, 0.2, 0.3]).best_kept
    assert not held(tied, alone).best_kept
    assert not held(alone, tied).best_kept


def test_all_within_rounding_is_no_order() -> None:
    close = [0.3, 0.1 + 0.2, 0.3 + 1e-11, 0.3 - 1e-11]
    row = held(close, [0.1, 0.2, 0.3, 0.4])
    assert (row.reason, row.moved, row.best_kept) == ("all values are equal", 3, False)
    assert np.isnan(row.tau)
    found = agreement(Grid("sago", ("p", "q"), NAMES, np.array([close, close[::-1]])))
    assert found.reason == "all models tie in every data set"


def test_ranks_are_scipys_where_ties_are_exact() -> None:
    values = np.random.default_rng(0).integers(0, 6, size=(5, 12)) / 7.0
    names = tuple(f"m{i}" for i in range(12))
    found = agreement(Grid("sago", tuple("pqrst"), names, values))
    np.testing.assert_allclose(found.mean_ranks, stats.rankdata(-values, axis=1).mean(axis=0), rtol=1e-12)
    assert found.statistic == pytest.approx(stats.friedmanchisquare(*values.T).statistic)
