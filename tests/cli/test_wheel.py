"""H03: the built wheel, in an empty folder, as the README uses it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUN = ["--model", "dummy", "--tasks", "sago_demo_facts", "--limit", "2", "--metadata", "recipe=quick"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with nothing but the wheel's content; what it depends on is in the running environment."""
    work = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    # Built from a copy, so that the build leaves nothing behind in the source tree.
    source = work / "source"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(source)], check=True, capture_output=True)
    subprocess.run(
        [*pip, "wheel", "-q", "--no-deps", "-w", str(work), str(source)], check=True, capture_output=True
    )
    (wheel,) = work.glob("*.whl")
    target = work / "site"
    subprocess.run(
        [*pip, "install", "-q", "--no-deps", "--target", str(target), str(wheel)],
        check=True,
        capture_output=True,
    )
    return target


def call(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    # The wheel stands before any editable install; the folder is empty and no checkout.
    environment = {**os.environ, "PYTHONPATH": str(installed), "HF_HUB_OFFLINE": "1", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def columns(output: str) -> dict[str, str]:
    rows = [
        [cell.strip() for cell in line.split("|")] for line in output.splitlines() if line.startswith("|")
    ]
    return {row[5]: row[7] for row in rows if len(row) > 8 and row[5] not in ("Metric", "")}


def test_the_readmes_command_works_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    path = call(installed, tmp_path, "-m", "sago_harness", "tasks", "--path")
    assert path.returncode == 0, path.stderr
    folder = Path(path.stdout.strip())
    assert folder == installed / "sago_harness" / "task_configs"
    plain = call(installed, tmp_path, "-m", "lm_eval", "--include_path", str(folder), *RUN)
    assert plain.returncode == 0, plain.stderr[-2000:]
    assert columns(plain.stdout)["response_tokens"] == "N/A"  # a text model counts no tokens
    assert float(columns(plain.stdout)["x_bleu"]) == 0.0
    launched = call(
        installed,
        tmp_path,
        *("-m", "accelerate.commands.launch", "--num_processes", "1", "--num_machines", "1", "--cpu"),
        *("--mixed_precision", "no", "--dynamo_backend", "no", "-m", "sago_harness", "run"),
        *RUN,
    )
    assert launched.returncode == 0, launched.stderr[-2000:]
    assert columns(launched.stdout) == columns(plain.stdout)


def test_an_unknown_model_is_one_line_with_the_command_that_works(installed: Path, tmp_path: Path) -> None:
    done = call(installed, tmp_path, "-m", "sago_harness", "run", "--model", "sago-hg", *RUN[2:])
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("sago: error:")]
    assert "did you mean sago-hf" in line
    assert "sago run --model sago-hf --model_args pretrained=smollm2" in line
    assert "Traceback" not in done.stderr
