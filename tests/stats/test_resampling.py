"""Draws and their p-values, worked out in blocks, against the plain definitions."""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.stats import resampling
from sago_harness.stats.resampling import ANCHOR, CARRIED, beyond_anchor, document_weights, exceedance

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("documents", [1, 7, 300])
def test_weights_count_the_draws_of_one_call(documents: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "NEAR", 1000)
    drawn = np.random.default_rng(0).integers(documents, size=(50, documents))
    plain = [np.bincount(row, minlength=documents) for row in drawn]
    found = document_weights(documents, 50, np.random.default_rng(0))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, plain)


def plain_pvalue(observed: float, draws: np.ndarray, df: float) -> float:
    """One column, by sorting all of it in double precision."""
    ordered = np.sort(draws.astype(np.float64))[::-1]
    reached = int((ordered >= observed - 1e-9 * max(1.0, abs(observed))).sum())
    count = (1 + reached) / (1 + len(ordered))
    if reached >= ANCHOR or len(ordered) < CARRIED or ordered[ANCHOR - 1] <= 0.0:
        return count
    anchor = ordered[ANCHOR - 1 : ANCHOR]
    beyond = beyond_anchor(np.array([observed]), anchor, len(ordered), np.array([df]))[0]
    return min(count, float(beyond))


@pytest.mark.parametrize("draws", [20, 150, 999, 9999])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("ties", [False, True])
def test_pvalues_are_those_of_sorted_draws(draws: int, kind: type, ties: bool) -> None:
    rng = np.random.default_rng([1, draws])
    drawn = rng.standard_t(6, size=(draws, 40)).astype(kind)
    if ties:
        drawn = np.round(drawn * 2).astype(kind) / kind(2)
    drawn[:, 5] = -np.abs(drawn[:, 5])
    observed = np.linspace(-3.0, 9.0, 40)
    # Just above, at and just below a draw, in steps that single precision does not have.
    for place, off in ((10, 3e-8), (11, 0.0), (12, -3e-8)):
        observed[place] = float(np.sort(drawn[:, place])[-3]) + off
    df = np.full(40, 6.0)
    found = exceedance(observed, drawn, exact=False, df=df)
    expected = [plain_pvalue(t, column, 6.0) for t, column in zip(observed, drawn.T, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    exact = exceedance(observed, drawn, exact=True, df=df)
    slack = 1e-9 * np.maximum(1.0, np.abs(observed))
    np.testing.assert_array_equal(exact, (drawn.astype(np.float64) >= observed - slack).mean(axis=0))


def test_draws_without_an_end_and_statistics_without_a_value() -> None:
    drawn = np.random.default_rng(2).normal(size=(999, 3)).astype(np.float32)
    found = exceedance(np.array([np.nan, 1e300, -1e300]), drawn, exact=False, df=np.full(3, 5.0))
    assert np.isnan(found[0])
    assert found[1] < 1e-12
    assert found[2] == 1.0
