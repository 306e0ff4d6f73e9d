"""Plain ``lm_eval --include_path``: the same columns, nothing of ours on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.taskfiles import task_folder
from tests.cli.conftest import Sago

FLAGS = ["--limit", "3", "--metadata", "recipe=quick", "--gen_kwargs", "max_gen_toks=6", "--batch_size", "4"]


def lm_eval(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Call the host's own command line in this process."""
    from lm_eval.__main__ import cli_evaluate

    include = ["--include_path", str(task_folder())]
    monkeypatch.setattr(sys, "argv", ["lm_eval", "run", *include, *words])
    cli_evaluate()


def table(folder: Path) -> dict[str, Any]:
    (results,) = folder.rglob("results_*.json")
    found: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))["results"]
    return found


def test_the_same_numbers_as_sago_run(
    sago: Sago, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hf = ["--model", "hf", "--model_args", f"pretrained={model_folder},dtype=float32", "--device", "cpu"]
    words = [*hf, "--tasks", "sago_demo", *FLAGS]
    lm_eval(monkeypatch, *words, "--output_path", str(tmp_path / "plain"), "--log_samples")
    assert sago("run", *words, "--output_path", tmp_path / "ours").status == 0
    plain, ours = table(tmp_path / "plain"), table(tmp_path / "ours")
    assert set(plain) == {
        "sago_demo",
        "sago_demo_facts",
        "sago_demo_instructions",
        "sago_demo_reasoning",
        "sago_demo_facts_zh",
    }
    assert plain == ours
    for column in ("x_bleu", "x_act", "x_prob", "x_ent", "sago_activation", "sago_confidence"):
        assert isinstance(plain["sago_demo_facts"][f"{column},none"], float)
        assert isinstance(plain["sago_demo_facts"][f"{column}_stderr,none"], float)


def test_a_wildcard_works_there_too(
    sago: Sago, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the project is loaded; the host refuses a group beside its members otherwise."""
    lm_eval(monkeypatch, "--model", "dummy", "--tasks", "sago_demo*", *FLAGS)
    out = capsys.readouterr().out
    assert "|sago_demo " in out
    assert "- sago_demo_facts_zh" in out


def test_missing_data_is_one_line_with_both_remedies(sago: Sago, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SagoError) as caught:
        lm_eval(monkeypatch, "--model", "dummy", "--tasks", "sago_demo_facts,sago_nq", *FLAGS)
    message = str(caught.value)
    assert "\n" not in message
    assert "reach the hub" in message
    assert "SAGO_DATA_DIR" in message
