"""The workflow and the job of docs/gate: they parse, and what they call is called as they call it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import tiny
from tests.runs.made_runs import write_runs

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "gate"

POLICY = """\
treatment: template
rules:
  - {metric: sago_core, margin: 0.3}
  - {metric: acc, margin: 0.35}
"""

TASK = """\
class: !function sago_harness.hooks.task.SagoTask
task: sago_mine
recipe: quick
shipped: facts.jsonl
test_split: test
fewshot_split: test
id_field: id
vary: question
output_type: generate_until
doc_to_text: "{prompt}"
doc_to_target: "{{{{answers[0]}}}}"
answers: answers
match: contains
generation_kwargs: {{until: ["\\n"], do_sample: false, max_gen_toks: 8}}
metadata: {{version: 1.0}}
"""


def github() -> list[str]:
    content: dict[Any, Any] = yaml.safe_load((FOLDER / "github.yml").read_text(encoding="utf-8"))
    # YAML takes the key "on" for true.
    assert set(content) == {"name", True, "permissions", "env", "jobs"}
    assert content["permissions"] == {"contents": "read"}
    (job,) = content["jobs"].values()
    assert all(set(step) <= {"name", "uses", "with", "run", "if"} for step in job["steps"])
    assert set(content["env"]) == {"TASK", "MODEL", "SAGO_HARNESS"}
    return [step["run"] for step in job["steps"] if "run" in step]


def gitlab() -> list[str]:
    content = yaml.safe_load((FOLDER / "gitlab.yml").read_text(encoding="utf-8"))
    (job,) = content.values()
    assert job["artifacts"]["reports"]["junit"] == "gate.xml"
    assert job["allow_failure"] == {"exit_codes": [3]}
    # One shell for all lines, as the runner has it.
    return ["\n".join(job["script"])]


SCRIPTS = {"github": github, "gitlab": gitlab}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A checkout of the change beside one of what it changes, and commands that need a network replaced."""
    before, after = tmp_path / "before" / "stability", tmp_path / "after" / "stability"
    for side, prompt in ((before, "Q: {{question}}\\nA:"), (after, "Question: {{question}}\\nAnswer:")):
        side.mkdir(parents=True)
        (side / "policy.yaml").write_text(POLICY)
        (side / "mine.yaml").write_text(TASK.format(prompt=prompt))
        shutil.copy(ROOT / "task_configs" / "demo" / "facts.jsonl", side)
    # GitLab checks the change out in the folder itself.
    shutil.copytree(after, tmp_path / "stability")
    return tmp_path


def commands(place: Path, *, runs: Path | None) -> dict[str, str]:
    """Return an environment with ``sago``, ``pip`` and ``git``; runs are copies of ``runs`` where given."""
    folder = place / "bin"
    folder.mkdir()
    real = f'exec {sys.executable} -m sago_harness "$@"'
    fake = (
        'if [ "$1" = run ]; then while [ "$1" != --output_path ]; do shift; done; '
        f'mkdir -p "$2"; cp -r {runs}/$(basename "$2")/. "$2"; exit; fi'
    )
    scripts = {
        "sago": f'if [ "$1" = models ]; then exit; fi\n{fake if runs else ""}\n{real}',
        "pip": "exit 0",
        "git": "exit 0",
    }
    for name, text in scripts.items():
        (folder / name).write_text(f'#!/bin/bash\nset -e\necho "$0 $*" >> {place}/calls\n{text}\n')
        (folder / name).chmod(0o755)
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI"))}
    return {
        **outside,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "TASK": "sago_mine",
        "MODEL": "tiny",
        "SAGO_HARNESS": "sago-harness",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    }


def call(script: str, place: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=place, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("which", list(SCRIPTS))
@pytest.mark.parametrize(("level", "status"), [(0.4, 0), (0.9, 1)])
def test_the_commands_end_in_a_verdict(which: str, level: float, status: int, place: Path) -> None:
    made = place / "made"
    for side, size, prompts in (("before", 0.4, "aa"), ("after", level, "bb")):
        write_runs(made / side, models=["tiny"], tasks=["sago_mine"], documents=60, variants=6,
                   levels=size, seed=len(side), prompts=prompts)  # fmt: skip
    environment = commands(place, runs=made)
    done = None
    for script in SCRIPTS[which]():
        done = call(script, place, environment)
        if done.returncode:
            break
    assert done is not None
    assert done.returncode == status, done.stdout + done.stderr
    assert json.loads((place / "gate.json").read_text())["exit_status"] == status
    assert "<testsuites" in (place / "gate.xml").read_text()
    called = (place / "calls").read_text()
    assert "sago models get smollm2" in called
    assert called.count("sago run ") == 2


@pytest.mark.slow
@pytest.mark.parametrize("which", list(SCRIPTS))
def test_the_commands_run_a_model(which: str, place: Path) -> None:
    """The same with real runs, of a tiny random model."""
    environment = {**commands(place, runs=None), "MODEL": str(tiny.save(place / "tiny-model"))}
    scripts = SCRIPTS[which]()
    for script in scripts:
        done = call(script, place, environment)
        assert done.returncode == 0 or script == scripts[-1], done.stdout + done.stderr
    assert (place / "gate.json").exists(), done.stdout + done.stderr
    read = json.loads((place / "gate.json").read_text())
    assert read["exit_status"] == done.returncode
    assert [change["field"] for change in read["changed"]] == ["prompts"]
    assert {rule["metric"] for rule in read["rules"]} == {"sago_core", "acc"}
