"""Corrections for the number of tests, against statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.stats.adjust import METHODS, adjust


def drawn(seed: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    p = rng.random(size) ** rng.integers(1, 5)
    # Ties, and the ends of the range.
    p[rng.random(size) < 0.3] = 0.04
    p[rng.random(size) < 0.1] = 1.0
    p[rng.random(size) < 0.1] = 0.0
    return p


@pytest.mark.parametrize("size", [1, 2, 3, 17, 400])
@pytest.mark.parametrize(("method", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_same_as_statsmodels(method, theirs, size):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    # A call of theirs takes a tenth of a second.
    for seed in range(3):
        p = drawn(seed, size)
        np.testing.assert_allclose(
            adjust(p, method), multitest.multipletests(p, method=theirs)[1], atol=1e-14
        )


@pytest.mark.parametrize("size", [1, 2, 50])
def test_bh_same_as_scipy(size):
    from scipy import stats

    for seed in range(20):
        p = drawn(seed, size)
        np.testing.assert_allclose(adjust(p, "bh"), stats.false_discovery_control(p), atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_undefined_tests_do_not_count(method):
    p = drawn(1, 24)
    holes = np.full((7, 6), np.nan)
    places = np.random.default_rng(2).permutation(42)[:24]
    holes.flat[places] = p
    found = adjust(holes, method)
    assert found.shape == (7, 6)
    np.testing.assert_array_equal(found.flat[places], adjust(p, method))
    assert np.isnan(found).sum() == 42 - 24


@pytest.mark.parametrize("method", METHODS)
def test_order_is_kept_and_nothing_shrinks(method):
    for seed in range(20):
        p = drawn(seed, 30)
        found = adjust(p, method)
        assert np.all(np.diff(found[np.argsort(p, kind="stable")]) >= 0.0)
        assert np.all((found >= p) & (found <= 1.0))


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_adjust(method):
    assert adjust([], method).shape == (0,)
    assert np.isnan(adjust([[np.nan, np.nan]], method)).all()
    assert float(adjust(0.03, method)) == 0.03


@pytest.mark.parametrize("bad", ["bonferroni", "", "Holm"])
def test_unknown_method_names_the_two(bad):
    with pytest.raises(SagoError, match="holm or bh"):
        adjust([0.1], bad)


@pytest.mark.parametrize("bad", [-0.1, 1.5, np.inf])
def test_not_a_pvalue(bad):
    with pytest.raises(ValueError, match="outside"):
        adjust([0.1, bad], "holm")
