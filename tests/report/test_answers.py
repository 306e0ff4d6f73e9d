"""The study in short: every number in the sentences against the tables and results that it is taken from."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sago_harness.cli.main import main
from sago_harness.report.compared import TABLES
from sago_harness.report.tables import Column, Table, as_csv, as_markdown, as_text
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.resampling import Settings
from tests.runs.made_runs import write_runs

MODELS = ("steady", "middle", "like it", "loose", "looser", "loosest")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    levels = [0.2, 0.5, 0.5, 0.8, 0.85, 0.9]
    write_runs(folder, models=MODELS, tasks=["p", "q", "r"], documents=24, variants=6, levels=levels)
    return folder


@pytest.fixture(scope="module")
def found(runs: Path) -> Comparison:
    return compare(read_table(find_runs([runs])), Settings(resamples=499))


def said(found: Comparison) -> dict[str, str]:
    return {str(row["question"]): str(row["answer"]) for row in TABLES["answers"](found).records()}


def listed(name: str, found: Comparison) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(TABLES[name](found)))))


def test_every_question_leads_to_a_table(found: Comparison) -> None:
    for row in TABLES["answers"](found).records():
        assert row["see"] in TABLES
        assert row["answer"]


def test_the_first_models_and_the_last_are_those_of_the_leaderboard(found: Comparison) -> None:
    board = sorted(listed("leaderboard", found), key=lambda row: -float(row["sago"]))
    text = said(found)["Which model is more stable?"]
    places = [text.index(row["model"] + " ") for row in (*board[:3], board[-1])]
    assert places == sorted(places)
    assert "; 2 more; " in text
    named = re.findall(r"([a-z ]+) (\.\d+) \[(\.\d+), (\.\d+)\] rank ([\d-]+)", text)
    assert len(named) == 4
    for (_, value, low, high, ranks), row in zip(named, (*board[:3], board[-1]), strict=True):
        wanted = [float(row[key]) for key in ("sago", "sago_interval_low", "sago_interval_high")]
        assert [float(value), float(low), float(high)] == pytest.approx(wanted, abs=5e-4)
        lower, upper = (int(float(row[f"sago_ranks_{end}"])) for end in ("low", "high"))
        assert ranks == (f"{lower}" if lower == upper else f"{lower}-{upper}")


def test_counts_are_those_of_the_tables(found: Comparison) -> None:
    text = said(found)
    unstable = Counter(row["verdict"] == "unstable" for row in listed("unstable", found) if row["p_adjusted"])
    assert text["Is a model unstable at all?"].startswith(f"{unstable[True]} of {unstable.total()} tests")
    pairs = [r for r in listed("pairs", found) if (r["task"], r["score"]) == ("overall", "sago")]
    close = [float(row["detectable"]) for row in pairs if "too close" in row["verdict"]]
    answer = text["Do two models differ?"]
    assert answer.startswith(f"{len(pairs) - len(close)} of {len(pairs)} pairs differ in sago")
    assert 0 < len(close) < len(pairs)
    told = [float(number) for number in re.findall(r"(?<![\d.])\.\d+", answer)]
    assert told == pytest.approx(sorted({min(close), max(close)}), abs=5e-4)
    axes = [r for r in listed("independence", found) if r["model"] == "all models" and r["kind"] == "axis"]
    verdicts = Counter(row["verdict"] if row["correlation"] else "blank" for row in axes)
    numbers = [int(n) for n in re.findall(r"\d+", text["Do axes catch other failures?"])]
    known = len(axes) - verdicts["blank"]
    wanted = [verdicts["independent"], known, verdicts["related"], verdicts["not shown"], verdicts["blank"]]
    assert numbers == wanted
    assert text["Does the ranking turn round?"] == found.reversals["sago"].headline


def test_views_that_keep_the_order_are_counted(found: Comparison) -> None:
    views = [row for row in listed("firmness", found) if row["score"] == "sago" and row["tau"]]
    kept = sum(row["moved"] in ("0", "0.0") for row in views)
    assert said(found)["How firm is that?"].startswith(f"in {kept} of {len(views)} other views")


def test_two_models_are_told_in_numbers(found: Comparison, runs: Path) -> None:
    two = compare(read_table(find_runs([runs]), models=["steady", "loose"]), Settings(resamples=499))
    c = two.pairs["overall"].columns["sago"]
    answer = said(two)["Do two models differ?"]
    assert answer.endswith(": steady is more stable")
    (number,) = re.findall(r"= ([+-]\.\d+)", answer)
    assert float(number) == pytest.approx(c.difference[0], abs=5e-4)
    assert f"n = {c.n[0]}" in answer


def test_one_model_on_one_data_set_is_no_comparison(runs: Path) -> None:
    one = compare(read_table(find_runs([runs]), models=["loose"], tasks=["p"]), Settings(resamples=99))
    text = said(one)
    assert text["Which model is more stable?"].startswith("sago, on p: loose .")
    assert not {"Do two models differ?", "Does the ranking turn round?", "Do data sets agree?"} & set(text)


def test_a_score_that_a_data_set_lacks_is_told(found: Comparison) -> None:
    assert found.total is not None
    total = replace(found.total, tasks_of={**found.total.tasks_of, "sago": ("p", "q")})
    less = replace(found, total=total)
    assert said(less)["Which model is more stable?"].startswith("sago, mean over 2 of 3 data sets: ")
    assert "sago is a mean over 2 of the data sets: p, q" in TABLES["leaderboard"](less).notes


def test_models_that_are_not_ranked_are_told_of(found: Comparison) -> None:
    stock = {task: replace(one, stock=np.array([0.5, 0, 0, 0, 0, 0])) for task, one in found.scored.items()}
    text = said(replace(found, scored=stock))
    assert "stock" in text["Be careful with"]


def test_the_answers_come_first_and_lines_are_not_too_long(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", str(runs), "--resamples", "99"]) == 0
    block = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert block[0] == "In short"
    assert max(map(len, block)) <= 80
    assert not any(line.count("[") != line.count("]") for line in block), "no interval is parted"


def test_prose_goes_on_below_itself() -> None:
    columns = (Column("a", kind="text"), Column("b", kind="text"))
    table = Table(
        "t", "T", columns, (("x", "one two three four five six seven [.1, .2] eight"),), wrapped=True
    )
    lines = as_text(table, 30).splitlines()
    assert lines[2:] == ["  x  one two three four five", "     six seven [.1, .2] eight"]
    long = as_text(replace(table, rows=(("x", f"a ] [ {'b' * 50} {'长' * 30} d"),)), 30).splitlines()[2:]
    assert all(len(line) + line.count("长") <= 30 for line in long)
    assert "".join(long).count("b") == 50
    assert "".join(long).count("长") == 30
    assert "one two three four five six seven" in as_markdown(table)
