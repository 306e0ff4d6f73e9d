"""Draws within data sets, against a plain loop; degrees of freedom against the library's."""

from __future__ import annotations

import numpy as np
import pytest

from sago_harness.gate.bounds import bootstrap_bounds
from sago_harness.gate.strata import Stratum, degrees_of_freedom, studentised_within, welch
from sago_harness.stats.overall import joined
from sago_harness.stats.quantities import mean_quantity
from sago_harness.stats.resampling import Purpose

SOURCE = Purpose(0, "gate", "overall")


def two() -> tuple[list[np.ndarray], np.ndarray, list[Stratum]]:
    """Two data sets of different sizes and spreads, and the influence of their documents on the mean."""
    rng = np.random.default_rng(1)
    values = [rng.gamma(0.7, 1.0, size=20), rng.normal(0.0, 0.5, size=90)]
    mean = joined([mean_quantity("x", one[None]) for one in values], ["t0", "t1"])
    strata = [Stratum(len(one), len(one), Purpose(0, "gate", f"t{k}")) for k, one in enumerate(values)]
    return values, mean.influence[0], strata


def test_degrees_of_freedom_are_those_of_welchs_test() -> None:
    from scipy import stats

    values, influence, strata = two()
    theirs = stats.ttest_ind(*values, equal_var=False).df
    assert degrees_of_freedom(influence, strata) == pytest.approx(theirs)
    assert welch([one.var(ddof=1) / len(one) for one in values], [20, 90]) == pytest.approx(theirs)


def test_draws_are_a_plain_loop() -> None:
    values, influence, strata = two()
    rng = np.random.default_rng(2)
    ts = []
    for _ in range(20_000):
        samples = [one[rng.integers(len(one), size=len(one))] for one in values]
        error = np.sqrt(sum(s.var(ddof=1) / len(s) for s in samples))
        ts.append(sum(s.mean() - one.mean() for s, one in zip(samples, values, strict=True)) / error)
    drawn = studentised_within(influence[None] * 10.0, strata, 20_000)[:, 0]
    for at in (0.05, 0.5, 0.95):
        assert np.quantile(drawn, at) == pytest.approx(np.quantile(ts, at), abs=0.1)


def test_a_small_data_set_keeps_its_width_beside_a_large_one() -> None:
    from scipy import stats

    values, influence, strata = two()
    value = float(np.mean([one.mean() for one in values]))
    found = bootstrap_bounds(value, influence, 110, (-np.inf, np.inf), 9999, SOURCE, None, strata)
    df = degrees_of_freedom(influence, strata)
    assert df < 40.0
    reach = (value - found.lower(0.05)) / found.stderr
    assert reach >= stats.t.isf(0.05, df) * (1.0 + 1.0 / (df + 1.0)) - 1e-9
    errors = [one.var(ddof=1) / len(one) for one in values]
    assert found.stderr == pytest.approx(np.sqrt(sum(errors)) / 2.0)
    # Skewed values have a long upper side.
    assert (found.upper(0.05) - value) / found.stderr > reach


def test_a_single_data_set_is_bounded_as_ever() -> None:
    _, influence, strata = two()
    u = influence[:20] - influence[:20].mean()
    plain = bootstrap_bounds(0.3, u, 20, (0.0, 1.0), 999, SOURCE)
    alone = bootstrap_bounds(0.3, u, 20, (0.0, 1.0), 999, SOURCE, None, strata[:1])
    assert (plain.lower(0.05), plain.upper(0.05)) == (alone.lower(0.05), alone.upper(0.05))
