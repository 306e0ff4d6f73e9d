"""Edits that change the meaning: asked on request, recorded, in columns of their own, in no score."""

from __future__ import annotations

import json
import logging
import math
import random
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.hooks.spec import read_spec
from sago_harness.report.words import describe_task
from sago_harness.scores.columns import all_columns
from sago_harness.scores.document import document_metrics
from sago_harness.scores.table import rescore
from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.recipe import load_recipe, parse_recipe
from tests.hooks.hosts import Scripted, build, evaluate, manager, records, values

TASK = "local_sago"
NEGATIVES = {"negatives": True}


def data(path: Path, **metadata: Any) -> dict[str, Any]:
    """A file of questions with one number each, right answers beside them."""
    rows = [
        {"id": animal, "prompt": f"How many legs have 4 of the {animal}s over there?", "target": "16"}
        for animal in ("cat", "dog", "cow", "pig")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {"file": str(path), **metadata}


def echo(prompt: str) -> str:
    return f"There are 16 of them, I think: {prompt}"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, minilm: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    path = tmp_path_factory.mktemp("data") / "p.jsonl"
    return (
        evaluate(Scripted(echo), TASK, data(path, **NEGATIVES)),
        evaluate(Scripted(echo), TASK, data(path)),
    )


def edits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["family"] == "control" and row["role"] == "variant"]


def test_by_default_nothing_changes_the_meaning(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    assert not any(edits(rows) for rows in records(both[1], TASK).values())
    assert not [name for name in values(both[1], TASK) if name.startswith("control_")]


def test_edits_are_asked_and_recorded_beside_the_chance_controls(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    for rows in records(both[0], TASK).values():
        changed = {row["operator"]: row["text"] for row in edits(rows)}
        canonical = rows[0]["text"]
        assert changed["change_number"] != canonical
        assert changed["change_number"].replace("over there?", "").split()[:3] == ["How", "many", "legs"]
        chance = [row for row in rows if row["role"] == "control"]
        assert [row["operator"] for row in chance] == ["other_document", "other_document"]
        assert [row["family"] for row in chance] == ["control", "control"]


def test_they_are_never_part_of_a_score(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    with_edits, without = (values(found, TASK) for found in both)
    for name, value in without.items():
        if "alias" not in name:
            assert with_edits[name] == value, name
    extra = {name for name in with_edits if name not in without and not name.endswith("_stderr")}
    assert extra == {f"control_{name}" for name in ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent")}


def test_the_chance_level_is_read_off_other_documents_alone(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    for document, rows in records(both[0], TASK).items():
        chance = [row["distances"]["x_bleu"] ** 2 for row in rows if row["role"] == "control"]
        found = document_metrics(rows, {"x_bleu": "generation"}, {"noise": 2}, ("control",))
        assert found["sago"]["x_bleu"][1] == pytest.approx(sum(chance) / 2), document
        squares = [row["distances"]["x_bleu"] ** 2 for row in edits(rows)]
        assert found["control_x_bleu"] == pytest.approx(math.sqrt(sum(squares) / len(squares)))


def test_the_gold_answer_is_not_theirs(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    for rows in records(both[0], TASK).values():
        assert rows[0]["correct"] == 1
        assert all(row.get("correct") is None for row in edits(rows))


def test_their_columns_are_neither_good_nor_bad() -> None:
    columns = [column for column in all_columns() if column.family == "control"]
    assert {column.higher_is_better for column in columns} == {None}
    assert {column.kind for column in columns} == {"mean"}
    assert "control_flip" in {column.name for column in columns}


def test_rescoring_records_gives_the_same(both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    rows = [row for rows in records(both[0], TASK).values() for row in rows]
    table = values(both[0], TASK)
    found = [value["control_x_bleu"] for value in rescore(rows).values]
    assert sum(found) / len(found) == pytest.approx(table["control_x_bleu"])


def test_peoples_variants_and_edits_go_together(tmp_path: Path, minilm: Path) -> None:
    """A recipe that makes nothing keeps taking what documents bring, in any language."""
    recipe = load_recipe("human").with_negatives()
    assert recipe.count("en") == {}
    assert recipe.varies("fr")
    assert {operator.family for operator in recipe.for_language("en")} == {"control"}
    path = tmp_path / "p.jsonl"
    row = {"prompt": "How many legs have 4 cats?", "variants": ["4 cats: how many legs?"]}
    other = {"prompt": "Where do 7 hens live now?", "variants": ["7 hens live where?"]}
    path.write_text(json.dumps(row) + "\n" + json.dumps(other) + "\n", encoding="utf-8")
    found = evaluate(Scripted(echo), TASK, {"file": str(path), "recipe": "human", **NEGATIVES})
    table = values(found, TASK)
    assert isinstance(table["human_x_bleu"], float)
    assert isinstance(table["control_x_bleu"], float)
    assert table["n_scored"] == 2
    assert "sago" not in table


def test_edits_alone_do_not_vary_a_language() -> None:
    """A document whose meaning can be changed but not kept is no document of the recipe."""
    content = {
        "name": "n",
        "version": 1,
        "variants": [{"operator": "typos", "strength": 2, "languages": ["en"]}],
    }
    recipe = parse_recipe(content, "here").with_negatives()
    assert recipe.languages == ("en",)
    assert not recipe.varies("zh")
    with pytest.raises(SagoError, match="no variant for language 'zh'"):
        recipe.for_language("zh")


@pytest.mark.parametrize("value", ["yes", 1, 0.5])
def test_the_option_is_true_or_false(value: Any) -> None:
    config = {"task": "t", "vary": "q", "metadata": {"negatives": value}}
    with pytest.raises(SagoError, match=r"negatives=.* in --metadata: it must be bool"):
        read_spec(config)


def test_true_is_no_number() -> None:
    with pytest.raises(SagoError, match="controls=True in --metadata: it must be int"):
        read_spec({"task": "t", "vary": "q", "metadata": {"controls": True}})


def test_a_language_without_such_edits_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"prompt": "Combien ?", "variants": ["Combien donc ?"]}\n', encoding="utf-8")
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "french.yaml").write_text(
        "class: !function sago_harness.hooks.task.SagoTask\ntask: french\nlocal: {file: true}\n"
        "language: fr\noutput_type: generate_until\ntest_split: test\nfewshot_split: test\n"
        "vary: prompt\ndoc_to_text: '{{prompt}}'\ndoc_to_target: ''\n"
        "generation_kwargs: {until: [], do_sample: false}\nmetadata: {version: 1.0}\n",
        encoding="utf-8",
    )
    with caplog.at_level(logging.WARNING):
        build("french", {"file": str(path), "recipe": "human", **NEGATIVES}, folder)
    told = [r.getMessage() for r in caplog.records if "negatives" in r.getMessage()]
    assert told == ["task 'french': negatives: there is no edit that changes the meaning in language 'fr'"]


def test_the_signature_differs(tmp_path: Path) -> None:
    plain, more = (build(TASK, data(tmp_path / "p.jsonl", **extra)) for extra in ({}, NEGATIVES))
    for task in (plain, more):
        task.build_all_requests()
    assert plain.signature.recipe_digest != more.signature.recipe_digest
    assert plain.signature.families == more.signature.families


def test_a_group_of_two_languages_takes_it() -> None:
    loaded = manager(NEGATIVES).load(["sago_demo"])
    for task in loaded["tasks"].values():
        assert "control_x_bleu" in {column.name for column in task.columns}


def record(role: str, family: str, distance: float, operator: str = "") -> dict[str, Any]:
    return {
        "document": "d",
        "role": role,
        "family": family,
        "operator": operator,
        "distances": {"x_bleu": distance},
        "reasons": {},
        "response_hash": "h",
        "measures": ["x_bleu"] if role == "canonical" else None,
        "families": {"noise": 1} if role == "canonical" else None,
    }


def told(changing: float, keeping: float) -> list[str]:
    rows = [
        record("canonical", "canonical", 0.0),
        record("variant", "noise", keeping, "typos"),
        record("variant", "control", changing, "change_number"),
        record("control", "control", 1.0, "other_document"),
    ]
    return describe_task(rows, "t").splitlines()


@pytest.mark.parametrize(
    ("changing", "keeping", "sentence"),
    [
        # 0.8 / 0.2 = 4; 0.22 / 0.2 = 1.1, under 1.2.
        (0.8, 0.2, "move the answer 4.0 times as far as meaning-keeping variants (x_bleu 0.80 against 0.20)"),
        (0.22, 0.2, "1.1 times as far as meaning-keeping variants (x_bleu 0.22 against 0.20): a change"),
        (0.5, 0.0, "move the answer, the others do not (x_bleu 0.50 against 0.00)"),
        (0.0, 0.0, "do not move the answer: rigid"),
    ],
)
def test_the_summary_sets_them_against_the_variants_that_keep_the_meaning(
    changing: float, keeping: float, sentence: str
) -> None:
    (line,) = [line for line in told(changing, keeping) if line.startswith("  meaning ")]
    assert "meaning-changing edits" in line
    assert sentence in line


def test_the_summary_counts_them_as_no_variants_and_names_them_as_no_worst_operator() -> None:
    lines = told(0.9, 0.2)
    assert lines[0].startswith("t: 1 documents, 1 variant each")
    assert not any("change_number" in line for line in lines)


def test_an_operator_of_the_family_is_found_in_the_table() -> None:
    """What another package registers as family `control` is asked too."""
    names = [entry.operator for entry in load_recipe("quick").with_negatives().entries]
    assert {name for name in OPERATORS if OPERATORS.load(name).family == "control"} <= set(names)
    made = OPERATORS.load("change_number")()
    with pytest.raises(Refused):
        made.apply(Passage("Who won?"), random.Random(0))
