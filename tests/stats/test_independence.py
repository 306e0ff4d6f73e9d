from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sago_harness.stats import independence
from sago_harness.stats.cross_half import correlations
from sago_harness.stats.halves import half_values, halves
from sago_harness.stats.independence import (
    IndependenceResult,
    axis_independence,
    axis_values,
    chance_levels,
    independence_over_models,
)
from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import reduce_task
from sago_harness.stats.resampling import Settings, document_weights, generator
from sago_harness.stats.table import TaskTable, VariantKey
from tests.stats import made

pytestmark = pytest.mark.filterwarnings("error")

#: Twelve variants, four a family, two an operator.
KEYS = tuple(
    VariantKey(f"v{i:02d}", family, f"{family}{i // 2}")
    for i, family in enumerate(["register"] * 4 + ["noise"] * 4 + ["structure"] * 4)
)
FAMILIES = {"register": 4, "noise": 4, "structure": 4}


def latent_table(
    rng: np.random.Generator,
    correlation: float,
    documents: int,
    *,
    models: int = 1,
    noise: float = 1.5,
    shared: float = 0.0,
) -> TaskTable:
    """Two axes whose documents' log instabilities are normal with a known correlation.

    Variants add noise of their own; ``shared`` is the share of its variance that both axes have in
    common, as two measures of one response do.
    """
    mix = np.linalg.cholesky(np.array([[1.0, correlation], [correlation, 1.0]]))
    latent = rng.normal(size=(models, documents, 2)) @ mix.T
    common = rng.normal(size=(models, documents, len(KEYS)))
    distances = {}
    for k, name in enumerate(("x_act", "x_prob")):
        own = rng.normal(size=common.shape)
        jitter = math.sqrt(shared) * common + math.sqrt(1.0 - shared) * own
        distances[name] = 0.1 * np.exp(0.4 * (latent[:, :, k, None] + noise * jitter))
    names = tuple(f"m{i:03d}" for i in range(models))
    ids = tuple(f"d{i:04d}" for i in range(documents))
    axes = {"x_act": "activation", "x_prob": "confidence"}
    return TaskTable("made", names, ids, KEYS, axes, FAMILIES, distances, {})


def spearman_of(correlation: float) -> float:
    """Spearman's correlation of two normal variables with this correlation (Pearson 1907)."""
    return 6.0 / math.pi * math.asin(correlation / 2.0)


def axis_result(results: Sequence[IndependenceResult], model: str = "m000") -> IndependenceResult:
    return next(r for r in results if r.kind == "axis" and r.model == model)


def plain_half(d: np.ndarray, mask: np.ndarray, families: list[str]) -> float:
    means = []
    for family in dict.fromkeys(families):
        own = [x for x, kept, f in zip(d, mask, families, strict=True) if kept and f == family]
        if own:
            own = [x for x in own if math.isfinite(x)]
            if not own:
                return math.nan
            means.append(sum(x * x for x in own) / len(own))
    return math.sqrt(sum(means) / len(means)) if means else math.nan


def test_halves_are_disjoint_cover_the_scored_variants_and_halve_each_family() -> None:
    keys = (*KEYS[:7], *KEYS[8:], VariantKey("h", "human", "human"))
    table = replace(latent_table(np.random.default_rng(0), 0.0, 3), variants=keys)
    masks = halves(table, 50, np.random.default_rng(1))
    assert masks.shape == (50, 2, 12)
    assert not (masks[:, 0] & masks[:, 1]).any()
    assert (masks.any(axis=1).sum(axis=1) == 11).all()
    assert not masks[:, :, 11].any()
    for family, size in (("register", 4), ("noise", 3), ("structure", 4)):
        own = masks[:, :, [key.family == family for key in keys]].sum(axis=2)
        assert (own.sum(axis=1) == size).all()
        assert (np.abs(own[:, 0] - own[:, 1]) <= 1).all()
    sizes = masks.sum(axis=2)
    assert (np.abs(sizes[:, 0] - sizes[:, 1]) <= 1).all()
    assert len({mask.tobytes() for mask in masks}) > 40


def test_value_of_a_half_is_that_of_plain_loops() -> None:
    rng = np.random.default_rng(2)
    d = rng.random((20, 12))
    d[rng.random(d.shape) < 0.2] = np.nan
    families = [key.family for key in KEYS]
    masks = rng.random((6, 2, 12)) < 0.5
    masks[0, 0] = False
    masks[1, 1, :4] = False
    place = np.repeat([0, 1, 2], 4)
    found = half_values(d, masks, place)
    expected = [[[plain_half(row, mask, families) for row in d] for mask in pair] for pair in masks]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.isnan(found[0, 0]).all()
    assert np.isfinite(found).any()


def test_correlations_are_the_mean_of_scipys_over_the_halves() -> None:
    table = latent_table(np.random.default_rng(3), 0.6, 40)
    # Rounded, so that there are ties.
    table = replace(table, distances={k: np.round(d, 1) for k, d in table.distances.items()})
    result = axis_result(axis_independence(table, Settings(seed=4, resamples=50), splits=7))
    masks = halves(table, 7, generator(4, "halves", "made"))
    families = [key.family for key in KEYS]
    cross, first, second = [], [], []
    for pair in masks:
        a, b = (
            # Sums of equal distances differ in the last places by their order.
            [[round(plain_half(d, mask, families), 10) for d in table.distances[name][0]] for mask in pair]
            for name in ("x_act", "x_prob")
        )
        cross += [stats.spearmanr(a[0], b[1]).statistic, stats.spearmanr(a[1], b[0]).statistic]
        first.append(stats.spearmanr(*a).statistic)
        second.append(stats.spearmanr(*b).statistic)
    assert result.cross == pytest.approx(np.mean(cross), abs=1e-12)
    assert result.reliability == pytest.approx((np.mean(first), np.mean(second)), abs=1e-12)
    expected = np.mean(cross) / math.sqrt(np.mean(first) * np.mean(second))
    assert result.statistic == pytest.approx(expected, abs=1e-12)
    assert result.documents == 40


def test_a_resample_is_the_pearson_correlation_of_the_drawn_documents_ranks() -> None:
    rng = np.random.default_rng(5)
    table = latent_table(rng, 0.6, 40, noise=0.8)
    table.distances["x_prob"][0, :6, :4] = np.nan
    masks = halves(table, 1, rng)
    values = independence._Halved(table, reduce_task(table), masks).of(0)
    weights = document_weights(40, 30, rng)
    pair = (("axis", "activation"), ("axis", "confidence"))
    found = correlations({unit: value.halves for unit, value in values.items()}, [pair], weights.T)[pair]
    result = independence._results(table, [{pair: found}], 0.05)[0][pair]
    drawn = found.drawn
    assert result.documents == 34
    assert drawn is not None
    a, b = (values["axis", name].halves[0][:, 6:] for name in ("activation", "confidence"))
    ranks = [stats.rankdata(row) for row in (*a, *b)]
    for row, got in zip(weights[:, 6:].astype(int), drawn, strict=True):
        r = np.corrcoef([np.repeat(x, row) for x in ranks])
        expected = (r[0, 3] + r[1, 2]) / 2.0 / math.sqrt(r[0, 1] * r[2, 3])
        assert got == pytest.approx(min(1.0, expected), abs=2e-5)
    # Hesterberg's expanded percentiles.
    tail = stats.norm.cdf(math.sqrt(34 / 33) * stats.t.ppf(0.025, 33))
    low, high = np.quantile(drawn, [tail, 1.0 - tail])
    assert result.confidence_interval == pytest.approx((low, high), abs=1e-6)


def test_independent_axes_that_share_their_noise_are_found_independent() -> None:
    table = latent_table(np.random.default_rng(6), 0.0, 500, models=5, shared=0.9)
    results = axis_independence(table, Settings(resamples=999))
    plain = [
        stats.spearmanr(*(table.distances[name][m].mean(axis=1) for name in table.measures)).statistic
        for m in range(5)
    ]
    # What the shared noise of the same responses makes of a correlation of 0.
    assert np.mean(plain) > 0.15
    pooled = axis_result(results, "")
    assert pooled.confidence_interval[0] < 0.0 < pooled.confidence_interval[1]
    assert pooled.verdict == "independent"
    assert pooled.models == 5
    for m in range(5):
        result = axis_result(results, f"m{m:03d}")
        assert abs(result.statistic) < 0.2


def test_disattenuation_finds_the_latent_correlation_that_noise_hides() -> None:
    table = latent_table(np.random.default_rng(7), 0.6, 500, models=8)
    results = axis_independence(table, Settings(resamples=999))
    truth = spearman_of(0.6)
    pooled = axis_result(results, "")
    assert pooled.cross < truth - 0.15
    assert pooled.statistic == pytest.approx(truth, abs=0.05)
    assert pooled.confidence_interval[0] < truth < pooled.confidence_interval[1]
    assert pooled.verdict == "related"
    own = [axis_result(results, model) for model in table.models]
    assert pooled.statistic == pytest.approx(np.mean([r.statistic for r in own]), abs=1e-12)
    width = pooled.confidence_interval[1] - pooled.confidence_interval[0]
    assert all(width < r.confidence_interval[1] - r.confidence_interval[0] for r in own)


def coverage(correlation: float, studies: int, documents: int, seed: int) -> float:
    """Share of studies, each a model with documents of its own, whose interval has the truth."""
    rng = np.random.default_rng(seed)
    truth = spearman_of(correlation)
    hits = []
    for i in range(studies):
        table = replace(latent_table(rng, correlation, documents), task=f"study{i}")
        result = axis_result(axis_independence(table, Settings(resamples=400), splits=10))
        low, high = result.confidence_interval
        hits.append(low <= truth <= high)
    return float(np.mean(hits))


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_interval_covers_the_latent_correlation(correlation: float) -> None:
    share = coverage(correlation, 150, 100, 8)
    assert share >= 0.95 - 3.0 * math.sqrt(0.95 * 0.05 / 150)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("correlation", "documents"), [(0.0, 40), (0.3, 40), *itertools.product((0.0, 0.3, 0.6), (100, 300))]
)
def test_interval_covers_the_latent_correlation_over_many_studies(correlation: float, documents: int) -> None:
    share = coverage(correlation, 1500, documents, 9)
    error = 3.0 * math.sqrt(0.95 * 0.05 / 1500)
    assert 0.93 - error <= share <= 0.97 + error


def test_an_axis_weighs_its_measures_by_their_chance_levels() -> None:
    rng = np.random.default_rng(10)
    table = made.table(rng, models=("a",), documents=30)
    reduced = reduce_task(table)
    masks = halves(table, 3, rng)
    values = independence._Halved(table, reduced, masks).of(0)
    families = [key.family for key in table.variants]
    for axis, names in (("generation", ("x_bleu", "x_bert")), ("activation", ("x_act",))):
        for document in range(30):
            parts = []
            for name in names:
                level = math.sqrt(np.square(table.controls[name][0]).mean())
                value = plain_half(table.distances[name][0, document], masks[1, 0], families)
                parts.append(value / level if len(names) > 1 else value)
            found = values["axis", axis].halves[1, 0, document]
            assert found == pytest.approx(np.mean(parts), rel=1e-12)
    net = table.distances["x_mr"][0] - table.distances["x_mr_floor"][0]
    expected = net[:, masks[2, 1]].mean(axis=1)
    np.testing.assert_allclose(values["axis", "mirroring"].halves[2, 1], expected, rtol=1e-12)


def test_chance_level_is_the_root_mean_square_of_the_controls() -> None:
    table = made.table(np.random.default_rng(11), documents=9)
    levels = chance_levels(reduce_task(table)["x_bleu"])
    np.testing.assert_allclose(levels, np.sqrt(np.square(table.controls["x_bleu"]).mean(axis=(1, 2))))


def test_a_models_result_does_not_depend_on_the_other_models() -> None:
    table = made.table(np.random.default_rng(12), models=("a", "b", "c"), documents=40, missing=0.03)
    alone = axis_independence(table.with_models(["b"]), Settings(resamples=200))
    together = axis_independence(table, Settings(resamples=200))
    mine = [r for r in together if r.model == "b"]
    assert [str(r) for r in mine] == [str(r) for r in alone if r.model == "b"]
    assert len(mine) == 6 + 15


def test_pooling_one_model_gives_its_own_result() -> None:
    table = latent_table(np.random.default_rng(13), 0.5, 60)
    results = axis_independence(table, Settings(resamples=300))
    own, pooled = axis_result(results), axis_result(results, "")
    assert pooled.statistic == own.statistic
    assert pooled.confidence_interval == own.confidence_interval
    assert pooled.verdict == own.verdict


def test_an_axis_that_does_not_agree_with_itself_is_blank() -> None:
    table = latent_table(np.random.default_rng(14), 0.0, 200, noise=5.0)
    result = axis_result(axis_independence(table, Settings(resamples=100)))
    assert math.isnan(result.statistic)
    assert result.reason == "reliability"
    assert max(result.reliability) < 0.4
    assert math.isfinite(result.cross)
    assert result.verdict == "not shown"
    assert str(result) == "activation and confidence: blank, reliability"


def reasons_of(table: TaskTable, model: str = "m000") -> set[str]:
    results = axis_independence(table, Settings(resamples=50), splits=3)
    for r in results:
        assert bool(r.reason) == math.isnan(r.statistic) == math.isnan(r.confidence_interval[0])
    return {r.reason for r in results if r.model == model}


def test_what_cannot_be_said_has_a_reason() -> None:
    table = latent_table(np.random.default_rng(15), 0.5, 30, models=2)
    assert reasons_of(table) == {""}
    assert reasons_of(table.with_documents(np.arange(30) < 1)) == {"too_few_documents"}
    assert reasons_of(table.with_documents(np.arange(30) < 0)) == {"not_measured"}
    assert reasons_of(table.with_variants(np.arange(12) < 1)) == {"too_few_variants"}
    assert reasons_of(table.with_variants(np.arange(12) < 2)) <= {"", "reliability"}
    for level in (0.0, 0.3):
        flat = {name: np.full(table.shape, level) for name in table.measures}
        assert reasons_of(replace(table, distances=flat)) == {"constant"}
    gone = {**table.distances, "x_prob": table.distances["x_prob"].copy()}
    gone["x_prob"][0] = np.nan
    assert reasons_of(replace(table, distances=gone)) == {"not_measured"}
    assert reasons_of(replace(table, distances=gone), "m001") == {""}
    assert reasons_of(replace(table, distances=gone), "") == {""}
    gone["x_prob"][1] = np.nan
    assert reasons_of(replace(table, distances=gone), "") == {"not_measured"}


def test_an_axis_of_several_measures_needs_chance_levels_and_single_measures_do_not() -> None:
    table = made.table(np.random.default_rng(16), models=("a",), documents=60)
    results = axis_independence(replace(table, controls={}), Settings(resamples=50), splits=3)
    by = {(r.kind, r.first, r.second): r.reason for r in results if r.model == "a"}
    assert by["axis", "generation", "activation"] == "no_chance"
    assert by["measure", "x_bleu", "x_act"] in ("", "reliability")


def test_models_values_are_correlated_with_ten_models_or_more() -> None:
    rng = np.random.default_rng(17)
    a = rng.normal(size=25)
    b = np.round(a + rng.normal(size=25), 1)
    b[3] = np.nan
    (result,) = independence_over_models({"x": a, "y": b}, task="t")
    assert result.statistic == pytest.approx(stats.spearmanr(a, b, nan_policy="omit").statistic, abs=1e-12)
    assert result.models == 24
    r = result.statistic
    half = stats.norm.ppf(0.975) * math.sqrt((1 + r * r / 2) / 21)
    expected = (math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
    assert result.confidence_interval == pytest.approx(expected)
    assert result.verdict == "related"
    (few,) = independence_over_models({"x": a[:9], "y": a[:9]})
    assert (few.reason, few.models, few.verdict) == ("too_few_models", 9, "not shown")
    (flat,) = independence_over_models({"x": a, "y": np.zeros(25)})
    assert flat.reason == "constant"
    (same,) = independence_over_models({"x": a, "y": a})
    assert same.statistic == pytest.approx(1.0)


def test_axis_values_are_the_leaderboards() -> None:
    table = made.table(np.random.default_rng(18), models=tuple("abcdefghijkl"), documents=20)
    values = axis_values(quantities(reduce_task(table)))
    assert list(values) == ["generation", "activation", "confidence", "mirroring"]
    assert len(independence_over_models(values)) == 6
    level = np.sqrt(np.square(table.controls["x_act"]).mean(axis=(1, 2)))
    found = values["activation"]
    families = [key.family for key in table.variants]
    by_family = [
        np.square(table.distances["x_act"][:, :, [f == family for f in families]]).mean(axis=2)
        for family in table.families
    ]
    expected = np.minimum(1.0, np.sqrt(np.mean(by_family, axis=0).mean(axis=1)) / level)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
