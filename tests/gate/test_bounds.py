"""Bounds against closed forms, library values and plain loops."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sago_harness.gate.bounds import (
    BootstrapT,
    Bounds,
    Gaffke,
    bootstrap_bounds,
    bounded_mean,
    smallest_level,
)
from sago_harness.gate.unseen import _Part
from sago_harness.stats.resampling import Purpose

SOURCE = Purpose(0, "gate", "t")


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def of_mean(values: np.ndarray, resamples: int = 9999) -> Bounds:
    u = (values - values.mean()) / len(values)
    return bootstrap_bounds(float(values.mean()), u, len(values), (-np.inf, np.inf), resamples, SOURCE)


@pytest.mark.parametrize("ones", [0, 1, 7, 39, 40])
@pytest.mark.parametrize("level", [0.05, 0.0025])
def test_of_zeros_and_ones_the_bound_is_clopper_and_pearsons(ones: int, level: float) -> None:
    from scipy import stats

    values = np.repeat([1.0, 0.0], [ones, 40 - ones])
    found = bounded_mean(values, 0.0, 1.0, 99, SOURCE)
    assert found.method == "clopper_pearson"
    for side, bound in (("less", found.upper(level)), ("greater", found.lower(level))):
        theirs = stats.binomtest(ones, 40, alternative=side).proportion_ci(1.0 - level, method="exact")
        assert bound == pytest.approx(theirs.high if side == "less" else theirs.low, abs=1e-12)


def test_the_drawn_bound_of_zeros_and_ones_is_the_exact_one() -> None:
    """Gaffke's bound is that of Clopper and Pearson; here by its draws, within their error."""
    from sago_harness.gate.bounds import _weightings

    values = np.repeat([1.0, 0.0], [6, 34])
    sums, spare = _weightings(values, 200_000, SOURCE)
    drawn = Gaffke(0.15, 0.0, 1.0, 0.0, None, 40, np.sort(sums + spare), np.sort(sums))
    exact = bounded_mean(values, 0.0, 1.0, 99, SOURCE)
    for level in (0.05, 0.01):
        assert drawn.upper(level) == pytest.approx(exact.upper(level), abs=0.002)
        assert drawn.lower(level) == pytest.approx(exact.lower(level), abs=0.002)


def test_nothing_but_zeros_has_the_rule_of_three() -> None:
    found = bounded_mean(np.zeros(300), 0.0, 1.0, 99, SOURCE)
    assert found.upper(0.05) == pytest.approx(3.0 / 300, rel=0.01)
    assert found.lower(0.05) == 0.0
    # Differences of two runs that agree on every document: either side might be the worse one.
    same = bounded_mean(np.zeros(300), -1.0, 1.0, 20_000, SOURCE)
    assert same.method == "gaffke"
    assert same.upper(0.05) == pytest.approx(1.0 - 0.05 ** (1 / 300), rel=0.05)
    assert same.lower(0.05) == pytest.approx(-same.upper(0.05), rel=0.1)


def test_bootstrap_t_is_a_plain_loop() -> None:
    values = np.random.default_rng(3).gamma(0.7, 1.0, size=40)
    rng = np.random.default_rng(4)
    ts = []
    for _ in range(20_000):
        sample = values[rng.integers(40, size=40)]
        ts.append((sample.mean() - values.mean()) / (sample.std(ddof=1) / np.sqrt(40)))
    error = values.std(ddof=1) / np.sqrt(40)
    found = of_mean(values, 19_999)
    assert found.stderr == pytest.approx(error, rel=1e-9)
    factor = (found.upper(0.05) - values.mean()) / error
    assert factor == pytest.approx(-np.quantile(ts, 0.05) * 41 / 40, rel=0.04)
    # Of skewed values the other side is short: there Student's t is the wider one.
    from scipy import stats

    assert np.quantile(ts, 0.95) < stats.t.isf(0.05, 39)
    assert (values.mean() - found.lower(0.05)) / error == pytest.approx(
        stats.t.isf(0.05, 39) * 41 / 40, rel=1e-9
    )


def test_never_narrower_than_students_t_nor_wider_than_for_two_documents() -> None:
    from scipy import stats

    one = np.zeros(40)
    one[0] = 1.0
    for values in (np.random.default_rng(0).normal(size=40), one):
        found = of_mean(values)
        for level in (0.05, 0.01, 0.001):
            for reach in (found.upper(level) - found.value, found.value - found.lower(level)):
                factor = reach / found.stderr
                assert stats.t.isf(level, 39) * 41 / 40 - 1e-9 <= factor <= stats.t.isf(level, 1) + 1e-9


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0]), min_size=2, max_size=60),
    st.floats(0.001, 0.3),
    st.booleans(),
)
def test_a_p_value_is_where_the_bound_passes_the_threshold(
    values: list[float], level: float, share: bool
) -> None:
    """Decision and bound cannot contradict each other, and a lower level never gives a closer bound."""
    x = np.array(values)
    found = bounded_mean(x, 0.0, 1.0, 999, SOURCE) if share else of_mean(x, 999)
    for threshold in (0.05, 0.3, 0.9):
        p = smallest_level(lambda at, c=threshold: found.upper(at) < c)
        if abs(p - level) > 1e-9:
            assert (p <= level) == (found.upper(level) < threshold)
        p = smallest_level(lambda at, c=threshold: found.lower(at) > c)
        if abs(p - level) > 1e-9:
            assert (p <= level) == (found.lower(level) > threshold)
    assert found.upper(level / 2.0) >= found.upper(level)
    assert found.lower(level / 2.0) <= found.lower(level)
    assert found.lower(level) <= found.value + 1e-9
    assert found.upper(level) >= found.value - 1e-9


def test_too_few_documents_have_no_bound_but_the_range() -> None:
    assert bounded_mean(np.zeros(0), 0.0, 1.0, 99, SOURCE).upper(0.05) == 1.0
    one = bootstrap_bounds(0.3, np.zeros(1), 1, (0.0, 1.0), 99, SOURCE)
    assert (one.lower(0.05), one.upper(0.05)) == (0.0, 1.0)
    flat = bootstrap_bounds(0.3, np.zeros(50), 50, (0.0, 1.0), 99, SOURCE)
    assert (flat.lower(0.05), flat.upper(0.05)) == (0.0, 1.0)


def test_what_no_document_has_shown_is_the_rule_of_three_under_the_root() -> None:
    """r of 0 on 40 documents: 7.2 % of all, moved as far as by another question, are r = sqrt(.072)."""
    part = _Part(1.0, True, 0.0, 0.0, 40)
    up, _ = part.reach(0.05)
    assert up == pytest.approx(np.sqrt(1.0 - 0.05 ** (1 / 40)))
    flat = bootstrap_bounds(0.0, np.zeros(40), 40, (0.0, np.inf), 99, SOURCE, part.reach)
    assert isinstance(flat, BootstrapT)
    assert flat.upper(0.05) == pytest.approx(up)
    assert flat.lower(0.05) == 0.0
    # In a score that is better the higher it is, the same is a fall.
    assert _Part(-0.25, True, 0.0, 0.0, 40).reach(0.05)[1] == pytest.approx(up / 4.0)
