"""Rank reversal: closed forms, error rates where nothing reverses, and calibrated probabilities."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from sago_harness.stats.quantities import Quantity, mean_quantity
from sago_harness.stats.resampling import Settings, document_weights
from sago_harness.stats.reversal import ReversalTable, order_shares, reversals
from sago_harness.stats.reversal_prior import orthant_reversal, reversal_probability
from sago_harness.stats.table import Doubles

LEVEL = 0.05


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def one_sided(difference: Doubles, stderr: Doubles, df: float) -> tuple[Doubles, Doubles]:
    from scipy import stats

    t = difference / stderr
    return stats.t.sf(t, df), stats.t.cdf(t, df)


def observed(
    rng: np.random.Generator, truth: Doubles, documents: int = 30
) -> tuple[Doubles, Doubles, Doubles]:
    """Paired differences of models on documents of their own in each data set; truth (Q, M)."""
    q, m = truth.shape
    shared = rng.normal(size=(q, documents, 1))
    scores = truth[:, None, :] + shared + rng.normal(size=(q, documents, m))
    a, b = np.triu_indices(m, 1)
    gaps = scores[:, :, a] - scores[:, :, b]
    return gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / np.sqrt(documents), gaps


def table(
    difference: Doubles,
    stderr: Doubles,
    models: int,
    *,
    df: float = 29,
    probability: bool = False,
    **more: object,
) -> ReversalTable:
    plus, minus = one_sided(difference, stderr, df)
    return reversals(
        plus, minus, difference, stderr,
        tasks=[f"t{i}" for i in range(len(difference))],
        models=[f"m{i}" for i in range(models)],
        pairs=np.triu_indices(models, 1),
        probability=probability,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def random_table(seed: int, q: int = 4, m: int = 6, **more: object) -> ReversalTable:
    rng = np.random.default_rng(seed)
    difference, stderr, _ = observed(rng, 0.5 * rng.normal(size=(q, m)))
    return table(difference, stderr, m, **more)  # type: ignore[arg-type]


# Formulas


def test_pvalues_are_those_of_a_plain_loop() -> None:
    made = random_table(0)
    plus, minus = made.p_plus, made.p_minus
    for c, (p, q) in enumerate(itertools.combinations(range(4), 2)):
        assert (made.first[c], made.second[c]) == (p, q)
        for k in range(15):
            one = max(plus[p, k], minus[q, k])
            other = max(minus[p, k], plus[q, k])
            assert made.pvalue[c, k] == min(one, other)
    for k in range(15):
        assert made.somewhere[k] == min(1.0, 3 * max(min(plus[:, k]), min(minus[:, k])))


def test_one_family_over_all_candidates_and_one_over_all_pairs() -> None:
    made = random_table(1)
    for raw, adjusted in ((made.pvalue, made.adjusted), (made.somewhere, made.somewhere_adjusted)):
        flat, n = np.sort(raw.ravel()), raw.size
        holm = np.minimum(np.maximum.accumulate(flat * (n - np.arange(n))), 1.0)
        assert np.sort(adjusted.ravel()) == pytest.approx(holm)
    assert made.pvalue.size == 6 * 15


def test_both_kinds_agree_on_two_data_sets() -> None:
    made = random_table(2, q=2)
    assert made.somewhere == pytest.approx(made.pvalue[0])


def test_benjamini_hochberg_on_request() -> None:
    from scipy import stats

    made = random_table(3, settings=Settings(correction="bh"))
    expected = stats.false_discovery_control(made.pvalue.ravel()).reshape(made.pvalue.shape)
    assert made.adjusted == pytest.approx(expected)
    assert "Benjamini-Hochberg" in made.headline or "none" in made.headline


def test_naming_the_other_model_first_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    difference, stderr, _ = observed(rng, rng.normal(size=(3, 6)))
    plus, minus = one_sided(difference, stderr, 29)
    a, b = np.triu_indices(6, 1)
    common = {"tasks": list("pqr"), "models": list("abcdef")}
    one = reversals(plus, minus, difference, stderr, pairs=(a, b), ahead=minus, **common)  # type: ignore[arg-type]
    two = reversals(minus, plus, -difference, stderr, pairs=(b, a), ahead=plus, **common)  # type: ignore[arg-type]
    for name in ("pvalue", "adjusted", "somewhere", "support", "probability"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-12)


def test_direction_says_who_is_ahead() -> None:
    difference, stderr = np.array([[0.2], [-0.2]]), np.full((2, 1), 0.02)
    made = table(difference, stderr, 2)
    (found,) = made.rows()
    assert (found.ahead_first, found.ahead_second) == ("m0", "m1")
    plus, minus = one_sided(-difference, stderr, 29)
    lower = reversals(
        plus, minus, difference, stderr, tasks=("t0", "t1"), models=("m0", "m1"),
        pairs=(np.array([0]), np.array([1])), higher_is_better=False,
    )  # fmt: skip
    (found,) = lower.rows()
    assert (found.ahead_first, found.ahead_second) == ("m1", "m0")
    (pair,) = lower.pairs()
    assert (pair.a_ahead, pair.b_ahead) == ("t1", "t0")
    assert pair.confirmed
    assert "most clearly m0, ahead on t1, and m1, ahead on t0" in lower.headline


@pytest.mark.parametrize("seed", range(20))
def test_opposite_signs_of_a_bivariate_normal(seed: int) -> None:
    from scipy import stats

    rng = np.random.default_rng(seed)
    h, k = rng.normal(size=2) * rng.choice([0.0, 0.01, 1.0, 3.0], size=2)
    rho = float(rng.choice([-0.99, -0.5, 0.0, 0.3, 0.9, 0.99]))
    both = stats.multivariate_normal([h, k], [[1.0, rho], [rho, 1.0]]).cdf([0.0, 0.0])
    expected = stats.norm.cdf(-h) + stats.norm.cdf(-k) - 2.0 * both
    assert float(orthant_reversal(np.array(h), np.array(k), np.array(rho))) == pytest.approx(
        expected, abs=2e-5
    )


def test_opposite_signs_at_the_ends() -> None:
    rho = np.array([-0.9, -0.5, 0.0, 0.5, 0.9])
    found = orthant_reversal(np.zeros(5), np.zeros(5), rho)
    assert found == pytest.approx(np.arccos(rho) / np.pi)
    far = np.array([40.0, -40.0, 40.0, 1e200])
    assert orthant_reversal(far, np.array([40.0, -40.0, -40.0, -1e-200]), np.zeros(4)) == pytest.approx(
        [0.0, 0.0, 1.0, 0.5]
    )


# What is missing


def test_only_data_sets_that_both_models_have() -> None:
    rng = np.random.default_rng(5)
    difference, stderr, _ = observed(rng, rng.normal(size=(4, 7)))
    whole = table(difference, stderr, 7, probability=True)
    a, b = np.triu_indices(7, 1)
    without = (a == 6) | (b == 6)
    difference, stderr = difference.copy(), stderr.copy()
    difference[1, without] = stderr[1, without] = np.nan
    made = table(difference, stderr, 7, probability=True)
    touched = (made.first == 1) | (made.second == 1)
    expected = np.where(touched[:, None] & without, np.nan, whole.pvalue)
    np.testing.assert_array_equal(made.pvalue, expected)
    np.testing.assert_array_equal(np.isnan(made.adjusted), np.isnan(expected))
    np.testing.assert_array_equal(np.isnan(made.probability), np.isnan(expected))
    assert made.data_sets[without].tolist() == [3] * 6
    rest = np.delete(np.arange(4), 1)
    for k in np.flatnonzero(without):
        plus, minus = made.p_plus[rest, k], made.p_minus[rest, k]
        assert made.somewhere[k] == min(1.0, 2 * max(plus.min(), minus.min()))
    result = made.result(int(np.flatnonzero(touched)[0]), int(np.flatnonzero(without)[0]))
    assert "not scored on both" in result.reason == result.probability_reason


def test_one_data_set_has_nothing_to_reverse() -> None:
    made = table(np.array([[0.2]]), np.array([[0.1]]), 2, probability=True)
    assert made.headline.endswith("rank reversal cannot be tested (one data set)")
    assert made.pvalue.shape == (0, 1)
    assert list(made.rows()) == []
    (pair,) = made.pairs()
    assert np.isnan(pair.pvalue)
    assert pair.reason == "the two share 1 data set"


def test_models_that_share_no_two_data_sets() -> None:
    difference = np.array([[0.2], [np.nan]])
    made = table(difference, np.full((2, 1), 0.1), 2, probability=True)
    assert "no two models share two data sets" in made.headline
    assert np.isnan(made.adjusted).all()
    assert np.isnan(made.somewhere_adjusted).all()


def test_no_models_and_no_data_sets() -> None:
    for shape in ((0, 1), (0, 0), (2, 0)):
        empty = np.zeros(shape)
        pairs = (np.arange(shape[1]), np.arange(shape[1]) + 1)
        made = reversals(empty, empty, empty, empty, tasks=["t"] * shape[0], models=["m", "n"], pairs=pairs)
        assert "cannot be tested" in made.headline


def test_probability_is_blank_under_15_pairs() -> None:
    made = random_table(6, m=5, probability=True)
    assert np.isnan(made.probability).all()
    result = made.result(0, 0)
    assert "10 pairs of models" in result.probability_reason
    assert "needs 15" in result.probability_reason
    assert result.support_reason == "no resampling was asked for"
    assert np.isfinite(random_table(6, m=6, probability=True).probability).all()


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match="ahead has shape"):
        random_table(7, ahead=np.zeros((1, 1)))


def test_models_known_to_be_equal_have_no_order_to_reverse() -> None:
    rng = np.random.default_rng(8)
    difference, stderr, _ = observed(rng, rng.normal(size=(2, 6)))
    difference[:, 3] = stderr[:, 3] = 0.0
    found, _ = reversal_probability(difference, stderr, np.triu_indices(6, 1), (np.array([0]), np.array([1])))
    assert found[0, 3] == 0.0
    assert np.isfinite(found).all()
    zero = np.zeros((2, 15))
    found, (reason,) = reversal_probability(zero, zero, np.triu_indices(6, 1), (np.array([0]), np.array([1])))
    assert np.isnan(found).all()
    assert "equal" in reason


def test_exact_values_are_reversed_or_not() -> None:
    values = np.array([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 2.0, 3.0, 4.0, 6.0, 5.0]])
    a, b = np.triu_indices(6, 1)
    difference = values[:, a] - values[:, b]
    found, _ = reversal_probability(difference, np.zeros((2, 15)), (a, b), (np.array([0]), np.array([1])))
    assert found[0] == pytest.approx(np.where((a == 4) & (b == 5), 1.0, 0.0), abs=1e-6)


# Resampling support


def test_support_is_the_share_of_independent_samples_with_opposite_orders() -> None:
    rng = np.random.default_rng(9)
    ahead = rng.random((3, 6)) * 0.8
    behind = (1 - ahead) * rng.random((3, 6))
    flat = np.zeros((3, 6))
    made = reversals(
        flat + 0.5, flat + 0.5, flat, flat + 1, tasks=list("pqr"), models=list("abcd"),
        pairs=np.triu_indices(4, 1), ahead=ahead, behind=behind,
    )  # fmt: skip
    draws = rng.random((200_000, 3))
    for k in range(6):
        order = np.where(draws < ahead[:, k], 1, np.where(draws < ahead[:, k] + behind[:, k], -1, 0))
        for c, (p, q) in enumerate(itertools.combinations(range(3), 2)):
            assert made.support[c, k] == pytest.approx((order[:, p] * order[:, q] < 0).mean(), abs=0.006)


def test_shares_of_orders_are_those_of_means_drawn_again() -> None:
    rng = np.random.default_rng(10)
    scores = rng.normal(size=(4, 25)) + np.array([0.0, 0.1, 0.1, 0.3])[:, None]
    scores[2] = scores[1]
    weights = document_weights(25, 500, rng)
    a, b = np.triu_indices(4, 1)
    drawn = weights.astype(float) @ scores.T / 25
    gaps = drawn[:, a] - drawn[:, b]
    for higher in (True, False):
        ahead, behind = order_shares(mean_quantity("x", scores, higher=higher), weights, (a, b))
        up, down = (gaps > 1e-9).mean(axis=0), (gaps < -1e-9).mean(axis=0)
        assert ahead == pytest.approx(up if higher else down)
        assert behind == pytest.approx(down if higher else up)
    equal = (a == 1) & (b == 2)
    assert ahead[equal] == behind[equal] == 0.0


def test_a_model_without_a_value_has_no_share() -> None:
    quantity = Quantity(
        "x",
        "measure",
        False,
        np.array([0.5, np.nan, 0.4]),
        np.zeros((3, 4)),
        np.array([4, 0, 4]),
        ("", "no", ""),
    )
    ahead, behind = order_shares(quantity, np.ones((3, 4), dtype=np.float32), np.triu_indices(3, 1))
    np.testing.assert_array_equal(ahead, [np.nan, 0.0, np.nan])
    np.testing.assert_array_equal(behind, [np.nan, 1.0, np.nan])


# Error rates where nothing reverses

NOTHING_REVERSES = {
    "all equal": lambda q, m: np.zeros((q, m)),
    # The least favourable case: one order is sure, and any error elsewhere makes a reversal.
    "one data set apart": lambda q, m: np.outer(np.arange(q) == 0, 5.0 * np.arange(m)),
    "one data set equal": lambda q, m: np.outer(np.arange(q) > 0, 5.0 * np.arange(m)),
    "half the data sets": lambda q, m: np.outer(np.arange(q) < q // 2, 5.0 * np.arange(m)),
    "one model apart": lambda q, m: np.outer(np.arange(q) == 0, 5.0 * (np.arange(m) == 0)),
    "small gaps": lambda q, m: np.tile(0.3 * np.arange(m), (q, 1)),
}

SIZES = [(2, 7), (3, 4), (6, 5)]


def false_findings(case: str, q: int, m: int, studies: int, correction: str = "holm") -> tuple[float, float]:
    """Return the shares of studies with any false finding, of each kind."""
    rng = np.random.default_rng(q * 100 + m)
    truth = NOTHING_REVERSES[case](q, m)
    counts = np.zeros(2)
    for _ in range(studies):
        difference, stderr, _ = observed(rng, truth)
        made = table(difference, stderr, m, settings=Settings(correction=correction))
        counts += made.confirmed.any(), made.confirmed_somewhere.any()
    named, somewhere = counts / studies
    return float(named), float(somewhere)


@pytest.mark.parametrize("case", NOTHING_REVERSES)
@pytest.mark.parametrize(("q", "m"), SIZES)
def test_nothing_is_confirmed_where_nothing_reverses(case: str, q: int, m: int) -> None:
    studies = 200
    bound = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / studies)
    assert max(false_findings(case, q, m, studies)) <= bound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "correction"), [*((case, "holm") for case in NOTHING_REVERSES), ("one data set apart", "bh")]
)
def test_nothing_is_confirmed_where_nothing_reverses_in_many_studies(case: str, correction: str) -> None:
    studies = 1000
    # Thirty bounds are looked at together.
    bound = LEVEL + 4 * np.sqrt(LEVEL * (1 - LEVEL) / studies)
    for q, m in itertools.product(range(2, 7), range(3, 9)):
        found = false_findings(case, q, m, studies, correction)
        print(case, correction, q, m, found)
        assert max(found) <= bound, (q, m, found)


def test_the_level_is_used_up_in_the_least_favourable_case() -> None:
    """One pair of models, one family each: the test is exact there, not merely safe."""
    studies, documents = 5000, 20
    rng = np.random.default_rng(11)
    gaps = np.array([9.0, 0.0])[:, None, None] + rng.normal(size=(2, documents, studies))
    difference, stderr = gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / np.sqrt(documents)
    plus, minus = one_sided(difference, stderr, documents - 1)
    pairs = (np.zeros(studies, dtype=np.intp), np.ones(studies, dtype=np.intp))
    made = reversals(
        plus, minus, difference, stderr, tasks="pq", models="ab", pairs=pairs, probability=False
    )  # fmt: skip
    for p in (made.pvalue[0], made.somewhere):
        assert abs(np.mean(p <= LEVEL) - LEVEL) <= 3 * np.sqrt(LEVEL * (1 - LEVEL) / studies)


def test_a_large_reversal_is_found() -> None:
    """Two models swap by 1.1 standard deviations of a document among six, over four data sets."""
    rng = np.random.default_rng(12)
    truth = np.tile(np.linspace(0.0, 4.0, 6), (4, 1))
    truth[2, [1, 2]] = truth[2, [2, 1]]
    truth[2, 1] += 0.3
    named, somewhere, other = 0, 0, 0
    studies = 100
    a, b = np.triu_indices(6, 1)
    pair = (a == 1) & (b == 2)
    for _ in range(studies):
        made = table(*observed(rng, truth, documents=60)[:2], 6, df=59)
        named += int(made.confirmed[:, pair].any())
        somewhere += int(made.confirmed_somewhere[pair].any())
        other += int(made.confirmed_somewhere[~pair].any())
    assert named >= 0.8 * studies
    assert somewhere >= 0.8 * studies
    assert other <= 0.1 * studies


# Calibration of P(reversal)


#: Spread of true values beside errors near 1, and their correlation; None = anew for every study.
LAWS = {"wide": None, "well told": (3.0, 0.7), "nearly alike": (1.0, 0.9)}


def told_and_true(seed: int, m: int, studies: int, law: str) -> tuple[Doubles, Doubles, Doubles]:
    """Return P(reversal), whether there is one, and the bootstrap's share, of the pairs of many studies.

    True values of the models on two data sets are normal.
    """
    from scipy import stats

    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(m, 1)
    comparison = (np.array([0]), np.array([1]))
    told, true, support = [], [], []
    for _ in range(studies):
        spread, rho = LAWS[law] or (np.exp(rng.uniform(-1.0, 1.5, size=(2, 1))), rng.uniform(-1.0, 1.0))
        z = rng.normal(size=(2, m))
        truth = spread * np.array([z[0], rho * z[0] + np.sqrt(1.0 - rho**2) * z[1]])
        errors = np.exp(rng.normal(0.0, 0.3, size=(2, m)))
        seen = truth + errors * rng.normal(size=(2, m))
        difference = seen[:, a] - seen[:, b]
        stderr = np.sqrt(errors[:, a] ** 2 + errors[:, b] ** 2)
        told.append(reversal_probability(difference, stderr, (a, b), comparison)[0][0])
        ahead = stats.norm.cdf(difference / stderr)
        support.append(ahead[0] * (1.0 - ahead[1]) + (1.0 - ahead[0]) * ahead[1])
        gaps = truth[:, a] - truth[:, b]
        true.append(gaps[0] * gaps[1] < 0.0)
    return np.array(told), np.array(true, dtype=float), np.array(support)


def off_by(told: Doubles, true: Doubles) -> list[tuple[float, float, float]]:
    """Return mean told, mean true and its standard error (between studies) of each tenth."""
    found = []
    for low in np.arange(10) / 10:
        inside = (told >= low) & (told < low + 0.1)
        studies = inside.sum(axis=1) > 0
        if studies.sum() < 20:
            continue
        residual = np.where(inside, true - told, 0.0).sum(axis=1)
        share = float(residual.sum() / inside.sum())
        spread = np.sqrt(np.square(residual - share * inside.sum(axis=1)).sum()) / inside.sum()
        found.append((float(told[inside].mean()), float(true[inside].mean()), float(spread)))
    return found


@pytest.mark.parametrize(("m", "studies"), [(6, 200), (10, 100), (20, 40)])
def test_of_pairs_told_p_about_p_reverse(m: int, studies: int) -> None:
    told, true, _ = told_and_true(m, m, studies, "wide")
    bins = off_by(told, true)
    assert len(bins) >= 8
    for said, seen, error in bins:
        # Moments stand in for the likelihood, and studies are not drawn from the method's own prior.
        assert abs(said - seen) <= 0.05 + 3 * error, (said, seen, error)
    off = (told - true).mean(axis=1)
    assert abs(off.mean()) <= 3 * off.std() / np.sqrt(studies)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["wide", "well told"])
@pytest.mark.parametrize("m", [6, 10, 20])
def test_of_pairs_told_p_about_p_reverse_in_many_studies(m: int, law: str) -> None:
    told, true, _ = told_and_true(100 + m, m, 1500, law)
    for said, seen, error in off_by(told, true):
        assert abs(said - seen) <= 0.05 + 3 * error, (said, seen, error)


def test_the_bootstrap_claims_reversals_that_are_not_there() -> None:
    """Why its share is called support: with noise as large as the spread it is far from the truth."""
    told, true, support = told_and_true(13, 20, 30, "nearly alike")
    high = support > 0.7
    assert support[high].mean() - true[high].mean() > 0.3
    assert told[high].mean() < support[high].mean() - 0.2
    assert np.square(told - true).mean() < np.square(support - true).mean() - 0.02


def test_more_data_sets_tell_more_about_how_alike_orders_are() -> None:
    """Their orders correlate by .9 in truth, with noise as large as the spread."""
    rng = np.random.default_rng(17)
    m, q = 8, 6
    a, b = np.triu_indices(m, 1)
    alone, together, truly = [], [], []
    for _ in range(8):
        truth = np.sqrt(0.9) * rng.normal(size=m) + np.sqrt(0.1) * rng.normal(size=(q, m))
        seen = truth + rng.normal(size=(q, m))
        difference, stderr = seen[:, a] - seen[:, b], np.full((q, len(a)), np.sqrt(2.0))
        gaps = truth[:, a] - truth[:, b]
        p, r = np.triu_indices(q, 1)
        together.append(reversal_probability(difference, stderr, (a, b), (p, r))[0])
        parts = [reversal_probability(difference, stderr, (a, b), (p[[c]], r[[c]]))[0] for c in range(15)]
        alone.append(np.concatenate(parts))
        truly.append(gaps[p] * gaps[r] < 0.0)
    true = np.array(truly, dtype=float)
    error_alone, error_together = (np.square(np.array(told) - true).mean() for told in (alone, together))
    assert error_together < error_alone - 0.01
    assert abs(np.mean(together) - true.mean()) < abs(np.mean(alone) - true.mean())


def test_few_values_of_the_law_give_nearly_what_all_give(monkeypatch: pytest.MonkeyPatch) -> None:
    from sago_harness.stats import reversal_prior

    rng = np.random.default_rng(14)
    m = 40
    truth = rng.normal(size=m) + 0.5 * rng.normal(size=(3, m))
    seen = truth + 0.5 * rng.normal(size=(3, m))
    a, b = np.triu_indices(m, 1)
    difference, stderr = seen[:, a] - seen[:, b], np.full((3, len(a)), np.sqrt(0.5))
    comparisons = np.triu_indices(3, 1)
    whole, _ = reversal_probability(difference, stderr, (a, b), comparisons)
    monkeypatch.setattr(reversal_prior, "_BUDGET", 0)
    few, _ = reversal_probability(difference, stderr, (a, b), comparisons)
    assert not np.array_equal(few, whole)
    assert np.abs(few - whole).max() < 0.02


def test_the_average_over_the_law_is_the_integral() -> None:
    """One pair's P against drawing: T from its grid, true differences from their posterior given T."""
    from sago_harness.stats import reversal_prior

    rng = np.random.default_rng(18)
    a, b = np.triu_indices(6, 1)
    seen = rng.normal(size=(2, 6)) * 1.5
    difference, stderr = seen[:, a] - seen[:, b], np.exp(rng.normal(0.0, 0.3, size=(2, 15)))
    comparison = (np.array([0]), np.array([1]))
    found, _ = reversal_probability(difference, stderr, (a, b), comparison)
    moments = reversal_prior._moments(difference, stderr, np.ones((2, 15), dtype=bool), comparison, (a, b), 6)
    t_p, t_q, rho, weight = reversal_prior._law(moments, 0)
    draws = 200_000
    at = rng.choice(len(weight), size=draws, p=weight)
    for k in (0, 7, 14):
        # The law of true differences given T, weighed by how well they fit what is seen, is sampled
        # through the errors: a draw of (truth, seen) less the regression of truth on seen.
        z = rng.normal(size=(4, draws))
        x_p = np.sqrt(t_p[at]) * z[0]
        x_q = np.sqrt(t_q[at]) * (rho[at] * z[0] + np.sqrt(1 - rho[at] ** 2) * z[1])
        y_p, y_q = x_p + stderr[0, k] * z[2], x_q + stderr[1, k] * z[3]
        cov = np.empty((draws, 2, 2))
        cov[:, 0, 0], cov[:, 1, 1] = t_p[at], t_q[at]
        cov[:, 0, 1] = cov[:, 1, 0] = rho[at] * np.sqrt(t_p[at] * t_q[at])
        total = cov + np.diag(stderr[:, k] ** 2)
        gap = np.stack([difference[0, k] - y_p, difference[1, k] - y_q], axis=1)
        moved = np.einsum("nij,nj->ni", cov, np.linalg.solve(total, gap[..., None])[..., 0])
        signs = (x_p + moved[:, 0]) * (x_q + moved[:, 1])
        assert found[0, k] == pytest.approx((signs < 0.0).mean(), abs=0.006)


def test_pairs_with_a_control_say_little_about_the_law() -> None:
    """All share one model: their squares are worth under four independent ones, not twenty."""
    rng = np.random.default_rng(15)
    m = 21
    truth = 3.0 * rng.normal(size=(2, m))
    pairs = (np.zeros(m - 1, dtype=np.intp), np.arange(1, m))
    difference = truth[:, :1] - truth[:, 1:] + rng.normal(size=(2, m - 1))
    from sago_harness.stats.reversal_prior import _moments

    known = np.ones((2, m - 1), dtype=bool)
    comparison = (np.array([0]), np.array([1]))
    freedom = _moments(difference, np.ones_like(difference), known, comparison, pairs, m).freedom
    assert freedom == pytest.approx([20**2 / (20 + 20 * 19 / 4)])
    a, b = np.triu_indices(m, 1)
    every = np.zeros((2, len(a)))
    assert _moments(every, every, every == 0, comparison, (a, b), m).freedom == pytest.approx([m - 1])
    assert np.isfinite(reversal_probability(difference, np.ones((2, m - 1)), pairs, comparison)[0]).all()


def test_a_hundred_models_on_twenty_data_sets() -> None:
    """4,950 pairs on 190 pairs of data sets, all at once; rows are made when they are asked for."""
    rng = np.random.default_rng(16)
    m, q = 100, 20
    truth = rng.normal(size=m) + 0.3 * rng.normal(size=(q, m))
    a, b = np.triu_indices(m, 1)
    seen = truth + 0.1 * rng.normal(size=(q, m))
    difference, stderr = seen[:, a] - seen[:, b], np.full((q, len(a)), 0.1 * np.sqrt(2.0))
    made = table(difference, stderr, m, df=499)
    assert made.pvalue.shape == (190, 4950)
    sure = made.confirmed
    gaps = truth[:, a] - truth[:, b]
    truly = gaps[made.first] * gaps[made.second] < 0
    assert sure.sum() > 0
    assert not (sure & ~truly).any()
    assert next(made.rows()).confirmed
    assert f"{int(made.confirmed_somewhere.sum())} of 4950 pairs of models over 20 data sets" in made.headline


def test_a_model_that_leads_nowhere_is_given_no_data_set() -> None:
    plus = np.array([[0.01], [0.2]])
    found = reversals(
        plus, 1.0 - plus, np.array([[0.3], [0.1]]), np.full((2, 1), 0.1),
        tasks=("p", "q"), models=("a", "b"), pairs=(np.array([0]), np.array([1])),
    )  # fmt: skip
    one = found.pair(0)
    assert (one.a_ahead, one.b_ahead, one.pvalue, one.confirmed) == (
        "p",
        "",
        pytest.approx(0.8),
        False,
    )
    assert "b on none" in str(one)
