from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from sago_harness.stats import variance
from sago_harness.stats.intervals import studentised
from sago_harness.stats.resampling import Purpose, Settings
from sago_harness.stats.table import TaskTable, VariantKey
from sago_harness.stats.variance import COMPONENTS, estimate, variance_components
from tests.stats import made

pytestmark = pytest.mark.filterwarnings("error")

SOURCE = Purpose(3, "variance", "made")

Design = tuple[np.ndarray, np.ndarray]

#: Variances of document, family, operator, variant, and of the rest's three parts.
TRUTH = {"document": 0.09, "family": 0.04, "operator": 0.03, "variant": 0.02, "rest": 0.06}


def design(families: int, operators: int, variants: int) -> Design:
    """Places of operator and family of each column of a balanced design."""
    operator = np.repeat(np.arange(families * operators), variants)
    return operator, operator // operators


#: Families of one, two and three operators with one to three variants.
UNEVEN: Design = (np.array([0, 0, 1, 2, 2, 2, 3, 4, 4, 5]), np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2]))


def simulate(rng: np.random.Generator, documents: int, at: Design, mean: float = 0.5) -> np.ndarray:
    """One block of the model; the rest in equal parts by family, by operator, by cell."""
    operator, family = at
    size = documents, len(operator)
    spread = {name: math.sqrt(value) for name, value in TRUTH.items()}
    part = math.sqrt(TRUTH["rest"] / 3.0)
    values = mean + rng.normal(0.0, spread["document"], size=(documents, 1))
    values = values + rng.normal(0.0, spread["family"], size=family.max() + 1)[family]
    values = values + rng.normal(0.0, spread["operator"], size=operator.max() + 1)[operator]
    values = values + rng.normal(0.0, spread["variant"], size=len(operator))
    values = values + rng.normal(0.0, part, size=(documents, family.max() + 1))[:, family]
    values = values + rng.normal(0.0, part, size=(documents, operator.max() + 1))[:, operator]
    # A skewed law: nothing is assumed of it.
    return values + part * (rng.gamma(1.0, 1.0, size=size) - 1.0)


def by_pairs(values: np.ndarray, at: Design, weights: np.ndarray) -> dict[str, float]:
    """Components from every pair of cells in turn."""
    operator, family = at
    sums: dict[tuple[bool, int], list[float]] = {}
    cells = [(i, v) for i, v in product(*map(range, values.shape)) if math.isfinite(values[i, v])]
    for (i, v), (j, w) in product(cells, cells):
        if (i, v) == (j, w):
            continue
        depth = 3 if v == w else 2 if operator[v] == operator[w] else 1 if family[v] == family[w] else 0
        # A document drawn twice is not paired with itself.
        weight = weights[i] if i == j else weights[i] * weights[j]
        total = sums.setdefault((i == j, depth), [0.0, 0.0])
        total[0] += weight * (values[i, v] - values[j, w]) ** 2 / 2.0
        total[1] += weight
    g = {kind: s / n if n else math.nan for kind, (s, n) in sums.items()}
    document = g[False, 0] - g[True, 0]
    return {
        "document": document,
        "family": g[False, 0] - g[False, 1],
        "operator": g[False, 1] - g[False, 2],
        "variant": g[False, 2] - g[False, 3],
        "rest": g[False, 3] - document,
    }


def test_closed_form_is_that_of_all_pairs() -> None:
    rng = np.random.default_rng(0)
    values = simulate(rng, 6, UNEVEN)
    values[rng.random(values.shape) < 0.25] = np.nan
    weights = np.array([[1, 1, 1, 1, 1, 1], [2, 0, 1, 3, 0, 0], [0, 1, 1, 1, 1, 2]], dtype=float)
    found, reasons = estimate(values, *UNEVEN, weights)
    assert set(reasons) == {""}
    for row, weight in zip(found, weights, strict=True):
        expected = by_pairs(values, UNEVEN, weight)
        np.testing.assert_allclose(row[:5], [expected[name] for name in COMPONENTS], atol=1e-12)
    shifted, _ = estimate(values + 7.0, *UNEVEN, weights)
    np.testing.assert_allclose(shifted, found, atol=1e-12)
    single, _ = estimate(values, *UNEVEN, weights.astype(np.float32))
    np.testing.assert_allclose(single, found, atol=1e-6)


def anova(values: np.ndarray, families: int, operators: int, variants: int) -> dict[str, float]:
    """Classical estimates for documents x (variants in operators in families), all random.

    Mean squares set equal to their expectations, solved from the inside out.
    """
    d, f, o, v = len(values), families, operators, variants
    x = values.reshape(d, f, o, v)
    grand, doc = x.mean(), x.mean(axis=(1, 2, 3))
    fam, op, var = x.mean(axis=(0, 2, 3)), x.mean(axis=(0, 3)), x.mean(axis=0)
    doc_fam, doc_op = x.mean(axis=(2, 3)), x.mean(axis=3)
    ms_d = f * o * v * np.square(doc - grand).sum() / (d - 1)
    ms_f = d * o * v * np.square(fam - grand).sum() / (f - 1)
    ms_o = d * v * np.square(op - fam[:, None]).sum() / (f * (o - 1))
    ms_v = d * np.square(var - op[:, :, None]).sum() / (f * o * (v - 1))
    inter_f = doc_fam - doc[:, None] - fam + grand
    ms_df = o * v * np.square(inter_f).sum() / ((d - 1) * (f - 1))
    inter_o = doc_op - doc_fam[:, :, None] - op + fam[:, None]
    ms_do = v * np.square(inter_o).sum() / ((d - 1) * f * (o - 1))
    inter_v = x - doc_op[:, :, :, None] - var + op[:, :, None]
    ms_dv = np.square(inter_v).sum() / ((d - 1) * f * o * (v - 1))
    rest = ms_dv + (ms_do - ms_dv) / v + (ms_df - ms_do) / (o * v)
    return {
        "document": (ms_d - ms_df) / (f * o * v),
        "family": (ms_f - ms_o - ms_df + ms_do) / (d * o * v),
        "operator": (ms_o - ms_v - ms_do + ms_dv) / (d * v),
        "variant": (ms_v - ms_dv) / d,
        "rest": rest,
    }


@pytest.mark.parametrize("sizes", [(3, 2, 2), (2, 4, 3), (5, 2, 2)])
def test_balanced_data_give_the_anova_estimates(sizes: tuple[int, int, int]) -> None:
    values = simulate(np.random.default_rng(1), 15, design(*sizes))
    found, _ = estimate(values, *design(*sizes), np.ones((1, 15)))
    expected = anova(values, *sizes)
    np.testing.assert_allclose(found[0, :5], [expected[name] for name in COMPONENTS], rtol=1e-9, atol=1e-13)


def test_document_and_rest_of_one_column_of_cells_a_family_are_those_of_statsmodels() -> None:
    sm = pytest.importorskip("statsmodels.formula.api")
    anova_lm = pytest.importorskip("statsmodels.stats.anova").anova_lm
    pd = pytest.importorskip("pandas")
    at = design(4, 1, 1)
    values = simulate(np.random.default_rng(2), 12, at)
    rows = [(i, v, values[i, v]) for i in range(12) for v in range(4)]
    frame = pd.DataFrame(rows, columns=["document", "column", "value"])
    squares = anova_lm(sm.ols("value ~ C(document) + C(column)", frame).fit())["mean_sq"]
    found, reasons = estimate(values, *at, np.ones((1, 12)))
    assert found[0, 0] == pytest.approx((squares["C(document)"] - squares["Residual"]) / 4)
    assert found[0, 1] == pytest.approx((squares["C(column)"] - squares["Residual"]) / 12)
    assert found[0, 4] == pytest.approx(squares["Residual"])
    assert reasons == ("", "", "one_operator_a_family", "one_variant_an_operator", "")


@pytest.mark.parametrize(("at", "missing"), [(design(3, 2, 2), 0.0), (UNEVEN, 0.0), (UNEVEN, 0.3)])
def test_estimates_are_unbiased(at: Design, missing: float) -> None:
    rng = np.random.default_rng(3)
    found = []
    for _ in range(800):
        values = simulate(rng, 12, at)
        values[rng.random(values.shape) < missing] = np.nan
        found.append(estimate(values, *at, np.ones((1, 12)))[0][0])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(len(found))
    truth = np.array([*(TRUTH[name] for name in COMPONENTS), sum(TRUTH.values())])
    # Six components: a hundredth of the level for each side.
    assert np.all(np.abs(mean - truth) < 3.5 * error)
    assert np.all(error < 0.15 * truth + 0.002)


def table_of(values: np.ndarray, at: Design, measures: tuple[str, ...] = ("x_act",)) -> TaskTable:
    """A table of blocks of shape (measures, M, D, V)."""
    operator, family = at
    keys = tuple(
        VariantKey(f"v{v}", f"f{f}", f"o{o}") for v, (o, f) in enumerate(zip(operator, family, strict=True))
    )
    _, models, documents, _ = values.shape
    return TaskTable(
        "made",
        tuple(f"m{m}" for m in range(models)),
        tuple(f"d{i}" for i in range(documents)),
        keys,
        dict.fromkeys(measures, "activation"),
        {f"f{f}": int((family == f).sum()) for f in sorted(set(family.tolist()))},
        dict(zip(measures, values, strict=True)),
        {},
    )


def test_a_result_is_the_estimate_of_each_model_with_negatives_as_zero() -> None:
    rng = np.random.default_rng(4)
    at = design(3, 2, 2)
    values = np.stack([[simulate(rng, 20, at) for _ in range(6)]])
    values[0, 5] = rng.normal(0.5, 0.1, size=(20, 12))
    result = variance_components(table_of(values, at), Settings(resamples=100))["x_act"]
    raw = np.array([estimate(block, *at, np.ones((1, 20)))[0][0] for block in values[0]])
    np.testing.assert_allclose(result.statistic, np.maximum(raw[:, :5], 0.0), atol=1e-15)
    np.testing.assert_array_equal(result.negative, raw[:, :5] < 0.0)
    assert result.negative.any()
    np.testing.assert_allclose(result.shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(result.totals, raw[:, 5])
    np.testing.assert_allclose(result.totals, raw[:, :5].sum(axis=1))
    np.testing.assert_allclose(result.means, values[0].mean(axis=(1, 2)))
    assert (result.low <= result.high).all()
    assert (result.low >= 0.0).all()
    assert result.documents.tolist() == [20] * 6
    assert result.cells.tolist() == [240] * 6


@pytest.mark.parametrize("missing", ["nothing", "the same of all", "something of each", "one model"])
def test_interval_is_the_jackknife_error_times_the_factor_of_the_bootstrap_t(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two models at once, then the third.
    monkeypatch.setattr(variance, "_CHUNK", 2 * 10 * 8)
    rng = np.random.default_rng(5)
    values = np.stack([simulate(rng, 8, UNEVEN) for _ in range(3)])
    if missing == "the same of all":
        values[:, rng.random(values.shape[1:]) < 0.2] = np.nan
    if missing == "something of each":
        values[rng.random(values.shape) < 0.2] = np.nan
    if missing == "one model":
        values[1] = np.nan
    if missing != "nothing":
        values[2, 3] = np.nan  # a document that this model has not answered
    result = variance_components(table_of(values[None], UNEVEN), Settings(resamples=99, seed=3))["x_act"]
    for m, block in enumerate(values):
        known = np.isfinite(block)
        there = np.flatnonzero(known.any(axis=1))
        assert (result.cells[m], result.documents[m]) == (known.sum(), len(there))
        if not known.any():
            assert np.isnan(result.statistic[m]).all()
            assert result.reasons[m] == ("not_measured",) * 5
            continue
        own = by_pairs(block, UNEVEN, np.ones(8))
        np.testing.assert_allclose(result.statistic[m], [max(own[n], 0.0) for n in COMPONENTS], atol=1e-12)
        for c, name in enumerate(COMPONENTS):
            left = np.array([by_pairs(np.delete(block, d, axis=0), UNEVEN, np.ones(7))[name] for d in there])
            n = len(there)
            u = (n - 1) * (left.mean() - left)
            error = math.sqrt(np.square(u).sum() / (n - 1) / n)
            scaled = np.zeros((1, 8))
            scaled[0, there] = u
            draws = np.abs(studentised(scaled, np.array([float(n)]), 99, SOURCE, scaled != 0.0))
            reach = float(np.sort(draws[:, 0])[94]) * error
            assert result.low[m, c] == pytest.approx(max(0.0, own[name] - reach), rel=1e-3, abs=1e-9)
            assert result.high[m, c] == pytest.approx(max(0.0, own[name] + reach), rel=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_leaving_out_in_one_pass_is_leaving_out_one_by_one(missing: float) -> None:
    rng = np.random.default_rng(8)
    values = simulate(rng, 7, UNEVEN)
    values[rng.random(values.shape) < missing] = np.nan
    blocks = np.stack([values, values[::-1] ** 2])
    cells = variance._Cells.of(blocks, variance._Groups.of(*UNEVEN))
    whole, without = cells.without_each()
    np.testing.assert_allclose(whole, cells.mean_squares(np.ones((1, 7)))[..., 0], rtol=1e-9)
    for d in range(7):
        fewer = variance._Cells.of(np.delete(blocks, d, axis=1), variance._Groups.of(*UNEVEN))
        np.testing.assert_allclose(without[:, :, d], fewer.mean_squares(np.ones((1, 6)))[..., 0], rtol=1e-9)


@pytest.mark.parametrize(("documents", "moved"), [(40, 1), (40, 2), (100, 2), (3, 3)])
def test_few_moved_documents_give_no_interval_beyond_what_distances_can_vary(
    documents: int, moved: int
) -> None:
    rng = np.random.default_rng(documents)
    values = np.zeros((documents, 10))
    values[:moved] = rng.random((moved, 10))
    result = variance_components(table_of(values[None, None], UNEVEN), Settings(resamples=999))["x_act"]
    # Student's t of two documents, 12.7, is the widest that is taken: the errors are those of the jackknife.
    groups = variance._Groups.of(*UNEVEN)
    own, without = variance._Cells.of(values[None], groups).without_each()
    left = variance._parted(np.isfinite(own[:, 0]), without)[0][:5, 0]
    error = np.sqrt(
        (documents - 1) / documents * np.square(left - left.mean(axis=1, keepdims=True)).sum(axis=1)
    )
    assert (result.high[0] <= result.statistic[0] + 12.71 * error + 1e-12).all()
    assert result.low[0, 0] <= result.statistic[0, 0] <= result.high[0, 0]


def skewed(rng: np.random.Generator, documents: int, at: Design, still: float = 0.0) -> np.ndarray:
    """Distances in [0, 1] with a long upper tail; a share of the documents is not moved at all."""
    effect = np.exp(0.7 * rng.normal(size=(documents, 1))) * (rng.random((documents, 1)) >= still)
    moved: np.ndarray = np.clip(0.25 * effect * rng.gamma(2.0, 0.5, size=(documents, len(at[0]))), 0.0, 1.0)
    return moved


LAWS = {"normal": simulate, "skewed": skewed, "zeros": partial(skewed, still=0.5)}


def truth(law: str, at: Design) -> np.ndarray:
    """Variance of documents, and the rest's; of laws without a closed form from 200,000 documents."""
    if law == "normal":
        return np.array([TRUTH["document"], TRUTH["rest"]])
    many = LAWS[law](np.random.default_rng(99), 200_000, at)
    found, _ = estimate(many, *at, np.ones((1, len(many))))
    return found[0, PLACES]


PLACES = [COMPONENTS.index("document"), COMPONENTS.index("rest")]


def coverage(law: str, studies: int, documents: int, seed: int) -> np.ndarray:
    """Share of studies whose interval has the true document variance, and that of the rest."""
    rng = np.random.default_rng(seed)
    at = design(3, 2, 2)
    blocks = np.stack([[LAWS[law](rng, documents, at) for _ in range(studies)]])
    result = variance_components(table_of(blocks, at), Settings(resamples=999))["x_act"]
    true = truth(law, at)
    share: np.ndarray = ((result.low[:, PLACES] <= true) & (true <= result.high[:, PLACES])).mean(axis=0)
    return share


@pytest.mark.parametrize("law", LAWS)
def test_interval_covers_the_components_over_documents(law: str) -> None:
    share = coverage(law, 400, 40, 6)
    slack = 2.0 * math.sqrt(0.95 * 0.05 / 400)
    assert (share >= 0.93 - slack).all(), share
    assert (share <= 0.97 + slack).all(), share


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("documents", [40, 100, 400])
def test_interval_covers_the_components_over_many_studies(law: str, documents: int) -> None:
    share = coverage(law, 4000, documents, 7)
    print("variance", law, documents, share)
    assert (share >= 0.93).all(), share
    assert (share <= 0.97).all(), share


def test_mirroring_is_taken_less_its_floor_and_variants_beside_the_score_are_left_out() -> None:
    table = made.table(np.random.default_rng(8), documents=15)
    results = variance_components(table, Settings(resamples=20))
    assert list(results) == [*table.measures, "x_mr"]
    net = table.distances["x_mr"] - table.distances["x_mr_floor"]
    places = table.operator_of
    found, _ = estimate(net[1], places, table.family_of[places], np.ones((1, 15)))
    np.testing.assert_allclose(results["x_mr"].statistic[1], np.maximum(found[0, :5], 0.0), atol=1e-12)
    wider = replace(
        table,
        variants=(*table.variants, VariantKey("h", "human", "human")),
        distances={k: np.concatenate([d, d[:, :, :1] + 1.0], axis=2) for k, d in table.distances.items()},
        correct=None,
    )
    again = variance_components(wider, Settings(resamples=20), measures=["x_act"])["x_act"]
    np.testing.assert_array_equal(again.statistic, results["x_act"].statistic)


def reasons_of(table: TaskTable) -> tuple[str, ...]:
    result = variance_components(table, Settings(resamples=30))["x_act"]
    for why, value, low in zip(result.reasons[0], result.statistic[0], result.low[0], strict=True):
        assert bool(why) == math.isnan(value)
        assert bool(why) == math.isnan(low)
    assert bool(result.share_reasons[0]) == bool(np.isnan(result.shares[0]).any())
    return result.reasons[0]


def test_what_cannot_be_said_has_a_reason() -> None:
    at = design(3, 2, 2)
    table = table_of(simulate(np.random.default_rng(9), 8, at)[None, None], at)
    few = np.arange(12)
    assert reasons_of(table) == ("",) * 5
    assert reasons_of(table.with_documents(np.arange(8) < 1)) == ("one_document",) * 5
    assert reasons_of(table.with_documents(np.arange(8) < 0)) == ("not_measured",) * 5
    assert reasons_of(table.with_variants(few < 0)) == ("not_measured",) * 5
    one = reasons_of(table.with_variants(few < 1))
    assert one == ("one_variant", "one_family", "one_operator", "one_variant", "one_variant")
    operator = reasons_of(table.with_variants(few < 2))
    assert operator == ("", "one_family", "one_operator", "", "")
    family = reasons_of(table.with_variants(few < 4))
    assert family == ("", "one_family", "", "", "")
    assert reasons_of(table.with_variants(few % 4 == 0)) == (
        "", "", "one_operator_a_family", "one_variant_an_operator", "",
    )  # fmt: skip
    gone = replace(table, distances={"x_act": np.full(table.shape, np.nan)})
    assert reasons_of(gone) == ("not_measured",) * 5


@pytest.mark.parametrize("level", [0.0, 0.3, 1.0])
def test_distances_that_do_not_vary_have_no_variance_and_no_shares(level: float) -> None:
    at = design(3, 2, 2)
    table = table_of(np.full((1, 2, 8, 12), level), at)
    result = variance_components(table, Settings(resamples=30))["x_act"]
    assert (result.statistic == 0.0).all()
    assert not result.negative.any()
    assert (result.high == 0.0).all()
    assert np.isnan(result.shares).all()
    assert result.share_reasons == ("no_variation", "no_variation")


def test_a_component_without_a_level_of_its_own_is_part_of_the_one_above() -> None:
    at = design(3, 2, 2)
    values = simulate(np.random.default_rng(10), 12, at)
    whole, _ = estimate(values[:, ::2], at[0][::2], at[1][::2], np.ones((1, 12)))
    family, reasons = estimate(values[:, ::4], at[0][::4], at[1][::4], np.ones((1, 12)))
    assert reasons[2:4] == ("one_operator_a_family", "one_variant_an_operator")
    assert whole[0, 5] == pytest.approx(np.nansum(whole[0, :5]))
    assert family[0, 5] == pytest.approx(np.nansum(family[0, :5]))
