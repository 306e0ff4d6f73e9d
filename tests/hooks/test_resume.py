"""A run that is killed and started again gives what one uninterrupted run gives."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from tests import tiny
from tests.hooks.killed import entries, start

TASK = "sago_demo_facts"

#: 10 documents of 1 + 6 + 2 requests, 2 to a bundle.
LIMIT, REQUESTS, BUNDLE = 10, 9, 2

#: What differs between two runs of the same thing.
TIMES = ("date", "total_evaluation_time_seconds")


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tiny.save(tmp_path_factory.mktemp("model"))
    return [
        *("run", "--model", "hf", "--model_args", f"pretrained={folder},dtype=float32"),
        *("--device", "cpu", "--batch_size", "4", "--tasks", TASK, "--limit", str(LIMIT)),
        *("--metadata", f"recipe=quick,bundle={BUNDLE}", "--gen_kwargs", "max_gen_toks=12"),
    ]


@pytest.fixture(autouse=True)
def _no_encoder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGO_HOME", str(tmp_path_factory.mktemp("empty")))


@contextmanager
def running(*processes: BaseProcess) -> Iterator[None]:
    """End what a failing test leaves."""
    try:
        yield
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
            process.join()


def finish(process: BaseProcess, log: Path) -> str:
    with running(process):
        process.join(timeout=300)
        told = log.read_text(encoding="utf-8", errors="replace")
        assert process.exitcode == 0, told[-3000:]
    return told


#: Results, and the bytes of samples and records.
Outcome = tuple[dict[str, Any], bytes, bytes]


def outcome(out: Path) -> Outcome:
    """Results without times and the cache's path; samples and records, which hold no times, whole."""
    (results,) = out.rglob("results_*.json")
    (samples,) = out.rglob(f"samples_{TASK}_*.jsonl")
    (records,) = out.rglob(f"records_{TASK}_*.parquet")
    found = json.loads(results.read_text(encoding="utf-8"))
    for key in TIMES:
        found.pop(key)
    found["config"].pop("use_cache")
    return found, samples.read_bytes(), records.read_bytes()


@pytest.fixture(scope="module")
def uninterrupted(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The same run without a cache."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAGO_HOME", str(folder / "empty"))
        log = folder / "log"
        finish(start([*words, "--output_path", str(folder / "out")], log), log)
    return outcome(folder / "out")


def test_a_run_that_is_killed_again_and_again_ends_as_if_it_had_not_been(
    words: list[str], uninterrupted: Outcome, tmp_path: Path
) -> None:
    log, out, cache = tmp_path / "log", tmp_path / "out", tmp_path / "cache.sago.sqlite"
    words = [*words, "--output_path", str(out), "--use_cache", str(tmp_path / "cache")]

    # In the middle of the second bundle's transaction: the first one is there, whole.
    process = start(words, log, suicide=BUNDLE * REQUESTS + 5)
    with running(process):
        process.join(timeout=300)
        assert process.exitcode == -signal.SIGKILL, log.read_text(encoding="utf-8")[-3000:]
    assert entries(cache) == BUNDLE * REQUESTS

    moments = random.Random(20)
    for _ in range(3):
        process = start(words, log)
        with running(process):
            began, delay = time.monotonic(), moments.uniform(0.0, 3.0)
            while process.is_alive() and "responses come from it" not in log.read_text(errors="replace"):
                assert time.monotonic() - began < 300
                time.sleep(0.01)
            time.sleep(delay)
            process.kill()
            process.join()
        assert entries(cache) % (BUNDLE * REQUESTS) == 0, "a bundle is all there or not at all"

    there = entries(cache)
    told = finish(start(words, log), log)
    assert f"{there} of {LIMIT * REQUESTS} responses come from it" in told
    with sqlite3.connect(cache) as link:
        assert link.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert entries(cache) == LIMIT * REQUESTS
    # A run that got to writing its results before it was killed has left them whole.
    results = sorted(out.rglob("results_*.json"))
    for old in results[:-1]:
        for file in old.parent.glob(f"*{old.stem.removeprefix('results')}*"):
            file.unlink()
    assert outcome(out) == uninterrupted


def test_two_processes_on_one_new_cache_both_end_well(
    words: list[str], uninterrupted: Outcome, tmp_path: Path
) -> None:
    places = [(tmp_path / f"log{k}", tmp_path / f"out{k}") for k in range(2)]
    shared = ["--use_cache", str(tmp_path / "cache")]
    started = [start([*words, *shared, "--output_path", str(out)], log) for log, out in places]
    with running(*started):
        for process, (log, _) in zip(started, places, strict=True):
            finish(process, log)
    for _, out in places:
        assert outcome(out) == uninterrupted
    assert entries(tmp_path / "cache.sago.sqlite") == LIMIT * REQUESTS
