"""A whole study: what it says on ordinary and on degenerate input, without a warning."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sago_harness.errors import SagoError
from sago_harness.report.compared import TABLES, sections
from sago_harness.report.tables import Table, as_json, as_latex, as_markdown, as_text
from sago_harness.scores.document import HEALTH_FLAGS
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.resampling import Settings
from sago_harness.stats.schemes import scheme_names
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.stats.made import table

QUICK = Settings(resamples=199)


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def study(tables: list[TaskTable], settings: Settings = QUICK) -> Comparison:
    return compare(ScoreTable.of(tables), settings)


def made(task: str, seed: int = 0, **changes: object) -> TaskTable:
    return table(np.random.default_rng(seed), task=task, **changes)  # type: ignore[arg-type]


def of(found: Comparison, name: str) -> Table:
    return TABLES[name](found)


def every_format(found: Comparison) -> None:
    """All tables can be written, and JSON holds no NaN."""
    shown = sections(found)
    assert [one.name for one in shown] == list(TABLES)
    for one in shown:
        for write in (as_text, as_markdown, as_latex):
            assert one.title in write(one)
        for row in one.rows:
            assert len(row) == len(one.columns)
    json.loads(as_json(shown, found.about()), parse_constant=lambda word: pytest.fail(word))
    assert "<table>" in found._repr_html_()


def test_a_known_order_is_found_and_its_reversal() -> None:
    levels = {"p": (0.2, 0.4, 0.6), "q": (0.6, 0.4, 0.2)}
    names = ("a", "b", "c")
    found = study(
        [made(t, i, models=names, documents=80, level=level) for i, (t, level) in enumerate(levels.items())]
    )
    every_format(found)
    ranks = found.ranks
    assert [r.model for r in ranks["p"]["sago_core"].rows()] == ["a", "b", "c"]
    assert [r.model for r in ranks["q"]["sago_core"].rows()] == ["c", "b", "a"]
    turned = {(one.a, one.b): one for one in found.reversals["sago_core"].pairs()}
    assert turned["a", "c"].confirmed
    assert {turned["a", "c"].a_ahead, turned["a", "c"].b_ahead} == {"p", "q"}
    assert all(one.adjusted <= 0.05 for one in found.unstable if one.measure == "x_act")
    # The mean over data sets of equal and opposite levels does not tell the models apart.
    overall = {(r.a, r.b): r for r in found.pairs["overall"].rows() if r.quantity == "sago_core"}
    assert overall["a", "c"].too_close


def test_values_are_those_of_the_runs_own_table() -> None:
    from sago_harness.scores.composite import relative_instability

    one = made("p", models=("a",), documents=30)
    found = study([one]).scored["p"]
    values = found.reduced["x_act"]
    direct = relative_instability(values.squares()[0], values.chances[0])
    assert found.quantities["x_act"].values[0] == pytest.approx(direct.value, abs=1e-12)
    assert found.quantities["x_act"].stderr[0] == pytest.approx(direct.stderr, abs=1e-12)


def test_a_model_that_lacks_a_data_set_is_missing_there_and_left_out_overall() -> None:
    found = study([made("p", models=("a", "b", "c")), made("q", 1, models=("a", "b"))])
    every_format(found)
    assert ("q", "c") in {(row[0], row[1]) for row in of(found, "ranking").rows}
    (row,) = [row for row in of(found, "ranking").rows if row[:2] == ("q", "c")]
    assert row[-1] == "missing"
    assert set(row[2:-1]) == {None}
    assert found.total is not None
    place = found.models.index("c")
    assert math.isnan(found.total.quantities["sago"].values[place])
    assert found.total.left_out["sago"]["c"] == ("q",)
    assert "c" not in found.ranks["overall"]["sago"].models
    assert any("c is not in the mean" in note for note in of(found, "leaderboard").notes)


def test_one_score_of_three() -> None:
    """E05: document values 0.8, NaN, NaN: 0.8 with 1 of 3 scored, and said to be doubtful."""
    one = made("p", models=("a",), documents=3)
    distances = {name: np.full_like(values, np.nan) for name, values in one.distances.items()}
    distances["x_act"][:, 0] = 0.8
    chosen = replace(one, distances=distances, measures={"x_act": "activation"})
    found = study([chosen])
    every_format(found)
    scored = found.scored["p"]
    assert np.sqrt(scored.reduced["x_act"].squares()[0, 0]) == pytest.approx(0.8)
    assert scored.quantities["x_act"].counts[0] == 1
    (row,) = of(found, "ranking").rows
    names = [column.key for column in of(found, "ranking").columns]
    assert (row[names.index("scored")], row[names.index("of")]) == (1, 3)
    assert "coverage" in str(row[names.index("flags")])
    board = of(found, "leaderboard")
    (record,) = board.records()
    assert (record["documents"], record["of"], record["flags"]) == (1, 3, "coverage")
    for shown in (board, of(found, "ranking")):
        told = as_text(shown)
        assert "p: a: 1 of 3 scored" in told
        assert "coverage: under 80% of the documents are scored" in told
    assert "nan" not in str(scored.quantities["sago"])
    assert str(scored.quantities["sago"]) == "sago: -"


def test_many_models_of_low_coverage_are_not_all_told_in_notes() -> None:
    from sago_harness.report.compared_standing import MOST_NOTES

    one = made("p", models=[f"m{i:02d}" for i in range(MOST_NOTES + 3)], documents=6)
    values = one.distances["x_act"].copy()
    values[:, 2:] = np.nan
    found = study([replace(one, distances={**one.distances, "x_act": values})])
    told = [note for note in of(found, "leaderboard").notes if note.endswith(" of 6 scored")]
    assert told == [f"p: m{i:02d}: 2 of 6 scored" for i in range(MOST_NOTES)]
    assert "3 more: columns n and of" in of(found, "leaderboard").notes


def test_full_coverage_needs_no_note() -> None:
    found = study([made("p"), made("q", 1, models=("a",))])
    assert not [note for note in of(found, "leaderboard").notes if "scored" in note]
    rows = {record["model"]: record for record in of(found, "leaderboard").records()}
    assert (rows["a"]["documents"], rows["a"]["of"]) == (80, 80)
    assert (rows["b"]["documents"], rows["b"]["of"]) == (40, 40)


def test_measures_and_axes_over_data_sets_and_on_each() -> None:
    found = study([made("p", documents=20), made("q", 1, documents=30)])
    records = of(found, "measures").records()
    assert [(r["task"], r["model"]) for r in records] == [
        (task, model) for task in ("overall", "p", "q") for model in ("a", "b")
    ]
    by = {(r["task"], r["model"]): r for r in records}
    for model in ("a", "b"):
        p, q, over = (by[task, model] for task in ("p", "q", "overall"))
        for name in ("x_bleu", "x_act", "x_mr"):
            # Unweighted, of independent documents.
            assert over[name] == pytest.approx((p[name] + q[name]) / 2, abs=1e-12)
            error = math.hypot(p[f"{name}_stderr"], q[f"{name}_stderr"]) / 2
            assert over[f"{name}_stderr"] == pytest.approx(error, abs=1e-12)
        for one in (p, q, over):
            for axis in ("generation", "activation", "confidence", "mirroring"):
                low, high = one[f"sago_{axis}_interval"]
                assert low <= one[f"sago_{axis}"] <= high
            assert one["sago_activation"] == pytest.approx(min(1.0, one["x_act"]), abs=1e-9) or (
                one["task"] == "overall"
            )
    alone = of(study([made("p")]), "measures")
    assert {row[0] for row in alone.rows} == {"p"}
    assert not [note for note in alone.notes if "overall" in note]


def test_lengths_and_health_are_shares_of_a_table() -> None:
    one = made("p", documents=10)
    assert one.tokens is not None
    flags = {name: np.zeros((2, 10), dtype=bool) for name in HEALTH_FLAGS}
    for k, name in enumerate(HEALTH_FLAGS):
        flags[name][1, : k + 1] = True
    records = of(study([replace(one, flags=flags)]), "ranking").records()
    shown = {record["model"]: [record[name] for name in HEALTH_FLAGS] for record in records}
    assert shown == {"a": [0.0] * 4, "b": pytest.approx([0.1, 0.2, 0.3, 0.4])}
    for m, record in enumerate(sorted(records, key=lambda r: str(r["model"]))):
        assert record["tokens"] == pytest.approx(np.mean(one.tokens[m]))


def test_one_other_document_has_no_error_in_the_note() -> None:
    one = made("p", documents=30)
    assert one.responses is not None
    responses = one.responses.copy()
    responses[0, 1:] = "same"
    found = study([replace(one, responses=responses)])
    (told,) = [note for note in of(found, "ranking").notes if "stock answers" in note and "a:" in note]
    assert re.search(r"over its other documents: sago \.?\d", told)
    assert "nan" not in told
    assert "±" not in told
    responses[0, 1:3] = ["own", "other"]
    again = study([replace(one, responses=responses)])
    (told,) = [note for note in of(again, "ranking").notes if "stock answers" in note and "a:" in note]
    assert "±" in told


def test_two_equal_models_are_a_tie() -> None:
    """S01: two equal score lists of length 8: p = 1, no warning, no exception."""
    one = made("p", models=("a",), documents=8)
    twice = {n: np.concatenate([v, v]) for n, v in one.distances.items()}
    controls = {n: np.concatenate([v, v]) for n, v in one.controls.items()}
    assert one.correct is not None
    assert one.responses is not None
    assert one.tokens is not None
    both = replace(
        one,
        models=("a", "b"),
        distances=twice,
        controls=controls,
        correct=np.concatenate([one.correct] * 2),
        responses=np.concatenate([one.responses] * 2),
        tokens=np.concatenate([one.tokens] * 2),
        flags={n: np.concatenate([v, v]) for n, v in one.flags.items()},
        mixed=(False, False),
    )
    found = study([both])
    every_format(found)
    for pair in found.pairs["p"].rows():
        assert (pair.difference, pair.pvalue) == (0.0, 1.0)
        assert pair.too_close


def zeros(one: TaskTable) -> TaskTable:
    return replace(one, distances={n: np.zeros_like(v) for n, v in one.distances.items()})


def equal(one: TaskTable) -> TaskTable:
    distances = {n: np.full_like(v, 0.3) for n, v in one.distances.items()}
    controls = {n: np.full_like(v, 0.6) for n, v in one.controls.items()}
    return replace(one, distances=distances, controls=controls)


def no_text_axis(one: TaskTable) -> TaskTable:
    """The second model gives text only."""
    distances = {n: v.copy() for n, v in one.distances.items()}
    for name in ("x_act", "x_prob", "x_ent"):
        distances[name][1:] = np.nan
    return replace(one, distances=distances)


def one_variant(one: TaskTable) -> TaskTable:
    keep = np.zeros(len(one.variants), dtype=bool)
    keep[0] = True
    return one.with_variants(keep)


def without_chance(one: TaskTable) -> TaskTable:
    return replace(one, controls={n: np.full_like(v, np.nan) for n, v in one.controls.items()})


def stock(one: TaskTable) -> TaskTable:
    assert one.responses is not None
    responses = one.responses.copy()
    responses[0] = "the same"
    return replace(one, responses=responses)


DEGENERATE: dict[str, Callable[[TaskTable], TaskTable]] = {
    "all zero": zeros,
    "all equal": equal,
    "an axis missing for a model": no_text_axis,
    "one variant": one_variant,
    "no chance controls": without_chance,
    "stock answers": stock,
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_input_is_answered(name: str) -> None:
    tables = [DEGENERATE[name](made(task, i, documents=12)) for i, task in enumerate(("p", "q"))]
    found = study(tables)
    every_format(found)
    for one in found.unstable:
        assert math.isfinite(one.pvalue) or one.reason, one
    for block in found.pairs.values():
        for pair in block.rows():
            assert math.isfinite(pair.pvalue) or pair.reason, pair
    for task in found.scored.values():
        for quantity in task.quantities.values():
            for value, reason in zip(quantity.values, quantity.reasons, strict=True):
                assert math.isfinite(value) or reason


@pytest.mark.parametrize("documents", [1, 2, 5])
@pytest.mark.parametrize("models", [("a",), ("a", "b")])
@pytest.mark.parametrize("tasks", [("p",), ("p", "q")])
def test_small_studies(documents: int, models: tuple[str, ...], tasks: tuple[str, ...]) -> None:
    found = study([made(t, i, documents=documents, models=models) for i, t in enumerate(tasks)])
    every_format(found)
    if documents == 1:
        for result in found.intervals[tasks[0]].values():
            assert np.isnan(result.low).all()
    if documents == 5 and len(models) == 2:
        (pair,) = [r for r in found.pairs["p"].rows() if r.quantity == "sago"]
        # Five pairs: the smallest possible p is shown, since no result could be significant.
        assert pair.smallest_pvalue == 0.0625
    if len(models) == 1 or len(tasks) == 1:
        assert not [one for one in of(found, "reversals").rows if one[-1]]


def test_a_model_of_stock_answers_is_not_ranked() -> None:
    found = study([stock(made("p", documents=30))])
    assert found.ranks["p"]["sago"].excluded == {"a": "stock_answers"}
    flags = {row[0]: row[-1] for row in of(found, "leaderboard").rows}
    assert "stock" in str(flags["a"])
    assert "stock" not in str(flags["b"])
    (told,) = [note for note in of(found, "ranking").notes if "stock answers" in note and "a:" in note]
    assert "100% stock answers; over its other documents: nothing is scored" in told


@pytest.mark.parametrize("scheme", [name for name in scheme_names() if name != "sago"])
def test_published_schemes_take_the_place_of_ours(scheme: str) -> None:
    tables = []
    for i, task in enumerate(("p", "q")):
        one = made(task, i, documents=20, models=("a", "b", "c", "d"))
        tables.append(replace(one, raw={n: one.distances[n] * -2.0 for n in ("x_act", "x_bleu", "x_bert")}))
    found = study(tables, replace(QUICK, scheme=scheme))
    every_format(found)
    assert "x_act" in found.scores
    assert f"scheme:{scheme}" in found.signature
    values = found.scored["p"].quantities["x_act"].values
    assert np.isfinite(values).all()


def test_pairs_under_a_scheme_are_paired_t_tests_of_its_document_values() -> None:
    """The scheme's scores bear our measures' names; nothing of our own formulas may touch them."""
    tables = []
    for i, task in enumerate(("p", "q")):
        one = made(task, i, documents=20, models=("a", "b", "c", "d"))
        tables.append(replace(one, raw={n: one.distances[n] * -2.0 for n in ("x_act", "x_bleu")}))
    found = study(tables, replace(QUICK, scheme="paper-rms"))
    documents = found.schemes["paper-rms"].document_values
    for name in ("x_act", "x_bleu"):
        for place in ("p", "q", "overall"):
            values = (found.total if place == "overall" else found.scored[place]).quantities[name].values
            block = found.pairs[place].columns[name]
            first, second = found.pairs[place].first, found.pairs[place].second
            np.testing.assert_allclose(block.difference, values[first] - values[second], rtol=1e-9)
            for k, (a, b) in enumerate(zip(first, second, strict=True)):
                if place != "overall":
                    t = stats.ttest_rel(documents[place][name][a], documents[place][name][b])
                    assert block.statistic[k] == pytest.approx(t.statistic, rel=1e-9)


def test_a_control_model_halves_the_work() -> None:
    tables = [made(t, i, models=("a", "b", "c", "d")) for i, t in enumerate(("p", "q"))]
    found = study(tables, replace(QUICK, control="b"))
    every_format(found)
    assert {"b" in (r.a, r.b) for r in found.pairs["p"].rows()} == {True}
    assert len(found.pairs["p"]) == 3


def test_a_data_set_without_the_control_has_no_pairs() -> None:
    tables = [
        made("p", models=("a", "b", "c")),
        made("q", 1, models=("a", "c")),
        made("r", 2, models=("a", "b")),
    ]
    found = study(tables, replace(QUICK, control="b"))
    every_format(found)
    assert set(found.pairs) == {"p", "r", "overall"}
    table = found.reversals["sago"]
    assert np.isnan(table.p_plus[table.tasks.index("q")]).all()
    assert {(one.a, one.b): one.data_sets for one in table.pairs()} == {("a", "b"): 2, ("c", "b"): 1}


def test_the_same_study_twice_is_the_same_to_the_last_digit() -> None:
    tables = [made(t, i, missing=0.02) for i, t in enumerate(("p", "q"))]
    once, again = (study(tables) for _ in range(2))
    assert as_json(sections(once), once.about()) == as_json(sections(again), again.about())
    other = study(tables, replace(QUICK, seed=1))
    assert other.signature != once.signature


@pytest.mark.parametrize("control", ["", "b"])
def test_data_sets_at_once_are_data_sets_one_by_one(control: str) -> None:
    tables = [made(t, i, missing=0.02) for i, t in enumerate("pqrst")]
    settings = replace(QUICK, control=control)
    alone, together = (compare(ScoreTable.of(tables), settings, workers=count) for count in (1, 3))
    assert as_json(sections(alone), alone.about()) == as_json(sections(together), together.about())
    assert list(alone.pairs) == list(together.pairs) == [*"pqrst", "overall"]
    assert set(together.processor) == set(together.seconds) == set(alone.seconds)


def test_what_is_wrong_with_one_of_several_data_sets_is_told() -> None:
    def load(task: str) -> TaskTable:
        if task == "q":
            raise SagoError("q cannot be read")
        return made(task)

    with pytest.raises(SagoError, match="q cannot be read"):
        compare(ScoreTable(("p", "q", "r"), ("a", "b", "c"), load), QUICK, workers=2)


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(SagoError, match="no data set"):
        compare(ScoreTable.of([]))
    with pytest.raises(SagoError, match="unknown control model 'z'"):
        study([made("p")], replace(QUICK, control="z"))
    with pytest.raises(SagoError, match="unknown scheme"):
        study([made("p")], replace(QUICK, scheme="paper"))


def test_p_of_reversal_is_worked_out_for_every_score_of_a_small_study() -> None:
    found = study([made(t, i, models="abcdef", documents=12) for i, t in enumerate(("p", "q"))])
    assert {"sago", "sago_activation", "x_bleu", "flip", "acc"} & set(found.reversals) >= {"sago", "x_bleu"}
    for name, one in found.reversals.items():
        assert np.isfinite(one.probability).all(), name
        assert not any(one.probability_reasons), name


def test_p_of_reversal_of_a_large_study_is_that_of_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """15 pairs of models between one pair of data sets are one too many; scores are what they were."""
    tables = [made(t, i, models="abcdef", documents=12) for i, t in enumerate(("p", "q"))]
    whole = study(tables)
    monkeypatch.setattr("sago_harness.stats.score_reversals.MOST_PROBABLE", 14)
    found = study(tables)
    for name, one in found.reversals.items():
        if name in ("sago", "sago_core", "sago_text"):
            np.testing.assert_array_equal(one.probability, whole.reversals[name].probability)
        else:
            assert np.isnan(one.probability).all()
            (why,) = one.probability_reasons
            assert why in of(found, "where-reversed").notes
            assert why.startswith("P(reversal): worked out for sago, sago_core, sago_text alone")
            assert "15 pairs" in why
            assert "over 14" in why
            assert one.result(0, 0).probability_reason == why


def test_a_model_that_samples_is_said_to_be_out_of_the_ranks_everywhere() -> None:
    from sago_harness.figures import figures
    from sago_harness.figures.figure import Figure
    from sago_harness.report.page.standing import sentences, standings
    from sago_harness.report.study import Study

    greedy, drawn = {"generation": {"do_sample": False}}, {"generation": {"do_sample": True}}
    tables = [
        replace(made(task, i, models=("a", "b", "c"), documents=12), signatures=(greedy, greedy, drawn))
        for i, task in enumerate(("p", "q"))
    ]
    found = study(tables)
    every_format(found)
    for place in ("p", "q", "overall"):
        for ranks in found.ranks[place].values():
            assert ranks.excluded == {"c": "sampling"}
    for name in ("leaderboard", "ranking"):
        at = [column.key == "model" for column in of(found, name).columns].index(True)
        for row in of(found, name).rows:
            assert ("sampling" in str(row[-1])) == (row[at] == "c")
    assert all("c" not in row.models for row in found.firmness if row.kind != "epsilon changed")
    assert all("c" not in one.models for one in found.agreement.values())
    (standing,) = [one for one in standings(found) if one.model == "c"]
    assert standing.ranks is None
    words = sentences(standing, found).striptags()
    assert "not ranked: its answers are drawn at random" in words
    assert "answers drawn at random (all data sets)" in words
    shown = next(iter(figures(Study(found), ["standing"])))
    assert isinstance(shown, Figure)
    assert "not ranked: answers drawn at random" in json.dumps(shown.spec)


@pytest.mark.parametrize("scheme", ["paper-rms", "paper-std-minmax", "paper-std-meanabs"])
def test_an_unscored_variant_makes_no_model_steadier(scheme: str) -> None:
    """Two models of the same records, one of which was not scored on the variants that moved most."""
    one = made("p", models=("a", "a2"))
    raw = {name: np.repeat(values[:1], 2, axis=0) for name, values in one.distances.items()}
    hard = [i for i, v in enumerate(one.variants) if v.operator == "politeness"]
    assert len(hard) == 2
    for values in raw.values():
        values[:, :, hard] = 3.0
        values[1, ::2, hard[0]] = np.nan
        values[1, ::3, hard[1]] = np.nan
    found = study([replace(one, raw=raw)], replace(QUICK, scheme=scheme))
    for quantity in found.scored["p"].quantities.values():
        np.testing.assert_array_equal(*quantity.values)
