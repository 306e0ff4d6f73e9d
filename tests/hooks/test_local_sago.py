"""The user's own file: prompts, targets, own variants."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from tests.hooks.hosts import Scripted, build, evaluate, manager, prompts, records, values

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


def test_an_unknown_language_is_told_in_one_line(tmp_path: Path) -> None:
    """The recipe has nothing for it."""
    task_rows = [{"prompt": "Combien de pattes?", "language": "fr"}]
    with pytest.raises(SagoError, match="no variant for language 'fr'"):
        build(TASK, save(tmp_path / "fr.jsonl", task_rows)).build_all_requests()
