"""Ranks of halves, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sago_harness.stats.halves import half_means, half_values, mean_ranks


@pytest.mark.parametrize("distinct", [2, 5, 10_000])
def test_mean_ranks_are_scipys(distinct: int) -> None:
    values = np.random.default_rng(distinct).integers(distinct, size=(3, 2, 30)) / 7.0
    values[0, 0, :4] = np.inf
    values[1, 1] = 0.5
    np.testing.assert_array_equal(mean_ranks(values), stats.rankdata(values, axis=2))
    assert mean_ranks(np.zeros((2, 0))).shape == (2, 0)


def test_halves_of_complete_documents_are_those_beside_an_incomplete_one() -> None:
    rng = np.random.default_rng(0)
    masks = np.zeros((3, 2, 6), dtype=bool)
    for split in masks:
        order = rng.permutation(6)
        split[0, order[::2]] = split[1, order[1::2]] = True
    families = np.array([0, 0, 0, 1, 1, -1])
    values = rng.random((8, 6))
    beside = np.concatenate([values, np.full((1, 6), np.nan)])
    alone = half_values(values, masks, families), half_means(values, masks)
    together = half_values(beside, masks, families), half_means(beside, masks)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other[:, :, :8], rtol=1e-14)
        assert np.isnan(other[:, :, 8]).all()
