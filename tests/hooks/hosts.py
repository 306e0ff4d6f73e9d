"""How the tests call the host, and models with scripted answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from sago_harness.taskfiles import task_folder

NEW_TOKENS = 12

DEMO = ("sago_demo_facts", "sago_demo_instructions", "sago_demo_reasoning", "sago_demo_facts_zh")


def manager(metadata: Mapping[str, Any] | None = None, *folders: Path) -> TaskManager:
    """The host's task manager over the project's folder alone: its own tasks take seconds to scan."""
    paths = [str(path) for path in (task_folder(), *folders)]
    options = {"recipe": "quick", **(metadata or {})}
    return TaskManager(include_path=paths, include_defaults=False, metadata=options)


def build(name: str, metadata: Mapping[str, Any] | None = None, *folders: Path) -> Any:
    """Build one task, set up as the host does before a run."""
    task = manager(metadata, *folders).load([name])["tasks"][name]
    task.set_config(key="num_fewshot", value=0)
    task.set_fewshot_seed(1234)
    return task


def evaluate(
    model: Any,
    tasks: str | Sequence[str],
    metadata: Mapping[str, Any] | None = None,
    folders: Iterable[Path] = (),
    **options: Any,
) -> dict[str, Any]:
    """Run the host with the recipe ``quick`` and few new tokens."""
    options.setdefault("gen_kwargs", {"max_gen_toks": NEW_TOKENS})
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    found: dict[str, Any] = lm_eval.simple_evaluate(
        model=model, tasks=names, task_manager=manager(metadata, *folders), **options
    )
    return found


def values(results: Mapping[str, Any], task: str) -> dict[str, Any]:
    """The table of a task: column -> value, columns of standard errors included."""
    row = results["results"][task]
    return {key.removesuffix(",none"): value for key, value in row.items() if key.endswith(",none")}


def records(results: Mapping[str, Any], task: str) -> dict[str, list[dict[str, Any]]]:
    """Document id -> its records."""
    found = {}
    for sample in results["samples"][task]:
        rows = [json.loads(line) for line in sample["filtered_resps"]]
        found[rows[0]["document"]] = rows
    return found


def prompts(task: Any) -> dict[str, dict[str, Any]]:
    """Document id -> variant id -> prompt, of a task whose requests have been built."""
    found: dict[str, dict[str, Any]] = {}
    for instance in task.instances:
        text, _, payload = instance.arguments
        found.setdefault(payload["document"], {})[payload["variant"]] = text
    return found


def write_yaml(folder: Path, name: str, body: str, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write a sago task of its own with its rows beside it; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    head = (
        "class: !function sago_harness.hooks.task.SagoTask\n"
        f"task: {name}\nshipped: {name}.jsonl\nlanguage: en\nrecipe: quick\noutput_type: generate_until\n"
        "test_split: test\nfewshot_split: test\n"
        "generation_kwargs: {until: [], do_sample: false, max_gen_toks: 12}\n"
        "metadata: {version: 1.0}\n"
    )
    (folder / f"{name}.yaml").write_text(head + body, encoding="utf-8")
    return folder


class Scripted(LM):  # type: ignore[misc]
    """A model of the host that answers with a function of the prompt; text is all it gives."""

    tokenizer_name = "scripted"

    def __init__(self, answer: Callable[[str], str], *, system: bool = True) -> None:
        super().__init__()
        self.answer = answer
        self.system = system
        self.sent: list[str] = []

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        """Answer and remember the prompts."""
        self.sent += [request.args[0] for request in requests]
        return [self.answer(request.args[0]) for request in requests]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Prefer short continuations."""
        return [(-float(len(request.args[1])), False) for request in requests]

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        """Not asked for."""
        raise NotImplementedError

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        """Write one line a turn; a refused system turn is dropped, as the host does for ``hf``."""
        turns = [t for t in chat_history if self.system or t["role"] != "system"]
        text = "".join(f"<{turn['role']}>{turn['content']}</{turn['role']}>" for turn in turns)
        return text + ("<assistant>" if add_generation_prompt else "")

    def chat_template(self, chat_template: Any = False) -> str:
        """Name for the host's log."""
        return "scripted"
