"""Schemes: the published ones by hand and by plain loops, and why ours differs from them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sago_harness.axes.confidence import relative_change
from sago_harness.axes.generation import bleu_distance, bleu_raw_delta
from sago_harness.axes.measures import Prob
from sago_harness.errors import SagoError
from sago_harness.report.compared import TABLES
from sago_harness.stats.compare import compare
from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import reduce_task
from sago_harness.stats.resampling import Settings
from sago_harness.stats.schemes import SCHEMES, SchemeResult, scheme_names, scheme_scores
from sago_harness.stats.schemes_paper import RANGES, THRESHOLDS, TYPES, rms_test
from sago_harness.stats.table import ScoreTable, TaskTable, VariantKey
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.recipe import load_recipe
from tests.stats import made

pytestmark = pytest.mark.filterwarnings("error")
NAN = float("nan")
SIX = ("politeness", "spaces", "punctuation", "case", "lengthen", "imperative")


def study(
    raw: Mapping[str, Sequence[object]],
    operators: Sequence[str] = SIX,
    *,
    task: str = "t",
    models: Sequence[str] = ("a",),
    families: Sequence[str] | None = None,
    distances: Mapping[str, Sequence[object]] | None = None,
) -> TaskTable:
    """A data set with given raw deltas, of shape (M, D, V)."""
    blocks = {name: np.array(values, dtype=float) for name, values in raw.items()}
    shape = next(iter(blocks.values())).shape
    of = families or [OPERATORS.load(name).family for name in operators]
    keys = tuple(VariantKey(f"v{i}", f, name) for i, (f, name) in enumerate(zip(of, operators, strict=True)))
    counts = {f: list(of).count(f) for f in ("register", "noise", "structure") if f in of}
    given = {name: np.array(values, dtype=float) for name, values in (distances or {}).items()}
    return TaskTable(
        task,
        tuple(models),
        tuple(f"d{i}" for i in range(shape[1])),
        keys,
        dict.fromkeys(given, "generation"),
        counts,
        given,
        {name: np.ones((*shape[:2], 2)) for name in given},
        raw=blocks,
    )


def scores(scheme: str, *tables: TaskTable) -> SchemeResult:
    return scheme_scores(ScoreTable.of(tables), scheme)


# paper-rms -----------------------------------------------------------------------------------------


def test_rms_by_hand() -> None:
    """BLEU deltas -30, -40 of range 100: s = sqrt((.09 + .16) / 2); a skipped variant does not count."""
    found = scores("paper-rms", study({"x_bleu": [[[-30, -40], [-60, NAN]]]}, ("spaces", "case")))
    s = [math.sqrt(0.125), 0.6]
    assert found.document_values["t"]["x_bleu"][0] == pytest.approx(s)
    assert found.values["x_bleu"][0, 0] == pytest.approx(np.mean(s))
    assert found.counts["x_bleu"][0, 0] == 2
    assert math.isnan(found.values["x_act"][0, 0])
    assert found.reasons["x_act"] == (("not_recorded", "not_recorded"),)


@pytest.mark.parametrize(
    ("measure", "delta"),
    [
        ("x_act", -1.0),
        ("x_bleu", 50.0),
        ("x_bert", -0.5),
        ("x_prob", 125.0),
        ("x_ent", 5.0),
        ("mirroring", 0.5),
    ],
)
def test_half_of_each_range_is_a_half(measure: str, delta: float) -> None:
    found = scores("paper-rms", study({measure: [[[delta, delta]]]}, ("spaces", "case")))
    assert found.values[measure][0, 0] == pytest.approx(0.5)


def test_the_total_is_flat_over_prompts() -> None:
    """One prompt with 1, three with 0: .25, where the mean over data sets would be .5."""
    one = study({"mirroring": [[[1.0]]]}, ("case",), task="one")
    three = study({"mirroring": [[[0.0], [0.0], [0.0]]]}, ("case",), task="three")
    found = scores("paper-rms", one, three)
    assert found.values["mirroring"].tolist() == [[1.0, 0.0]]
    assert found.totals["mirroring"].tolist() == [0.25]


def test_its_test_is_scipys() -> None:
    rng = np.random.default_rng(3)
    first = study({"x_ent": rng.normal(0, 1, (2, 20, 6))}, models=("a", "b"), task="p")
    second = study({"x_ent": rng.normal(0, 0.4, (2, 9, 6))}, models=("a", "b"), task="q")
    found = scores("paper-rms", first, second)
    result = found.tests["x_ent"]
    assert result.thresholds == THRESHOLDS == (0.01, 0.05, 0.10)
    for m in range(2):
        both = [found.document_values[task]["x_ent"][m] for task in "pq"]
        for k, threshold in enumerate(THRESHOLDS):
            for t, values in enumerate(both):
                oracle = stats.ttest_1samp(values, threshold, alternative="greater")
                assert result.statistic[m, t, k] == pytest.approx(oracle.statistic)
                assert result.pvalue[m, t, k] == pytest.approx(oracle.pvalue, rel=1e-9)
            oracle = stats.ttest_1samp(np.concatenate(both), threshold, alternative="greater")
            assert result.total_pvalue[m, k] == pytest.approx(oracle.pvalue, rel=1e-9)
    assert found.totals["x_ent"] == pytest.approx(
        [np.concatenate([found.document_values[t]["x_ent"][m] for t in "pq"]).mean() for m in range(2)]
    )


def test_what_has_no_test_says_why() -> None:
    statistic, pvalue, reasons = rms_test(np.array([[0.2, NAN, NAN], [0.1, 0.1, 0.1], [NAN, NAN, NAN]]))
    assert np.isnan(statistic).all()
    assert np.isnan(pvalue).all()
    assert reasons == ["too_few_documents", "no_spread", "too_few_documents"]


def test_other_families_are_no_variants() -> None:
    """What people wrote and edits that change the meaning enter no scheme."""
    families = ("noise", "human", "control")
    raw = {"mirroring": [[[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]]}
    table = study(raw, ("case", "human", "change_name"), families=families)
    assert scores("paper-rms", table).values["mirroring"][0, 0] == 0.0


# paper-std -----------------------------------------------------------------------------------------


def test_std_by_hand() -> None:
    """Two documents, two types.

    Deltas 2 and 4 (spaces, twice), 6 (case) and 0, 2, -2: with the baseline's 0 the deviations are
    sd(0, 2, 4) = 2, sd(0, 6) = 6/sqrt 2, sd(0, 0, 2) = 2/sqrt 3, sd(0, -2) = sqrt 2. Range 8, mean
    size 16/6.
    """
    raw = {"x_prob": [[[2.0, 4.0, 6.0], [0.0, 2.0, -2.0]]]}
    table = study(raw, ("spaces", "spaces", "case"))
    spaces = (2.0 + 2.0 / math.sqrt(3)) / 2
    case = (6.0 / math.sqrt(2) + math.sqrt(2)) / 2
    value = (spaces + case) / 2
    for scheme, scale in (("paper-std-minmax", 8.0), ("paper-std-meanabs", 16.0 / 6.0)):
        found = scores(scheme, table)
        assert found.values["x_prob"][0, 0] == pytest.approx(value / scale)
        assert found.totals["x_prob"][0] == pytest.approx(value / scale)
        own = [(2.0 + 6.0 / math.sqrt(2)) / 2, (2.0 / math.sqrt(3) + math.sqrt(2)) / 2]
        assert found.document_values["t"]["x_prob"][0] == pytest.approx(np.array(own) / scale)


def loops(tables: Sequence[TaskTable], measure: str, scheme: str) -> dict[tuple[str, str], float]:
    """The published definition in plain loops: scale first, then deviations."""
    kind_of = {operator: kind for kind, operators in TYPES.items() for operator in operators}
    everything = [
        x
        for table in tables
        for x, key in zip(np.moveaxis(table.raw[measure], 2, 0), table.variants, strict=True)
        if key.operator in kind_of
    ]
    flat = np.concatenate([x.ravel() for x in everything])
    flat = flat[~np.isnan(flat)]
    low, high, size = float(flat.min()), float(flat.max()), float(np.abs(flat).mean())

    def scaled(x: float) -> float:
        return (x - low) / (high - low) if scheme == "paper-std-minmax" else x / size

    found = {}
    for table in tables:
        for m, model in enumerate(table.models):
            means = []
            for kind in TYPES:
                at = [i for i, key in enumerate(table.variants) if kind_of.get(key.operator) == kind]
                spreads = []
                for row in table.raw[measure][m]:
                    deltas = [float(row[i]) for i in at if not math.isnan(row[i])]
                    if deltas:
                        spreads.append(statistics.stdev([scaled(0.0), *map(scaled, deltas)]))
                if spreads:
                    means.append(statistics.fmean(spreads))
            found[model, table.task] = statistics.fmean(means)
    return found


@pytest.mark.parametrize("scheme", ["paper-std-minmax", "paper-std-meanabs"])
def test_std_against_plain_loops(scheme: str) -> None:
    """One pass with the scale applied afterwards = scaling everything first."""
    rng = np.random.default_rng(11)
    operators = (*SIX, *SIX, "typos", "rewrite_length", "label", "interrogative")
    tables = []
    for task, documents in (("p", 7), ("q", 4)):
        raw = rng.normal(-3, 5, (3, documents, len(operators)))
        raw[rng.random(raw.shape) < 0.2] = NAN
        tables.append(study({"x_prob": raw}, operators, task=task, models=("a", "b", "c")))
    found = scores(scheme, *tables)
    oracle = loops(tables, "x_prob", scheme)
    for (model, task), value in oracle.items():
        at = found.models.index(model), found.tasks.index(task)
        assert found.values["x_prob"][at] == pytest.approx(value, rel=1e-12)
    for m, model in enumerate(found.models):
        mean = statistics.fmean(oracle[model, task] for task in "pq")
        assert found.totals["x_prob"][m] == pytest.approx(mean)
    assert found.notes == ("operators of no published variation type, left out: typos, label",)


def test_each_variation_type_weighs_the_same() -> None:
    """Nine variants of spaces that do nothing and one imperative that moves by 1: half of its own."""
    raw = {"x_ent": [[[0.0] * 9 + [1.0]]]}
    found = scores("paper-std-meanabs", study(raw, ("spaces",) * 9 + ("imperative",)))
    assert found.values["x_ent"][0, 0] == pytest.approx(1 / math.sqrt(2) / 2 / 0.1)


def test_variation_types_name_real_operators_once() -> None:
    named = [operator for operators in TYPES.values() for operator in operators]
    assert len(named) == len(set(named))
    assert set(named) <= set(OPERATORS)
    assert list(TYPES) == ["politeness", "spaces", "marks", "capitals", "length", "form"]
    recipe = load_recipe("paper")
    assert {entry.operator for entry in recipe.entries} <= set(named), (
        "the published variants all have a type"
    )


def test_deltas_that_are_all_the_same_have_no_scale() -> None:
    for scheme, raw in (("paper-std-minmax", [[[2.0, 2.0]]]), ("paper-std-meanabs", [[[0.0, 0.0]]])):
        found = scores(scheme, study({"x_ent": raw}, ("spaces", "case")))
        assert math.isnan(found.values["x_ent"][0, 0])
        assert math.isnan(found.totals["x_ent"][0])
        assert found.reasons["x_ent"][0][0] == "all_deltas_equal"


def test_operators_of_no_type_alone_give_no_value() -> None:
    found = scores("paper-std-minmax", study({"x_ent": [[[1.0, 2.0]]]}, ("typos", "label")))
    assert found.reasons["x_ent"][0][0] == "no_published_variation_type"
    assert math.isnan(found.totals["x_ent"][0])


# all -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["paper-rms", "paper-std-minmax", "paper-std-meanabs"])
def test_a_model_that_lacks_a_data_set_has_no_total(scheme: str) -> None:
    rng = np.random.default_rng(1)
    both = study({"x_bert": rng.uniform(-1, 0, (2, 5, 6))}, models=("a", "b"), task="p")
    alone = study({"x_bert": rng.uniform(-1, 0, (1, 5, 6))}, models=("b",), task="q")
    found = scores(scheme, both, alone)
    assert found.models == ("a", "b")
    assert np.isfinite(found.values["x_bert"]).tolist() == [[True, False], [True, True]]
    assert np.isnan(found.document_values["q"]["x_bert"][0]).all()
    assert np.isfinite(found.totals["x_bert"]).tolist() == [False, True]
    assert found.reasons["x_bert"][0] == ("", "not_run", "no_value_on q")
    if found.tests:
        assert np.isnan(found.tests["x_bert"].total_pvalue[0]).all()
        assert found.tests["x_bert"].reasons[0][-1] == "no_value_on q"


def test_ours_is_the_leaderboards() -> None:
    table = made.table(np.random.default_rng(5), documents=12)
    found = scores("sago", table)
    reduced = reduce_task(table)
    direct = quantities(reduced)
    assert list(found.measures) == list(direct)
    for name, quantity in direct.items():
        assert found.values[name][:, 0] == pytest.approx(quantity.values, nan_ok=True)
        assert found.higher_is_better[name] == quantity.higher_is_better
    squares = reduced["x_act"].squares()
    assert found.document_values["made"]["x_act"] == pytest.approx(np.sqrt(squares))


def test_the_total_of_ours_is_the_unweighted_mean() -> None:
    rng = np.random.default_rng(6)
    tables = [made.table(rng, task="p", documents=8), made.table(rng, task="q", documents=20)]
    found = scores("sago", *tables)
    assert found.totals["sago"] == pytest.approx(found.values["sago"].mean(axis=1))


def test_schemes_are_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scheme_names() == ("sago", "paper-rms", "paper-std-minmax", "paper-std-meanabs")
    with pytest.raises(SagoError, match="unknown scheme 'paper-rsm': did you mean paper-rms"):
        scheme_scores(ScoreTable.of([]), "paper-rsm")
    monkeypatch.setattr(SCHEMES, "_targets", dict(SCHEMES))
    SCHEMES.register("again", "sago_harness.stats.schemes_paper:paper_rms")
    assert "again" in scheme_names()
    assert scheme_scores(ScoreTable.of([]), "again").measures == ()


# Why ours differs ----------------------------------------------------------------------------------


def test_short_answers_that_differ_look_stable_there() -> None:
    """BLEU without effective order is 0 under four tokens, against itself too: delta 0."""
    answers = [("Paris", "Rome"), ("yes", "no"), ("in 1912", "in May")]
    raw = [[[bleu_raw_delta(a, b)] for a, b in answers]]
    distances = [[[bleu_distance(a, b)] for a, b in answers]]
    table = study({"x_bleu": raw}, ("case",), distances={"x_bleu": distances})
    assert scores("paper-rms", table).values["x_bleu"][0, 0] == 0.0
    assert scores("sago", table).values["x_bleu"][0, 0] > 0.5


def test_summed_log_probabilities_grow_with_length_there() -> None:
    """The same change of each token, over twice as many tokens."""
    raw, distances = [], []
    for tokens in (8, 16):
        canonical, variant = np.full(tokens, -1.0), np.full(tokens, -1.5)
        raw.append([[Prob().raw(variant, canonical)]])
        distances.append([[relative_change(variant, canonical, 32)]])
    table = study({"x_prob": raw}, ("case",), models=("brief", "long"), distances={"x_prob": distances})
    theirs = scores("paper-rms", table).values["x_prob"][:, 0]
    ours = scores("sago", table).values["x_prob"][:, 0]
    assert theirs[1] == pytest.approx(2 * theirs[0])
    assert ours[1] == pytest.approx(ours[0])


def test_many_surface_variants_outvote_the_others_there() -> None:
    """The published 75 variants of register and noise that do nothing, 6 of structure that move all."""
    entries = [OPERATORS.load(entry.operator) for entry in load_recipe("paper").entries]
    moved = [float(operator.family == "structure") for operator in entries]
    assert sum(moved) == 6
    names = [operator.name for operator in entries]
    table = study({"x_bert": [[moved]]}, names, distances={"x_bert": [[moved]]})
    assert scores("paper-rms", table).values["x_bert"][0, 0] == pytest.approx(math.sqrt(6 / 81))
    assert scores("sago", table).values["x_bert"][0, 0] == pytest.approx(math.sqrt(1 / 3))


def test_a_value_that_cannot_be_negative_is_always_above_zero_there() -> None:
    """Changes in the fifth digit alone, 200 times: every test against 0 is significant."""
    rng = np.random.default_rng(8)
    deltas = np.abs(rng.normal(0, 1e-5, (200, 30, 12)))
    s = np.sqrt(np.mean(deltas**2, axis=2))
    _, pvalue, _ = rms_test(s, [0.0, 0.01])
    assert (pvalue[:, 0] < 1e-6).all()
    assert (pvalue[:, 1] > 0.99).all()


def test_min_max_changes_when_a_model_is_added_there() -> None:
    rng = np.random.default_rng(9)
    calm = rng.uniform(-1, 0, (2, 6, 6))
    wild = 10.0 * rng.uniform(-1, 0, (1, 6, 6))
    two = study({"x_bert": calm}, models=("a", "b"), distances={"x_bert": -calm})
    both = np.concatenate([calm, wild])
    three = study({"x_bert": both}, models=("a", "b", "c"), distances={"x_bert": np.clip(-both, 0, 1)})
    for scheme in ("paper-std-minmax", "paper-std-meanabs"):
        before, after = scores(scheme, two).values["x_bert"], scores(scheme, three).values["x_bert"]
        assert (after[:2] < 0.5 * before).all()
    before, after = scores("sago", two).values["x_bert"], scores("sago", three).values["x_bert"]
    assert after[:2] == pytest.approx(before)


def test_fixed_ranges_leave_axes_incomparable_there() -> None:
    """As far as another question moves the model on both axes: 1 and 1 for us, far apart there."""
    raw = {"x_bleu": [[[-98.0]]], "x_act": [[[-0.09]]]}
    table = study(raw, ("case",), distances={"x_bleu": [[[1.0]]], "x_act": [[[1.0]]]})
    theirs, ours = scores("paper-rms", table).values, scores("sago", table).values
    assert theirs["x_bleu"][0, 0] > 20 * theirs["x_act"][0, 0]
    assert ours["x_bleu"][0, 0] == ours["x_act"][0, 0] == 1.0


def test_ranges_are_the_published_ones() -> None:
    assert dict(RANGES) == {
        "x_act": 2, "x_bleu": 100, "x_bert": 1, "x_prob": 250, "x_ent": 10, "mirroring": 1,
    }  # fmt: skip


@pytest.mark.parametrize("scheme", ["paper-rms", "paper-std-minmax", "paper-std-meanabs"])
def test_deltas_in_single_precision_are_reckoned_in_double(scheme: str) -> None:
    """A large common part must not eat the differences."""
    raw = (1000.0 + np.random.default_rng(10).normal(0, 0.1, (2, 50, 12))).astype(np.float32)
    operators = (*SIX, *SIX)
    wide = study({"x_prob": raw.astype(np.float64)}, operators, models=("a", "b"))
    narrow = replace(wide, raw={"x_prob": raw})
    assert narrow.raw["x_prob"].dtype == np.float32
    found, same = scores(scheme, narrow), scores(scheme, wide)
    assert found.values["x_prob"].tolist() == same.values["x_prob"].tolist()


@pytest.mark.parametrize("scheme", ["paper-rms", "paper-std-minmax", "paper-std-meanabs"])
def test_the_leaderboard_of_a_scheme_ranks_its_totals(scheme: str) -> None:
    """Data sets of unlike size: flat means over documents where the scheme has those, else over data sets."""
    rng = np.random.default_rng(3)
    tables = [
        made.table(rng, task="p", models=("a", "b", "c"), documents=40, level=0.3),
        made.table(rng, task="q", models=("a", "b", "c"), documents=12, level=0.6),
    ]
    tables = [
        replace(t, raw={"x_act": t.distances["x_act"], "x_bleu": -100.0 * t.distances["x_bleu"]})
        for t in tables
    ]
    found = compare(ScoreTable.of(tables), Settings(resamples=199, scheme=scheme))
    assert found.total is not None
    result = found.schemes[scheme]
    for name, totals in result.totals.items():
        np.testing.assert_allclose(found.total.quantities[name].values, totals, rtol=1e-12)
        block = found.pairs["overall"].columns[name]
        i, j = found.pairs["overall"].first, found.pairs["overall"].second
        np.testing.assert_allclose(block.difference, totals[i] - totals[j], atol=1e-12)
    rows = [row for row in found.firmness if row.kind == "scheme"]
    assert {row.tasks for row in rows if row.models} <= {2}
    if scheme == "paper-rms":
        each = [np.sqrt(np.nanmean(np.square(t.distances["x_act"] / 2.0), axis=2)) for t in tables]
        flat = np.concatenate(each, axis=1)
        one = found.total.quantities["x_act"]
        np.testing.assert_allclose(one.values, flat.mean(axis=1), rtol=1e-6)
        # Of documents within their data set, each mean with its own n / (n - 1).
        parts = [(e.shape[1] / flat.shape[1]) ** 2 * stats.sem(e, axis=1) ** 2 for e in each]
        np.testing.assert_allclose(one.stderr, np.sqrt(sum(parts)), rtol=1e-6)
        notes = TABLES["leaderboard"](found).notes
        assert any(note.startswith("mean over all documents of 2 data sets") for note in notes)
        assert not TABLES["weighted"](found).rows
