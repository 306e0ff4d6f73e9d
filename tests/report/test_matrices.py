"""Rank correlations and independence as matrices: every pair of the list is in them, in every format."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from sago_harness.cli.main import main
from sago_harness.report.compared import TABLES
from sago_harness.report.compared_matrices import MOST_BLANK, REASONS, independence_matrices, tau_matrices
from sago_harness.report.matrix import Matrices, Matrix
from sago_harness.report.tables import Column, Table, as_csv, as_html, as_json, as_latex, as_markdown, as_text
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.cross_half import LEAST_DOCUMENTS, LEAST_RELIABILITY
from sago_harness.stats.independence import LEAST_MODELS, axis_independence, independence_over_models
from sago_harness.stats.resampling import Settings
from tests.runs.made_runs import write_runs

Cells = dict[tuple[str, str, str], str]

TAU = (
    Column("score", kind="text"),
    Column("first", "data set", "text"),
    Column("second", "data set", "text"),
    Column("tau", kind="signed"),
)

HOSTILE = ("a|b\n| c", "<b>&", "\x1b[2J\u202ex", "\\input{x}&%", "[2ex]", "=1+1", "中文", "* `x`")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eleven models that hardly differ, so that rankings do."""
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder, models=11, tasks=["p", "q", "r", "s"], documents=24, variants=6, levels=0.4)
    return folder


@pytest.fixture(scope="module")
def found(runs: Path) -> Comparison:
    return compare(read_table(find_runs([runs])), Settings(resamples=99))


def listed(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(table))))


def of_markdown(table: Table) -> Cells:
    """Return (title, name down, name across) -> cell."""
    return dict(_cells(as_markdown(table), r"#### (.*)", "|", lambda cell: cell.replace("\\", "")))


def of_text(table: Table, width: int = 100) -> Cells:
    # Cells of a matrix are two blanks apart or more; no name here has any.
    text = re.sub(r"(?m)^  (\S.*?\S)$", lambda line: re.sub(" {2,}", "|", line[1]), as_text(table, width))
    return dict(_cells(text, r"([^|]+)$", "|", str))


def of_latex(table: Table) -> Cells:
    text = as_latex(table).replace(r"\_", "_")
    return dict(
        _cells(text, r"\\multicolumn\{\d+\}\{l\}\{(.*)\} \\\\", " & ", lambda c: c.removesuffix(r" \\"))
    )


def _cells(
    text: str, title: str, between: str, plain: Callable[[str], str]
) -> Iterator[tuple[tuple[str, str, str], str]]:
    named = ""
    across: list[str] = []
    for line in text.splitlines():
        if match := re.match(title, line):
            named, across = match[1].split(" (n = ")[0].replace("\\", ""), []
            continue
        if not line.strip():
            across = []
        if between not in line or not line.strip(" |-:") or line.startswith("%"):
            continue
        cells = [plain(cell.strip()).strip() for cell in line.strip().strip("|").split(between)]
        if not across or cells[0] in ("data set", "axis"):
            across = cells[1:]
            continue
        for name, cell in zip(across, cells[1:], strict=True):
            yield (named, cells[0], name), cell


@pytest.mark.parametrize("read", [of_markdown, of_text, of_latex])
def test_tau_is_scipy_s_on_the_ranks_both_ways(read: Callable[[Table], Cells], found: Comparison) -> None:
    cells = read(TABLES["tau"](found))
    scores = {title for title, *_ in cells}
    assert {"sago", "sago_core", "sago_generation"} <= scores
    for score in scores:
        ranking = {
            task: one.quantities[score].values
            for task, one in found.scored.items()
            if np.isfinite(one.quantities[score].values).any()
        }
        assert {name for title, name, _ in cells if title == score} == set(ranking)
        for first, a in ranking.items():
            assert cells[score, first, first] == "1"
            for second, b in ranking.items():
                if first != second:
                    assert cells[score, first, second] == cells[score, second, first]
                    value = kendalltau(a, b).statistic
                    assert float(cells[score, first, second]) == pytest.approx(value, abs=0.0005001)


@pytest.mark.parametrize("read", [of_markdown, of_text, of_latex])
def test_every_pair_of_the_csv_is_in_a_matrix_of_tau(
    read: Callable[[Table], Cells], found: Comparison
) -> None:
    table = TABLES["tau"](found)
    rows = listed(table)
    assert len(rows) >= 6 * 7
    cells = read(table)
    for row in rows:
        for pair in ((row["first"], row["second"]), (row["second"], row["first"])):
            assert float(cells[(row["score"], *pair)]) == pytest.approx(float(row["tau"]), abs=0.0005001)
    diagonal = sum(down == across for _, down, across in cells)
    assert len(cells) == diagonal + 2 * len(rows), "and nothing else"


def test_composite_scores_come_first(found: Comparison) -> None:
    made = tau_matrices(TABLES["tau"](found))
    assert [one.title for one in made.each[: len(found.scores)]] == list(found.scores)


@pytest.mark.parametrize("read", [of_markdown, of_text, of_latex])
def test_every_pair_of_the_csv_is_in_a_matrix_of_independence(
    read: Callable[[Table], Cells], found: Comparison
) -> None:
    table = TABLES["independence"](found)
    cells = read(table)
    blank = [line for line in as_text(table).splitlines() if "blank throughout" in line]
    drawn = 0
    for row in listed(table):
        title = f"{row['task']}, over models" if row["kind"] == "models" else f"{row['task']}, {row['model']}"
        if (title, row["first"], row["second"]) not in cells:
            assert not any(row[key] for key in ("correlation", "reliability_first", "reliability_second"))
            assert any(title in line for line in blank)
            continue
        above, below = (
            cells[title, *pair]
            for pair in ((row["first"], row["second"]), (row["second"], row["first"]))
        )  # fmt: skip
        if not row["correlation"]:
            assert (above, below) == ("-", f"({row['verdict']})")
        else:
            drawn += 1
            value, low, high = map(float, re.findall(r"[-+]?\d*\.\d+", above))
            assert value == pytest.approx(float(row["correlation"]), abs=0.005001)
            assert low == pytest.approx(float(row["interval_low"]), abs=0.005001)
            assert high == pytest.approx(float(row["interval_high"]), abs=0.005001)
            assert below == row["verdict"]
        for side in ("first", "second"):
            own = cells[title, row[side], row[side]]
            if row["kind"] == "models":
                assert own == ("1" if row["correlation"] else own)
            elif row[f"reliability_{side}"]:
                ends = [float(end) for end in re.findall(r"-?\d*\.\d+", own)]
                assert own.startswith("reliability ")
                value = float(row[f"reliability_{side}"])
                assert min(ends) - 0.005001 <= value <= max(ends) + 0.005001
    assert drawn > 50


def test_what_is_over_all_models_comes_first(found: Comparison) -> None:
    titles = [one.title.split(" (")[0] for one in independence_matrices(TABLES["independence"](found)).each]
    assert titles[:4] == [f"{task}, all models" for task in "pqrs"]
    assert titles[4] == "all data sets, over models"
    assert len(titles) <= 4 + 1 + 4 * 11
    assert not [title for title in titles[5:] if "all models" in title]


def test_how_to_read_it_stands_before_it(found: Comparison) -> None:
    table = TABLES["independence"](found)
    for write in (as_text, as_markdown, as_latex):
        made = write(table)
        assert made.index("on the diagonal: reliability") < made.index("all models")
        for reason in {row["verdict"] for row in listed(table) if not row["correlation"]}:
            assert REASONS[reason] in made


def test_the_legend_knows_every_reason_and_limit() -> None:
    told = " ".join(
        re.search(r"Blank[^:]*:(.*?)(Notes|Examples)", function.__doc__ or "", re.S)[1]  # type: ignore[index]
        for function in (axis_independence, independence_over_models)
    )
    assert set(re.findall(r"``(\w+)``", told)) == set(REASONS)
    assert f"under {LEAST_DOCUMENTS} documents" in REASONS["too_few_documents"]
    assert f"under {LEAST_MODELS} models" in REASONS["too_few_models"]
    assert f"under {LEAST_RELIABILITY:g}".replace("0.", ".") in REASONS["reliability"]


def taus(names: tuple[str, ...], value: Callable[[int, int], float]) -> Table:
    rows = tuple(
        ("sago", a, b, value(i, j)) for i, a in enumerate(names) for j, b in enumerate(names) if j > i
    )
    return Table("tau", "Tau", TAU, rows, matrices=tau_matrices)


@pytest.mark.parametrize("width", [80, 120])
def test_many_names_go_on_below(width: int) -> None:
    names = tuple(f"data_set_{place:02d}" for place in range(20))
    table = taus(names, lambda i, j: (i + 1) * (j + 1) / 1000.0)
    text = as_text(table, width)
    assert max(map(len, text.splitlines())) <= width
    assert max(len(line) for line in text.splitlines()) > width - 14, "no more blocks than it takes"
    cells = of_text(table, width)
    assert len(cells) == 400
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            assert (
                cells["sago", a, b] == "1"
                if i == j
                else float(cells["sago", a, b]) == pytest.approx((i + 1) * (j + 1) / 1000.0, abs=0.0005001)
            )
    assert of_latex(table) == of_markdown(table) == cells


def test_a_name_wider_than_the_line_has_a_block_of_its_own() -> None:
    names = ("a" * 90, "b" * 90, "c")
    blocks = list(taus(names, lambda i, j: 0.5).matrices(taus(names, lambda i, j: 0.5)).each[0].blocks(80))  # type: ignore[misc]
    assert [[column.heading for column in columns[1:]] for columns, _ in blocks] == [[name] for name in names]


def test_hostile_names_stay_in_their_cells() -> None:
    table = taus(HOSTILE, lambda i, j: 0.25)
    rows = [line for line in as_markdown(table).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(HOSTILE)
    for row in rows:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 2 + len(HOSTILE)
        assert "<" not in row
    tex = as_latex(table)
    assert r"\input" not in tex
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") >= 1
    for line in tex.splitlines():
        if line.endswith(r" \\") and "multicolumn" not in line:
            assert not line.startswith(("[", "*"))
    text = as_text(table)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert all(line.isprintable() for line in text.splitlines())


def test_hostile_names_of_models_stay_in_their_titles() -> None:
    table = independences([("axis", "p", name, a, b, 0.5, "related") for name in HOSTILE for a, b in AXES])
    for write, bad in ((as_markdown, "<b>"), (as_latex, r"\input{"), (as_text, "\x1b")):
        made = write(table)
        assert bad not in made
        assert made.count("reliability .70") == 3 * len(HOSTILE)
    assert len([line for line in as_markdown(table).splitlines() if line.startswith("#### ")]) == len(HOSTILE)


AXES = (("x", "y"), ("x", "z"), ("y", "z"))


def independences(rows: list[tuple[str, str, str, str, str, float, str]]) -> Table:
    columns = (
        Column("task", kind="text"), Column("model", kind="text"), Column("kind", kind="text"),
        Column("first", kind="text"), Column("second", kind="text"),
        Column("correlation", kind="signed", digits=2), Column("interval", "95% interval", "interval", 2),
        Column("reliability_first", digits=2), Column("reliability_second", digits=2),
        Column("documents", kind="count"), Column("verdict", kind="text"),
    )  # fmt: skip
    made = []
    for kind, task, model, first, second, value, verdict in rows:
        own = math.nan if kind == "models" or verdict == "not_measured" else 0.7
        bounds = (value - 0.1, value + 0.1)
        made.append((task, model, kind, first, second, value, bounds, own, own, 30, verdict))
    return Table("independence", "I", columns, tuple(made), matrices=independence_matrices)


def test_a_pair_lists_its_axes_in_either_order() -> None:
    """Above is above, whatever comes first in the list."""
    given = [("y", "x", 0.1), ("z", "x", 0.2), ("z", "y", 0.3)]
    (one,) = independence_matrices(
        independences([("axis", "p", "m", a, b, value, "independent") for a, b, value in given])
    ).each
    for a, b, value in given:
        i, j = sorted((one.names.index(a), one.names.index(b)))
        assert str(one.cells[i][j]).startswith(f"+.{value * 10:.0f}0 [")
        assert one.cells[j][i] == "independent"


def test_what_has_no_number_is_named_and_counted() -> None:
    models = [f"m{place:02d}" for place in range(MOST_BLANK + 5)]
    table = independences(
        [("axis", "p", model, a, b, math.nan, "not_measured") for model in models for a, b in AXES]
        + [("axis", "q", "m", a, b, 0.5, "related") for a, b in AXES]
    )
    made = independence_matrices(table)
    assert [one.title for one in made.each] == ["q, m (n = 30 documents)"]
    (line,) = [line for line in made.reading if line.startswith("blank throughout")]
    assert line.startswith("blank throughout (not_measured): p, m00; p, m01;")
    assert line.endswith("; and 5 more")


def test_all_ties_have_no_tau() -> None:
    table = taus(("p", "q", "flat"), lambda i, j: math.nan if j == 2 else 0.5)
    cells = of_markdown(table)
    assert [cells["sago", "flat", name] for name in ("p", "q", "flat")] == ["-", "-", "-"]
    assert (cells["sago", "p", "q"], cells["sago", "p", "p"]) == ("+.500", "1")
    assert "-: all models tie" in as_text(table)


def test_two_data_sets_stay_a_list(tmp_path: Path) -> None:
    write_runs(tmp_path, models=5, tasks=2, documents=12, variants=6)
    found = compare(read_table(find_runs([tmp_path])), Settings(resamples=99))
    table = TABLES["tau"](found)
    assert table.matrices is None
    assert as_text(table).splitlines()[1].split() == ["score", "data", "set", "data", "set", "tau"]


def test_one_data_set_says_why_there_is_none(tmp_path: Path) -> None:
    write_runs(tmp_path, models=5, tasks=1, documents=12, variants=6)
    found = compare(read_table(find_runs([tmp_path])), Settings(resamples=99))
    table = TABLES["tau"](found)
    assert not table.rows
    for write in (as_text, as_markdown, as_latex):
        assert "one data set: rankings can agree only over two or more" in write(table)


def test_too_few_axes_or_one_less(found: Comparison) -> None:
    names = [*dict.fromkeys(one.first for one in found.independence), "mirroring"]
    for left in (names[:2], names[:3]):
        some = [one for one in found.independence if {one.first, one.second} <= set(left)]
        table = TABLES["independence"](replace(found, independence=some))
        assert (table.matrices is None) == (len(left) == 2)
        if table.matrices is not None:
            assert {one.names for one in table.matrices(table).each} == {tuple(left)}
    nothing = TABLES["independence"](replace(found, independence=[]))
    assert "(nothing)" in as_text(nothing)


def test_mixed_models_are_marked_where_they_enter(found: Comparison) -> None:
    scored = {**found.scored, "p": replace(found.scored["p"], mixed=(True, *[False] * 10))}
    mixed = replace(found, scored=scored)
    name = found.scored["p"].models[0]
    table = TABLES["independence"](mixed)
    assert table.matrices is not None
    marked = {one.title.split(" (")[0]: one.notes for one in table.matrices(table).each if one.notes}
    assert marked[f"p, {name}"] == ("mixed on: p",)
    assert marked["p, all models"] == (f"mixed on: {name}: p",)
    assert set(marked) <= {f"p, {name}", "p, all models", "all data sets, over models"}
    assert f"mixed on: {name}: p" in as_latex(TABLES["tau"](mixed))


def test_files_for_programs_hold_the_list(found: Comparison) -> None:
    def fail(table: Table) -> Matrices:
        raise AssertionError("not asked for")

    for name in ("tau", "independence"):
        table = replace(TABLES[name](found), matrices=fail)
        read = json.loads(as_json([table], {}))["tables"][name]["rows"]
        assert len(read) == len(listed(table)) == len(table.rows)
        assert as_html(table).count("<tr>") == 1 + len(table.rows)
    assert TABLES["tau"](found).without("score").matrices is None


def test_some_fit() -> None:
    one = Matrix("t", "", ("a", "b", "c"), ((None,) * 3,) * 3, Column("v"))
    made = Matrices((one,) * 5)
    assert [len(made.fitting(rows).each) for rows in (0, 1, 3, 5, 6, 15, 99)] == [1, 1, 1, 1, 2, 5, 5]
    assert not Matrices(()).fitting(5).each


def test_the_command_shows_whole_matrices_and_writes_lists(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    out = tmp_path / "out"
    flags = ["--resamples", "99", "--show", "tau,independence", "--rows", "9", "--out", str(out)]
    assert main(["compare", str(runs), *flags]) == 0
    said = capsys.readouterr().out
    tau, independence = said.split("Do the axes catch different failures?")
    assert len(re.findall("(?m)^  data set +p ", tau)) == 2
    assert re.search(r"\.\.\. and \d+ more matrices: --rows, or --out", tau)
    assert independence.count(", all models (n =") == 2
    first = next(line for line in independence.splitlines() if line.startswith("  axis"))
    assert len(first) <= 80, "narrower than any terminal is not asked for"
    for name in ("tau", "independence"):
        with (out / f"{name}.csv").open(newline="") as lines:
            assert {"first", "second"} <= set(next(csv.DictReader(lines)))
        assert "#### " in (out / f"{name}.md").read_text()
        assert r"\multicolumn" in (out / f"{name}.tex").read_text()
