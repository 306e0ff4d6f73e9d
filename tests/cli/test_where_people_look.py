"""lm-eval's own logging: Weights & Biases and the hub get the columns of the table."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Sago, model
from tests.cli.test_run_files import RUN

TASK = "sago_demo_facts"


class _File:
    def __init__(self, files: dict[str, str], name: str) -> None:
        self.files, self.name = files, name

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def write(self, text: str) -> None:
        self.files[self.name] = text


class _Artifact:
    def __init__(self, name: str, type: str) -> None:
        self.name, self.files = name, dict[str, str]()

    def new_file(self, name: str, mode: str, encoding: str) -> _File:
        return _File(self.files, name)


class _Table:
    def __init__(self, columns: list[str]) -> None:
        self.columns, self.data = columns, list[tuple[Any, ...]]()

    def add_data(self, *row: Any) -> None:
        assert len(row) == len(self.columns)
        self.data.append(row)


class _Run:
    """What the host asks of a run of Weights & Biases."""

    def __init__(self) -> None:
        self.logged: dict[str, Any] = {}
        self.artifacts: list[_Artifact] = []
        self.config = types.SimpleNamespace(update=lambda *_, **__: None)
        self.summary: dict[str, Any] = {}

    def log(self, values: dict[str, Any], step: int | None = None) -> None:
        self.logged |= values

    def log_artifact(self, artifact: _Artifact) -> None:
        self.artifacts.append(artifact)

    def finish(self) -> None:
        pass


@pytest.fixture
def board(monkeypatch: pytest.MonkeyPatch) -> _Run:
    run = _Run()
    names: dict[str, Any] = {
        "__version__": "1.0",
        "run": None,
        "init": lambda **_: run,
        "Table": _Table,
        "Artifact": _Artifact,
    }
    for name in ("wandb", "wandb.sdk", "wandb.sdk.lib", "wandb.sdk.lib.printer"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for name, value in names.items():
        monkeypatch.setattr(sys.modules["wandb"], name, value, raising=False)
    printer = sys.modules["wandb.sdk.lib.printer"]
    monkeypatch.setattr(printer, "new_printer", lambda: None, raising=False)
    return run


def columns_of(results: Path) -> dict[str, Any]:
    row = json.loads(results.read_text(encoding="utf-8"))["results"][TASK]
    return {key.removesuffix(",none"): value for key, value in row.items() if key.endswith(",none")}


def test_weights_and_biases_get_every_column(
    board: _Run, sago: Sago, model_folder: Path, tmp_path: Path
) -> None:
    done = sago("run", *model(model_folder), *RUN, "--output_path", tmp_path, "--wandb_args", "project=p")
    assert done.status == 0, done.err
    assert "Logging to Weights and Biases failed" not in done.err
    (results,) = tmp_path.rglob("results_*.json")
    expected = columns_of(results)
    values = {name for name in expected if not name.endswith("_stderr")}
    assert {"sago", "sago_generation", "x_act", "n_scored"} <= values

    table = board.logged["evaluation/eval_results"]
    place = {name: table.columns.index(name) for name in ("Tasks", "Metric", "Value", "Stderr")}
    told = {row[place["Metric"]]: row for row in table.data if row[place["Tasks"]] == TASK}
    assert values <= set(told)
    for name in values:
        assert told[name][place["Value"]] == str(expected[name])
        stderr = expected[f"{name}_stderr"]
        assert told[name][place["Stderr"]] == ("N/A" if stderr == "N/A" else f"{stderr:.4f}")
        # The host puts words (N/A) into the summary.
        where = board.summary if isinstance(expected[name], str) else board.logged
        assert where[f"{TASK}/{name}"] == expected[name]

    documents = board.logged[f"{TASK}_eval_results"]
    assert values <= set(documents.columns)
    samples = [json.loads(line) for line in next(tmp_path.rglob("samples_*.jsonl")).open(encoding="utf-8")]
    assert documents["x_act"].tolist() == [sample["x_act"] for sample in samples]
    assert documents["raw_predictions"].tolist() == [sample["resps"][0][0] for sample in samples]
    assert {artifact.name for artifact in board.artifacts} == {"results", TASK}


def test_the_hub_gets_results_and_samples(
    monkeypatch: pytest.MonkeyPatch, sago: Sago, model_folder: Path, tmp_path: Path
) -> None:
    from lm_eval.loggers import EvaluationTracker

    files: dict[str, str] = {}
    folders: list[list[str]] = []

    class Hub:
        def create_repo(self, **_: Any) -> None:
            pass

        def upload_file(self, *, path_or_fileobj: str, path_in_repo: str, **_: Any) -> None:
            files[path_in_repo] = Path(path_or_fileobj).read_text(encoding="utf-8")

        def upload_folder(self, *, folder_path: str, **_: Any) -> None:
            folders.append(sorted(path.name for path in Path(folder_path).iterdir()))

    monkeypatch.setattr(EvaluationTracker, "_api", staticmethod(lambda token=None: Hub()))
    monkeypatch.setattr(EvaluationTracker, "recreate_metadata_card", lambda self: None)
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    asked = "hub_results_org=org,push_results_to_hub=True,push_samples_to_hub=True,public_repo=False"
    done = sago("run", *model(model_folder), *RUN, "--output_path", tmp_path, "--hf_hub_log_args", asked)
    assert done.status == 0, done.err
    (pushed,) = files.values()
    (results,) = tmp_path.rglob("results_*.json")
    written = json.loads(results.read_text(encoding="utf-8"))
    assert json.loads(pushed)["results"] == written["results"]
    assert [name.split("_2")[0] for name in folders[-1]] == ["results", f"samples_{TASK}"]
    assert "hf_secret" not in done.err + done.out + pushed
    assert all("hf_secret" not in path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.jsonl"))
