"""The planner: closed forms against statsmodels, promises against simulated studies."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy import stats

from sago_harness.errors import SagoError
from sago_harness.stats.components import (
    MEASURED,
    MEASURED_DOCUMENTS,
    VarianceComponents,
    default_components,
)
from sago_harness.stats.power import (
    detectable_difference,
    documents_needed,
    paired_power,
    passes_of_document,
    plan,
    variants_needed,
)
from sago_harness.stats.quantities import relative_quantity
from sago_harness.stats.resampling import exceedance, sign_flips

pytestmark = pytest.mark.filterwarnings("error")

SOME = VarianceComponents("sago_core", 0.008, 0.06, 12.0, 50, 2, "made")


@pytest.mark.parametrize("n", [5, 12, 40, 300])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_power_is_statsmodels(n: int, level: float) -> None:
    """And the square of t is a noncentral F, where statsmodels gives NaN for a power near 1."""
    from statsmodels.stats.power import TTestPower

    bound = stats.f.isf(level, 1, n - 1)
    for shift in (0.1, 0.2, 0.45, 1.5):
        found = paired_power(0.2 * shift, 0.2 / math.sqrt(n), n, level)
        assert found == pytest.approx(stats.ncf.sf(bound, 1, n - 1, n * shift**2), abs=1e-8)
        oracle = TTestPower().power(effect_size=shift, nobs=n, alpha=level, alternative="two-sided")
        if n * shift**2 < 40:
            assert found == pytest.approx(oracle, abs=1e-9)


@pytest.mark.parametrize(("power", "level"), [(0.8, 0.05), (0.95, 0.01), (0.5, 0.05)])
def test_needs_are_statsmodels(power: float, level: float) -> None:
    from statsmodels.stats.power import TTestPower

    sd = math.sqrt(SOME.per_document(12))
    for difference in (0.03, 0.06):
        oracle = TTestPower().solve_power(
            effect_size=difference / sd, alpha=level, power=power, alternative="two-sided"
        )
        assert documents_needed(difference, SOME, 12, power, level) == math.ceil(oracle)
    for n in (20, 150):
        oracle = TTestPower().solve_power(nobs=n, alpha=level, power=power, alternative="two-sided")
        assert detectable_difference(sd / math.sqrt(n), n, power, level) == pytest.approx(
            oracle * sd, rel=1e-5
        )


def test_the_limits() -> None:
    assert paired_power(0.1, 0.1, 1) == 0.0
    assert paired_power(0.1, 0.0, 10) == 1.0
    assert paired_power(0.0, 0.0, 10) == 0.05
    assert paired_power(5.0, 0.01, 40) == pytest.approx(1.0)
    assert paired_power(5.0, 1e-5, 10_000) == pytest.approx(1.0)
    assert paired_power(-0.05, 0.02, 40) == paired_power(0.05, 0.02, 40)
    assert math.isnan(detectable_difference(0.1, 1))
    assert detectable_difference(0.0, 10) == 0.0


def test_the_fewest_documents_and_variants() -> None:
    """One less is not enough, of either."""

    def power(documents: int, variants: int) -> float:
        return paired_power(0.05, math.sqrt(SOME.per_document(variants) / documents), documents)

    n = documents_needed(0.05, SOME, 12)
    assert power(n, 12) >= 0.8 > power(n - 1, 12)
    for documents in (n, n + 3, 2 * n):
        v = variants_needed(0.05, SOME, documents)
        assert v is not None
        assert power(documents, v) >= 0.8
        assert v == 1 or power(documents, v - 1) < 0.8
    assert variants_needed(0.05, SOME, 20) is None
    assert power(20, 10**9) < 0.8


def test_a_sign_flip_test_can_reach_its_level() -> None:
    """However large the difference: 2 / 2^n must not exceed the level."""
    assert documents_needed(0.9, SOME, 12, 0.8, 0.05) == 6
    assert documents_needed(0.9, SOME, 12, 0.8, 0.01) == 8
    notes = plan(SOME, 12, documents=5).notes
    assert any("5 documents cannot give a p-value" in note for note in notes)


def test_without_a_split_variants_do_not_matter() -> None:
    fixed = VarianceComponents("sago", 0.01, math.nan, 6.0, 30, 2, "made")
    assert fixed.per_document(6) == fixed.per_document(24) == 0.01
    assert variants_needed(0.01, fixed, 20) is None
    assert "the pilot cannot tell what variants contribute" in plan(fixed, 24, documents=50).notes[0]


def test_a_plan_by_hand() -> None:
    """Passes: 40 documents x 2 models x 3 sets x (10 + 6 x 11 + 2 + 1 x 10)."""
    found = plan(SOME, 6, documents=40, models=2, datasets=3, repeats=1, response_tokens=10)
    assert found.prompts == 40 * 2 * 3 * (1 + 6 + 2 + 1)
    assert found.passes == 40 * 2 * 3 * 88
    assert found.detectable_overall == pytest.approx(found.detectable / math.sqrt(3))
    assert found.detectable == pytest.approx(detectable_difference(math.sqrt(0.018 / 40), 40))
    assert math.isnan(found.difference)


def test_the_level_is_shared_out() -> None:
    found = plan(SOME, 12, difference=0.05, comparisons=10, models=5)
    assert found.documents == documents_needed(0.05, SOME, 12, 0.8, 0.005)
    assert found.detectable <= 0.05


def test_more_variants_never_need_more_documents() -> None:
    needs = [plan(SOME, v, difference=0.04).documents for v in (1, 2, 6, 12, 24, 100)]
    assert needs == sorted(needs, reverse=True)
    assert len(set(needs)) > 3


def test_passes_are_the_formula_of_the_plain_counts() -> None:
    assert passes_of_document(0, 7, controls=0) == 7
    assert passes_of_document(3, 7, controls=2, repeats=2) == 7 + 3 * 8 + 2 + 14


def test_the_defaults_are_the_measured_ones_made_larger() -> None:
    for score, (error, share) in MEASURED.items():
        found = default_components(score)
        one = error**2 * MEASURED_DOCUMENTS
        assert found.per_document(12) == pytest.approx(2 * 1.25**2 * one)
        assert found.document == pytest.approx((1 - share) * found.per_document(12))
    # An upper limit of 90 % for a standard deviation of 24 values.
    assert math.sqrt(23 / stats.chi2.ppf(0.1, 23)) == pytest.approx(1.25, abs=0.01)
    with pytest.raises(SagoError, match="others need a pilot"):
        default_components("x_bleu")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "one of the two"),
        ({"difference": 0.1, "documents": 10}, "one of the two"),
        ({"difference": 0.0}, "above 0"),
        ({"documents": 1}, "at least 2"),
        ({"documents": 10, "power": 1.0}, "a power must lie"),
        ({"documents": 10, "power": 0.04}, "a power must lie"),
        ({"documents": 10, "level": 0.0}, "a level must lie"),
        ({"documents": 10, "models": 0}, "at least one of models"),
        ({"difference": 1e-9}, "needs more than"),
    ],
)
def test_bad_numbers(settings: dict[str, float], message: str) -> None:
    with pytest.raises(SagoError, match=message):
        plan(SOME, 12, **settings)  # type: ignore[arg-type]


# Promises --------------------------------------------------------------------------------------------


def squares(rng: np.random.Generator, shift: float, studies: int, n: int) -> np.ndarray:
    """Mean squared distances of documents: bounded, skewed, most of them small."""
    return np.clip(rng.beta(0.5, 2.5, (studies, n)) + shift, 0.0, 1.0)


def chances(rng: np.random.Generator, studies: int, n: int) -> np.ndarray:
    return rng.beta(12.0, 3.0, (studies, n))


def influences(rng: np.random.Generator, shift: float, studies: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """r of each study and the documents' influence on it."""
    none = np.full((studies, n), np.nan)
    found = relative_quantity("r", squares(rng, shift, studies, n), chances(rng, studies, n), none)
    return found.values, n * found.influence


def studies(rng: np.random.Generator, shift: float, number: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Difference of two models' r and its standard error in each study."""
    r_a, u_a = influences(rng, shift, number, n)
    r_b, u_b = influences(rng, 0.0, number, n)
    return r_a - r_b, (u_a - u_b).std(axis=1, ddof=1) / math.sqrt(n)


@functools.cache
def population() -> tuple[np.ndarray, ...]:
    """200,000 documents of two models, before any shift, and their chance levels."""
    rng, size = np.random.default_rng(1), 200_000
    return tuple(draw for _ in range(2) for draw in (rng.beta(0.5, 2.5, (1, size)), chances(rng, 1, size)))


def truth(shift: float) -> tuple[float, VarianceComponents]:
    """True difference and variance."""
    q_a, c_a, q_b, c_b = population()
    none = np.full(q_a.shape, np.nan)
    a = relative_quantity("r", np.clip(q_a + shift, 0.0, 1.0), c_a, none)
    b = relative_quantity("r", q_b, c_b, none)
    variance = float((q_a.size * (a.influence - b.influence)).var())
    return float(a.values[0] - b.values[0]), VarianceComponents("x_bleu", variance, math.nan, 12, 24, 2, "")


def shift_for(n: int, power: float) -> tuple[float, VarianceComponents]:
    """Return the shift at which the planner promises this power on n documents."""
    low, high = 0.0, 0.5
    for _ in range(12):
        middle = (low + high) / 2
        difference, components = truth(middle)
        enough = paired_power(difference, math.sqrt(components.per_document(12) / n), n) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high, components


@pytest.mark.parametrize("n", [40, 100, 200])
def test_simulated_power_is_what_was_promised(n: int) -> None:
    """Skewed, bounded differences, chance estimated too: within 5 points."""
    shift, components = shift_for(n, 0.8)
    rng = np.random.default_rng(100 + n)
    difference, error = studies(rng, shift, 2000, n)
    p = 2 * stats.t.sf(np.abs(difference) / error, n - 1)
    sample = squares(rng, 0.0, 1, 10_000)
    assert stats.skew(sample[0]) > 1.2, "differences that are nothing like normal"
    assert np.mean(p < 0.05) == pytest.approx(0.8, abs=0.05)
    planned = plan(components, 12, documents=n)
    assert planned.detectable == pytest.approx(truth(shift)[0], rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("n", [40, 100, 200])
def test_simulated_power_of_the_sign_flip_test(n: int, power: float) -> None:
    """The test that is used, on 2,000 studies of each kind."""
    shift, _ = shift_for(n, power)
    rng = np.random.default_rng(200 + n)
    number, draws = 2000, 1999
    r_a, u_a = influences(rng, shift, number, n)
    r_b, u_b = influences(rng, 0.0, number, n)
    off = u_a - u_b
    spread = np.sqrt(np.square(off).sum(axis=1))
    flips = sign_flips(n, draws, rng).astype(float)
    flipped = np.abs(flips @ off.T) / spread
    observed = np.abs(r_a - r_b) * n / spread
    # Studentised by what is left of the spread once the mean is taken out.
    rest = np.sqrt(np.maximum(1.0 - flipped**2 / n, 1e-12))
    p = exceedance(observed, flipped / rest, exact=False, df=np.full(number, n - 1.0))
    assert np.mean(p <= 0.05) == pytest.approx(power, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("n", [40, 100, 200])
def test_no_difference_is_found_at_the_level(n: int) -> None:
    difference, error = studies(np.random.default_rng(n), 0.0, 20_000, n)
    p = 2 * stats.t.sf(np.abs(difference) / error, n - 1)
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.01)
