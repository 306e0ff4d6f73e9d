"""The user's own file: prompts, targets, own variants."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sago_harness.axes.answers import gold_answers
from sago_harness.errors import SagoError
from sago_harness.hooks.dataset import own_variants, uniform
from tests.hooks.hosts import Scripted, build, evaluate, manager, prompts, records, values, write_yaml

TASK = "local_sago"
ANIMALS = ("cat", "hen", "bee", "owl")


def save(path: Path, rows: Sequence[Any]) -> dict[str, Any]:
    """Write a user's file; return the metadata that names it."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return {"file": str(path)}


def questions(**extra: Any) -> list[dict[str, Any]]:
    return [{"prompt": f"How many legs has the {animal} over there?", **extra} for animal in ANIMALS]


def echo(prompt: str) -> str:
    return f"There are four of them, I think: {prompt}"


def test_prompts_alone_are_enough(tmp_path: Path, minilm: Path) -> None:
    model = Scripted(echo)
    found = evaluate(model, TASK, save(tmp_path / "p.jsonl", questions()))
    table = values(found, TASK)
    assert "acc" not in table
    assert "human_x_bleu" not in table
    assert isinstance(table["sago_text"], float)
    assert model.sent[0] == questions()[0]["prompt"], "a prompt is sent as it is"


def test_targets_add_accuracy(tmp_path: Path, minilm: Path) -> None:
    rows = questions(target="four")
    rows[1]["target"] = ["five", "six"]
    del rows[2]["target"]
    table = values(evaluate(Scripted(echo), TASK, save(tmp_path / "t.jsonl", rows)), TASK)
    # Of the three rows with a target, two have it in the response.
    assert table["acc"] == table["acc_mean"] == table["acc_worst"] == pytest.approx(2 / 3)


def test_plain_own_variants_are_human_and_have_columns_of_their_own(tmp_path: Path, minilm: Path) -> None:
    rows = questions(
        variants=["Legs, how many?", {"text": "Count its legs.", "id": "count", "operator": "ann"}]
    )
    found = evaluate(Scripted(echo), TASK, save(tmp_path / "v.jsonl", rows))
    without = evaluate(Scripted(echo), TASK, save(tmp_path / "w.jsonl", questions()))
    table, plain = values(found, TASK), values(without, TASK)
    for document, rows_of in records(found, TASK).items():
        human = [row for row in rows_of if row["family"] == "human"]
        assert [(row["variant"], row["operator"], row["text"]) for row in human] == [
            ("own1", "own", "Legs, how many?"),
            ("count", "ann", "Count its legs."),
        ]
        squares = [row["distances"]["x_bleu"] ** 2 for row in human]
        sample = next(
            s for s in found["samples"][TASK] if json.loads(s["filtered_resps"][0])["document"] == document
        )
        assert sample["human_x_bleu"] == pytest.approx(math.sqrt(sum(squares) / 2), abs=1e-12)
    assert isinstance(table["human_x_bert"], float)
    assert table["human_x_act"] == "N/A"
    assert found["higher_is_better"][TASK]["human_x_bleu"] is False
    # They are never a part of the score.
    for name in ("x_bleu", "x_bert", "sago_generation"):
        assert table[name] == pytest.approx(plain[name], abs=1e-9), name


def test_an_own_variant_of_a_scored_family_joins_the_score(tmp_path: Path, minilm: Path) -> None:
    """Who says that a rewording is of register, noise or structure asks for exactly that."""
    rows = questions(
        variants=[{"text": "yo, legs?", "family": "register", "operator": "slang", "strength": 2}]
    )
    found = evaluate(Scripted(echo), TASK, save(tmp_path / "r.jsonl", rows))
    table = values(found, TASK)
    assert not [name for name in table if name.startswith("human_")]
    for rows_of in records(found, TASK).values():
        register = [row for row in rows_of if row["family"] == "register"]
        assert [row["operator"] for row in register] == ["politeness", "casual", "slang"]
        assert register[-1]["strength"] == 2.0
        families: dict[str, list[float]] = {}
        for row in rows_of:
            if row["role"] == "variant":
                families.setdefault(row["family"], []).append(row["distances"]["x_bleu"] ** 2)
        expected = math.sqrt(sum(sum(v) / len(v) for v in families.values()) / len(families))
        sample = next(
            s
            for s in found["samples"][TASK]
            if json.loads(s["filtered_resps"][0])["document"] == rows_of[0]["document"]
        )
        assert sample["x_bleu"] == pytest.approx(expected, abs=1e-12)


def test_a_family_that_the_recipe_lacks_is_recorded_and_said_to_be_in_no_score(
    tmp_path: Path, minilm: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recipe = tmp_path / "noise.yaml"
    recipe.write_text(
        "name: noise\nversion: 1\nvariants:\n  - {operator: spaces, strength: 5, position: throughout}\n",
        encoding="utf-8",
    )
    extra = {"variants": [{"text": "yo, legs?", "family": "register"}]}
    found = evaluate(
        Scripted(echo), TASK, {**save(tmp_path / "r.jsonl", questions(**extra)), "recipe": str(recipe)}
    )
    plain = evaluate(Scripted(echo), TASK, {**save(tmp_path / "p.jsonl", questions()), "recipe": str(recipe)})
    assert values(found, TASK)["x_bleu"] == values(plain, TASK)["x_bleu"]
    assert all(any(row["family"] == "register" for row in rows) for rows in records(found, TASK).values())
    told = [r.getMessage() for r in caplog.records if "in no score" in r.getMessage()]
    assert told == [
        "task 'local_sago': variants of family register are recorded but in no score: "
        "recipe 'noise' has none of that family"
    ]


def test_another_language_has_columns_of_its_own(tmp_path: Path, minilm: Path) -> None:
    rows = questions(variants=[{"text": "Wie viele Beine?", "family": "language"}])
    table = values(evaluate(Scripted(echo), TASK, save(tmp_path / "l.jsonl", rows)), TASK)
    assert isinstance(table["language_x_bleu"], float)


def test_own_ids_name_the_documents_and_duplicates_are_numbered(tmp_path: Path) -> None:
    rows = questions()
    for row, name in zip(rows, ["a", "b", "a", None], strict=True):
        row["id"] = name
    task = build(TASK, save(tmp_path / "ids.jsonl", rows))
    ids = list(task.eval_docs["sago_id"])
    assert ids[:3] == ["a", "b", "a#2"]
    assert len(ids[3]) == 16


def test_without_ids_the_text_names_a_document_whatever_its_place(tmp_path: Path) -> None:
    forwards = build(TASK, save(tmp_path / "f.jsonl", questions()))
    backwards = build(TASK, save(tmp_path / "b.jsonl", questions()[::-1]))
    names = {row["prompt"]: row["sago_id"] for row in forwards.eval_docs}
    assert names == {row["prompt"]: row["sago_id"] for row in backwards.eval_docs}
    forwards.build_all_requests()
    backwards.build_all_requests()
    one, other = prompts(forwards), prompts(backwards)
    for document in one:
        made = {k: v for k, v in one[document].items() if not k.startswith("control")}
        assert made == {k: v for k, v in other[document].items() if not k.startswith("control")}


def test_a_row_may_be_in_another_language(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = questions()
    rows.append({"prompt": "这只猫在院子里有几条腿？", "language": "zh"})
    task = build(TASK, save(tmp_path / "zh.jsonl", rows))
    task.build_all_requests()
    (chinese,) = [made for made in prompts(task).values() if "腿" in made["canonical"]]
    assert "width" in chinese
    assert not any(name.startswith("typos") for name in chinese)


def test_mixed_types_in_a_file_are_read(tmp_path: Path) -> None:
    rows = [
        {"prompt": "One?", "target": "a", "variants": ["Uno?"]},
        {"prompt": "Two?", "target": ["b", "c"], "variants": [{"text": "Dos?", "strength": 1}]},
        {"prompt": "Three?", "target": 3, "note": {"deep": 1}},
    ]
    task = build(TASK, save(tmp_path / "m.jsonl", rows))
    assert [row["target"] for row in task.eval_docs] == [["a"], ["b", "c"], ["3"]]
    task.build_all_requests()
    assert [len(made) > 4 for made in prompts(task).values()] == [True, True, True]


def test_sago_file_names_the_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = save(tmp_path / "e.jsonl", questions())
    monkeypatch.setenv("SAGO_FILE", metadata["file"])
    assert len(build(TASK).eval_docs) == 4


def test_variants_equal_to_the_prompt_or_to_each_other_are_rejected_with_a_reason(tmp_path: Path) -> None:
    rows = questions()
    rows[0]["variants"] = [rows[0]["prompt"], "Legs?", "Legs?", {"text": "Four?", "id": "own2"}]
    task = build(TASK, save(tmp_path / "same.jsonl", rows))
    task.build_all_requests(limit=1)
    first = task.instances[0].arguments[2]
    own = [(variant, reason) for variant, family, _, reason in first["rejects"] if family == "human"]
    assert own == [("own1", "changed"), ("own3", "duplicate"), ("own2", "id taken")]
    texts = [i.arguments[0] for i in task.instances if i.arguments[2]["family"] == "human"]
    assert texts == ["Legs?"]


BAD: dict[str, tuple[list[Any], str]] = {
    "no text": (
        [{"prompt": "p", "variants": [{"family": "human"}]}],
        "variant 1 of document 'p' has no `text`",
    ),
    "family": (
        [{"prompt": "p", "variants": [{"text": "q", "family": "humn"}]}],
        "unknown family 'humn'.*human",
    ),
    "feature": (
        [{"prompt": "p", "variants": [{"text": "q", "feature": "extra_space"}]}],
        "unknown feature 'extra_space' in variant 1 of document 'p': did you mean extra_spaces",
    ),
    "feature of another kind": (
        [{"prompt": "p", "variants": [{"text": "q", "feature": ["labels"]}]}],
        r"unknown feature .*labels.* in variant 1 of document 'p': did you mean labels",
    ),
    "no prompt": ([{"promt": "p"}], "unknown field to vary 'prompt'.*promt"),
    "no rows": ([], "holds no documents"),
    "a list": ([[1, 2]], "line 1 is not a JSON object but list"),
}


@pytest.mark.parametrize("case", sorted(BAD))
def test_a_bad_file_is_told_in_one_line(case: str, tmp_path: Path) -> None:
    rows, message = BAD[case]
    with pytest.raises(SagoError, match=message) as caught:
        manager(save(tmp_path / "bad.jsonl", rows)).load([TASK])
    assert "\n" not in str(caught.value)


def test_variants_that_are_no_list_are_told_in_one_line(tmp_path: Path) -> None:
    for value in ("just a text", 5, [7], {"text": "q"}):
        with pytest.raises(SagoError, match=r"must be a (list|text)"):
            manager(save(tmp_path / "odd.jsonl", [{"prompt": "p", "variants": value}])).load([TASK])


def test_a_strength_that_is_no_number_is_told_in_one_line(tmp_path: Path) -> None:
    rows = [{"prompt": "p", "variants": [{"text": "q", "strength": "much"}]}]
    with pytest.raises(SagoError, match="strength"):
        manager(save(tmp_path / "odd.jsonl", rows)).load([TASK])


@pytest.mark.parametrize("strength", [True, 10**400, float("inf")])
def test_a_strength_that_no_table_can_hold_is_told_in_one_line(strength: Any) -> None:
    with pytest.raises(SagoError, match=r"variant 1 of document 'p': strength .* is not a number"):
        own_variants({"prompt": "p", "variants": [{"text": "q", "strength": strength}]}, "prompt")


def test_a_language_without_variants_leaves_its_row_unscored(tmp_path: Path, minilm: Path) -> None:
    rows: list[dict[str, Any]] = questions()
    rows.append({"id": "fr", "prompt": "Combien de pattes a le chat ?", "language": "fr"})
    rows.append({"id": "us", "prompt": "How many legs has the dog over there?", "language": "en-US"})
    rows.append({"id": "hans", "prompt": "这只猫在院子里有几条腿？", "language": "zh_Hans"})
    model = Scripted(echo)
    found = evaluate(model, TASK, save(tmp_path / "fr.jsonl", rows))
    made = records(found, TASK)
    assert [row["document_reason"] for row in made["fr"]] == ["language_without_variants"]
    assert not [prompt for prompt in model.sent if "Combien" in prompt]
    for name, language, noise in (("us", "en", "punctuation"), ("hans", "zh", "width")):
        assert {row["language"] for row in made[name]} == {language}
        assert noise in {row["operator"] for row in made[name]}
    scores = {json.loads(s["filtered_resps"][0])["document"]: s["x_bleu"] for s in found["samples"][TASK]}
    assert scores.pop("fr") is None
    assert all(isinstance(score, float) for score in scores.values())


def test_a_null_among_targets_is_no_answer(tmp_path: Path) -> None:
    rows = [
        {"prompt": "Where is it?", "target": ["Paris", None]},
        {"prompt": "And that?", "target": [None, "Rome"]},
        {"prompt": "And this?", "target": [None]},
    ]
    task = build(TASK, save(tmp_path / "null.jsonl", rows))
    docs = list(task.eval_docs)
    assert [doc["target"] for doc in docs] == [["Paris", None], [None, "Rome"], [None]]
    assert [gold_answers(doc["target"]) for doc in docs] == [["Paris"], ["Rome"], []]
    assert [task.doc_to_target(doc) for doc in docs] == ["Paris", "Rome", ""]


ODD: dict[str, list[dict[str, Any]]] = {
    "a large id": [{"id": 10**30}, {"id": 1}],
    "ids of every kind": [{"id": {"a": 1}}, {"id": [1]}, {"id": True}, {"id": 2.5}, {}],
    "a large target": [{"target": 10**30}, {"target": [10**30]}],
    "large numbers beside small": [{"target": 2**62 + 1}, {"target": 0.5}],
    "mixed nested types": [{"m": {"a": 1}}, {"m": {"a": "s"}}],
    "mixed nested targets": [{"target": [{"a": 1}]}, {"target": [{"a": "s"}]}, {"target": [["x"], 1]}],
    "lists in lists": [{"target": [[1], ["a"]]}, {"target": None}],
    "a key with a lone surrogate": [{"\ud800": 1}, {"a\udfff": {"\ud800": 2}}],
    "languages of every kind": [{"language": 5}, {"language": ["en"]}, {"language": "EN"}],
    "a column of ours": [{"sago_id": 5}, {"sago_id": "x"}],
    "a deep target": [{"target": json.loads("[" * 45 + "]" * 45)}, {}],
}


@pytest.mark.parametrize("case", sorted(ODD))
def test_odd_values_are_no_reason_to_stop(case: str, tmp_path: Path) -> None:
    rows = [{"prompt": f"How many legs has animal {n}?", **row} for n, row in enumerate(ODD[case])]
    path = tmp_path / "odd.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    task = build(TASK, {"file": str(path)})
    task.build_all_requests()
    assert [doc["prompt"] for doc in task.eval_docs] == [row["prompt"] for row in rows]
    assert set(task.eval_docs.column_names) == {"id", "prompt", "target", "variants", "language", "sago_id"}
    for doc, row in zip(task.eval_docs, rows, strict=True):
        if isinstance(row.get("id"), int | float):
            assert doc["sago_id"] == doc["id"] == str(row["id"])


def test_odd_values_of_other_columns_become_text() -> None:
    rows = [{"m": {"a": 1}, "n": 10**30}, {"m": {"a": "s"}, "n": None}, {"m": None, "n": 7}]
    assert uniform(rows) == [
        {"m": '{"a":1}', "n": str(10**30)},
        {"m": '{"a":"s"}', "n": None},
        {"m": None, "n": "7"},
    ]


def test_one_prompt_that_is_a_list_changes_no_other(tmp_path: Path) -> None:
    rows = [*questions(), {"id": "list", "prompt": ["a", "b"]}, {"id": "object", "prompt": {"a": 1}}]
    task = build(TASK, save(tmp_path / "list.jsonl", rows))
    documents = {document.id: document for document in map(task.document, task.eval_docs)}
    assert [documents[name].reason for name in ("list", "object")] == ["missing_field"] * 2
    assert [d.reason for name, d in documents.items() if name not in ("list", "object")] == [""] * 4


def test_a_column_that_a_template_reads_is_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "class: !function sago_harness.hooks.task.SagoTask\ntask: mine\nlocal: {file: true}\nvary: prompt\n"
        "recipe: quick\noutput_type: generate_until\ntest_split: test\nfewshot_split: test\n"
        'doc_to_text: "{{passage}} {{prompt}}"\ndoc_to_target: ""\n',
        encoding="utf-8",
    )
    rows = questions(passage="Animals.", pass_age=1)
    task = build("mine", save(tmp_path / "p.jsonl", rows), tmp_path)
    task.build_all_requests()
    assert "pass_age" not in task.eval_docs.column_names
    sent = next(iter(prompts(task).values()))["canonical"]
    assert sent.startswith("Animals. How many legs")


def test_own_variants_of_a_task_with_two_fields_keep_the_other(tmp_path: Path) -> None:
    rows = [
        {"topic": f"the {animal}", "question": "How many legs has it?", "variants": ["a small animal"]}
        for animal in ANIMALS
    ]
    body = 'vary: [topic, question]\ndoc_to_text: "{{topic}}: {{question}}"\ndoc_to_target: ""\n'
    task = build("two", None, write_yaml(tmp_path / "two", "two", body, rows))
    task.build_all_requests()
    for made in prompts(task).values():
        assert made["own1"] == "a small animal: How many legs has it?"
