"""Halves and their ranks, against plain loops and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sago_harness.stats import halves
from sago_harness.stats.halves import half_means, half_values, mean_ranks, standard_ranks


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


def test_halves_of_a_stack_are_those_of_its_parts() -> None:
    rng = np.random.default_rng(1)
    values = rng.random((3, 8, 6))
    values[1, 2:4] = np.nan
    values[2, 5, 0] = np.nan
    # Beside the score: nothing of it enters.
    values[:, :, 5] = np.nan
    masks = np.concatenate([rng.random((4, 2, 5)) < 0.5, np.zeros((4, 2, 1), dtype=bool)], axis=2)
    masks[0, 1] = False
    families = np.array([0, 0, 1, 1, 1, -1])
    for whole, part in (
        (half_values(values, masks, families), lambda one: half_values(one, masks, families)),
        (half_means(values, masks), lambda one: half_means(one, masks)),
    ):
        assert whole.shape == (3, 4, 2, 8)
        np.testing.assert_allclose(whole, [part(one) for one in values], rtol=1e-14)
        assert np.isnan(whole[:, 0, 1]).all()
        assert np.isfinite(whole[0, 1:]).any()


@pytest.mark.parametrize("bits", [0, halves._PLACE_BITS])
@pytest.mark.parametrize("digits", [0, 1, 16])
@pytest.mark.parametrize("everyone", [True, False])
def test_standard_ranks_are_scipys_over_the_valid_documents(
    bits: int, digits: int, everyone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(halves, "_PLACE_BITS", bits)
    rng = np.random.default_rng(digits)
    values = np.round(rng.normal(size=(2, 3, 2, 40)), digits)
    # Halves that do not vary, beside ones that do.
    values[0, 1, 0] = 0.25
    values[1, 2] = 0.0
    valid = np.ones((3, 40), dtype=bool) if everyone else rng.random((3, 40)) < 0.7
    values[:, ~valid[:, None, :].repeat(2, axis=1)] = np.nan
    z, fine = standard_ranks(values, valid)
    assert fine.tolist() == [[True, False, True], [True, True, False]]
    for unit, split, half in np.ndindex(2, 3, 2):
        row, kept = z[unit, split, half], valid[split]
        ranks = stats.rankdata(values[unit, split, half, kept])
        scale = ranks.std() or 1.0
        np.testing.assert_allclose(row[kept], (ranks - ranks.mean()) / scale, atol=1e-13)
        assert not row[~kept].any()


def test_values_that_differ_by_rounding_alone_are_tied() -> None:
    values = np.tile(np.array([0.1 + 0.2, 0.3, 0.7, -0.4]), (1, 2, 1))
    z, _ = standard_ranks(values, np.ones((1, 4), dtype=bool))
    assert z[0, 0, 0] == z[0, 0, 1]
    np.testing.assert_allclose(z[0, 0] / z[0, 0, 2], [0.0, 0.0, 1.0, -1.0], atol=1e-15)
