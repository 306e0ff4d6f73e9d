"""Tables that are kept as columns: the same text, byte for byte, as their rows one by one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sago_harness.report.arrow_text import number_texts
from sago_harness.report.cells import Bounds, Cell, CellColumn, CellRows, Coded, Coding, Numbers, counts
from sago_harness.report.compared import TABLES, sections
from sago_harness.report.shown import Column, shown, shown_numbers
from sago_harness.report.tables import Table, as_csv, as_html, as_json, as_latex, as_markdown, as_text
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable
from tests.report.test_tables import HOSTILE
from tests.runs.made_runs import write_runs
from tests.stats.made import table as made_table

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1e-4, 9.999999999999999e-05, -1e-5, 1e9, 999999999.5, 1234567890.5, 1e15, 1e16,
    1e22, 1.5e300, 5e-324, 0.1 + 0.2, 2 / 3, 100.0, -0.0004, 0.0005, 0.0015, 0.9995, float("nan"),
    float("inf"), float("-inf"),
)  # fmt: skip


def numbers(size: int, seed: int = 0) -> np.ndarray:
    """Numbers of every size, with all that is special among them."""
    rng = np.random.default_rng(seed)
    some = rng.normal(size=size) * 10.0 ** rng.integers(-7, 8, size)
    of_bits = rng.integers(0, 2**63, size).view(np.float64)
    chosen = np.where(rng.random(size) < 0.8, some, of_bits)
    chosen[rng.integers(0, size, 8 * len(SPECIAL))] = np.tile(SPECIAL, 8)
    return chosen


def wide(size: int = 2_500) -> Table:
    """A table of every kind of column."""
    rng = np.random.default_rng(5)

    def coded(values: tuple[Cell, ...]) -> Coded:
        return Coded(rng.integers(0, len(values), size).astype(np.int32), values)

    bounds = [Bounds(numbers(size, seed), numbers(size, seed + 1)) for seed in (10, 20)]
    ranks = Bounds(np.floor(rng.random(size) * 9), 9.0 + np.floor(rng.random(size) * 2))
    columns: list[tuple[Column, CellColumn]] = [
        (Column("model", kind="text"), coded((*HOSTILE, "[a] b", "*star", "", "plain"))),
        (Column("lone \ud800 key", "a|b", "text"), coded((*HOSTILE, None))),
        (Column("n", kind="count"), coded((0, 7, 12345, None))),
        (Column("sure", kind="yes"), coded((True, False, None))),
        (Column("plain"), Numbers(numbers(size, 1))),
        (Column("fine", digits=5), Numbers(numbers(size, 2))),
        (Column("whole", digits=0), Numbers(numbers(size, 3))),
        (Column("signed", kind="signed", digits=2), Numbers(numbers(size, 4))),
        (Column("p", kind="p"), Numbers(np.round(rng.random(size) ** 4, 5))),
        (Column("share", kind="share"), Numbers(numbers(size, 6))),
        (Column("interval", kind="interval"), bounds[0]),
        (Column("some", kind="interval", digits=2), replace(bounds[1], known=rng.random(size) < 0.5)),
        (Column("ranks", kind="ranks"), ranks),
    ]
    rows = CellRows([cells for _, cells in columns])
    return Table("t", "Many", tuple(column for column, _ in columns), rows, ("a note",))


WIDE = wide()


@pytest.fixture(autouse=True)
def _few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are longer than what is written at once."""
    for module, name in (
        ("cells", "_AT_ONCE"),
        ("shown", "_AT_ONCE"),
        ("tables", "_AT_ONCE"),
        ("json_text", "_COLUMNS_AT_ONCE"),
    ):
        monkeypatch.setattr(f"sago_harness.report.{module}.{name}", 1000)


@pytest.mark.parametrize("write", [as_csv, as_html, as_latex, as_markdown, as_text])
def test_columns_are_written_as_their_rows(write: Callable[[Table], str]) -> None:
    plain = replace(WIDE, rows=tuple(WIDE.rows))
    assert write(WIDE) == write(plain)


def test_columns_are_their_rows_in_json() -> None:
    plain = replace(WIDE, rows=tuple(WIDE.rows))
    empty = replace(WIDE, rows=CellRows([Coded(np.zeros(0, dtype=np.int32), ()) for _ in WIDE.columns]))
    assert as_json([WIDE, replace(empty, name="u")], {}) == as_json(
        [plain, replace(WIDE, name="u", rows=())], {}
    )
    assert WIDE.records() == plain.records()
    assert repr(list(WIDE.without("p").rows)) == repr(list(plain.without("p").rows))


def test_rows_are_a_sequence() -> None:
    rows = WIDE.rows
    every = tuple(rows)
    assert len(every) == len(rows) == 2_500
    for place in (0, 999, 1000, -1, -2_500):
        assert repr(rows[place]) == repr(every[place])
    assert repr(rows[2_490:3_000:3]) == repr(every[2_490:3_000:3])
    with pytest.raises(IndexError):
        rows[2_500]
    with pytest.raises(ValueError, match="make no rows"):
        CellRows([Numbers(np.zeros(2)), Numbers(np.zeros(3))])


def test_numbers_are_written_as_python_writes_them() -> None:
    values = numbers(10_000, 7)
    assert number_texts(values, repr).to_pylist() == list(map(repr, values.tolist()))
    for some in (values[:0], np.array([np.nan, 1.0]), np.array([0.25, 0.1])):
        assert number_texts(some, repr).to_pylist() == list(map(repr, some.tolist()))
    assert number_texts(values[::2], repr).to_pylist() == list(map(repr, values[::2].tolist()))


@pytest.mark.parametrize("kind", ["number", "signed", "p", "share", "count"])
@pytest.mark.parametrize("digits", [0, 1, 3])
def test_numbers_are_shown_alike_one_by_one_and_at_once(kind: str, digits: int) -> None:
    column = Column("c", kind=kind, digits=digits)
    values = numbers(2_000, digits)
    assert shown_numbers(values, column) == [shown(value, column) for value in values.tolist()]


def test_codes_are_those_of_the_cells_in_order() -> None:
    coding = Coding()
    coding.add(coding.codes(["b", None, "b"]))
    coding.same("a", 2)
    assert coding.made().cells(slice(None)) == ["b", None, "b", "a", "a"]
    assert Coding().made().cells(slice(None)) == []
    assert counts([]).cells(slice(None)) == []


# ---------------------------------------------------------------------- what the columns say


@pytest.fixture(scope="module", params=["holm", "bh", "control", "few"])
def found(request: pytest.FixtureRequest) -> Comparison:
    few = request.param == "few"
    settings = Settings(
        resamples=199,
        correction="bh" if request.param == "bh" else "holm",
        control="b" if request.param == "control" else "",
    )
    documents = 4 if few else 30
    tables = [
        made_table(
            np.random.default_rng(i), task=task, models=models, documents=documents, level=level, missing=0.1
        )
        for i, (task, models, level) in enumerate(
            [("p", ("a", "b", "c"), (0.2, 0.4, 0.6)), ("q", ("a", "b", "c"), (0.6, 0.4, 0.2)),
             ("r", ("a", "b"), (0.3, 0.4))]
        )
    ]  # fmt: skip
    return compare(ScoreTable.of(tables), settings)


def same(one: Table, rows: list[tuple[Cell, ...]]) -> None:
    assert rows, "there is something to compare"
    assert as_json([one], {}) == as_json([replace(one, rows=tuple(rows))], {})


def test_pairs_are_those_of_their_results(found: Comparison) -> None:
    rows: list[tuple[Cell, ...]] = []
    for place in ("overall", *found.tasks):
        block = found.pairs[place]
        whole = block.adjusted()
        axes = [name for name in whole if name.startswith("sago_") and name not in found.scores]
        assert {"sago", "sago_core", "sago_text"} <= set(found.scores)
        adjusted = {name: whole[name] for name in (*found.scores, *axes)}
        for one in block.rows(adjusted):
            verdict = one.reason
            if not verdict and one.too_close:
                least = one.smallest_pvalue
                verdict = "too close to call" + ("" if least is None else f" (smallest p {least:.3g})")
            elif not verdict:
                verdict = f"{one.a if one.p_plus < one.p_minus else one.b} is more stable"
            rows.append(
                (place, one.quantity, one.a, one.b, one.n, one.difference, one.confidence_interval,
                 one.pvalue, one.pvalue_adjusted, one.effect_size, one.detectable, verdict)
            )  # fmt: skip
    same(TABLES["pairs"](found), rows)


def test_reversals_are_those_of_their_results(found: Comparison) -> None:
    made = TABLES["reversals"](found)
    rows: list[tuple[Cell, ...]] = []
    for name in dict.fromkeys(str(row[0]) for row in made.rows):
        tested = [one for one in found.reversals[name].pairs() if not one.reason]
        rows += [
            (name, one.a, one.b, one.data_sets, one.a_ahead, one.b_ahead, one.pvalue, one.pvalue_adjusted,
             one.confirmed)
            for one in sorted(tested, key=lambda one: (one.pvalue_adjusted, one.pvalue))
        ]  # fmt: skip
    same(made, rows)


def test_reversals_between_two_data_sets_are_the_clearest(
    found: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sago_harness.report.compared_tests.MOST_REVERSALS", 2)
    made = TABLES["where-reversed"](found)
    for name in dict.fromkeys(str(row[0]) for row in made.rows):
        table = found.reversals[name]
        seen = list(table.rows(table.observed | table.confirmed))
        order = np.argsort([one.pvalue for one in seen], kind="stable")[:2]
        expected = [(seen[i].a, seen[i].b, seen[i].first, seen[i].second, seen[i].pvalue) for i in order]
        own = [(row[1], row[2], row[3], row[5], row[7]) for row in made.rows if row[0] == name]
        assert repr(own) == repr(expected)


def test_dose_is_that_of_its_results(found: Comparison) -> None:
    rows: list[tuple[Cell, ...]] = []
    for one in found.dose:
        for m, model in enumerate(one.models):
            why = one.reasons[m] or one.threshold_reasons[m]
            for s, strength in enumerate(one.strengths or (None,)):
                known = strength is not None
                rows.append(
                    (one.task, model, one.measure, f"{one.family}/{one.operator}{one.arm}", strength,
                     float(one.means[m, s]) if known else None,
                     (float(one.low[m, s]), float(one.high[m, s])) if known else None,
                     int(one.counts[m, s]) if known else None,
                     float(one.floors[m]), float(one.threshold[m]), float(one.statistic[m]),
                     None if one.reasons[m] else bool(one.monotone[m]),
                     " ".join(word for word in (why, one.note) if word))
                )  # fmt: skip
    same(TABLES["dose"](found), rows)


def test_variance_is_that_of_its_results(found: Comparison) -> None:
    from sago_harness.report.compared_origins import variance_table

    for order in (None, ["c", "a"]):
        rows: list[tuple[Cell, ...]] = [
            (one.task, model, one.measure, component, float(one.shares[m, c]), float(one.statistic[m, c]),
             (float(one.low[m, c]), float(one.high[m, c])), bool(one.negative[m, c]), one.reasons[m][c])
            for one in found.variance
            for model in (order or one.models)
            if model in one.models
            for m in [one.models.index(model)]
            for c, component in enumerate(one.components)
        ]  # fmt: skip
        same(variance_table("variance", "V", found.variance, order), rows)


def test_tables_can_be_asked_for_by_name(found: Comparison) -> None:
    assert [one.name for one in sections(found, ["tau", "pairs"])] == ["pairs", "tau"]


def test_writing_tables_imports_no_data_frames(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", models=2, tasks=2, documents=6, variants=6)
    code = (
        "import sys\n"
        "from sago_harness.cli.main import main\n"
        "main(['compare', sys.argv[1], '--resamples', '99', '--out', sys.argv[2]])\n"
        "sys.exit('pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "runs"), str(tmp_path / "out")]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
