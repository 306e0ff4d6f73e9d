"""Models read with ``--allow-mixed`` are marked in every table that shows a number of theirs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.report.compared import RARE, TABLES, sections
from sago_harness.report.compared_mixed import MOST_NOTES, mixed_on, with_marks
from sago_harness.report.tables import Column, Table, as_csv, as_latex, as_markdown, as_text
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.resampling import Settings
from tests.runs.made_runs import write_runs

MODELS = ("a", "b", "c", "d")
NOTE = "p: b is marked as mixed: "

#: A row of these is over all data sets, whatever data sets it names.
OVER_ALL = ("leaderboard", "weighted", "schemes", "reversals", "agreement", "firmness")

#: Without a model's name: the whole ranking is in each row.
WHOLE = ("agreement", "tau", "firmness")

#: Their flags say so, too.
FLAGGED = ("leaderboard", "ranking")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Four models on three data sets; b answered with other generation arguments on p."""
    place = tmp_path_factory.mktemp("runs")
    others = [model for model in MODELS if model != "b"]
    made: dict[str, Any] = {"documents": 10, "variants": 6}
    write_runs(place / "1", models=others, tasks=["p", "q", "r"], levels=[0.2, 0.5, 0.7], **made)
    write_runs(place / "2", models=["b"], tasks=["q", "r"], seed=3, **made)
    longer = {"do_sample": False, "max_gen_toks": 64, "until": []}
    write_runs(place / "3", models=["b"], tasks=["p"], seed=4, generation=longer, **made)
    return compare(read_table(find_runs([place]), allow_mixed=True), Settings(resamples=99))


@pytest.fixture(scope="module")
def plain(found: Comparison) -> Comparison:
    """The same numbers, with nothing mixed."""
    scored = {task: replace(one, mixed=()) for task, one in found.scored.items()}
    notes = tuple(note for note in found.notes if "mixed" not in note)
    return replace(found, scored=scored, notes=notes)


def concerned(table: Table, record: dict[str, Any]) -> bool:
    """Say by the names in a row whether a number of b on p is in it."""
    names = {cell for cell in record.values() if isinstance(cell, str)}
    of_b = table.name in WHOLE or bool({"b", "all models"} & names)
    on_p = table.name in OVER_ALL or "p" in names or not {"q", "r"} & names
    return of_b and on_p


def test_what_is_mixed_is_known(found: Comparison) -> None:
    assert mixed_on(found, "b") == ("p",)
    assert mixed_on(found, "b", ["q", "r"]) == ()
    assert mixed_on(found, "a") == mixed_on(found, "no such model") == ()
    assert [note for note in found.notes if note.startswith(NOTE)]


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("answers", *RARE)])
def test_every_row_of_a_mixed_model_is_marked(name: str, found: Comparison, plain: Comparison) -> None:
    table = TABLES[name](found)
    records = table.records()
    assert records, "made so that every table has rows"
    for record in records:
        assert bool(record["mixed"]) == concerned(table, record), record
        assert record["mixed"] in ("", "p", "b: p")
    (note,) = [note for note in table.notes if note.startswith(NOTE)]
    assert "max_gen_toks" in note
    for write in (as_text, as_markdown, as_latex):
        assert "mixed on" in write(table)
    assert "mixed" in as_csv(table).splitlines()[0].split(",")
    # Nothing else of the table is another one.
    same = TABLES[name](plain)
    assert "mixed" not in [column.key for column in same.columns]
    bare = table.without("mixed")
    assert bare.columns == same.columns
    flagged = [column.key for column in bare.columns].index("flags") if name in FLAGGED else None
    for row, usual in zip(bare.rows, same.rows, strict=True):
        cells = list(row)
        if flagged is not None:
            cells[flagged] = str(cells[flagged]).replace("mixed", "").strip()
        np.testing.assert_equal(cells, list(usual))


def test_the_study_in_short_names_them(found: Comparison) -> None:
    (careful,) = [row[2] for row in TABLES["answers"](found).rows if row[0] == "Be careful with"]
    assert "b (" in str(careful)
    assert "mixed" in str(careful)


def test_families_apart_are_marked(found: Comparison) -> None:
    columns = (Column("task", kind="text"), Column("model", kind="text"), Column("r"))
    rows = tuple((task, model, 0.5) for task in ("p", "q") for model in ("a", "b"))
    made = with_marks(Table("apart", "Apart", columns, rows, ("first",)), found)
    assert [column.key for column in made.columns] == ["task", "model", "mixed", "r"]
    assert [row[2] for row in made.rows] == ["", "p", "", ""]
    assert made.notes[0] == "first"
    assert made.notes[1].startswith(NOTE)


def test_a_table_without_such_a_row_stays_as_it_is(found: Comparison) -> None:
    columns = (Column("task", kind="text"), Column("model", kind="text"))
    table = Table("apart", "Apart", columns, (("q", "b"), ("p", "a")))
    assert with_marks(table, found) is table
    empty = Table("apart", "Apart", columns, ())
    assert with_marks(empty, found) is empty


def test_nothing_mixed_changes_nothing(plain: Comparison) -> None:
    for table in sections(plain):
        assert with_marks(table, plain) is table
        assert not [note for note in table.notes if "mixed" in note]


def test_many_mixed_models_do_not_fill_the_terminal(found: Comparison) -> None:
    scored = {task: replace(one, mixed=(True,) * 4) for task, one in found.scored.items()}
    table = TABLES["unstable"](replace(found, scored=scored))
    told = [note for note in table.notes if "marked as mixed" in note]
    assert len(told) == MOST_NOTES + 1
    assert told[-1].startswith("2 more are marked as mixed")
    for row in TABLES["reversals"](replace(found, scored=scored)).rows:
        assert row[3] == f"{row[1]}: p, q, r; {row[2]}: p, q, r"


def test_runs_of_another_seed_are_marked_where_they_are_told(tmp_path: Path) -> None:
    made: dict[str, Any] = {"models": ["a", "b"], "documents": 8, "variants": 6}
    longer = {"do_sample": False, "max_gen_toks": 64, "until": []}
    write_runs(tmp_path / "1", tasks=["p", "q"], **made)
    write_runs(tmp_path / "2", tasks=["p"], pack_seed=7, generation=longer, **made)
    write_runs(tmp_path / "3", tasks=["q"], pack_seed=7, **made)
    study = compare(read_table(find_runs([tmp_path]), allow_mixed=True), Settings(resamples=99))
    told = [note for note in study.notes if "is marked as mixed" in note]
    assert [note.split(" is marked")[0] for note in told] == [f"p: {m} with pack seed 7" for m in "ab"]
    firm = TABLES["firmness"](study)
    for record in firm.records():
        assert record["mixed"] == ("a: p; b: p" if record["kind"] == "pack seed" else "")
    assert set(told) <= set(firm.notes)
    seeds = TABLES["seeds"](study)
    for record in seeds.records():
        assert record["mixed"] == ("" if record["task"] == "q" else "seed 7: p")
    assert set(told) <= set(seeds.notes)
    # They enter no score.
    assert "mixed" not in [column.key for column in TABLES["ranking"](study).columns]
