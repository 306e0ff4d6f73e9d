from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sago_harness.stats.table import TaskTable
from sago_harness.stats.worst import WorstResult, with_texts, worst_cases
from tests.stats import made

pytestmark = pytest.mark.filterwarnings("error")

CORE = {"generation": ("x_bleu", "x_bert"), "activation": ("x_act",), "confidence": ("x_prob", "x_ent")}


def table_of(seed: int = 0, models: tuple[str, ...] = ("a", "b", "c"), documents: int = 12) -> TaskTable:
    return made.table(np.random.default_rng(seed), models=models, documents=documents)


def level(table: TaskTable, m: int, measure: str) -> float:
    return math.sqrt(np.square(table.controls[measure][m]).mean())


def document_value(table: TaskTable, m: int, i: int, measure: str) -> float:
    families: dict[str, list[float]] = {}
    for v, key in enumerate(table.variants):
        families.setdefault(key.family, []).append(table.distances[measure][m, i, v] ** 2)
    return math.sqrt(np.mean([np.mean(x) for x in families.values()])) / level(table, m, measure)


def core(table: TaskTable, m: int, i: int) -> float:
    axes = [np.mean([document_value(table, m, i, name) for name in names]) for names in CORE.values()]
    return float(np.mean(axes))


def core_of_variant(table: TaskTable, m: int, i: int, v: int) -> float:
    axes = [
        np.mean([table.distances[name][m, i, v] / level(table, m, name) for name in names])
        for names in CORE.values()
    ]
    return float(np.mean(axes))


def result_of(results: tuple[WorstResult, ...], model: str) -> WorstResult:
    return next(r for r in results if r.model == model)


def test_each_models_worst_documents_and_variants_are_those_of_plain_loops() -> None:
    table = table_of()
    results = worst_cases(table, k=4)
    assert [r.model for r in results] == ["a", "b", "c", ""]
    for m, model in enumerate(table.models):
        result = result_of(results, model)
        values = [core(table, m, i) for i in range(12)]
        order = sorted(range(12), key=lambda i: -values[i])[:4]
        assert [case.document for case in result.cases] == [table.documents[i] for i in order]
        assert (result.documents, result.unscored, result.models) == (12, 0, (model,))
        for case, i in zip(result.cases, order, strict=True):
            assert case.value == pytest.approx(values[i], rel=1e-12)
            shares = [core_of_variant(table, m, i, v) for v in range(len(table.variants))]
            v = int(np.argmax(shares))
            assert case.variant == table.variants[v].id
            assert case.distance == pytest.approx(shares[v], rel=1e-12)
            assert case.model == model
            assert case.distances == {
                name: table.distances[name][m, i, v] for name in [*table.measures, "x_mr"]
            }


def test_over_models_the_mean_counts_and_the_model_moved_most_is_named() -> None:
    table = table_of(1)
    result = result_of(worst_cases(table, k=3), "")
    values = [np.mean([core(table, m, i) for m in range(3)]) for i in range(12)]
    order = sorted(range(12), key=lambda i: -values[i])[:3]
    assert [case.document for case in result.cases] == [table.documents[i] for i in order]
    for case, i in zip(result.cases, order, strict=True):
        shares = np.array([[core_of_variant(table, m, i, v) for v in range(10)] for m in range(3)])
        v = int(np.argmax(shares.mean(axis=0)))
        m = int(np.argmax(shares[:, v]))
        assert case.value == pytest.approx(values[i])
        assert (case.variant, case.model) == (table.variants[v].id, table.models[m])
        assert case.distance == pytest.approx(shares[:, v].mean())
        assert case.distances["x_act"] == table.distances["x_act"][m, i, v]
    assert result.models == ("a", "b", "c")


def test_equal_values_stand_in_the_order_of_their_ids() -> None:
    table = table_of(2, documents=9)
    flat = {name: np.full_like(d, 0.3) for name, d in table.distances.items()}
    # Rounding that differs by machine must not change the order.
    flat["x_act"] = flat["x_act"] + 1e-15 * np.random.default_rng(3).random(table.shape)
    alike = {name: np.full_like(d, 0.6) for name, d in table.controls.items()}
    for result in worst_cases(replace(table, distances=flat, controls=alike), k=9):
        assert [case.document for case in result.cases] == list(table.documents)
        assert {case.variant for case in result.cases} == {min(key.id for key in table.variants)}
        assert {case.model for case in result.cases} == {result.model or "a"}


def test_the_order_of_models_documents_and_variants_in_the_table_does_not_matter() -> None:
    table = table_of(4)
    table.distances["x_bleu"][:, 3:6] = 1.0
    rows, columns = np.random.default_rng(5).permutation(12), np.random.default_rng(6).permutation(10)
    turned = replace(
        table,
        documents=tuple(table.documents[i] for i in rows),
        variants=tuple(table.variants[v] for v in columns),
        distances={k: d[:, rows][:, :, columns] for k, d in table.distances.items()},
        controls={k: d[:, rows] for k, d in table.controls.items()},
    )
    for score in ("sago_core", "x_bleu"):
        for a, b in zip(worst_cases(table, score=score), worst_cases(turned, score=score), strict=True):
            assert [(c.document, c.variant, c.model) for c in a.cases] == [
                (c.document, c.variant, c.model) for c in b.cases
            ]


def test_other_scores() -> None:
    table = table_of(7)
    single = result_of(worst_cases(table, score="x_ent", k=1), "b").cases[0]
    values = [document_value(table, 1, i, "x_ent") for i in range(12)]
    assert single.document == table.documents[int(np.argmax(values))]
    assert single.value == pytest.approx(max(values))
    axis = result_of(worst_cases(table, score="sago_generation", k=1), "b").cases[0]
    assert axis == result_of(worst_cases(table, score="generation", k=1), "b").cases[0]
    pairs = [np.mean([document_value(table, 1, i, n) for n in CORE["generation"]]) for i in range(12)]
    assert axis.value == pytest.approx(max(pairs))
    net = (table.distances["x_mr"] - table.distances["x_mr_floor"])[1]
    mirrored = result_of(worst_cases(table, score="mirroring", k=1), "b").cases[0]
    assert mirrored.value == pytest.approx(net.mean(axis=1).max())
    i = int(np.argmax(net.mean(axis=1)))
    assert mirrored.variant == table.variants[int(np.argmax(net[i]))].id
    assert mirrored.distance == pytest.approx(net[i].max())
    whole = result_of(worst_cases(table, score="sago", k=12), "b").cases
    for case in whole:
        i = table.documents.index(case.document)
        assert case.value == pytest.approx((3.0 * core(table, 1, i) + net[i].mean()) / 4.0)
        v = [key.id for key in table.variants].index(case.variant)
        assert case.distance == pytest.approx(core_of_variant(table, 1, i, v))
    with pytest.raises(ValueError, match="no score 'best'"):
        worst_cases(table, score="best")


def test_texts_are_joined_for_every_case_that_has_a_variant() -> None:
    table = table_of(8)
    asked = []

    def texts(task: str, model: str, document: str, variant: str) -> tuple[str, str]:
        asked.append((task, model, document, variant))
        return f"prompt of {document}", f"{model} on {variant}"

    results = worst_cases(table, k=2)
    joined = with_texts(results, texts)
    assert len(asked) == 8
    for before, after in zip(results, joined, strict=True):
        for plain, case in zip(before.cases, after.cases, strict=True):
            assert (plain.prompt, plain.response) == (None, None)
            assert case.prompt == f"prompt of {case.document}"
            assert case.response == f"{case.model} on {case.variant}"
            assert replace(case, prompt=None, response=None) == plain


def test_a_model_without_the_score_says_why_and_the_others_are_averaged() -> None:
    table = table_of(9)
    table.distances["x_prob"][1] = np.nan
    table.controls["x_bleu"][2] = 0.001
    results = worst_cases(table)
    assert result_of(results, "b").reason == "confidence: x_prob: no_document_with_chance"
    assert result_of(results, "c").reason == "generation: x_bleu: rigid"
    assert result_of(results, "b").cases == ()
    assert result_of(results, "").models == ("a",)
    assert [c.document for c in result_of(results, "").cases] == [
        c.document for c in result_of(results, "a").cases
    ]
    assert {r.reason for r in worst_cases(table, score="x_sem")[:3]} == {"not_measured"}
    assert worst_cases(table, score="x_sem")[3].reason == "no_model"
    assert str(worst_cases(table, score="x_sem")[3]) == "made, all models: none, no_model"


def test_documents_and_variants_that_are_unscored_are_left_out_and_counted() -> None:
    table = table_of(10)
    worst = result_of(worst_cases(table), "a").cases[0]
    i = table.documents.index(worst.document)
    v = [key.id for key in table.variants].index(worst.variant)
    table.distances["x_ent"][0, i, v] = np.nan
    assert all(
        case.variant != worst.variant
        for case in result_of(worst_cases(table), "a").cases
        if case.document == worst.document
    )
    table.distances["x_ent"][0, i] = np.nan
    result = result_of(worst_cases(table, k=12), "a")
    assert (result.documents, result.unscored) == (11, 1)
    assert worst.document not in [case.document for case in result.cases]
    assert result_of(worst_cases(table, k=12), "").unscored == 1
    # All variants lack one of the measures, none lacks them all.
    table = replace(table_of(11), families=dict.fromkeys(table.families, 1))
    table.distances["x_ent"][:, 4, ::2] = np.nan
    table.distances["x_prob"][:, 4, 1::2] = np.nan
    case = next(c for c in result_of(worst_cases(table, k=12), "a").cases if c.document == "d0004")
    assert (case.variant, case.reason) == ("", "no_complete_variant")
    assert math.isfinite(case.value)
    assert math.isnan(case.distance)


def test_degenerate_tables() -> None:
    table = table_of(12)
    one = worst_cases(table.with_documents(np.arange(12) < 1))
    assert [len(r.cases) for r in one] == [1, 1, 1, 1]
    assert worst_cases(table, k=0)[0].cases == ()
    none = worst_cases(table.with_documents(np.arange(12) < 0))
    assert all(r.reason for r in none)
    single = worst_cases(table.with_variants(np.arange(10) < 1))
    assert {c.variant for c in single[0].cases} == {table.variants[0].id}
    zero = {name: np.zeros_like(d) for name, d in table.distances.items()}
    still = worst_cases(replace(table, distances=zero), k=3)
    assert [c.document for c in still[0].cases] == list(table.documents[:3])
    assert {c.value for c in still[0].cases} == {0.0}
    bare = worst_cases(replace(table, controls={}))
    assert bare[0].reason == "generation: x_bleu: no_document_with_chance"
