"""What a run leaves: whole files or none."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.report.files import publish
from sago_harness.scores.table import read_parquet, read_samples, rescore
from tests.cli.conftest import Sago, model

ROOT = Path(__file__).parents[2]

RUN = [
    "--tasks",
    "sago_demo_facts",
    "--limit",
    "3",
    "--metadata",
    "recipe=quick",
    "--gen_kwargs",
    "max_gen_toks=6",
]


def left_in(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_a_run_leaves_results_samples_and_records(sago: Sago, model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = sago("run", *model(model_folder), *RUN, "--output_path", out)
    assert done.status == 0
    assert [p.name for p in out.iterdir() if p.name.startswith(".")] == []
    names = [Path(name).name for name in left_in(out)]
    assert [name.split("_2")[0] for name in names] == [
        "records_sago_demo_facts",
        "results",
        "samples_sago_demo_facts",
    ]
    for name in left_in(out):
        assert f"wrote {out / name}" in done.err
    (results,) = out.rglob("results_*.json")
    (samples,) = out.rglob("samples_*.jsonl")
    (records,) = out.rglob("records_*.parquet")
    table = json.loads(results.read_text(encoding="utf-8"))["results"]["sago_demo_facts"]
    for rows in (read_samples(samples), read_parquet(records)):
        again = rescore(rows)
        assert [value["x_act"] is not None for value in again.values] == [True] * 3
        mean = sum(value["x_act"] for value in again.values) / 3
        assert mean == pytest.approx(table["x_act,none"], abs=1e-12)
    told = sago("summary", out)
    assert told.status == 0
    assert "sago_demo_facts: 3 documents, 6 variants each" in told.out
    for axis in ("generation", "activation", "confidence", "mirroring"):
        assert f"\n  {axis}" in told.out
    # Without --log_samples there are the records alone; samples of others do not stand before them.
    samples.write_text("", encoding="utf-8")
    assert sago("summary", out).out == told.out
    samples.unlink()
    assert sago("summary", out).out == told.out
    (records.parent / "records_other_2026-01-02T03-04-05.000006.parquet").write_bytes(b"no Parquet")
    beside = sago("summary", out)
    assert (beside.status, beside.out) == (0, told.out)
    assert "note: left out: " in beside.err
    records.unlink()
    assert "records_other" in sago("summary", out).error


def test_a_second_run_stands_beside_the_first_and_the_newest_is_told(
    sago: Sago, model_folder: Path, tmp_path: Path
) -> None:
    for limit in ("2", "3"):
        words = [*RUN[:2], "--limit", limit, *RUN[4:]]
        assert sago("run", *model(model_folder), *words, "--output_path", tmp_path).status == 0
    assert len(list(tmp_path.rglob("results_*.json"))) == 2
    told = sago("summary", tmp_path).out
    assert told.count("documents, ") == 1
    assert "3 documents" in told


def test_a_results_file_may_be_named(sago: Sago, tmp_path: Path) -> None:
    done = sago("run", "--model", "dummy", *RUN, "--output_path", tmp_path / "mine" / "x.json")
    assert done.status == 0
    names = [name.split("_2")[0] for name in left_in(tmp_path / "mine")]
    assert sorted(names) == ["records_sago_demo_facts", "samples_sago_demo_facts", "x"]


def test_predictions_alone_are_kept(sago: Sago, tmp_path: Path) -> None:
    done = sago("run", "--model", "dummy", *RUN, "--predict_only", "--output_path", tmp_path)
    assert done.status == 0
    (samples,) = tmp_path.rglob("samples_*.jsonl")
    first = json.loads(samples.read_text(encoding="utf-8").splitlines()[0])
    assert set(first["filtered_resps"]) == {"lol"}
    assert not list(tmp_path.rglob("*.parquet"))
    assert "holds no samples of sago tasks" in sago("summary", tmp_path).error


def test_two_tasks_of_one_document_are_told_without_errors(
    sago: Sago, model_folder: Path, tmp_path: Path
) -> None:
    """H08: exit 0, N/A, never 0, and no interval."""
    words = ["--tasks", "sago_demo_facts,sago_demo_instructions", "--limit", "1", *RUN[4:]]
    done = sago("run", *model(model_folder), *words, "--output_path", tmp_path)
    assert done.status == 0
    rows = [line for line in done.out.splitlines() if "|x_act" in line]
    assert len(rows) == 2
    for line in rows:
        assert line.rstrip("| ").endswith("N/A")
    told = sago("summary", tmp_path)
    assert told.status == 0
    assert "±" not in told.out
    assert "unscored (" in told.out


def test_an_always_empty_model_is_told_as_such(
    sago: Sago, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E02: never told as stable without the mark."""
    from lm_eval.models.dummy import DummyLM

    monkeypatch.setattr(DummyLM, "generate_until", lambda self, requests, **_: [""] * len(requests))
    assert sago("run", "--model", "dummy", *RUN, "--output_path", tmp_path).status == 0
    told = sago("summary", tmp_path).out
    assert "3 of 3 empty responses" in told
    assert "100 % stock answers: not to be ranked" in told
    assert "sago unscored (" in told
    assert "sago_text unscored (" in told


# ---------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("stage", ["results", "samples", "records"])
def test_a_full_disk_leaves_nothing_half_written(
    stage: str, sago: Sago, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    if stage == "records":
        import pyarrow.parquet

        def stop(*_: Any, **__: Any) -> None:
            raise full

        monkeypatch.setattr(pyarrow.parquet, "write_table", stop)
    else:
        from lm_eval.loggers import evaluation_tracker

        suffix = ".json" if stage == "results" else ".jsonl"
        write_text, host_open = Path.write_text, open

        def write(self: Path, text: str, *args: Any, **kwargs: Any) -> int:
            if self.suffix == suffix and self.name.startswith("results"):
                write_text(self, text[: len(text) // 2], *args, **kwargs)
                raise full
            return write_text(self, text, *args, **kwargs)

        def half(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            stream = host_open(path, mode, *args, **kwargs)
            if str(path).endswith(suffix) and "samples_" in str(path) and mode == "a":
                stream.write('{"half": ')
                stream.close()
                raise full
            return stream

        monkeypatch.setattr(Path, "write_text", write)
        monkeypatch.setattr(evaluation_tracker, "open", half, raising=False)
    out = tmp_path / "run"
    done = sago("run", "--model", "dummy", *RUN, "--output_path", out)
    assert done.status == 2
    assert str(out) in done.error or "not whole" in done.error
    assert left_in(out) == []
    assert list(out.iterdir()) == []


def test_an_older_run_survives_a_full_disk(
    sago: Sago, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sago("run", "--model", "dummy", *RUN, "--output_path", tmp_path).status == 0
    before = {name: (tmp_path / name).read_bytes() for name in left_in(tmp_path)}
    import pyarrow.parquet

    def stop(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pyarrow.parquet, "write_table", stop)
    done = sago("run", "--model", "dummy", *RUN, "--output_path", tmp_path)
    assert done.status == 2
    assert "No space left on device" in done.error
    assert {name: (tmp_path / name).read_bytes() for name in left_in(tmp_path)} == before


def staged(folder: Path, count: int) -> Path:
    """A folder as the host leaves it, with one sample."""
    folder.mkdir(parents=True)
    results = {"n-samples": {"t": {"original": 9, "effective": count}}, "configs": {"t": {}}, "results": {}}
    (folder / "results_2026-01-01T00-00-00.0.json").write_text(json.dumps(results), encoding="utf-8")
    sample = json.dumps({"filtered_resps": ["yes"], "resps": [["yes"]]}) + "\n"
    (folder / "samples_t_2026-01-01T00-00-00.0.jsonl").write_text(sample, encoding="utf-8")
    return folder


def test_whole_files_are_moved(tmp_path: Path) -> None:
    moved = publish(staged(tmp_path / "s" / "m", 1).parent, tmp_path / "out")
    assert [path.parent for path in moved] == [tmp_path / "out" / "m"] * 2
    assert left_in(tmp_path / "s") == []


def test_missing_samples_are_noticed(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match="1 of 2 samples of task 't'"):
        publish(staged(tmp_path / "s" / "m", 2).parent, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_truncated_results_are_noticed(tmp_path: Path) -> None:
    folder = staged(tmp_path / "s" / "m", 1)
    (results,) = folder.glob("results*")
    results.write_text(results.read_text(encoding="utf-8")[:-5], encoding="utf-8")
    with pytest.raises(SagoError, match="is not whole"):
        publish(folder.parent, tmp_path / "out")


def test_no_results_at_all_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with pytest.raises(SagoError, match="no results were written"):
        publish(tmp_path / "s", tmp_path / "out")


def test_a_move_that_fails_takes_the_others_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def second_fails(self: Path, place: Any) -> Path:
        if "samples" in self.name:
            raise OSError(errno.EIO, "Input/output error")
        return replace(self, place)

    monkeypatch.setattr(Path, "replace", second_fails)
    with pytest.raises(SagoError, match=r"could not be written to .*Input/output error"):
        publish(staged(tmp_path / "s" / "m", 1).parent, tmp_path / "out")
    assert left_in(tmp_path / "out") == []


# A shell that runs the tests in the background lets its children ignore SIGINT.
INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import lm_eval.tasks as tasks
from sago_harness.cli.main import main
build = tasks.TaskManager.__init__
tasks.TaskManager.__init__ = lambda self, *a, **k: build(self, *a, **{**k, "include_defaults": False})
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_nothing(number: signal.Signals, model_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = [
        *model(model_folder),
        "--tasks",
        "sago_demo_facts",
        "--batch_size",
        "1",
        "--output_path",
        str(out),
    ]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", INTERRUPTED, "run", *words, "--gen_kwargs", "max_gen_toks=64"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    seen = b""
    try:
        deadline = time.monotonic() + 120
        while b"Running sago_generate requests" not in seen and time.monotonic() < deadline:
            piece = os.read(process.stderr.fileno(), 4096)
            assert piece, seen.decode(errors="replace")
            seen += piece
        assert [path.name.startswith(".sago-unfinished-") for path in out.iterdir()] == [True]
        process.send_signal(number)
        rest = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130
    assert (seen + rest).rstrip().endswith(b"sago: stopped")
    assert b"Traceback" not in seen + rest
    assert list(out.iterdir()) == []
