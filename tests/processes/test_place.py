"""Which process this is, and what each may write."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from sago_harness.backends.ranks import Place, in_document_order, join, lost, place
from sago_harness.backends.sago_hf import SagoHF
from sago_harness.errors import SagoError
from sago_harness.report.files import sweep, unfinished
from tests import tiny


def test_the_index_over_all_machines_counts() -> None:
    second_of_two_machines = {"RANK": "9", "LOCAL_RANK": "1", "WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}
    assert place(second_of_two_machines) == Place(9, 16)
    assert not place({"RANK": "8", "LOCAL_RANK": "0", "WORLD_SIZE": "16"}).first
    joined = {"MASTER_ADDR": "127.0.0.1"}
    assert place({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", **joined}) == Place(1, 2)
    assert place({"PMI_RANK": "1", "PMI_SIZE": "2", **joined}) == Place(1, 2)
    # A scheduler numbers tasks that know nothing of each other in the same way.
    assert place({"PMI_RANK": "1", "PMI_SIZE": "2"}) == Place()
    assert str(Place(0, 4)) == "process 1 of 4"


def test_a_rank_that_is_no_number_is_one_line() -> None:
    with pytest.raises(SagoError, match=r"RANK='first' in the environment"):
        place({"RANK": "first"})


def test_a_process_alone_joins_nothing(tmp_path: Path) -> None:
    assert join("cpu") == Place(0, 1)
    lm = SagoHF(str(tiny.save(tmp_path)), device="cpu", dtype="float32")
    assert (lm.rank, lm.world_size) == (0, 1)
    assert not hasattr(lm, "accelerator")
    assert not torch.distributed.is_initialized()
    assert lm.gather_object([1]) == [[1]]


@pytest.mark.parametrize(
    ("device", "accelerator", "on_processor"),
    [
        ("cuda", False, True),
        ("cpu", False, True),
        ("cpu", True, True),
        ("cuda:0", True, False),
        (None, True, False),
    ],
)
def test_what_processes_are_joined_over(
    device: str | None, accelerator: bool, on_processor: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}

    def state(**options: Any) -> SimpleNamespace:
        asked.update(options)
        return SimpleNamespace(process_index=8, local_process_index=0, num_processes=16)

    monkeypatch.setattr("accelerate.PartialState", state)
    monkeypatch.setattr("sago_harness.backends.ranks._has_accelerator", lambda: accelerator)
    monkeypatch.setenv("RANK", "8")
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "16")
    assert join(device) == Place(8, 16)
    assert asked["cpu"] is on_processor
    assert asked["timeout"].days > 300


def test_processes_that_do_not_find_each_other_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(
        "accelerate.PartialState", lambda **_: SimpleNamespace(process_index=0, num_processes=1)
    )
    with pytest.raises(SagoError, match=r"^2 processes were started, but accelerate has joined 1: .*$"):
        join("cpu")

    def refuse(**_: Any) -> None:
        raise RuntimeError("timed out waiting for clients\nC++ frames")

    monkeypatch.setattr("accelerate.PartialState", refuse)
    with pytest.raises(
        SagoError, match=r"^2 processes could not be joined \(timed out waiting for clients\)$"
    ):
        join("cpu")


@pytest.mark.parametrize("options", [{"pretrained": "x", "tp_plan": "auto"}, {"pretrained": object()}])
def test_tensor_parallel_and_loaded_models_know_no_other_process(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("lm_eval.models.huggingface.HFLM.__init__", lambda self, **_: None)
    lm = SagoHF(**options)
    assert (lm.rank, lm.world_size) == (0, 1)


def test_samples_of_all_processes_come_in_the_order_of_one() -> None:
    filters = ["none", "first"]
    order = [{"doc_id": number, "filter": name} for name in filters for number in range(7)]
    shares: list[dict[str, list[Any]]] = [{"a": [], "b": []} for _ in range(3)]
    where = {number: random.Random(number).randrange(3) for number in range(7)}
    for sample in order:
        for task in ("a", "b"):
            shares[where[sample["doc_id"]]][task].append({**sample, "task": task})
    first, *others = in_document_order(shares)
    assert first == {task: [{**sample, "task": task} for sample in order] for task in ("a", "b")}
    assert others == [{"a": [], "b": []}] * 2


@pytest.mark.parametrize("item", [{"t": {("x", "none"): [1.0]}}, {"t": [1.0]}, [1], {}, None])
def test_other_objects_are_left_as_they_are(item: Any) -> None:
    assert in_document_order([item, item]) == [item, item]


def test_an_error_of_a_call_between_processes_is_told_from_others() -> None:
    with pytest.raises(ValueError, match="process group") as caught:
        torch.distributed.barrier()
    assert lost(caught.value)
    assert not lost(RuntimeError("of another kind"))


def test_only_folders_of_dead_processes_of_this_machine_are_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    ours = unfinished(tmp_path)
    dead = ours.with_name(ours.name.replace(str(os.getpid()), str(gone.pid)))
    elsewhere = tmp_path / f".sago-unfinished-another-machine-{gone.pid}"
    for folder in (ours, dead, elsewhere):
        folder.mkdir()
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([ours, elsewhere])


def test_a_process_that_is_not_the_first_writes_and_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a second machine, where the host would write a second time."""
    from lm_eval.tasks import TaskManager

    from sago_harness.cli.main import main

    build = TaskManager.__init__
    monkeypatch.setattr(
        TaskManager,
        "__init__",
        lambda self, *a, **k: build(self, *a, **{**k, "include_defaults": False}),
    )
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    dead = tmp_path / "out" / f".sago-unfinished-{'x'}-1"
    dead.mkdir(parents=True)
    words = ["--model", "dummy", "--tasks", "sago_demo_facts", "--limit", "2", "--metadata", "recipe=quick"]
    assert main(["run", *words, "--output_path", str(tmp_path / "out")]) == 0
    assert [path.name for path in tmp_path.rglob("*")] == ["out", dead.name]
    assert capsys.readouterr().out == ""
    assert main(["run", *words[:2], "--tasks", "sago_demo_fact"]) == 2
    said = capsys.readouterr()
    assert said.err.splitlines()[-1].startswith("sago: error: process 2 of 2: unknown task 'sago_demo_fact'")
