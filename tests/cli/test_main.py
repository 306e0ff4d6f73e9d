"""``sago``: commands, help, and how light both are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sago_harness.taskfiles import task_files, task_folder
from tests.cli.conftest import Sago

ROOT = Path(__file__).parents[2]

LIGHT = """
import sys
from sago_harness.cli.main import main
for words in (["--help"], ["tasks"], ["tasks", "--path"], ["nonsense"]):
    main(words)
heavy = {"torch", "transformers", "lm_eval", "datasets", "numpy", "scipy", "pyarrow", "sacrebleu", "pandas"}
print("HEAVY", sorted(heavy & set(sys.modules)))
"""


def test_help_and_listing_load_nothing_heavy() -> None:
    """Well under half a second: what costs seconds is never imported."""
    done = subprocess.run(
        [sys.executable, "-c", LIGHT],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "HEAVY []"


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"]])
def test_the_overview_names_every_command(words: list[str], sago: Sago) -> None:
    done = sago(*words)
    assert done.status == 0
    for command in ("run", "tasks", "models", "summary"):
        assert f"\n  {command}" in done.out


def test_an_unknown_command_is_one_line(sago: Sago) -> None:
    done = sago("rum")
    assert done.status == 2
    assert "unknown command 'rum': did you mean run?" in done.error


def test_version(sago: Sago) -> None:
    import importlib.metadata

    try:
        expected = importlib.metadata.version("sago-harness")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the project is imported from its folder, not installed")
    done = sago("--version")
    assert (done.status, done.out.strip()) == (0, expected)


def test_ctrl_c_is_130_and_one_line(sago: Sago, monkeypatch: pytest.MonkeyPatch) -> None:
    import sago_harness.cli.run as command

    def interrupt(words: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", interrupt)
    done = sago("run")
    assert (done.status, done.err) == (130, "sago: stopped\n")


def test_tasks_lists_every_task_and_group(sago: Sago) -> None:
    done = sago("tasks")
    assert done.status == 0
    for name in task_files():
        assert name in done.out
    assert "sago_demo: sago_demo_facts, " in done.out


def test_tasks_path_is_the_folder_alone(sago: Sago) -> None:
    done = sago("tasks", "--path")
    assert done.out == f"{task_folder()}\n"
    assert (task_folder() / "_sago.yaml").is_file()


def test_summary_of_a_folder_that_is_not_there(sago: Sago, tmp_path: Path) -> None:
    assert "there is no folder" in sago("summary", str(tmp_path / "none")).error
    done = sago("summary", str(tmp_path))
    assert done.status == 2
    assert "holds no samples of sago tasks" in done.error
