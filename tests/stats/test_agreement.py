"""Agreement of rankings: published values, other libraries, and what cannot be said."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from sago_harness.stats.agreement import AgreementResult, agreement, range_quantile, range_sf, told_p
from sago_harness.stats.grid import Grid

MODELS = ("L-3B", "L-8B", "G-2B", "G4-E4B", "G-7B", "Q-1.5B", "Q-7B", "Q3.5-9B")

#: Per data set values of arXiv 2610.01428, scheme paper-std-minmax; one line a model.
ACTIVATION = """
.102 .030 .033 .024 .025 .030
.097 .096 .032 .022 .026 .028
.058 .023 .020 .014 .023 .020
.029 .033 .039 .023 .035 .032
.070 .047 .004 .008 .009 .014
.095 .009 .010 .005 .008 .006
.096 .093 .020 .013 .018 .021
.014 .014 .015 .020 .017 .018
"""
MIRRORING = """
.042 .070 .101 .098 .116 .107
.040 .069 .096 .106 .116 .107
.052 .050 .105 .084 .102 .091
.085 .069 .096 .084 .100 .087
.045 .051 .113 .091 .110 .099
.044 .041 .123 .095 .105 .097
.075 .066 .132 .094 .117 .103
.115 .126 .128 .109 .118 .103
"""


@pytest.fixture(autouse=True)
def _no_warning() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def published(text: str) -> Grid:
    values = np.array([line.split() for line in text.split("\n") if line], dtype=float).T
    return Grid("published", tuple(f"d{i}" for i in range(6)), MODELS, values, higher_is_better=False)


def grid(values: np.ndarray, higher: bool = True) -> Grid:
    q, m = values.shape
    return Grid("made", tuple(f"d{i}" for i in range(q)), tuple(f"m{i}" for i in range(m)), values, higher)


def random_grid(seed: int, q: int, m: int, levels: int = 0, signal: float = 1.0) -> Grid:
    """Models of different means; ``levels`` > 0 rounds so that there are ties."""
    rng = np.random.default_rng(seed)
    values = signal * rng.normal(size=m) + rng.normal(size=(q, m))
    return grid(np.round(values * levels) / levels if levels else values)


@pytest.mark.parametrize(
    ("text", "w", "chi2", "changed", "mean", "lowest"),
    [(ACTIVATION, 0.619, 25.98, 17, 0.47, 0.07), (MIRRORING, 0.423, 17.77, 22, 0.24, -0.37)],
)
def test_published_grids(text: str, w: float, chi2: float, changed: int, mean: float, lowest: float) -> None:
    result = agreement(published(text))
    assert round(result.kendall_w, 3) == w
    assert round(result.statistic, 2) == chi2
    assert (result.changed, result.pairs) == (changed, 28)
    assert round(result.mean_tau, 2) == mean
    assert round(result.lowest_tau, 2) == lowest


@pytest.mark.parametrize("levels", [0, 1, 3])
@pytest.mark.parametrize(("q", "m"), [(2, 4), (6, 8), (20, 5), (5, 30)])
def test_friedman_is_scipys_and_w_follows(q: int, m: int, levels: int) -> None:
    from scipy import stats

    made = random_grid(q * m, q, m, levels)
    result = agreement(made)
    expected = stats.friedmanchisquare(*made.values.T)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert result.kendall_w == pytest.approx(expected.statistic / (q * (m - 1)), rel=1e-12)


def test_w_of_ranks_without_ties_is_kendalls_own_formula() -> None:
    made = random_grid(1, 5, 7)
    ranks = made.values.argsort(axis=1).argsort(axis=1) + 1
    total = ranks.sum(axis=0)
    s = np.square(total - total.mean()).sum()
    assert agreement(made).kendall_w == pytest.approx(12 * s / (5**2 * (7**3 - 7)), rel=1e-12)


@pytest.mark.parametrize("levels", [0, 1])
def test_nemenyi_is_that_of_scikit_posthocs(levels: int) -> None:
    posthocs = pytest.importorskip("scikit_posthocs")
    for made in (published(ACTIVATION), published(MIRRORING), random_grid(3, 12, 9, levels)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = posthocs.posthoc_nemenyi_friedman(made.values)
        assert agreement(made).nemenyi == pytest.approx(np.asarray(expected, dtype=float), abs=1e-9)


def test_mean_ranks_and_critical_difference_are_those_of_autorank() -> None:
    autorank = pytest.importorskip("autorank")
    import pandas as pd

    made = random_grid(5, 15, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pd.DataFrame(made.values, columns=list(made.models))
        expected = autorank.autorank(frame, alpha=0.05, verbose=False, force_mode="nonparametric")
    result = agreement(made)
    # Its quantile is an interpolation formula.
    assert result.critical_difference == pytest.approx(expected.cd, rel=1e-4)
    ranks = expected.rankdf["meanrank"]
    assert dict(zip(made.models, result.mean_ranks, strict=True)) == pytest.approx(ranks.to_dict())


@pytest.mark.parametrize(
    ("m", "quantile"), [(4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031), (9, 3.102), (10, 3.164)]
)
def test_critical_difference_is_that_of_demsars_table(m: int, quantile: float) -> None:
    result = agreement(random_grid(m, 10, m))
    assert result.critical_difference / np.sqrt(m * (m + 1) / 60) == pytest.approx(quantile, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_the_largest_sets_without_a_significant_pair(seed: int) -> None:
    made = random_grid(seed, 8, 7, levels=seed % 2, signal=2.0)
    result = agreement(made)
    place = {name: i for i, name in enumerate(made.models)}
    apart = result.nemenyi <= result.level
    subsets = [
        set(chosen)
        for size in range(1, 8)
        for chosen in itertools.combinations(range(7), size)
        if not apart[np.ix_(chosen, chosen)].any()
    ]
    largest = [one for one in subsets if not any(one < other for other in subsets)]
    found = [{place[name] for name in group} for group in result.groups]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))
    leaders = [result.mean_ranks[place[group[0]]] for group in result.groups]
    assert leaders == sorted(leaders)


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_tau_is_scipys(levels: int) -> None:
    from scipy import stats

    made = random_grid(9, 6, 10, levels)
    result = agreement(made)
    pairs = {
        (i, j): stats.kendalltau(made.values[i], made.values[j]).statistic
        for i, j in itertools.combinations(range(6), 2)
    }
    for (i, j), tau in pairs.items():
        assert result.tau[i, j] == pytest.approx(tau, abs=1e-6)
    assert result.mean_tau == pytest.approx(np.mean(list(pairs.values())), abs=1e-6)
    assert result.lowest_tau == pytest.approx(min(pairs.values()), abs=1e-6)
    i, j = (made.rows.index(row) for row in result.lowest_rows)
    assert result.tau[i, j] == result.lowest_tau


def test_changed_pairs_leave_ties_aside() -> None:
    values = np.array([[1.0, 1.0, 2.0, 3.0], [2.0, 1.0, 2.0, 3.0], [1.0, 1.0, 3.0, 2.0]])
    # 0, 1: tie or 0 ahead; 0, 2: tie or 2 ahead; 2, 3: both orders.
    assert agreement(grid(values)).changed == 1


def test_direction_turns_ranks_and_nothing_else() -> None:
    values = random_grid(2, 5, 6).values
    high, low = agreement(grid(values)), agreement(grid(values, higher=False))
    assert low.mean_ranks == pytest.approx(7 - high.mean_ranks)
    assert (low.kendall_w, low.mean_tau, low.changed) == pytest.approx(
        (high.kendall_w, high.mean_tau, high.changed)
    )
    assert low.groups[0][0] == high.groups[-1][-1]


def test_equal_up_to_rounding_is_a_tie() -> None:
    values = np.array([[0.1 + 0.2, 0.3, 0.5, 0.6], [0.3, 0.1 + 0.2, 0.5, 0.6]])
    result = agreement(grid(values))
    assert result.mean_ranks.tolist() == [3.5, 3.5, 2.0, 1.0]
    assert result.changed == 0
    assert result.kendall_w == pytest.approx(1.0)


def test_a_model_without_a_value_is_left_out_and_named() -> None:
    values = random_grid(4, 5, 6).values.copy()
    values[2, 1] = np.nan
    result = agreement(grid(values))
    assert result.left_out == ("m1",)
    assert result.models == ("m0", "m2", "m3", "m4", "m5")
    alone = agreement(grid(np.delete(values, 1, axis=1)))
    assert (result.kendall_w, result.pvalue) == (alone.kendall_w, alone.pvalue)
    assert "without m1" in str(result)


def test_a_row_without_any_value_does_not_empty_the_rest() -> None:
    values = random_grid(4, 4, 5).values.copy()
    values[1] = np.nan
    result = agreement(grid(values))
    assert (result.empty_rows, result.left_out, len(result.rows)) == (("d1",), (), 3)
    assert np.isfinite(result.kendall_w)


def blank(result: AgreementResult) -> bool:
    numbers = (result.kendall_w, result.statistic, result.pvalue, result.mean_tau, result.critical_difference)
    return bool(np.all(np.isnan(numbers)) and np.all(np.isnan(result.nemenyi)) and not result.groups)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (np.arange(5.0)[None, :], "one data set"),
        (np.arange(9.0).reshape(3, 3), "under 4"),
        (np.array([[1.0, 2.0, 3.0, np.nan], [1.0, 3.0, 2.0, 4.0]]), "(1 left out)"),
        (np.full((3, 5), 0.5), "all models tie"),
        (np.full((3, 5), np.nan), "no data set"),
        (np.zeros((0, 5)), "no data set"),
        (np.zeros((3, 0)), "no data set"),
    ],
)
def test_blank_with_a_reason(values: np.ndarray, word: str) -> None:
    result = agreement(grid(values))
    assert blank(result)
    assert word in result.reason
    assert result.reason in str(result)


def test_a_row_of_ties_has_no_tau() -> None:
    values = np.array([[1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0], [1.0, 2.0, 4.0, 3.0]])
    result = agreement(grid(values))
    assert np.isnan(result.tau[0, 1])
    assert result.lowest_rows == ("d0", "d2")
    assert result.mean_tau == pytest.approx(2 / 3)


def test_no_agreement_is_found_at_most_as_often_as_the_level() -> None:
    studies, level = 250, 0.05
    found = sum(agreement(random_grid(seed, 10, 6, signal=0.0)).pvalue <= level for seed in range(studies))
    assert found / studies <= level + 3 * np.sqrt(level * (1 - level) / studies)


def test_a_p_too_small_for_a_float_is_not_called_zero() -> None:
    assert told_p(1e-310) == "<1e-300"
    values = np.tile(np.arange(12.0), (400, 1))
    assert "<1e-300" in str(agreement(grid(values)))


def test_a_grid_must_fit_its_names() -> None:
    with pytest.raises(ValueError, match="shape"):
        Grid("x", ("a",), ("m",), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="twice"):
        Grid("x", ("a", "a"), ("m",), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="infinite"):
        Grid("x", ("a",), ("m",), np.array([[np.inf]]))


@pytest.mark.parametrize("m", [2, 4, 30, 200])
def test_the_range_of_normal_variables_is_that_of_scipy(m: int) -> None:
    from scipy.stats import studentized_range

    distances = np.array([0.1, 1.0, 2.5, 4.0, 6.0, 9.0])
    expected = studentized_range.sf(distances, m, np.inf)
    assert range_sf(distances, m) == pytest.approx(expected, abs=1e-9)
    assert range_quantile(0.05, m) == pytest.approx(studentized_range.ppf(0.95, m, np.inf), rel=1e-6)
    assert range_sf([0.0, range_quantile(0.01, m)], m) == pytest.approx([1.0, 0.01], abs=1e-12)
