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

#: What the change would like to be held to: the gate must take the target branch's policy.
LOOSE = POLICY.replace("0.3}", "0.95}").replace("0.35}", "0.95}")

PROMPTS = {"main": "Q: {{question}}\\nA:", "change": "Question: {{question}}\\nAnswer:"}


def git(*words: str | Path, at: Path) -> str:
    done = subprocess.run(
        ["git", *map(str, words)], cwd=at, env=git_settings(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def git_settings() -> dict[str, str]:
    """An environment in which nobody's own settings of git, nor a repository around the tests, matter."""
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER")
           for key, value in (("NAME", "somebody"), ("EMAIL", "somebody@example.org"))}  # fmt: skip
    outside = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    return {**outside, **who, **own}


def written(folder: Path, branch: str, policy: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "policy.yaml").write_text(policy)
    (folder / "mine.yaml").write_text(TASK.format(prompt=PROMPTS[branch]))
    shutil.copy(ROOT / "task_configs" / "demo" / "facts.jsonl", folder)


def repository(tmp_path: Path) -> str:
    """Return the address of a bare repository: target branch ``main``, ``change`` off its first commit."""
    work, bare = tmp_path / "work", tmp_path / "origin.git"
    work.mkdir()
    git("init", "--quiet", "--initial-branch", "main", at=work)
    written(work / "stability", "main", "rules: [{metric: flip, max: 0.99}]\n")
    git("add", ".", at=work)
    git("commit", "--quiet", "-m", "the policy that was", at=work)
    git("checkout", "--quiet", "-b", "change", at=work)
    written(work / "stability", "change", LOOSE)
    git("commit", "--quiet", "--all", "-m", "another prompt, and a loose policy", at=work)
    git("checkout", "--quiet", "main", at=work)
    # After the change was branched off: only who fetches the target branch has it.
    written(work / "stability", "main", POLICY)
    git("commit", "--quiet", "--all", "-m", "the policy that is", at=work)
    git("clone", "--quiet", "--bare", work, bare, at=tmp_path)
    shutil.rmtree(work)
    return bare.as_uri()


def checked_out(which: str, tmp_path: Path) -> Path:
    """Return the folder that the service starts in."""
    origin, place = repository(tmp_path), tmp_path / "place"
    if which == "gitlab":
        # As its runner does: the commits of the change alone, few of them, on no branch.
        place.mkdir()
        git("init", "--quiet", at=place)
        git("remote", "add", "origin", origin, at=place)
        git(
            "fetch",
            "--quiet",
            "--depth",
            "1",
            "origin",
            "+refs/heads/change:refs/remotes/origin/change",
            at=place,
        )
        git("checkout", "--quiet", "--detach", "refs/remotes/origin/change", at=place)
        return place
    place.mkdir()
    # actions/checkout with `path:`, one commit each.
    for branch, folder in (("change", "after"), ("main", "before")):
        git("clone", "--quiet", "--depth", "1", "--branch", branch, origin, folder, at=place)
    return place


@pytest.fixture
def place(which: str, tmp_path: Path) -> Path:
    """A checkout of the change as the service makes it, from a repository on this machine."""
    if shutil.which("git") is None:
        pytest.skip("there is no git here")
    return checked_out(which, tmp_path)


def commands(place: Path, *, runs: Path | None) -> dict[str, str]:
    """Return an environment with ``sago``, and ``pip`` that needs a network replaced.

    ``git`` is the real one. Runs are copies of ``runs`` where given. All calls are noted.
    """
    folder = place.parent / "bin"
    folder.mkdir()
    real = f'exec {sys.executable} -m sago_harness "$@"'
    fake = (
        'if [ "$1" = run ]; then while [ "$1" != --output_path ]; do shift; done; '
        f'mkdir -p "$2"; cp -r {runs}/$(basename "$2")/. "$2"; exit; fi'
    )
    scripts = {
        "sago": f'if [ "$1" = models ]; then exit; fi\n{fake if runs else ""}\n{real}',
        "pip": "exit 0",
        "git": f'exec {shutil.which("git")} "$@"',
    }
    for name, text in scripts.items():
        note = f'echo "{name} $*" >> {place.parent}/calls'
        (folder / name).write_text(f"#!/bin/bash\nset -e\n{note}\n{text}\n")
        (folder / name).chmod(0o755)
    outside = {k: v for k, v in git_settings().items() if not k.startswith(("GITHUB_", "CI"))}
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


def check_target(which: str, place: Path) -> None:
    """Before is the newest commit of the target branch, after the change."""
    here = place / "stability" if which == "gitlab" else place / "after" / "stability"
    for folder, branch, policy in ((place / "before" / "stability", "main", POLICY), (here, "change", LOOSE)):
        assert (folder / "policy.yaml").read_text() == policy
        assert (folder / "mine.yaml").read_text() == TASK.format(prompt=PROMPTS[branch])
    if which == "gitlab":
        trees = git("worktree", "list", "--porcelain", at=place)
        assert f"worktree {(place / 'before').resolve()}\n" in trees
        assert trees.count("detached") == 2
        newest = git("ls-remote", "origin", "refs/heads/main", at=place).split()[0]
        assert git("rev-parse", "HEAD", at=place / "before").strip() == newest


@pytest.mark.parametrize("which", list(SCRIPTS))
@pytest.mark.parametrize(("level", "status"), [(0.4, 0), (0.9, 1)])
def test_the_commands_end_in_a_verdict(which: str, level: float, status: int, place: Path) -> None:
    made = place.parent / "made"
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
    read = json.loads((place / "gate.json").read_text())
    assert read["exit_status"] == status
    assert [rule["threshold"] for rule in read["rules"]] == [0.3, 0.35], "the target branch's policy"
    assert "<testsuites" in (place / "gate.xml").read_text()
    check_target(which, place)
    called = (place.parent / "calls").read_text().splitlines()
    assert called[:2] == [
        "pip install torch --index-url https://download.pytorch.org/whl/cpu", "pip install sago-harness",
    ]  # fmt: skip
    assert "sago models get smollm2" in called
    assert sum(line.startswith("sago run ") for line in called) == 2
    fetched = ["git fetch origin main", "git worktree add --detach before FETCH_HEAD"]
    assert [line for line in called if line.startswith("git ")] == (fetched if which == "gitlab" else [])


def test_a_target_branch_that_is_gone_ends_the_job(tmp_path: Path) -> None:
    """Not with a verdict on something else."""
    if shutil.which("git") is None:
        pytest.skip("there is no git here")
    place = checked_out("gitlab", tmp_path)
    environment = commands(place, runs=tmp_path / "none") | {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "gone"}
    (script,) = gitlab()
    done = call(script, place, environment)
    assert done.returncode not in (0, 1, 3), done.stdout
    assert "couldn't find remote ref gone" in done.stderr
    assert not (place / "gate.json").exists()
    assert "sago gate" not in (tmp_path / "calls").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("which", list(SCRIPTS))
def test_the_commands_run_a_model(which: str, place: Path) -> None:
    """The same with real runs, of a tiny random model."""
    environment = {**commands(place, runs=None), "MODEL": str(tiny.save(place.parent / "tiny-model"))}
    scripts = SCRIPTS[which]()
    for script in scripts:
        done = call(script, place, environment)
        assert done.returncode == 0 or script == scripts[-1], done.stdout + done.stderr
    assert (place / "gate.json").exists(), done.stdout + done.stderr
    read = json.loads((place / "gate.json").read_text())
    assert read["exit_status"] == done.returncode
    assert [change["field"] for change in read["changed"]] == ["prompts"]
    assert {rule["metric"] for rule in read["rules"]} == {"sago_core", "acc"}
    check_target(which, place)
