"""Result tables: every format keeps its shape whatever the cells say."""

from __future__ import annotations

import csv
import io
import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.jsonsafe import dumps, json_safe
from sago_harness.report.save import save_tables
from sago_harness.report.tables import (
    Column,
    Table,
    as_csv,
    as_html,
    as_json,
    as_latex,
    as_markdown,
    as_text,
    shown,
)

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    'a" onmouseover="x',
    "a|b\n| c",
    "\x1b[2Jgone\u202etxt",
    "=HYPERLINK(1)",
    "\\input{/etc/passwd} 50% & $x$",
    "lone \ud800 surrogate",
    "中文 | 表",
)


def table(cells: tuple[str, ...] = HOSTILE) -> Table:
    columns = (Column("model", kind="text"), Column("r"), Column("i", "interval", "interval"))
    return Table("t", "Scores of <b>", columns, tuple((cell, 0.5, (0.25, 0.75)) for cell in cells))


def test_markdown_keeps_its_columns() -> None:
    lines = as_markdown(table()).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 2 + len(HOSTILE)
    for row in rows:
        bars = row.replace("\\\\", "").replace("\\|", "").count("|")
        assert bars == 4, row
        assert "<" not in row


def test_html_shows_text_and_runs_nothing() -> None:
    class Seen(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: set[str] = set()
            self.attributes: list[object] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.add(tag)
            self.attributes += attrs

    seen = Seen()
    seen.feed(as_html(table()))
    assert seen.tags == {"table", "caption", "tr", "th", "td"}
    assert seen.attributes == []


def test_no_text_drives_a_terminal() -> None:
    text = as_text(table())
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text.splitlines()) == 2 + len(HOSTILE)


def test_csv_comes_back_and_holds_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(table()))))
    assert [float(row["r"]) for row in rows] == [0.5] * len(HOSTILE)
    assert [float(row["i_low"]) + float(row["i_high"]) for row in rows] == [1.0] * len(HOSTILE)
    assert rows[2]["model"] == HOSTILE[2]
    assert rows[4]["model"] == "'" + HOSTILE[4]


@pytest.mark.parametrize("first", "=+-@\t\r\n＝＋－＠")
def test_no_text_of_a_csv_is_a_formula(first: str) -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv(table((f"{first}1",)))))
    assert row["model"] == f"'{first}1"


def test_a_text_of_nothing_is_an_empty_cell() -> None:
    assert as_csv(table(("", "a"))).splitlines()[1:] == [",0.5,0.25,0.75", "a,0.5,0.25,0.75"]


def test_latex_escapes_what_it_would_run() -> None:
    text = as_latex(table())
    assert r"\input" not in text
    assert r"50\% \& \$x\$" in text
    assert text.count(r"\\") == 1 + len(HOSTILE)


def test_json_is_strict_and_unrounded() -> None:
    one = Table("t", "A", (Column("x"),), ((1 / 3,), (math.nan,), (math.inf,)))
    read = json.loads(as_json([one], {"signature": "s"}), parse_constant=lambda word: pytest.fail(word))
    assert [row["x"] for row in read["tables"]["t"]["rows"]][:2] == [1 / 3, None]


def test_json_is_that_of_the_rows_one_by_one() -> None:
    numbers = (0.5, math.nan, -math.inf, 1e-300, np.float64(0.25), np.int64(3), 7, True, None)
    cells: list[Any] = [*numbers, *HOSTILE, (0.1, math.nan), (1.0, 2.0), "plain"]
    columns = (Column("cell"), Column("n", kind="count"))
    # Many rows that are plain, so that some are written as they are and some are not.
    rows = tuple((cell, n) for cell in cells for n in range(150))
    one, two = Table("t", "A \ud800", columns, rows, ("a note",)), Table("u", "B", columns, ())
    text = as_json([one, two], {"signature": "s", "x": math.nan})
    assert text == dumps(
        {
            "about": {"signature": "s", "x": None},
            "tables": {
                t.name: {
                    "title": t.title,
                    "rows": [json_safe({"cell": cell, "n": n}) for cell, n in t.rows],
                    "notes": list(t.notes),
                }
                for t in (one, two)
            },
        }
    )
    assert one.records() == [json_safe({"cell": cell, "n": n}) for cell, n in rows]


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [(-0.0001, "number", ".000"), (0.25, "signed", "+.250"), (1234, "count", "1,234"), (True, "yes", "yes"),
     (0.05, "p", ".0500"), (None, "number", "-"), (float("inf"), "number", "inf")],
)  # fmt: skip
def test_numbers(value: float | None, kind: str, said: str) -> None:
    assert shown(value, Column("c", kind=kind)) == said


def test_wide_characters_keep_columns_apart() -> None:
    lines = as_text(table(("中文", "ab"))).splitlines()
    assert lines[2].index(".500") + 2 == lines[3].index(".500")


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    written = save_tables(
        [table()], {"signature": "sig`nature"}, tmp_path / "a" / "b", ["json", "csv", "md", "tex"]
    )
    assert {path.name for path in written} == {
        "comparison.json", "settings.csv", "t.csv", "t.md", "t.tex",
    }  # fmt: skip
    assert "`signature`" in (tmp_path / "a/b/t.md").read_text()
    (tmp_path / "file").write_text("")
    with pytest.raises(SagoError, match="cannot be written"):
        save_tables([table()], {}, tmp_path / "file", ["md"])


@pytest.mark.parametrize("name", ["[a] b", "*star"])
def test_latex_does_not_read_a_first_cell_as_part_of_the_row_before(name: str) -> None:
    table = Table("t", "T", (Column("m", "model", "text"), Column("r")), ((name, 0.5),))
    row = as_latex(table).splitlines()[5]
    assert row.startswith("{}" + name)
