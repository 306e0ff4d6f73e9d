"""Files of tables: whole, and no word of another study left unmentioned."""

from __future__ import annotations

import csv
import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.report.compared import TABLES
from sago_harness.report.save import left_over, save_tables
from sago_harness.report.tables import Column, Table, as_html
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import CAPPED, SHARES
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable
from sago_harness.whole import whole, write_all
from tests.runs.made_runs import write_runs
from tests.stats.made import table

ONE = Table("one", "One", (Column("a"),), ((1.0,),))


def test_tables_of_an_earlier_call_are_named(tmp_path: Path) -> None:
    save_tables([ONE], {}, tmp_path, ["json", "csv", "md"])
    assert left_over([ONE], tmp_path, ["json", "csv", "md"]) == []
    save_tables([ONE], {}, tmp_path, ["md"])
    assert [path.name for path in left_over([ONE], tmp_path, ["md"])] == ["comparison.json", "one.csv"]


def test_csv_and_json_hold_the_same_cells(tmp_path: Path) -> None:
    """Of every table of a study, read back: texts as they are, empty where nothing is, numbers in full."""
    write_runs(tmp_path / "runs", models=3, tasks=["p", "q"], documents=12, variants=6)
    write_runs(tmp_path / "runs" / "7", models=3, tasks=["p"], documents=12, variants=6, seed=7, pack_seed=7)
    found = compare(read_table(find_runs([tmp_path / "runs"])), Settings(resamples=99))
    made = [make(found) for make in TABLES.values()]
    save_tables(made, found.about(), tmp_path, ["json", "csv"])
    tables = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))["tables"]
    assert set(tables) == set(TABLES)
    for name, one in tables.items():
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        for row, record in zip(rows, one["rows"], strict=True):
            cells = {}
            for key, value in record.items():
                if isinstance(value, list) or f"{key}_low" in row:
                    low, high = value or (None, None)
                    cells |= {f"{key}_low": low, f"{key}_high": high}
                else:
                    cells[key] = value
            assert set(cells) == set(row)
            for key, value in cells.items():
                if value is None or isinstance(value, str):
                    assert row[key] == (value or ""), (name, key)
                else:
                    assert float(row[key]) == value, (name, key)


def test_every_format_carries_what_the_numbers_depend_on(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    settings = Settings(resamples=99, seed=5, epsilon=0.1, control="a", correction="bh", level=0.1)
    found = compare(ScoreTable.of([table(rng, documents=12)]), settings)
    assert "control:a" in found.signature
    made = [TABLES["leaderboard"](found), TABLES["pairs"](found)]
    save_tables(made, found.about(), tmp_path, ["json", "csv", "md", "tex"])
    with (tmp_path / "settings.csv").open(encoding="utf-8", newline="") as lines:
        rows = {row["name"]: row["value"] for row in csv.DictReader(lines)}
    assert rows.pop("signature") == found.signature
    assert f"version:{rows.pop('version')}|" in found.signature
    wanted = {"scheme": "sago", "control": "a", "epsilon": "0.1", "correction": "bh", "level": "0.1",
              "resamples": "99", "seed": "5"}  # fmt: skip
    caps = dict.fromkeys(CAPPED, SHARES)
    assert rows == wanted | {f"resamples_{name}_at_most": str(most) for name, most in caps.items()}
    about = json.loads((tmp_path / "comparison.json").read_text(encoding="utf-8"))["about"]
    assert about["signature"] == found.signature
    assert {name: str(value) for name, value in about["settings"].items()} == wanted
    assert about["caps"] == caps
    for name in ("leaderboard", "pairs"):
        assert (tmp_path / f"{name}.md").read_text().endswith(f"\n`{found.signature}`\n")
        assert (tmp_path / f"{name}.tex").read_text().endswith(f"\n% {found.signature}\n")
    end = f"<p><code>{found.signature}</code></p>"
    assert found._repr_html_().endswith(end)
    assert found._repr_html_().count(end) == 1
    assert as_html(made[0], found.signature).endswith(end)
    assert as_html(made[0], "<b>").endswith("<p><code>&lt;b&gt;</code></p>")
    # Those of another call are told when they stay behind.
    save_tables(made, found.about(), tmp_path, ["md"])
    assert tmp_path / "settings.csv" in left_over(made, tmp_path, ["md"])
    assert tmp_path / "settings.csv" not in left_over(made, tmp_path, ["csv"])


def test_a_file_is_whole_or_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    target.write_text("old")

    def interrupted() -> None:
        with whole(target) as partial:
            partial.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["f.txt"]


def test_what_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").mkdir()
    with pytest.raises(SagoError, match="folder cannot be written"), whole(tmp_path / "folder") as partial:
        partial.write_text("text")
    with pytest.raises(SagoError, match="cannot be written"):
        save_tables([ONE], {}, tmp_path / "folder" / "x" / ("n" * 300), ["csv"])


def test_what_is_no_file_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    with whole(pipe) as partial:
        partial.write_text("through")
    assert pipe.is_fifo()
    reader.join(timeout=30)
    assert got == ["through"]
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name, before in {"old": "old", "none": None}.items():
        target, link = tmp_path / "there" / name, tmp_path / name
        if before:
            target.write_text(before)
        link.symlink_to(target)
        with whole(link) as partial:
            partial.write_text("new")
        assert link.is_symlink()
        assert target.read_text() == "new"
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["none", "old"]


def test_older_files_are_put_back(tmp_path: Path) -> None:
    def broken() -> None:
        assert (tmp_path / "a").read_text() == "new"
        raise SagoError("no summary")

    (tmp_path / "a").write_text("old")
    with pytest.raises(SagoError, match="no summary"):
        write_all([(tmp_path / "a", "new"), (tmp_path / "b", "new")], broken)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "in").write_text("a folder cannot be written over")
    with pytest.raises(SagoError, match="c cannot be written"):
        write_all([(tmp_path / "a", "new"), (tmp_path / "c", "new")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]
    assert (tmp_path / "a").read_text() == "old"
    write_all([(tmp_path / "a", "new")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]
    assert (tmp_path / "a").read_text() == "new"


def test_tables_of_two_calls_never_stand_side_by_side(tmp_path: Path) -> None:
    one = Table("one", "One", (Column("m", kind="text"),), (("old",),))
    two = replace(one, name="two")
    save_tables([one, two], {}, tmp_path, ("csv", "md"))
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    (tmp_path / "two.md").unlink()
    (tmp_path / "two.md").mkdir()
    with pytest.raises(SagoError, match=r"two\.md cannot be written"):
        save_tables([replace(one, rows=(("new",),)), two], {}, tmp_path, ("csv", "md"))
    after = {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()}
    assert after == {name: text for name, text in before.items() if name != "two.md"}


def test_all_files_or_none(tmp_path: Path) -> None:
    def broken() -> None:
        raise SagoError("no summary")

    texts = [(tmp_path / "a", "1"), (tmp_path / "a.part", "2")]
    with pytest.raises(SagoError, match="no summary"):
        write_all(texts, broken)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SagoError, match="b cannot be written"):
        write_all([*texts, (tmp_path / "no" / "b", "3")])
    assert list(tmp_path.iterdir()) == []
    write_all(texts)
    assert [(tmp_path / name).read_text() for name in ("a", "a.part")] == ["1", "2"]


def test_csv_holds_no_character_that_steers_a_terminal(tmp_path: Path) -> None:
    cell = "a\x1b[31m b\x00c\x7f\x9b\td\ne\r"
    save_tables([Table("one", "One", (Column("a", kind="text"),), ((cell,),))], {}, tmp_path, ["csv"])
    with (tmp_path / "one.csv").open(encoding="utf-8", newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert row == {"a": r"a\x1b[31m b\x00c\x7f\x9b" + "\td\ne\r"}
