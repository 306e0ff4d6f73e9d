"""``sago compare`` as a user calls it."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sago_harness.cli.main import main
from sago_harness.errors import SagoError
from sago_harness.scores.table import read_parquet
from tests.cli.conftest import Sago, model
from tests.runs.made_runs import write_runs


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder, models=["one", "two", "three"], tasks=["p", "q"], documents=20, variants=6,
               levels=[0.2, 0.4, 0.6])  # fmt: skip
    return folder


def test_prints_and_writes(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "study"
    assert main(["compare", str(runs), "--resamples", "199", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    for title in ("Leaderboard", "Is it unstable?", "Rank reversals", "How firm is this?"):
        assert title in said
    assert "sago compare|models:3|tasks:p,q" in said
    assert "Families apart" not in said, "there are none"
    read = json.loads((out / "comparison.json").read_text())
    assert read["about"]["settings"]["resamples"] == 199
    board = read["tables"]["leaderboard"]["rows"]
    assert {row["model"] for row in board} == {"one", "two", "three"}
    assert [row["sago_core"] for row in board] == sorted((r["sago_core"] for r in board), reverse=True)
    with (out / "leaderboard.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert float(rows[0]["sago_interval_low"]) < float(rows[0]["sago"]) < float(rows[0]["sago_interval_high"])
    for ending in ("md", "tex"):
        assert "sago compare|" in (out / f"pairs.{ending}").read_text()
    with (out / "settings.csv").open(newline="") as lines:
        beside = {row["name"]: row["value"] for row in csv.DictReader(lines)}
    assert beside["resamples"] == "199"
    assert beside["signature"] in said
    assert not list(out.glob("*.part"))


def test_a_table_without_rows_is_shown_where_it_is_asked_for(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(runs), "--resamples", "99", "--show", "apart"]) == 0
    said = capsys.readouterr().out
    assert "Families apart" in said
    assert "no run has variants of families beside the score" in said
    assert "Leaderboard" not in said


def test_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """H08: made runs of ``--limit 1`` on two tasks: exit 0, never 0 for what is not known."""
    write_runs(tmp_path, models=["one"], tasks=["p", "q"], documents=1, variants=6)
    assert main(["compare", str(tmp_path), "--resamples", "99", "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    read = json.loads((tmp_path / "out" / "comparison.json").read_text())
    for row in read["tables"]["ranking"]["rows"]:
        assert row["sago_interval"] is None or None in row["sago_interval"]
    assert not read["tables"]["pairs"]["rows"]


def test_one_document_of_a_real_run_is_printed_without_errors(
    sago: Sago, model_folder: Path, tmp_path: Path
) -> None:
    """H08: ``--limit 1`` on two tasks, then the comparison of that run: N/A, never 0, no interval."""
    tasks = ("sago_demo_facts", "sago_demo_instructions")
    words = ["--limit", "1", "--metadata", "recipe=quick", "--gen_kwargs", "max_gen_toks=6"]
    runs = tmp_path / "runs"
    assert (
        sago("run", *model(model_folder), "--tasks", ",".join(tasks), *words, "--output_path", runs).status
        == 0
    )
    done = sago("compare", str(runs), "--resamples", "99")
    assert done.status == 0
    assert not re.search(r"\bnan\b|\binf\b|\[[-.\d]+, [-.\d]+\]", done.out), (
        "no number that is none, no interval"
    )
    assert "Warning" not in done.err
    board = done.out[done.out.index("Leaderboard\n") : done.out.index("Means weighted")]
    head, row = (re.split(r"  +", line.strip()) for line in board.splitlines()[1:3])
    # Without another document there is no chance level: of no score anything is known, not even 0.
    known = dict(zip(reversed(head), reversed(row), strict=False))
    assert (known["n"], known["of"]) == ("0", "2")
    assert set(row[1 : head.index("mirroring") + 1]) == {"-"}
    for task in tasks:
        assert f"{task}: {row[0]}: 0 of 1 scored" in board
    part = done.out[done.out.index("Measures\n") : done.out.index("Is it unstable?")]
    head, *lines = (re.split(r"  +", line.strip()) for line in part.splitlines()[1:5])
    assert [line[0] for line in lines] == ["overall", *tasks]
    for line in lines:
        errors = [cell for name, cell in zip(head, line, strict=False) if name in ("±", "95% interval")]
        assert errors == ["-"] * 10
        relative = [cell for name, cell in zip(head, line, strict=False)
                    if name.startswith("x_") and name != "x_mr"]  # fmt: skip
        assert relative == ["-"] * 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere"),
        (["{runs}", "--control", "four"], "unknown control model 'four'"),
        (["{runs}", "--scheme", "papr-rms"], "did you mean paper-rms"),
        (["{runs}", "--tasks", "r"], "unknown task 'r'"),
        (["{runs}", "--models", "on"], "did you mean one"),
        (["{runs}", "--format", "xls"], "unknown format"),
        (["{runs}", "--models", " , "], "--models ' , ' names nothing"),
        (["{runs}", "--tasks", ""], "--tasks '' names nothing"),
        (["{runs}", "--control="], "--control names no model"),
        (["{runs}", "--show", "leaderbord"], "did you mean leaderboard"),
    ],
)
def test_bad_input_is_one_line(
    runs: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *(word.format(runs=runs) for word in words)]) == 2
    error = capsys.readouterr().err.strip()
    assert said in error
    assert "\n" not in error


@pytest.mark.parametrize("flag", [["--out", ""], ["--level", "2"], ["--epsilon", "-1"], ["--resamples", "5"]])
def test_numbers_out_of_range(runs: Path, flag: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["compare", str(runs), *flag])
    assert stop.value.code == 2


def test_the_help_names_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    from sago_harness.report.compared import TABLES

    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    words = capsys.readouterr().out.replace(",", " ").split()
    assert set(TABLES) <= set(words)


def test_named_tables_alone(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(runs), "--resamples", "99", "--show", "leaderboard", "--rows", "1"]) == 0
    said = capsys.readouterr().out
    assert "Leaderboard" in said
    assert "Which of two models" not in said
    assert "... and 2 more rows" in said


def test_texts_are_those_of_the_seed_that_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said: dict[int, set[str]] = {}
    for seed in (42, 7):
        folder = tmp_path / "runs" / str(seed)
        time = f"2026-01-02T03-04-05.0000{seed:02d}"
        written = write_runs(
            folder, models=["one", "two"], tasks=["p"], documents=8, time=time, seed=seed, pack_seed=seed
        )
        said[seed] = {row["response"] for path in written for row in read_parquet(path)}
    out = tmp_path / "out"
    assert main(["compare", str(tmp_path / "runs"), "--resamples", "99", "--out", str(out)]) == 0
    assert (
        "pack seeds 7, 42 found: ranked by 42, the others are in 'How firm is this?' "
        "and 'Other seeds of the variants'" in capsys.readouterr().out
    )
    tables = json.loads((out / "comparison.json").read_text())["tables"]
    worst = tables["worst"]["rows"]
    assert worst
    for row in worst:
        assert {row["response"], row["canonical"]} <= said[42] - said[7]
    firm = [row for row in tables["firmness"]["rows"] if row["kind"] == "pack seed"]
    assert {(row["detail"], row["models"]) for row in firm} == {("7", 2)}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--rows", "-1"], "-1"),
        (["--worst", "-1"], "-1"),
        (["--resamples", "²²²"], "whole number"),
    ],
)
def test_counts_are_whole_numbers(
    runs: Path, flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(runs), *flags])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_where_to_write_is_checked_before_the_work(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "taken"
    taken.write_text("x")
    for flags, said in (
        (["--out", str(taken)], "is a file"),
        (["--out", str(tmp_path / "new"), "--format", ""], "write nothing"),
    ):
        assert main(["compare", str(runs), *flags]) == 2
        told = capsys.readouterr()
        assert said in told.err
        assert not told.out
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("word", ["a=", "=RUNS"])
def test_a_named_run_has_both_parts(runs: Path, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", word.replace("RUNS", str(runs))]) == 2
    assert "NAME=PATH, with both" in capsys.readouterr().err


def test_a_comma_inside_brackets_is_part_of_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "m (adapter=ad, revision=v2)"
    write_runs(tmp_path, models=[name, "other"], tasks=["p"], documents=6, variants=3)
    words = ["compare", str(tmp_path), "--models", name, "--resamples", "99", "--show", "ranking"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert name in said
    assert "other" not in said


def test_a_published_scheme_has_no_upper_end_at_1(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "study"
    words = ["compare", str(runs), "--scheme", "paper-std-meanabs", "--resamples", "199", "--out", str(out)]
    assert main([*words, "--format", "json", "--show", "ranking"]) == 0
    rows = json.loads((out / "comparison.json").read_text())["tables"]["ranking"]["rows"]
    seen = [(row[name], row[f"{name}_interval"]) for row in rows for name in ("x_act", "x_prob", "x_bleu")]
    assert max(high for _, (_, high) in seen) > 1.0, "held to [0, 1], a value above 1 would lie outside"
    for value, (low, high) in seen:
        assert low <= value <= high


def test_files_are_whole_where_the_reader_of_the_output_has_left(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [
        sys.executable,
        "-m",
        "sago_harness",
        "compare",
        str(runs),
        "--resamples",
        "99",
        "--out",
        str(out),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    assert (out / "comparison.json").is_file()


def test_a_folder_that_cannot_be_written_costs_no_output(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise SagoError("the disk is full")

    monkeypatch.setattr("sago_harness.report.save.save_tables", full)
    assert main(["compare", str(runs), "--resamples", "99", "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    assert "Leaderboard" in said.out
    assert "all tables are in" not in said.out
    assert said.err == "sago: error: the disk is full\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is full")
@pytest.mark.parametrize("words", [["compare", "{runs}", "--resamples", "99"], ["--help"], ["--version"]])
def test_an_output_that_is_full_is_told_in_one_line(runs: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "sago_harness", *(word.format(runs=runs) for word in words)]
    # As a user's shell has it: what is printed is held back, and fails where it is flushed.
    held = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    for environment in (held, {**held, "PYTHONUNBUFFERED": "1"}):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, env=environment
            )
        assert done.returncode == 2
        assert done.stderr == "sago: error: the output cannot be written: No space left on device\n"
