"""``sago layers``: tables, JSON and figures of what runs left."""

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Sago, model

TASK = "sago_demo_facts"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("layers") / "run"


@pytest.fixture
def ran(sago: Sago, model_folder: Path, finished: Path) -> Path:
    """A run of 16 documents; made by the first test that needs it."""
    if not finished.exists():
        words = ["--tasks", TASK, "--limit", "16", "--gen_kwargs", "max_gen_toks=4"]
        words += ["--metadata", "recipe=quick,canonical_repeats=1", "--output_path", str(finished)]
        assert sago("run", *model(model_folder), *words).status == 0
    return finished


def own(run: Path) -> dict[str, Any]:
    (path,) = run.rglob("results_*.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["configs"][TASK]["metadata"]["sago"]
    return found


def rows_of(text: str) -> list[list[str]]:
    """Cells of the table's lines, the heading first."""
    return [line.replace(" ± ", "±").split() for line in text.splitlines()[1:]]


def test_the_table_shows_what_the_results_hold(sago: Sago, ran: Path) -> None:
    done = sago("layers", ran)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0].endswith(f" on {TASK}: 16 documents")
    head, *rows = rows_of(done.out)
    assert head == ["layer", "r", "variants", "controls", "repeats", "x_cka"]
    profile, cka = own(ran)["layers"]["profile"], own(ran)["representation"]["x_cka"]["layers"]
    assert len(rows) == len(profile) == 3
    for cells, level, of in zip(rows, profile, cka, strict=True):
        assert cells[0] == str(level["layer"])
        said = level["reason"] or f"{level['r']:.4f}±{level['stderr']:.4f}"
        assert cells[1] == said
        assert cells[2:4] == [f"{level['variants']:.4f}", f"{level['controls']:.4f}"]
        assert cells[5] == (of["reason"] or f"{of['value']:.4f}±{of['stderr']:.4f}")


def test_json_holds_the_figures_whole(sago: Sago, ran: Path) -> None:
    (found,) = json.loads(sago("layers", ran, "--json").out)
    assert (found["task"], found["family"], found["unscored"]) == (TASK, "", {})
    cka = own(ran)["representation"]["x_cka"]["layers"]
    for level, expected, of in zip(found["layers"], own(ran)["layers"]["profile"], cka, strict=True):
        assert level.pop("x_cka") == {key: of[key] for key in ("value", "stderr", "reason")}
        assert level == expected


def test_records_give_the_same_profile_without_a_model(sago: Sago, ran: Path) -> None:
    (whole,) = json.loads(sago("layers", ran, "--json").out)
    for pattern in ("samples_*.jsonl", "records_*.parquet"):
        (path,) = ran.rglob(pattern)
        (found,) = json.loads(sago("layers", path, "--json").out)
        assert found["task"] == TASK
        assert [{**level, "x_cka": None} for level in whole["layers"]] == found["layers"]


def test_a_folder_of_samples_alone_is_read_too(sago: Sago, ran: Path, tmp_path: Path) -> None:
    (path,) = ran.rglob("samples_*.jsonl")
    (tmp_path / path.name).write_bytes(path.read_bytes())
    (found,) = json.loads(sago("layers", tmp_path, "--json").out)
    assert found["layers"][1]["r"] > 0.0


def test_the_newest_results_are_told(sago: Sago, ran: Path, tmp_path: Path) -> None:
    (path,) = ran.rglob("results_*.json")
    read = json.loads(path.read_text(encoding="utf-8"))
    for time, r in (("2026-02-01T00-00-00.0", 0.25), ("2026-01-01T00-00-00.0", 0.75)):
        read["configs"][TASK]["metadata"]["sago"]["layers"]["profile"][1]["r"] = r
        (tmp_path / f"results_{time}.json").write_text(json.dumps(read), encoding="utf-8")
    (found,) = json.loads(sago("layers", tmp_path, "--json").out)
    assert found["layers"][1]["r"] == 0.25


@pytest.mark.parametrize(("name", "begins"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_it_draws(sago: Sago, ran: Path, tmp_path: Path, name: str, begins: bytes) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / name
    assert sago("layers", ran, "--plot", path).status == 0
    first = path.read_bytes()
    assert first.startswith(begins)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert sago("layers", ran, ran, "--plot", path).status == 0
    assert sago("layers", ran, "--plot", path).status == 0
    assert path.read_bytes() == first


def test_a_figure_has_chance_noise_and_every_scored_layer(ran: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from sago_harness.cli.layers import _profiles
    from sago_harness.report.layer_plot import draw_layers

    drawn: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        save = Figure.savefig
        patch.setattr(Figure, "savefig", lambda self, *a, **k: (drawn.append(self), save(self, *a, **k)))
        (told,) = _profiles(ran)
        draw_layers([("t$x$", "_m$", told.profile), ("u", "n", told.profile)], tmp_path / "a.png")
    axes = drawn[0].axes
    assert [a.get_title() for a in axes] == ["t$x$", "u"]
    lines = {line.get_label(): line for line in axes[1].get_lines()}
    assert list(lines["chance: another question"].get_ydata()) == [1.0, 1.0]
    repeats = lines["n: repeats (noise)"].get_ydata()
    profile = own(ran)["layers"]["profile"]
    assert math.isnan(repeats[0])
    assert repeats[1] == pytest.approx(profile[1]["noise"] / profile[1]["controls"])
    values = axes[1].containers[0].lines[0].get_ydata()
    assert list(values[1:]) == [level["r"] for level in profile[1:]]


def test_without_matplotlib_it_says_so(sago: Sago, ran: Path, tmp_path: Path) -> None:
    load = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return load(name, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "__import__", without)
        done = sago("layers", ran, "--plot", tmp_path / "a.svg")
    assert done.status == 2
    assert "matplotlib" in done.error
    assert list(tmp_path.iterdir()) == []


def test_bad_input_is_told_in_one_line(sago: Sago, ran: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "not.json").write_text("[1, 2", encoding="utf-8")
    (tmp_path / "other.json").write_text('{"configs": {"t": {"metadata": {"sago": {"layers": [1]}}}}}')
    (tmp_path / "stock.json").write_text('{"configs": {"t": {"metadata": {"version": 1}}}}')
    (tmp_path / "a.jsonl").write_text("{\n")
    (tmp_path / "a.parquet").write_text("x")
    for words, said in (
        (["/nowhere/at/all"], "there is no file or folder"),
        ([tmp_path / "empty"], "holds no results of sago tasks"),
        ([tmp_path / "not.json"], "is no results file"),
        ([tmp_path / "other.json"], "is no results file"),
        ([tmp_path / "stock.json"], "holds no results of sago tasks"),
        ([tmp_path / "a.jsonl"], "line 1"),
        ([tmp_path / "a.parquet"], "no Parquet"),
        ([ran, "--task", "nothing"], "nothing"),
        ([ran, "--plot", tmp_path / "a.gif"], ".svg, .png, .pdf"),
        ([ran, "--plot", tmp_path / "no" / "a.svg"], "cannot be written"),
    ):
        done = sago("layers", *words)
        assert done.status == 2
        assert said in done.error


def test_hostile_names_cannot_drive_the_terminal(sago: Sago, ran: Path, tmp_path: Path) -> None:
    (path,) = ran.rglob("results_*.json")
    read = json.loads(path.read_text(encoding="utf-8"))
    config = read["configs"].pop(TASK)
    config["metadata"]["sago"]["layers"]["profile"][0]["reason"] = "\x1b[2J"
    read["configs"]["a\x1b]0;title\x07"] = config
    (tmp_path / "results_1.json").write_text(json.dumps(read), encoding="utf-8")
    done = sago("layers", tmp_path)
    assert done.status == 0
    assert "\x1b" not in done.out
    assert "\x07" not in done.out
