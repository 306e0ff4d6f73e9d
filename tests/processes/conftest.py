"""Jobs of several processes, started as a user starts them. Nothing here may wait for ever."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import tiny

ROOT = Path(__file__).parents[2]
JOB = Path(__file__).with_name("job.py")

#: Seconds that a job may take on a busy machine, and that a launcher gets to end its processes.
PATIENCE, FAREWELL = 300, 45


@dataclass(frozen=True)
class Job:
    """What a job left, for each command (0, 1, ...) and rank."""

    folder: Path
    statuses: list[int]
    log: str

    def note(self, command: int, rank: int = 0) -> dict[str, Any]:
        """Return status and streams of a process."""
        path = self.folder / "notes" / f"{command}-{rank}.json"
        assert path.is_file(), self.log
        note: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return note

    def out(self, command: int) -> Path:
        """Return the folder that a command's results were to go to."""
        return self.folder / f"out-{command}"


def free_port() -> str:
    """Return a port that nobody listens on."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return str(made.getsockname()[1])


def torchrun(*flags: str) -> list[str]:
    """Return the start of a command line."""
    return [sys.executable, "-m", "torch.distributed.run", *flags]


def start(
    folder: Path,
    launchers: Sequence[Sequence[str]],
    commands: Sequence[Sequence[str]],
    fails: int | None = None,
) -> Job:
    """Run the commands under launchers that stand for machines, and wait for all of them."""
    (folder / "notes").mkdir(parents=True)
    words = [[*command, "--output_path", str(folder / f"out-{n}")] for n, command in enumerate(commands)]
    plan = folder / "job.json"
    plan.write_text(
        json.dumps({"commands": words, "notes": str(folder / "notes"), "fails": fails}), encoding="utf-8"
    )
    env = {k: v for k, v in os.environ.items() if k not in ("SAGO_DATA_DIR", "SAGO_FILE")}
    env |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    running = [
        subprocess.Popen(
            [*launcher, str(JOB), str(plan)],
            cwd=folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for launcher in launchers
    ]
    try:
        logs = [process.communicate(timeout=PATIENCE)[0] for process in running]
    finally:
        for process in running:
            if process.poll() is None:
                process.terminate()
        for process in running:
            try:
                process.wait(timeout=FAREWELL)
            except subprocess.TimeoutExpired:
                process.kill()
    return Job(folder, [process.returncode for process in running], "\n".join(logs))


@pytest.fixture(scope="package")
def model(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Flags of a run on a tiny model: batches of several prompts, or their make-up would not matter."""
    folder = tiny.save(tmp_path_factory.mktemp("processes") / "tiny-model")
    return [
        *("run", "--model", "sago-hf", "--model_args", f"pretrained={folder},dtype=float32"),
        *("--metadata", '{"recipe":"quick"}', "--batch_size", "4", "--gen_kwargs", "max_gen_toks=6"),
    ]
