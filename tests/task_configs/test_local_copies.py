"""The published files of TruthfulQA and GSM8K fit the tasks as they are."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lm_eval.tasks._yaml_loader import load_yaml

from sago_harness.axes.answers import is_correct, normalise

FOLDER = Path(__file__).resolve().parents[2] / "task_configs"


def copy_of(task: dict[str, Any], data: Path) -> list[Path]:
    """Return the files of a task's local copy: those of the first pattern that matches."""
    folder = data / task["local"]["folder"]
    if not folder.is_dir():
        pytest.skip(f"{data} has no folder {task['local']['folder']}/")
    found = (sorted(folder.glob(pattern)) for pattern in task["local"]["files"])
    return next((paths for paths in found if paths), [])


def source(column: Any, row: dict[str, Any]) -> str:
    names: Sequence[str] = column if isinstance(column, list) else [column["from"]]
    present = [name for name in names if name in row]
    assert present, f"none of {names} in {sorted(row)}"
    return present[0]


@pytest.fixture(scope="module")
def truthfulqa(shared_data: Path) -> tuple[dict[str, Any], list[dict[str, str]]]:
    task = load_yaml(FOLDER / "paper" / "sago_truthfulqa.yaml", resolve_func=False)
    paths = copy_of(task, shared_data)
    assert [path.name for path in paths] == ["TruthfulQA.csv"]
    with paths[0].open(encoding="utf-8", newline="") as handle:
        return task, list(csv.DictReader(handle))


@pytest.fixture(scope="module")
def gsm8k(shared_data: Path) -> tuple[dict[str, Any], list[dict[str, str]]]:
    task = load_yaml(FOLDER / "gsm8k" / "sago_gsm8k.yaml", resolve_func=False)
    paths = copy_of(task, shared_data)
    assert [path.name for path in paths] == ["test.jsonl"]
    return task, [json.loads(line) for line in paths[0].read_text(encoding="utf-8").splitlines()]


def test_truthfulqa_has_the_columns(truthfulqa: tuple[dict[str, Any], list[dict[str, str]]]) -> None:
    task, found = truthfulqa
    assert len(found) == 790
    names = {ours: source(column, found[0]) for ours, column in task["columns"].items()}
    assert names == {"question": "Question", "best_answer": "Best Answer"}
    assert all(row[name].strip() for row in found for name in names.values())


def test_truthfulqa_readme_gives_the_measured_reason_against_accuracy(
    truthfulqa: tuple[dict[str, Any], list[dict[str, str]]],
) -> None:
    own = false = 0
    for row in truthfulqa[1]:
        correct = [text.strip() for text in row["Correct Answers"].split(";")]
        others = [text for text in correct if normalise(text) != normalise(row["Best Answer"])]
        own += is_correct(row["Best Answer"], others, "contains")
        wrong = [text.strip() for text in row["Incorrect Answers"].split(";")]
        false += any(is_correct(text, correct, "contains") for text in wrong)
    text = (FOLDER / "paper" / "README.md").read_text(encoding="utf-8")
    assert f"only {own} of the best answers" in text
    assert f"for {false} questions a listed false answer" in text


def test_gsm8k_has_the_columns(gsm8k: tuple[dict[str, Any], list[dict[str, str]]]) -> None:
    task, found = gsm8k
    assert len(found) == 1319
    names = {ours: source(column, found[0]) for ours, column in task["columns"].items()}
    assert names == {"question": "question", "solution": "answer", "answer": "answer"}


def test_gsm8k_solutions_end_in_the_number_that_is_extracted(
    gsm8k: tuple[dict[str, Any], list[dict[str, str]]],
) -> None:
    task, found = gsm8k
    marker = task["columns"]["answer"]["after"]
    pattern = re.compile(task["extract"][0]["regex_pattern"])
    for row in found:
        gold = row["answer"].rsplit(marker, 1)[1].strip()
        extracted = pattern.findall(row["answer"])[-1]
        assert float(extracted.replace(",", "")) == float(gold.replace(",", ""))
