"""A whole study: what it says on ordinary and on degenerate input, without a warning."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sago_harness.errors import SagoError
from sago_harness.report.compared import TABLES, sections
from sago_harness.report.tables import Table, as_json, as_latex, as_markdown, as_text
from sago_harness.stats.compare import Comparison, compare
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
    """Document values 0.8, NaN, NaN: 0.8 with 1 of 3 scored, and said to be doubtful."""
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


def test_two_equal_models_are_a_tie() -> None:
    """Two equal score lists of length 8: p = 1, no warning, no exception."""
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
