"""Correlations of all pairs at once, against plain loops over SciPy's ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from sago_harness.stats.cross_half import Correlation, Pair, Unit, correlations
from sago_harness.stats.resampling import document_weights

pytestmark = pytest.mark.filterwarnings("error")

NAMES = ("a", "b", "c", "d")
PAIRS: list[Pair] = [(("axis", x), ("axis", y)) for i, x in enumerate(NAMES) for y in NAMES[i + 1 :]]


def made_values(rng: np.random.Generator, documents: int, splits: int, ties: bool) -> dict[Unit, np.ndarray]:
    """Units that share a part of their documents' values, halves that share most of it."""
    common = rng.normal(size=documents)
    found = {}
    for name in NAMES:
        own = 0.7 * common + rng.normal(size=documents)
        values = own + 0.5 * rng.normal(size=(splits, 2, documents))
        found["axis", name] = np.round(values) if ties else values
    return found


def plain_sums(x: np.ndarray, y: np.ndarray) -> float:
    return float(((x - x.mean()) * (y - y.mean())).sum())


def plain(first: np.ndarray, second: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    """Cross, and both reliabilities, of a sample: documents repeated, sums added up split by split."""
    sums = dict.fromkeys(("00", "11", "22", "33", "01", "23", "03", "12"), 0.0)
    for a, b in zip(first, second, strict=True):
        valid = np.isfinite(np.concatenate([a, b])).all(axis=0)
        if valid.sum() < 10 or any(np.ptp(row[valid]) == 0.0 for row in (*a, *b)):
            continue
        drawn = []
        for row in (*a, *b):
            ranks = stats.rankdata(row[valid])
            drawn.append(np.repeat((ranks - ranks.mean()) / ranks.std(), weights[valid].astype(int)))
        for key in sums:
            sums[key] += plain_sums(drawn[int(key[0])], drawn[int(key[1])])

    def r(key: str) -> float:
        return sums[key] / math.sqrt(sums[key[0] * 2] * sums[key[1] * 2])

    return (r("03") + r("12")) / 2.0, r("01"), r("23")


def check(values: dict[Unit, np.ndarray], found: dict[Pair, Correlation], weights: np.ndarray) -> None:
    for pair, one in found.items():
        first, second = values[pair[0]], values[pair[1]]
        cross, *own = plain(first, second, np.ones(len(weights)))
        assert one.reason == ""
        assert one.cross == pytest.approx(cross, abs=1e-12)
        assert one.reliability == pytest.approx(own, abs=1e-12)
        assert one.statistic == pytest.approx(min(1.0, cross / math.sqrt(own[0] * own[1])), abs=1e-12)
        assert one.drawn is not None
        for row, got in zip(weights.T, one.drawn, strict=True):
            cross, *own = plain(first, second, row)
            expected = cross / math.sqrt(max(own[0], 0.05) * max(own[1], 0.05))
            assert got == pytest.approx(min(1.0, max(-1.0, expected)), abs=2e-5)


@pytest.mark.parametrize("ties", [False, True])
def test_pairs_over_all_documents_are_those_of_plain_loops(ties: bool) -> None:
    rng = np.random.default_rng(1)
    values = made_values(rng, 40, 4, ties)
    weights = document_weights(40, 8, rng).T
    check(values, correlations(values, PAIRS, weights), weights)


@pytest.mark.parametrize("ties", [False, True])
def test_each_pair_has_the_documents_and_splits_that_both_units_have(ties: bool) -> None:
    rng = np.random.default_rng(2)
    values = made_values(rng, 50, 4, ties)
    values["axis", "a"][:, :, :7] = np.nan
    values["axis", "b"][1, 0, 20:24] = np.nan
    # A split that does not vary, and one with too few documents.
    values["axis", "c"][2, 1] = 3.0
    values["axis", "b"][3, 1, 9:] = np.nan
    weights = document_weights(50, 8, rng).T
    found = correlations(values, PAIRS, weights)
    check(values, found, weights)
    assert found[("axis", "a"), ("axis", "d")].documents == 43
    assert found[("axis", "a"), ("axis", "b")].documents == round((43 + 39 + 43) / 3)
    assert found[("axis", "c"), ("axis", "d")].documents == 50


def test_a_unit_that_fails_leaves_the_other_pairs_alone() -> None:
    rng = np.random.default_rng(3)
    values = made_values(rng, 60, 5, False)
    weights = document_weights(60, 20, rng).T
    before = correlations(values, PAIRS, weights)
    values["axis", "b"] = rng.normal(size=(5, 2, 60))
    values["axis", "c"] = np.full((5, 2, 60), 0.25)
    after = correlations(values, PAIRS, weights)
    lone: Pair = (("axis", "a"), ("axis", "d"))
    assert after[lone].statistic == before[lone].statistic
    np.testing.assert_allclose(after[lone].drawn, before[lone].drawn, rtol=1e-5)
    assert {pair: one.reason for pair, one in after.items()} == {
        pair: "constant" if ("axis", "c") in pair else "reliability" if ("axis", "b") in pair else ""
        for pair in PAIRS
    }
    assert all((one.drawn is None) == math.isnan(one.statistic) for one in after.values())
    values["axis", "d"][:, :, 9:] = np.nan
    assert correlations(values, [lone], weights)[lone].reason == "too_few_documents"
