"""Every task configuration can be read by the host and says all that the task class needs."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import pytest
from lm_eval.config.group import GroupConfig
from lm_eval.tasks._index import Kind, TaskIndex
from lm_eval.tasks._yaml_loader import load_yaml
from lm_eval.utils import apply_template

from sago_harness.axes.answers import NUMBER, number_of

FOLDER = Path(__file__).resolve().parents[2] / "task_configs"
TASKS = {
    "demo": {"sago_demo_facts", "sago_demo_facts_zh", "sago_demo_instructions", "sago_demo_reasoning"},
    "paper": {
        "sago_truthfulqa",
        "sago_nq",
        "sago_alpaca",
        "sago_simpleqa_verified",
        "sago_triviaqa",
        "sago_hotpotqa",
    },
    "gsm8k": {"sago_gsm8k"},
    "local": {"local_sago"},
    "human": {"sago_noiseqa", "sago_disfl_qa", "sago_pararel", "sago_mgsm"},
}
GROUPS = {"demo": "sago_demo", "paper": "sago_paper"}
# Hub ids and splits of the paper's configuration; the light form where one exists.
HUB = {
    "sago_truthfulqa": ("truthfulqa/truthful_qa", "generation", "validation"),
    "sago_nq": ("google-research-datasets/nq_open", None, "validation"),
    "sago_alpaca": ("tatsu-lab/alpaca", None, "train"),
    "sago_simpleqa_verified": ("google/simpleqa-verified", None, "eval"),
    "sago_triviaqa": ("mandarjoshi/trivia_qa", "rc.nocontext", "validation"),
    "sago_hotpotqa": ("hotpotqa/hotpot_qa", None, "validation"),
    "sago_gsm8k": ("openai/gsm8k", "main", "test"),
}
GROUP_METRICS = [
    "sago",
    "sago_core",
    "sago_text",
    "sago_generation",
    "sago_activation",
    "sago_confidence",
    "sago_mirroring",
    "x_bleu",
    "x_act",
    "x_prob",
    "x_ent",
    "x_mr",
]


def config(folder: str, name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = load_yaml(FOLDER / folder / f"{name}.yaml", resolve_func=False)
    return loaded


ALL_TASKS = [(folder, name) for folder, names in TASKS.items() for name in sorted(names)]
by_task = pytest.mark.parametrize(("folder", "name"), ALL_TASKS)


def variables(template: str) -> set[str]:
    return set(jinja2.meta.find_undeclared_variables(jinja2.Environment().parse(template)))


def test_the_folder_holds_these_tasks_and_groups_and_no_other() -> None:
    index = TaskIndex.build([FOLDER])
    tasks = {name for name, entry in index.items() if entry.kind is Kind.PY_TASK}
    groups = {name for name, entry in index.items() if entry.kind is Kind.GROUP}
    assert tasks == set().union(*TASKS.values())
    # Its members measure different things, so it averages nothing.
    assert groups == {*GROUPS.values(), "sago_human"}
    assert len(index) == len(tasks) + len(groups)


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.yaml")), ids=lambda path: path.name)
def test_every_yaml_is_read(path: Path) -> None:
    assert load_yaml(path, resolve_func=False)


@by_task
def test_a_task_has_the_keys_the_class_needs(folder: str, name: str) -> None:
    task = config(folder, name)
    assert task["task"] == name
    assert Path(task["class"]).name == "sago_harness.hooks.task.SagoTask"
    assert task["output_type"] == "generate_until"
    assert task["language"] == ("zh" if name.endswith("_zh") else "en")
    assert task["recipe"] in {"quick", "default", "path", "human"}
    assert task["test_split"] == task["fewshot_split"]
    assert task["metadata"]["version"] == 1.0
    local = task.get("local", {})
    assert sum(("shipped" in task, "dataset_path" in task, "file" in local, "people" in local)) == 1


@by_task
def test_generation_is_greedy_with_a_limit_and_a_list_of_stops(folder: str, name: str) -> None:
    kwargs = config(folder, name)["generation_kwargs"]
    limits = {"demo": [64], "paper": [100], "gsm8k": [256], "local": [100], "human": [32, 64, 256]}
    assert kwargs["do_sample"] is False
    assert kwargs["max_gen_toks"] in limits[folder]
    assert isinstance(kwargs["until"], list)
    assert "\n\n" not in kwargs["until"], "a chat model's answer would end at its first paragraph"


@by_task
def test_a_stop_is_the_start_of_the_next_prompt(folder: str, name: str) -> None:
    task = config(folder, name)
    opening = re.split(r"\{[{%]", task["doc_to_text"])[0].strip()
    stops = task["generation_kwargs"]["until"]
    assert stops == [] if not opening else f"\n{opening}" in stops


@by_task
def test_gold_answers_and_the_way_to_compare_them_go_together(folder: str, name: str) -> None:
    task = config(folder, name)
    assert ("answers" in task) == ("match" in task)
    if "match" in task:
        assert task["match"] in {"contains", "exact", "number"}
    assert ("extract" in task) == (task.get("match") == "number")


@pytest.mark.parametrize("name", sorted(HUB))
def test_hub_names_splits_and_local_folders(name: str) -> None:
    task = config("gsm8k" if name == "sago_gsm8k" else "paper", name)
    assert (task["dataset_path"], task.get("dataset_name"), task["test_split"]) == HUB[name]
    assert task["documents"] == 16
    assert task["local"]["folder"] == name.removeprefix("sago_")
    assert len(task["local"]["files"]) == len(set(task["local"]["files"])) > 0
    declared = set(task["columns"])
    assert task["vary"] in declared
    assert variables(task["doc_to_text"]) | variables(task["doc_to_target"]) <= declared
    assert task.get("answers", task["vary"]) in declared


def test_hotpotqa_fetches_the_validation_file_alone() -> None:
    files = config("paper", "sago_hotpotqa")["dataset_kwargs"]["data_files"]
    assert list(files) == ["validation"]
    assert fnmatch("distractor/validation-00000-of-00001.parquet", files["validation"])
    assert not fnmatch("distractor/train-00000-of-00002.parquet", files["validation"])


@pytest.mark.parametrize("folder", sorted(GROUPS))
def test_a_group_averages_what_all_its_tasks_have(folder: str) -> None:
    raw = config(folder, GROUPS[folder])
    assert set(raw) == {"group", "task", "aggregate_metric_list", "metadata"}
    group = GroupConfig(**raw)
    assert set(group.task) == TASKS[folder]
    assert len(group.task) == len(TASKS[folder])
    assert [entry.metric for entry in group.aggregate_metric_list] == GROUP_METRICS
    for entry in group.aggregate_metric_list:
        assert (entry.aggregation, entry.weight_by_size, entry.filter_list) == ("mean", False, ["none"])


@pytest.mark.parametrize("folder", sorted(TASKS))
def test_the_readme_names_every_task_of_its_folder(folder: str) -> None:
    text = (FOLDER / folder / "README.md").read_text(encoding="utf-8")
    names = TASKS[folder] | ({GROUPS[folder]} if folder in GROUPS else set())
    assert {name for name in names if f"`{name}`" not in text} == set()
    topics = ("licence", "split", "varied", "compared", "limits")
    assert [topic for topic in topics if topic not in text.casefold()] == []


def test_a_wildcard_does_not_ask_for_the_users_file() -> None:
    assert not fnmatch("local_sago", "sago_*")


def test_alpaca_keeps_the_input_below_the_instruction() -> None:
    text = config("paper", "sago_alpaca")["doc_to_text"]
    bare = {"instruction": "Name a fruit.", "input": ""}
    assert apply_template(text, bare) == "Instruction: Name a fruit.\nResponse:"
    full = {"instruction": "Sort these.", "input": "b, a"}
    assert apply_template(text, full) == "Instruction: Sort these.\nInput: b, a\nResponse:"


@pytest.mark.parametrize(
    ("document", "target"),
    [
        ({"prompt": "p"}, ""),
        ({"prompt": "p", "target": None}, ""),
        ({"prompt": "p", "target": "yes"}, "yes"),
        ({"prompt": "p", "target": ["first", "second"]}, "first"),
    ],
)
def test_local_target_may_be_missing_a_text_or_a_list(document: dict[str, Any], target: str) -> None:
    task = config("local", "local_sago")
    assert apply_template(task["doc_to_target"], document) == target
    assert apply_template(task["doc_to_text"], document) == "p"


@pytest.mark.parametrize(("folder", "name"), [("demo", "sago_demo_reasoning"), ("gsm8k", "sago_gsm8k")])
@pytest.mark.parametrize(
    ("response", "last"),
    [
        ("The answer is 18.", "18"),
        ("10-7=3 of them, so 5-7", "7"),
        ("In all 1,250 euros, nothing else.", "1,250"),
        ("It falls to -3 degrees", "-3"),
        ("2.5 and then 12.75!", "12.75"),
        ("#### 70000", "70000"),
        ("We have 4, 12 and 7, in this order", "7"),
    ],
)
def test_the_extracted_number_is_the_last_one(folder: str, name: str, response: str, last: str) -> None:
    from lm_eval.filters.extraction import RegexFilter

    step = dict(config(folder, name)["extract"][0])
    assert step.pop("function") == "regex"
    assert RegexFilter(**step).apply([[response]], [{}]) == [[last]]


NUMBERS = {
    "so .5 of it": ".5",
    "it is \u22125": "\u22125",
    "about 1e3": "1e3",
    "from 5-7": "7",
    "The answer is -1,250.75.": "-1,250.75",
    "1,2,3": "3",
}


@pytest.mark.parametrize(("folder", "name"), [("demo", "sago_demo_reasoning"), ("gsm8k", "sago_gsm8k")])
def test_a_number_is_extracted_as_it_is_compared(folder: str, name: str) -> None:
    pattern = config(folder, name)["extract"][0]["regex_pattern"]
    assert pattern == NUMBER.pattern
    for text, written in NUMBERS.items():
        found = re.findall(pattern, text)[-1]
        assert found == written
        assert number_of(found) == number_of(text) is not None
