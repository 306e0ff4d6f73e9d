"""Is it unstable: closed forms, plain oracles, degenerate data, and error rates at the boundary."""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.stats.adjust import adjust
from sago_harness.stats.instability import (
    EVENTS,
    LEAST_MIRRORING,
    MIRRORING_SPARE,
    InstabilityResult,
    above_zero,
    adjusted,
    instability,
)
from sago_harness.stats.relabelling import picks, relabelled
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import TaskTable
from tests.stats import made

FAST = Settings(resamples=999)
EPSILON, CHANCE = 0.05, 0.9


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def of(table: TaskTable, settings: Settings = FAST) -> dict[tuple[str, str], InstabilityResult]:
    return {(r.measure, r.model): r for r in instability(score_task(table), settings, table)}


def tried(level: float, studies: int) -> float:
    """Return a share that a test at its level exceeds once in about 700 times."""
    return level + 3.0 * math.sqrt(level * (1.0 - level) / studies)


# --- values ----------------------------------------------------------------------------------


def test_values_are_those_of_the_scores():
    from scipy import stats

    table = made.table(np.random.default_rng(0), documents=30, repeats=2, missing=0.02)
    table = replace(table, repeats={k: v + 0.02 for k, v in table.repeats.items()})
    scored = score_task(table)
    found = of(table)
    for measure in ("x_bleu", "x_ent"):
        values = scored.reduced[measure]
        for m, model in enumerate(table.models):
            result = found[measure, model]
            both = np.isfinite(values.squares()[m])
            s, c = np.sqrt(values.squares()[m][both]), np.sqrt(values.chances[m][both])
            assert (result.s, result.chance) == pytest.approx((s.mean(), c.mean()))
            assert result.r == scored.quantities[measure].values[m]
            assert result.floor == pytest.approx(0.02)
            assert result.excess == pytest.approx(math.sqrt(np.mean(s**2) - 0.0004))
            assert result.statistic == pytest.approx(stats.ttest_1samp(s - 0.05 * c, 0.0).statistic)
            assert result.pvalue == max(result.pvalue_chance, result.pvalue_noise)
            assert (result.documents, result.events) == (both.sum(), both.sum())
            assert (result.reason, result.noise_reason) == ("", "")


def test_mirroring_is_held_against_epsilon():
    from scipy import stats

    table = made.table(np.random.default_rng(1), documents=30, mirroring=0.1)
    values = score_task(table).reduced["x_mr"].squares()[0]
    result = of(table)["x_mr", "a"]
    assert result.statistic == pytest.approx(stats.ttest_1samp(values, 0.05).statistic)
    assert (result.s, result.chance, result.noise_reason) == (
        pytest.approx(values.mean()), 1.0, "not_for_mirroring",
    )  # fmt: skip


def test_bootstrap_t_is_a_plain_loop():
    x = np.random.default_rng(2).gamma(0.7, 1.0, size=25) - 0.45
    n, rng, reached = 25, np.random.default_rng(3), 0
    t = x.mean() / (x.std(ddof=1) / np.sqrt(n))
    for _ in range(20_000):
        sample = x[rng.integers(n, size=n)]
        reached += (sample.mean() - x.mean()) / (sample.std(ddof=1) / np.sqrt(n)) >= t
    statistic, p, _ = above_zero(x[None], np.array([True]), -1.0, 19_999, np.random.default_rng(4))
    assert statistic[0] == pytest.approx(t)
    assert p[0] == pytest.approx(reached / 20_000, abs=3 * math.sqrt(2 * 0.05 * 0.95 / 20_000))


def test_documents_that_are_not_part_change_nothing_but_the_draws():
    x = np.random.default_rng(5).gamma(0.7, 1.0, size=25) - 0.45
    wide = np.full(60, np.nan)
    wide[10:35] = x
    alone = above_zero(x[None], np.array([True]), -1.0, 19_999, np.random.default_rng(4))
    among = above_zero(wide[None], np.array([True]), -1.0, 19_999, np.random.default_rng(4))
    assert among[0][0] == pytest.approx(alone[0][0])
    assert among[1][0] == pytest.approx(alone[1][0], abs=0.015)


# --- relabelling -----------------------------------------------------------------------------


def enumerated(variants: np.ndarray, repeats: np.ndarray) -> float:
    """Return the exact p-value: all ways to call cells repeats, in every document."""
    per_document = []
    for v, r in zip(variants, repeats, strict=True):
        v, r = v[np.isfinite(v)], r[np.isfinite(r)]
        cells = np.concatenate([v, r])
        differences = []
        for chosen in itertools.combinations(range(len(cells)), len(r)):
            inside = np.isin(np.arange(len(cells)), chosen)
            differences.append(cells[~inside].mean() - cells[inside].mean())
        # The unchanged labels come last: repeats are the last cells.
        per_document.append(differences)
    sums = np.array([sum(one) for one in itertools.product(*per_document)])
    return float(np.mean(sums >= sums[-1] - 1e-12))


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_relabelling_is_the_exact_permutation_test(repeats, lost, ties):
    rng = np.random.default_rng([6, repeats])
    x = rng.gamma(1.0, 1.0, size=(6, 4, 3 + repeats))
    x[:, :, :3] *= np.linspace(1.0, 3.0, 6)[:, None, None]
    if ties:
        x = np.round(x)
    if lost:
        # Lost for some models alone, and for all of them.
        x[1, 0, 0] = x[1, 2, 1] = x[3, 1, 2] = x[:, 3, 1] = np.nan
    variants, repeated = x[:, :, :3], x[:, :, 3:]
    found = relabelled(variants, repeated, 19_999, np.random.default_rng(7))
    exact = [enumerated(v, r) for v, r in zip(variants, repeated, strict=True)]
    np.testing.assert_allclose(found, exact, atol=4 * math.sqrt(0.25 / 20_000))


def test_no_relabelling_is_rarer_than_one_of_all():
    variants, repeats = np.full((1, 2, 3), 0.5), np.zeros((1, 2, 1))
    found = relabelled(variants, repeats, 9999, np.random.default_rng(0))
    assert found[0] == pytest.approx(1 / 16, abs=0.01)
    many = relabelled(np.full((1, 6, 9), 0.5), np.zeros((1, 6, 1)), 9999, np.random.default_rng(0))
    assert many[0] >= 1e-6


def test_picks_are_even_and_without_replacement():
    drawn = picks(np.array([5, 3]), 2, 30_000, np.random.default_rng(8))
    for column, size in enumerate((5, 3)):
        pairs = np.sort(drawn[:, :, column], axis=0)
        assert np.all(pairs[0] < pairs[1])
        counts = np.bincount(pairs[0] * size + pairs[1], minlength=size**2)
        even = 30_000 / math.comb(size, 2)
        seen = counts[counts > 0]
        assert len(seen) == math.comb(size, 2)
        assert np.all(np.abs(seen - even) < 5 * math.sqrt(even))


@pytest.mark.parametrize(("repeats", "law"), [(1, "skewed"), (3, "skewed"), (3, "ties"), (3, "lost")])
def test_size_of_relabelling_with_exchangeable_repeats(repeats, law):
    rng = np.random.default_rng([9, repeats])
    studies = 400
    document = rng.gamma(1.0, 1.0, size=(studies, 20, 1))
    x = document * rng.gamma(0.5, 1.0, size=(studies, 20, 6 + repeats))
    if law == "ties":
        x = (rng.random(x.shape) < document / 4).astype(float)
    if law == "lost":
        x[rng.random(x.shape) < 0.05] = np.nan
    p = relabelled(x[:, :, :6], x[:, :, 6:], 999, rng)
    assert np.mean(p <= 0.05) <= tried(0.05, studies)
    moved = relabelled(3.0 * x[:, :, :6], x[:, :, 6:], 999, rng)
    assert np.mean(moved <= 0.05) > 0.5


# --- error rates -----------------------------------------------------------------------------


def at_boundary(name: str, rng: np.random.Generator, studies: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return s and c of a law with mean s = epsilon mean c."""
    shape, mean = (studies, n), EPSILON * CHANCE
    c = rng.beta(18.0, 2.0, size=shape)
    if name == "skewed":
        return mean * rng.lognormal(0.0, 1.0, size=shape) / math.exp(0.5), c
    if name == "zeros":
        return np.where(rng.random(shape) < 0.2, mean / 0.2, 0.0), c
    if name == "rare":
        return np.where(rng.random(shape) < 0.1, mean / 0.1, 0.0), c
    if name == "ties":
        return mean * rng.choice([0.0, 0.0, 1.0, 3.0], size=shape), np.full(shape, CHANCE)
    if name == "symmetric":
        return mean * (1.0 + 0.2 * rng.normal(size=shape)), c
    # Eight variants that move or not, with a propensity of their document; s at most 1.
    big = np.sqrt(rng.binomial(8, rng.beta(0.3, 3.0, size=400_000)) / 8.0).mean()
    s = np.sqrt(rng.binomial(8, rng.beta(0.3, 3.0, size=shape)) / 8.0)
    return s * mean / big, c


def rejected(name: str, seed: int, studies: int, n: int, times: float = 1.0, draws: int = 999) -> np.ndarray:
    rng = np.random.default_rng([seed, n])
    s, c = at_boundary(name, rng, studies, n)
    s = np.minimum(times * s, 1.0)
    enough = (s > 0.0).sum(axis=1) >= EVENTS
    p = above_zero(s - EPSILON * c, enough, -EPSILON, draws, rng)[1]
    return p <= 0.05


LAWS = ("skewed", "zeros", "rare", "ties", "symmetric", "dependent")


@pytest.mark.parametrize("n", [12, 40, 100])
@pytest.mark.parametrize("name", LAWS)
def test_false_positives_at_the_boundary(name, n):
    assert rejected(name, 10, 600, n).mean() <= tried(0.05, 600)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 40, 100])
@pytest.mark.parametrize("name", LAWS)
def test_false_positives_at_the_boundary_at_length(name, n):
    # All studies share 3,999 draws, so their own chance error is that of fewer studies.
    assert rejected(name, 11, 10_000, n, draws=3999).mean() <= tried(0.05, 3999)


def lower_tail(name: str, seed: int, studies: int, n: int, times: float = 1.0) -> np.ndarray:
    """Rejections of mirroring at its boundary: 1.2 is the skewness, upside down, that a real model had."""
    rng = np.random.default_rng([seed, n])
    shape = {"exponential": 1.0, "gamma": 2.8}[name]
    tail = (rng.gamma(shape, 1.0, (studies, n)) - shape) / math.sqrt(shape)
    x = EPSILON * (times - 1.0) - 0.15 * tail
    test = np.ones(studies, dtype=bool)
    p = above_zero(x, test, LEAST_MIRRORING - EPSILON, 1999, rng, MIRRORING_SPARE)[1]
    return p <= 0.05


@pytest.mark.parametrize("n", [12, 40, 100])
@pytest.mark.parametrize("name", ["exponential", "gamma"])
def test_false_positives_of_mirroring_with_a_long_lower_tail(name, n):
    assert lower_tail(name, 14, 2000, n).mean() <= tried(0.05, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 20, 40, 100])
@pytest.mark.parametrize("name", ["exponential", "gamma"])
def test_false_positives_of_mirroring_with_a_long_lower_tail_at_length(name, n):
    share = lower_tail(name, 15, 20_000, n).mean()
    print("mirroring", name, n, share)
    assert share <= tried(0.05, 1999)


def test_power_of_mirroring_at_three_times_the_boundary():
    assert lower_tail("gamma", 16, 300, 40, times=3.0).mean() > 0.8


@pytest.mark.parametrize("name", ["skewed", "ties", "symmetric", "dependent"])
def test_power_at_three_times_the_boundary(name):
    assert rejected(name, 12, 300, 40, times=3.0).mean() > 0.8


def study_at_boundary(studies: int, documents: int, seed: int) -> TaskTable:
    """Return studies of four models, side by side, of which none is unstable beyond epsilon."""
    measures = {"x_bleu": "generation", "x_act": "activation", "x_prob": "confidence"}
    large = made.table(
        np.random.default_rng(1), models=("a",), documents=100_000, level=0.05, measures=measures
    )
    values = score_task(large).reduced["x_act"]
    share = np.sqrt(values.squares()).mean() / np.sqrt(values.chances).mean()
    names = [f"m{i:05d}" for i in range(4 * studies)]
    return made.table(
        np.random.default_rng([seed, documents]), models=names, documents=documents,
        level=0.05 * EPSILON / share, mirroring=EPSILON, measures=measures,
    )  # fmt: skip


def family_errors(studies: int, documents: int, resamples: int) -> float:
    table = study_at_boundary(studies, documents, 13)
    results = instability(score_task(table), Settings(resamples=resamples), table)
    p = np.array([r.pvalue for r in results]).reshape(4, studies, 4)
    # Among 12 documents fewer than five may mirror at all.
    assert np.isfinite(p).mean() > 0.98
    return float(np.mean([(adjust(p[:, i], "holm") <= 0.05).any() for i in range(studies)]))


def test_family_wise_error_after_holm():
    """Sixteen true null hypotheses a study: four measures of four models."""
    assert family_errors(300, 40, 1999) <= tried(0.05, 300)


@pytest.mark.slow
@pytest.mark.parametrize("documents", [12, 40, 100])
def test_family_wise_error_after_holm_at_length(documents):
    assert family_errors(2000, documents, 9999) <= tried(0.05, 2000)


# --- what cannot be said ---------------------------------------------------------------------


def flat_table(value: float, documents: int = 20, repeats: int = 2, chance: float = 0.8) -> TaskTable:
    table = made.table(np.random.default_rng(0), documents=documents, repeats=repeats)
    return replace(
        table,
        distances={
            k: np.full(v.shape, value if k != "x_mr_floor" else 0.0) for k, v in table.distances.items()
        },
        controls={k: np.full(v.shape, chance) for k, v in table.controls.items()},
    )


def test_nothing_moves():
    for result in of(flat_table(0.0)).values():
        assert (result.s, result.events, result.reason) == (0.0, 0, "too_few_events")
        assert math.isnan(result.pvalue)
        assert "no test (too_few_events)" in str(result)


def test_all_documents_agree():
    """No spread is no statistic, but twenty documents that all move are not nothing."""
    for key, result in of(flat_table(1.0, repeats=0)).items():
        assert result.reason == "no_spread"
        assert math.isnan(result.statistic)
        least = 2.05 if key[0] == "x_mr" else 0.05
        x = 0.95 if key[0] == "x_mr" else 1.0 - 0.05 * 0.8
        assert result.pvalue == pytest.approx((least / (x + least)) ** 20)
    for result in of(flat_table(0.02)).values():
        assert (result.reason, result.pvalue) == ("no_spread", 1.0)


def test_bound_without_spread_holds_for_any_law():
    """The worst law on [-b, 1] with mean 0: large with chance b / (1 + b), so n times with its power."""
    x = np.full((1, 6), 1.0)
    p = above_zero(x, np.array([True]), -0.25, 99, np.random.default_rng(0))[1]
    assert p[0] == pytest.approx((0.25 / 1.25) ** 6)


def test_as_far_as_repeats_is_not_unstable():
    table = made.table(np.random.default_rng(2), documents=40, repeats=3, level=0.5)
    noisy = {k: np.clip(table.distances[k][:, :, :3], 0, 1) for k in made.MEASURES}
    for key, result in of(replace(table, repeats=noisy)).items():
        if key[0] != "x_mr" and not result.reason:
            assert result.pvalue_chance < 0.01 < result.pvalue_noise == result.pvalue


@pytest.mark.parametrize("documents", [1, 4])
def test_few_documents(documents):
    reason = "one_document" if documents == 1 else "too_few_events"
    for result in of(made.table(np.random.default_rng(3), documents=documents, mirroring=0.9)).values():
        assert result.reason == reason
        assert math.isnan(result.pvalue)
        assert math.isfinite(result.s)


def test_one_variant():
    table = made.table(np.random.default_rng(4), documents=20, repeats=1)
    one = table.with_variants(np.arange(table.shape[2]) == 2)
    for key, result in of(one).items():
        assert result.reason == ""
        if key[0] != "x_mr":
            assert result.pvalue < 0.01


def test_unscored_measures_keep_their_reason():
    table = made.table(np.random.default_rng(5), documents=20, repeats=2)
    controls = dict(table.controls)
    controls["x_bleu"] = np.full_like(controls["x_bleu"], 0.01)
    controls["x_prob"] = np.full_like(controls["x_prob"], np.nan)
    repeats = dict(table.repeats) | {"x_act": np.full_like(table.repeats["x_act"], 0.5)}
    found = of(replace(table, controls=controls, repeats=repeats))
    expected = {"x_bleu": "rigid", "x_prob": "no_document_with_chance", "x_act": "chance_near_noise"}
    for measure, reason in expected.items():
        result = found[measure, "a"]
        assert (result.reason, result.noise_reason) == (reason, reason)
        assert math.isnan(result.pvalue)
        assert math.isnan(result.pvalue_noise)
    assert found["x_bert", "a"].reason == ""


def test_no_repeats():
    for (measure, _), result in of(made.table(np.random.default_rng(6), documents=20)).items():
        assert result.noise_reason == ("not_for_mirroring" if measure == "x_mr" else "no_repeats")
        assert math.isnan(result.pvalue_noise)
        assert result.pvalue == result.pvalue_chance
    table = made.table(np.random.default_rng(6), documents=20, repeats=2)
    alone = instability(score_task(table), FAST)
    assert {r.noise_reason for r in alone} == {"no_repeats", "not_for_mirroring"}


def test_table_of_another_data_set():
    table = made.table(np.random.default_rng(7), documents=10)
    with pytest.raises(ValueError, match="was scored from"):
        instability(score_task(table), FAST, replace(table, task="other"))


# --- the whole study -------------------------------------------------------------------------


def test_one_family_over_the_study():
    results = []
    for task in ("p", "q"):
        table = made.table(np.random.default_rng(8), task=task, documents=12, level=(0.05, 0.5))
        results += instability(score_task(table), FAST, table)
    results.append(replace(results[0], pvalue=float("nan"), reason="too_few_events"))
    for method in ("holm", "bh"):
        done = adjusted(results, method)
        np.testing.assert_array_equal(
            [r.adjusted for r in done[:-1]], adjust([r.pvalue for r in results[:-1]], method)
        )
        assert math.isnan(done[-1].adjusted)
        assert [r.pvalue for r in done[:-1]] == [r.pvalue for r in results[:-1]]
    with pytest.raises(SagoError, match="holm or bh"):
        adjusted(results, "none")
    assert adjusted([], "holm") == []


@pytest.mark.parametrize("missing", [0.0, 0.02])
def test_measures_tested_together_are_measures_tested_alone(missing, monkeypatch):
    from sago_harness.stats import instability as module

    table = made.table(np.random.default_rng(10), documents=20, missing=missing)
    scored = score_task(table)
    together = instability(scored, FAST, table)
    monkeypatch.setattr(module, "HELD", 1)
    alone = instability(scored, FAST, table)
    assert [(r.measure, r.model) for r in together] == [(r.measure, r.model) for r in alone]
    for one, other in zip(together, alone, strict=True):
        assert (one.reason, one.documents, one.events) == (other.reason, other.documents, other.events)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-12, nan_ok=True)
        assert one.pvalue == pytest.approx(other.pvalue, rel=1e-4, nan_ok=True)


def test_same_seed_same_results():
    table = made.table(np.random.default_rng(9), documents=20, repeats=2)
    scored = score_task(table)
    first = instability(scored, FAST, table)
    assert str(first) == str(instability(scored, FAST, table))
    assert str(first) != str(instability(scored, replace(FAST, seed=1), table))
