"""Fixtures of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sago_harness.cli.main import main
from sago_harness.logs import warn_once
from tests import tiny


@dataclass(frozen=True)
class Outcome:
    """What a command left: exit status and both streams."""

    status: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of an error; fails if there is not exactly one, or a traceback."""
        assert "Traceback" not in self.err, self.err
        (line,) = [line for line in self.err.splitlines() if line.startswith("sago: error:")]
        assert self.err.rstrip().endswith(line), "nothing follows the error"
        return line


Sago = Callable[..., Outcome]


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    with tiny.one_thread():
        yield


@pytest.fixture
def sago(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Sago:
    """Run a command in this process; the host scans the project's folder alone, which saves seconds."""
    from lm_eval.tasks import TaskManager

    build = TaskManager.__init__

    def quick(self: Any, *args: Any, **kwargs: Any) -> None:
        build(self, *args, **{**kwargs, "include_defaults": False})

    monkeypatch.setattr(TaskManager, "__init__", quick)
    monkeypatch.delenv("SAGO_DATA_DIR", raising=False)
    monkeypatch.delenv("SAGO_FILE", raising=False)
    warn_once.cache_clear()

    def call(*words: str) -> Outcome:
        capsys.readouterr()
        status = main([str(word) for word in words])
        streams = capsys.readouterr()
        return Outcome(status, streams.out, streams.err)

    return call


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Llama."""
    return tiny.save(tmp_path_factory.mktemp("cli") / "tiny-model")


def model(folder: Path) -> list[str]:
    """Flags that name the tiny model."""
    return ["--model", "sago-hf", "--model_args", f"pretrained={folder},dtype=float32", "--device", "cpu"]


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    """Write a user's file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of the demo facts with recipe ``quick``."""
    path = tmp_path_factory.mktemp("packs") / "facts.jsonl"
    assert main(["variants", "build", "sago_demo_facts", "--recipe", "quick", "--out", str(path)]) == 0
    return path
