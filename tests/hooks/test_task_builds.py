"""Every task of the folder is built for real, without a network: the host's check passes unbuildable ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.taskfiles import task_files
from sago_harness.variants.people import PEOPLE
from tests.hooks.hosts import DEMO, Scripted, build, evaluate, manager, values

#: Rows as the hub's pages show them, with the fields of each data set.
HUB_ROWS: dict[str, list[dict[str, Any]]] = {
    "sago_truthfulqa": [
        {
            "type": "Adversarial",
            "category": "Myths",
            "question": f"What happens when {thing} is swallowed?",
            "best_answer": "Nothing in particular",
            "correct_answers": ["Nothing in particular"],
            "incorrect_answers": ["It grows"],
            "source": "none",
        }
        for thing in ("gum", "a seed", "sand")
    ],
    "sago_nq": [{"question": f"who wrote book {k}", "answer": ["someone", "some one"]} for k in range(3)],
    "sago_alpaca": [
        {"instruction": "Name three fruits.", "input": "", "output": "Apple, pear, plum.", "text": "all"},
        {"instruction": "Sort these words.", "input": "b, a", "output": "a, b", "text": "all"},
        {"instruction": "Write a short greeting.", "input": "", "output": "Hello!", "text": "all"},
    ],
    "sago_simpleqa_verified": [
        {
            "original_index": k,
            "problem": f"In which year was bridge {k} opened?",
            "answer": "1901",
            "topic": "x",
        }
        for k in range(3)
    ],
    "sago_triviaqa": [
        {
            "question": f"Which country has flag number {k}?",
            "question_id": f"tc_{k}",
            "answer": {"value": "Chile", "aliases": ["Chile", "Republic of Chile"]},
        }
        for k in range(3)
    ],
    "sago_hotpotqa": [
        {
            "id": f"5a{k}",
            "question": f"Are town {k} and its river alike?",
            "answer": "no",
            "type": "comparison",
        }
        for k in range(3)
    ],
    "sago_gsm8k": [
        {"question": f"Ann has {k} eggs and buys 2. How many?", "answer": f"{k} + 2 = {k + 2}\n#### {k + 2}"}
        for k in (3, 4, 5)
    ],
}


def test_no_task_is_forgotten() -> None:
    tasks = {name for name, file in task_files().items() if not file.group}
    people = {f"sago_{name}" for name in PEOPLE}
    assert tasks == {*DEMO, *HUB_ROWS, *people, "local_sago"}


@pytest.mark.parametrize("name", DEMO)
def test_demo_tasks_build(name: str) -> None:
    task = build(name)
    assert len(task.eval_docs) == 24
    task.build_all_requests(limit=2)
    assert len(task.instances) >= 2 * 8


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a local copy of every hub set."""
    root = tmp_path_factory.mktemp("copies")
    for name, rows in HUB_ROWS.items():
        folder = root / task_files()[name].config["local"]["folder"]
        folder.mkdir()
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
    return root


@pytest.mark.parametrize("name", sorted(HUB_ROWS))
def test_a_local_copy_with_the_hubs_fields_builds_and_runs(name: str, copies: Path) -> None:
    spec = task_files()[name].config
    model = Scripted(lambda prompt: f"the answer to {prompt[-40:]} is 7")
    found = evaluate(model, name, {"data_dir": str(copies)}, num_fewshot=1)
    assert found["n-samples"][name] == {"original": 3, "effective": 3}
    table = values(found, name)
    assert ("acc" in table) == ("answers" in spec)
    assert ("flip" in table) == ("extract" in spec)
    assert isinstance(table["x_bleu"], float)
    for prompt in model.sent:
        assert "None" not in prompt
        assert "{{" not in prompt


def test_gold_answers_are_read_as_the_yaml_says(copies: Path) -> None:
    gold = {"sago_gsm8k": "5", "sago_triviaqa": "I say Republic of Chile", "sago_nq": "it was Some One"}
    for name, said in gold.items():
        found = evaluate(Scripted(lambda _, said=said: said), name, {"data_dir": str(copies)})
        correct = values(found, name)["acc"]
        assert correct == (pytest.approx(1 / 3) if name == "sago_gsm8k" else 1.0), name


def test_alpacas_input_is_untouched_by_variants(copies: Path) -> None:
    task = build("sago_alpaca", {"data_dir": str(copies), "recipe": "default"})
    task.build_all_requests()
    with_input = [i for i in task.instances if i.doc["input"] and i.arguments[2]["role"] != "control"]
    assert len(with_input) >= 8
    assert all("\nInput: b, a\nResponse:" in instance.arguments[0] for instance in with_input)


def test_a_data_set_saved_to_disk_is_a_local_copy(tmp_path: Path) -> None:
    import datasets

    datasets.Dataset.from_list(HUB_ROWS["sago_nq"]).save_to_disk(str(tmp_path / "nq"))
    assert len(build("sago_nq", {"data_dir": str(tmp_path)}).eval_docs) == 3


@pytest.mark.parametrize(("name", "field"), [("sago_truthfulqa", "Question"), ("sago_gsm8k", "question")])
def test_the_published_files_build(shared_data: Path, name: str, field: str) -> None:
    task = build(name, {"data_dir": str(shared_data)})
    assert len(task.eval_docs) == 16
    task.set_config(key="num_fewshot", value=2)
    task.build_all_requests(limit=4)
    assert {i.arguments[2]["document"] for i in task.instances} == set(task.eval_docs["sago_id"][:4])
    texts = {i.arguments[2]["text"] for i in task.instances if i.arguments[2]["role"] == "canonical"}
    source = (shared_data / task.spec.local["folder"]).rglob("*")
    content = "\n".join(
        path.read_text(encoding="utf-8") for path in source if path.suffix in (".csv", ".jsonl")
    )
    for text in texts:
        assert json.dumps(text, ensure_ascii=False)[1:-1] in content or text in content


@pytest.mark.parametrize("name", sorted(HUB_ROWS))
def test_without_hub_and_copy_one_line_names_data_set_and_remedies(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAGO_DATA_DIR", raising=False)
    with pytest.raises(SagoError) as caught:
        manager().load([name])
    message = str(caught.value)
    spec = task_files()[name].config
    assert "\n" not in message
    assert spec["dataset_path"] in message
    assert "hub" in message
    assert "SAGO_DATA_DIR" in message
    assert repr(spec["local"]["folder"]) in message


def test_a_copy_with_other_columns_is_told(tmp_path: Path) -> None:
    (tmp_path / "nq").mkdir()
    (tmp_path / "nq" / "rows.jsonl").write_text('{"questions": "who?", "answer": ["me"]}\n', encoding="utf-8")
    with pytest.raises(SagoError, match=r"no column 'question'.*nearest: questions"):
        manager({"data_dir": str(tmp_path)}).load(["sago_nq"])


def test_a_data_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match=r"data folder .*nowhere does not exist"):
        manager({"data_dir": str(tmp_path / "nowhere")}).load(["sago_nq"])


def test_a_folder_without_a_fitting_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "nq").mkdir()
    (tmp_path / "nq" / "notes.txt").write_text("none", encoding="utf-8")
    with pytest.raises(SagoError, match="is there but holds none of"):
        manager({"data_dir": str(tmp_path)}).load(["sago_nq"])


@pytest.mark.parametrize(
    ("name", "columns"), [("sago_truthfulqa", ["sago_core"]), ("sago_gsm8k", ["acc", "flip"])]
)
def test_the_published_files_run(
    shared_data: Path, english_lm: Any, minilm: Path, name: str, columns: list[str]
) -> None:
    """Two tasks on real data, from the file to the table, with a model that has all signals."""
    found = evaluate(
        english_lm,
        name,
        {"data_dir": str(shared_data), "recipe": "quick"},
        limit=3,
        gen_kwargs={"max_gen_toks": 8},
    )
    table = values(found, name)
    for column in ("x_bleu", "x_act", "x_prob", "x_ent", *columns):
        assert isinstance(table[column], float), f"{column} is {table[column]!r}"
        assert 0.0 <= table[column] <= 1.0
    assert table["n_scored"] == 3
    assert len(found["samples"][name]) == 3
