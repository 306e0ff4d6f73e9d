"""Files of tables: whole, and no word of another study left unmentioned."""

from __future__ import annotations

from pathlib import Path

import pytest

from sago_harness.errors import SagoError
from sago_harness.report.save import left_over, save_tables
from sago_harness.report.tables import Column, Table
from sago_harness.whole import whole

ONE = Table("one", "One", (Column("a"),), ((1.0,),))


def test_tables_of_an_earlier_call_are_named(tmp_path: Path) -> None:
    save_tables([ONE], {}, tmp_path, ["json", "csv", "md"])
    assert left_over([ONE], tmp_path, ["json", "csv", "md"]) == []
    save_tables([ONE], {}, tmp_path, ["md"])
    assert [path.name for path in left_over([ONE], tmp_path, ["md"])] == ["comparison.json", "one.csv"]


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
