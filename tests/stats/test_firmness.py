"""The ranking looked at otherwise: each variation is the score of a table that was changed by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sago_harness.scores.composite import COMPOSITES, mean_estimate, relative_instability
from sago_harness.stats.compare import compare
from sago_harness.stats.firmness import Variation, _half, firmness, variations
from sago_harness.stats.resampling import Settings, generator
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.stats.made import table

SHORT = ("x_bleu", "x_bert", "x_prob", "x_ent")
NAMES = ("a", "b", "c")


def made(seed: int = 0, **changes: object) -> TaskTable:
    return table(np.random.default_rng(seed), models=NAMES, level=(0.2, 0.4, 0.6), **changes)  # type: ignore[arg-type]


def with_first(lacking: dict[str, tuple[str, ...]] | None = None) -> tuple[TaskTable, TaskTable]:
    """A table with values of the first tokens, and the table whose values they are.

    ``lacking``: model -> measures that it has no such values of.
    """
    one, other = made(0), made(1)
    first = {name: other.distances[name].copy() for name in SHORT}
    controls = {name: other.controls[name].copy() for name in SHORT}
    for model, names in (lacking or {}).items():
        for name in names:
            first[name][NAMES.index(model)] = np.nan
            controls[name][NAMES.index(model)] = np.nan
    return replace(one, first=first, first_controls=controls), other


def first_tokens(one: TaskTable) -> list[Variation]:
    return [v for v in variations(one, score_task(one), 0) if v.kind == "first 16 tokens"]


def cut(one: TaskTable, other: TaskTable, names: tuple[str, ...]) -> TaskTable:
    """The table with some measures of another one."""
    return replace(
        one,
        distances={**one.distances, **{name: other.distances[name] for name in names}},
        controls={**one.controls, **{name: other.controls[name] for name in names}},
    )


def same(found: Variation, expected: TaskTable, models: tuple[str, ...] = NAMES) -> None:
    quantities = score_task(expected.with_models(models)).quantities
    at = [NAMES.index(model) for model in models]
    for name, values in found.values.items():
        np.testing.assert_allclose(values[at], quantities[name].values, atol=1e-12)
        assert np.isnan(np.delete(values, at)).all()


def test_the_first_tokens_are_a_table_of_their_own() -> None:
    one, other = with_first()
    (found,) = first_tokens(one)
    assert found.detail == "x_bleu, x_bert, x_prob, x_ent"
    same(found, cut(one, other, SHORT))
    assert set(found.values) == {"sago", "sago_core", "sago_text"}


def test_older_records_among_new_ones() -> None:
    """A model without the texts' part is left out of one row and in the other."""
    one, other = with_first({"b": ("x_bleu", "x_bert")})
    both, forced = first_tokens(one)
    assert (both.detail, forced.detail) == ("x_bleu, x_bert, x_prob, x_ent", "x_prob, x_ent")
    same(both, cut(one, other, SHORT), ("a", "c"))
    same(forced, cut(one, other, ("x_prob", "x_ent")))


def test_older_records_alone() -> None:
    one, other = with_first(dict.fromkeys(NAMES, ("x_bleu", "x_bert")))
    (found,) = first_tokens(one)
    assert found.detail == "x_prob, x_ent"
    same(found, cut(one, other, ("x_prob", "x_ent")))
    (none,) = first_tokens(with_first(dict.fromkeys(NAMES, SHORT))[0])
    assert (none.values, none.reason) == ({}, "the records hold no distances over the first tokens")


def test_a_model_of_text_alone_is_not_in_the_row() -> None:
    one, _ = with_first({"c": SHORT})
    text = {name: one.distances[name].copy() for name in ("x_act", "x_prob", "x_ent")}
    for values in text.values():
        values[2] = np.nan
    one = replace(one, distances={**one.distances, **text})
    (found,) = first_tokens(one)
    results = firmness({"p": (NAMES, list(variations(one, score_task(one), 0)))})
    (row,) = [r for r in results if r.kind == "first 16 tokens" and r.score == "sago_text"]
    assert row.models == ("a", "b")
    assert row.values == pytest.approx(found.values["sago_text"][:2], abs=1e-12)


def models_of(squares: dict[str, np.ndarray], one: TaskTable) -> dict[str, list[float]]:
    """The composites of each model from mean squares, model by model as a run's own table forms them."""
    reduced = score_task(one).reduced
    found: dict[str, list[float]] = {name: [] for name in COMPOSITES}
    for m in range(len(one.models)):
        held: dict[str, list[float]] = {}
        for name, own in squares.items():
            values = reduced[name]
            if name == "x_mr":
                r = mean_estimate(own[m]).value
            else:
                least = 0.05 if name == "x_bleu" else 0.0
                r = relative_instability(own[m], values.chances[m], values.floors[m], least).value
            held.setdefault(values.axis, []).append(min(max(r, 0.0), 1.0) if np.isfinite(r) else np.nan)
        for name, axes in COMPOSITES.items():
            found[name].append(1.0 - float(np.mean([np.mean(held[axis]) for axis in axes])))
    return found


def uneven(missing: float) -> TaskTable:
    """Numbers are missing, one model answers nearly everything alike, another has noise near chance."""
    one = made(3, missing=missing, repeats=2, mirroring=0.2, documents=60)
    if missing:
        one.distances["x_mr"][np.random.default_rng(4).random(one.shape) < 0.5] = np.nan
        one.controls["x_bleu"][1] *= 0.01
        one.repeats["x_act"][2] = 0.4
    return one


def found_in(one: TaskTable, kind: str) -> dict[str, Variation]:
    return {v.detail: v for v in variations(one, score_task(one), 7) if v.kind == kind}


def equal(found: Variation, expected: dict[str, list[float]]) -> None:
    assert set(found.values) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found.values[name], values, rtol=1e-10)


MISSING = pytest.mark.parametrize("missing", [0.0, 0.1])


@MISSING
def test_an_operator_less_and_a_family_twice(missing: float) -> None:
    one = uneven(missing)
    reduced = score_task(one).reduced
    less = found_in(one, "without operator")
    assert list(less) == [f"{family}/{operator}" for family, operator in one.operators]
    for place, found in enumerate(less.values()):
        equal(found, models_of({n: v.without_operator(place).squares() for n, v in reduced.items()}, one))
    heavier = found_in(one, "family weight")
    assert list(heavier) == ["register x 2", "noise x 2", "structure x 2"]
    for place, found in enumerate(heavier.values()):
        weights = 1.0 + (np.arange(3) == place)
        equal(found, models_of({n: v.squares(weights) for n, v in reduced.items()}, one))
    values = np.array([v.values["sago_core"] for v in (*less.values(), *heavier.values())])
    assert len(np.unique(values[:, 0])) == len(values)


@MISSING
def test_halves_are_data_sets_of_their_own(missing: float) -> None:
    one = uneven(missing)
    rng = generator(7, "halves", one.task)
    documents, variants = found_in(one, "half of the documents"), found_in(one, "half of the variants")
    assert list(documents) == list(variants) == ["1a", "1b", "2a", "2b"]
    family = np.array([list(one.families).index(key.family) for key in one.variants])
    for found, strata in ((documents, np.zeros(one.shape[1], dtype=np.intp)), (variants, family)):
        for split in "12":
            first = _half(strata, rng)
            for name, keep in (("a", first), ("b", ~first)):
                half = one.with_documents(keep) if found is documents else one.with_variants(keep)
                alone = score_task(half)
                equal(
                    found[split + name],
                    models_of({n: values.squares() for n, values in alone.reduced.items()}, half),
                )
                for score, values in found[split + name].values.items():
                    np.testing.assert_allclose(values, alone.quantities[score].values, rtol=1e-12)


@MISSING
def test_right_and_wrong_answers_apart(missing: float) -> None:
    one = uneven(missing)
    assert one.correct is not None
    one.correct[0, :, 0] = np.arange(one.shape[1]) < 5
    for kind, wanted in (("right canonical answers", 1.0), ("wrong canonical answers", 0.0)):
        keep = one.correct[:, :, 0] == wanted
        squares = {n: np.where(keep, v.squares(), np.nan) for n, v in score_task(one).reduced.items()}
        expected = models_of(squares, one)
        if wanted == 1.0:
            # Too few answers of the first model.
            expected = {name: [np.nan, *values[1:]] for name, values in expected.items()}
        equal(found_in(one, kind)[""], expected)


def test_equal_length_is_a_regression_over_documents() -> None:
    one = uneven(0.1)
    assert one.correct is not None
    assert one.tokens is not None
    found = found_in(one, "equal length and accuracy")[""]
    for name, quantity in score_task(one).quantities.items():
        if quantity.kind != "composite":
            continue
        rows, y, used = [], [], [m for m in range(3) if np.isfinite(quantity.values[m])]
        for m in used:
            for d in np.flatnonzero(quantity.influence[m]):
                dummies = [float(m == other) for other in used]
                rows.append([*dummies, np.log1p(one.tokens[m, d]), one.correct[m, d, 0]])
                y.append(quantity.values[m] + quantity.influence[m, d] * quantity.counts[m])
        design = np.array(rows)
        design[:, -2:] -= design[:, -2:].mean(axis=0)
        slopes = np.linalg.lstsq(design, np.array(y), rcond=None)[0]
        np.testing.assert_allclose(found.values[name][used], slopes[: len(used)], rtol=1e-10)
        assert np.isnan(np.delete(found.values[name], used)).all()


def test_orders_over_data_sets_against_scipy() -> None:
    """Means over the data sets that have a variation, against the same ones as they are."""
    rng = np.random.default_rng(5)
    given = {}
    for task, names in (("p", ("a", "b", "c", "d")), ("q", ("d", "c", "b", "a")), ("r", ("a", "b", "c"))):
        of = [Variation("as it is", "", {"sago": rng.random(len(names))})]
        of.append(Variation("pack seed", "1", {"sago": rng.random(len(names))}))
        if task == "q":
            of.append(Variation("first 16 tokens", "", {}, "the records hold none"))
        else:
            of.append(Variation("first 16 tokens", "", {"sago": rng.random(len(names))}))
        given[task] = (names, of)

    def mean(place: int, tasks: str) -> dict[str, float]:
        held = [dict(zip(given[t][0], given[t][1][place].values["sago"], strict=True)) for t in tasks]
        models = [m for m in "abcd" if all(m in own for own in held)]
        return {m: float(np.mean([own[m] for own in held])) for m in models}

    rows = {(r.kind, r.detail): r for r in firmness(given) if r.score == "sago"}
    for key, place, tasks, against in (
        (("pack seed", "1"), 1, "pqr", "pqr"),
        (("first 16 tokens", ""), 2, "pr", "pr"),
        (("without data set", "r"), 0, "pq", "pqr"),
    ):
        row, other, whole = rows[key], mean(place, tasks), mean(0, against)
        assert row.models == tuple(m for m in whole if m in other)
        assert row.values == pytest.approx([other[m] for m in row.models], abs=1e-15)
        a, b = [whole[m] for m in row.models], [other[m] for m in row.models]
        assert row.tau == pytest.approx(stats.kendalltau(a, b).statistic)
        moved = np.abs(stats.rankdata(a) - stats.rankdata(b)).max()
        assert (row.moved, row.best_kept) == (moved, np.argmax(a) == np.argmax(b))
    assert rows["first 16 tokens", ""].tasks == 3


def test_models_that_are_not_ranked_are_in_no_row() -> None:
    """Leaving a model out of the ranking is as good as not having run it."""
    given, without = {}, {}
    for task, seed in (("p", 0), ("q", 1)):
        one = replace(made(seed), task=task)
        scored = score_task(one)
        given[task] = (NAMES, list(variations(one, scored, 0)))
        kept = [replace(v, values={n: x[[0, 2]] for n, x in v.values.items()}) for v in given[task][1]]
        without[task] = (("a", "c"), kept)
    ranked = np.array([True, False, True])
    found = firmness(given, {"p": ranked, "q": ranked})
    assert list(map(repr, found)) == list(map(repr, firmness(without)))
    assert {row.models for row in found if not row.reason} == {("a", "c")}
    assert ("a", "b", "c") in {row.models for row in firmness(given)}


def test_a_row_says_whether_ranks_or_values_are_lacking() -> None:
    one = made()
    given = list(variations(one, score_task(one), 0))
    blank = {name: np.array([v[0], np.nan, np.nan]) for name, v in given[0].values.items()}
    found = {"p": (NAMES, [*given, Variation("pack seed", "7", blank)])}
    (row, *_) = [one for one in firmness(found) if one.kind == "pack seed"]
    assert (row.models, row.reason) == (("a",), "fewer than two models have a value")
    alone = firmness(found, {"p": np.array([True, False, False])})
    told = {row.reason for row in alone if row.kind in ("pack seed", "without operator")}
    assert told == {"fewer than two models are ranked"}


@pytest.mark.parametrize("tasks", [("p",), ("p", "q")])
def test_a_model_of_stock_answers_is_in_the_rows_as_in_the_ranks(tasks: tuple[str, ...]) -> None:
    """6 of 40 stock answers on one data set: over two of them that is less than a tenth."""
    tables = [replace(made(seed), task=task) for seed, task in enumerate(tasks)]
    tables = [replace(one, raw={"x_act": -one.distances["x_act"]}) for one in tables]
    assert tables[0].responses is not None
    tables[0].responses[1, :6] = "I cannot help with that."
    found = compare(ScoreTable.of(tables), Settings(resamples=99))
    over = found.ranks["overall" if len(tasks) > 1 else "p"]["sago"]
    assert ("b" in over.models) == (len(tasks) > 1)
    rows = [row for row in found.firmness if row.kind not in ("epsilon changed", "without data set")]
    assert {"scheme", "without operator"} <= {row.kind for row in rows}
    for row in rows:
        assert set(row.models) <= set(over.models)
        if not row.reason:
            assert set(row.models) == set(over.models)
