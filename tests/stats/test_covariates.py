"""Values at equal covariates against the least squares of the whole design."""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.stats.covariates import at_equal_covariates

Block = np.ndarray


def plain(values: Block, columns: list[Block]) -> Block:
    """A row for each document of each model, a dummy for each model."""
    rows = [
        (m, d)
        for m, d in np.ndindex(*values.shape)
        if np.isfinite([values[m, d], *(column[m, d] for column in columns)]).all()
    ]
    models = sorted({m for m, _ in rows})
    dummies = np.array([[m == own for own in models] for m, _ in rows], dtype=float)
    x = np.array([[column[at] for column in columns] for at in rows])
    design = np.concatenate([dummies, x - x.mean(axis=0)], axis=1)
    found = np.full(len(values), np.nan)
    found[models] = np.linalg.lstsq(design, np.array([values[at] for at in rows]), rcond=None)[0][
        : len(models)
    ]
    return found


def drawn(seed: int, models: int = 5, documents: int = 40) -> tuple[Block, list[Block]]:
    rng = np.random.default_rng(seed)
    lengths = np.log1p(rng.integers(5, 60, size=(models, documents)).astype(float))
    right = (rng.random((models, documents)) < 0.6).astype(float)
    values = rng.normal(size=(models, 1)) + 0.5 * lengths - 0.2 * right + rng.normal(size=right.shape)
    return values, [lengths, right]


def test_it_is_the_regression_with_a_dummy_for_each_model() -> None:
    values, columns = drawn(0)
    np.testing.assert_allclose(at_equal_covariates(values, columns), plain(values, columns), rtol=1e-12)


def test_documents_and_models_may_be_missing() -> None:
    values, columns = drawn(1)
    rng = np.random.default_rng(2)
    values[rng.random(values.shape) < 0.2] = np.nan
    columns[0][rng.random(values.shape) < 0.2] = np.nan
    values[3] = np.nan
    found = at_equal_covariates(values, columns)
    np.testing.assert_allclose(found, plain(values, columns), rtol=1e-12)
    assert np.isnan(found).tolist() == [False, False, False, True, False]


@pytest.mark.parametrize("case", ["constant", "of the model", "twice the same", "of the model and varying"])
def test_covariates_that_tell_nothing_apart_have_the_smallest_norm(case: str) -> None:
    values, (lengths, right) = drawn(3)
    of_model = np.broadcast_to(np.arange(5.0)[:, None], values.shape)
    columns = {
        "constant": [np.full(values.shape, 3.0), right],
        "of the model": [of_model, right],
        "twice the same": [lengths, lengths.copy()],
        "of the model and varying": [of_model, of_model + lengths],
    }[case]
    np.testing.assert_allclose(at_equal_covariates(values, columns), plain(values, columns), rtol=1e-9)


def test_as_many_coefficients_as_rows_tell_nothing() -> None:
    values, columns = drawn(4, models=2, documents=2)
    assert np.isnan(at_equal_covariates(values, columns)).all()
    assert np.isnan(at_equal_covariates(np.full((2, 9), np.nan), [np.ones((2, 9))])).all()
