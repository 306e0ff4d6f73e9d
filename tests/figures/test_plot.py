"""``sago plot`` as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sago_harness.cli.main import main
from sago_harness.figures import FIGURES
from tests.runs.made_runs import write_runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder, models=["one", "two"], tasks=["p", "q"], documents=12, variants=6, levels=[0.2, 0.5])
    return folder


def call(*words: object) -> int:
    return main(["plot", *map(str, words), "--resamples", "99"])


def test_lists_its_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["plot", "--list"])
    assert left.value.code == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()] == list(FIGURES)


def test_one_figure_goes_to_the_file_itself(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "f.pdf"
    assert call("bump", runs, "--which", "sago_core", "--out", out) == 0
    assert out.read_bytes().startswith(b"%PDF")
    assert capsys.readouterr().out.splitlines() == [str(out)]
    assert [path.name for path in tmp_path.iterdir()] == ["f.pdf"]


def test_several_go_to_files_of_their_own(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("standing", runs, "--out", tmp_path / "f.svg") == 0
    names = {"f-sago.svg", "f-sago_core.svg", "f-sago_text.svg"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert {Path(line).name for line in capsys.readouterr().out.splitlines()} == names


def test_names_are_printed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("standing", runs, "--names") == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "standing-sago", "standing-sago_core", "standing-sago_text",
    ]  # fmt: skip


def test_what_is_not_drawn_is_told(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("bump", runs, "--models", "one", "--out", tmp_path / "f.svg") == 2
    streams = capsys.readouterr()
    assert "there is one model" in streams.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["bum", "RUNS", "--out", "OUT/f.svg"], "did you mean bump?"),
        (["bump", "RUNS", "--out", "OUT/f.gif"], "unknown ending '.gif'"),
        (["bump", "RUNS", "--out", "OUT/none/f.svg"], "there is no folder"),
        (["bump", "RUNS"], "--out is missing"),
        (["bump", "RUNS", "--which", "sago_cor", "--out", "OUT/f.svg"], "did you mean sago_core"),
    ],
)
def test_mistakes_are_told_in_a_line(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    given = [word.replace("RUNS", str(runs)).replace("OUT", str(tmp_path)) for word in words]
    assert call(*given) == 2
    (line,) = [one for one in capsys.readouterr().err.splitlines() if one.startswith("sago: error")]
    assert told in line
    assert list(tmp_path.iterdir()) == []


def test_a_size_is_one_or_the_other(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        call("health", runs, "--out", tmp_path / "f.svg", "--scale", "2", "--width", "300")
    assert call("health", runs, "--out", tmp_path / "f.svg", "--width", "300", "--no-title") == 0
    assert 'width="300"' in (tmp_path / "f.svg").read_text(encoding="utf-8")
