"""Several processes give what one gives, byte for byte; what goes wrong in one ends all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes.conftest import Job, free_port, start, torchrun

#: The clock's: all else must be equal.
CLOCK = {"date", "start_time", "end_time", "total_evaluation_time_seconds"}

#: Uneven for two processes, fewer than a bundle's worth, and even: limit -> tasks.
LIMITS = {
    "13": "sago_demo_facts,sago_demo_reasoning",
    "5": "sago_demo_facts,sago_demo_reasoning",
    "16": "sago_demo_facts",
}
FIVE = 1


def commands(model: list[str]) -> list[list[str]]:
    return [[*model, "--tasks", tasks, "--limit", limit] for limit, tasks in LIMITS.items()]


@pytest.fixture(scope="module")
def alone(model: list[str], tmp_path_factory: pytest.TempPathFactory) -> Job:
    """One process, no launcher."""
    return start(tmp_path_factory.mktemp("alone"), [[sys.executable]], commands(model))


@pytest.fixture(scope="module")
def pair(model: list[str], tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Two processes of one machine; then too few documents for both; then one of them fails."""
    facts = [*model, "--tasks", "sago_demo_facts"]
    return start(
        tmp_path_factory.mktemp("pair"),
        [torchrun("--nproc_per_node", "2", "--master_port", free_port())],
        [*commands(model), [*facts, "--limit", "1"], [*facts, "--limit", "13"]],
        fails=1,
    )


def files(folder: Path) -> dict[str, Path]:
    """Result files by name without the time."""
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    return {path.name.split("_20")[0]: path for path in folder.rglob("*") if path.is_file()}


def results(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in found.items() if key not in CLOCK}


def assert_same(one: Path, several: Path) -> None:
    """Samples and records byte for byte; results value for value."""
    expected, found = files(one), files(several)
    assert found.keys() == expected.keys()
    for name, path in expected.items():
        if name == "results":
            assert results(found[name]) == results(path)
        else:
            assert found[name].read_bytes() == path.read_bytes(), name


@pytest.mark.parametrize("number", range(len(LIMITS)), ids=LIMITS)
def test_two_processes_give_what_one_gives(alone: Job, pair: Job, number: int) -> None:
    assert alone.statuses == [0], alone.log
    assert pair.note(number)["status"] == pair.note(number, 1)["status"] == 0
    assert_same(alone.out(number), pair.out(number))
    samples = files(pair.out(number))["samples_sago_demo_facts"].read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["doc_id"] for line in samples] == list(range(int(list(LIMITS)[number])))
    # Told of once.
    assert "sago_core" in pair.note(number)["out"]
    assert pair.note(number, 1)["out"] == ""
    assert "wrote " not in pair.note(number, 1)["err"]


def test_the_work_is_shared_out(pair: Job) -> None:
    # The host's log keeps to the streams of the first command.
    for rank in (0, 1):
        assert f"Building contexts for sago_demo_facts on rank {rank}..." in pair.note(0, rank)["err"]


def test_two_machines_of_one_process_each(alone: Job, model: list[str], tmp_path: Path) -> None:
    # LOCAL_RANK is 0 on both: only the global rank tells them apart.
    port = free_port()
    machines = [
        torchrun(
            *("--nnodes", "2", "--node_rank", str(rank), "--nproc_per_node", "1"),
            *("--master_addr", "127.0.0.1", "--master_port", port),
        )
        for rank in range(2)
    ]
    done = start(tmp_path, machines, commands(model)[FIVE : FIVE + 1])
    assert done.statuses == [0, 0], done.log
    assert_same(alone.out(FIVE), done.out(0))
    assert done.note(0, 1)["out"] == ""


def test_accelerate_launch(alone: Job, model: list[str], tmp_path: Path) -> None:
    launcher = [
        sys.executable,
        "-m",
        "accelerate.commands.launch",
        "--num_processes",
        "2",
        "--num_machines",
        "1",
    ]
    port = ["--main_process_port", free_port()]
    # Without --multi_gpu, accelerate starts one process on a machine that has no GPU.
    done = start(tmp_path, [[*launcher, "--multi_gpu", *port]], commands(model)[FIVE : FIVE + 1])
    assert done.statuses == [0], done.log
    assert_same(alone.out(FIVE), done.out(0))
    assert done.note(0, 1)["out"] == ""


def error(note: dict[str, Any]) -> str:
    """The one line of an error."""
    assert note["status"] == 2
    assert "Traceback" not in note["err"]
    (line,) = [line for line in note["err"].splitlines() if line.startswith("sago: error:")]
    return str(line)


def test_more_processes_than_documents_end_with_a_line_each(pair: Job) -> None:
    line = "task 'sago_demo_facts': 2 processes for 1 documents: use at most one process a document"
    assert error(pair.note(3)) == f"sago: error: {line}"
    assert error(pair.note(3, 1)) == f"sago: error: process 2 of 2: {line}"
    assert list(pair.out(3).iterdir()) == []


def test_an_error_on_one_process_ends_all(pair: Job) -> None:
    assert error(pair.note(4, 1)) == "sago: error: process 2 of 2: only this process knows why"
    assert pair.statuses == [1]
    # The first one was computing or waiting; the launcher may have ended it before it said so.
    assert list(pair.out(4).iterdir()) == []
