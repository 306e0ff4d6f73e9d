"""Files of tables: whole, and no word of another study left unmentioned."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from sago_harness.errors import SagoError
from sago_harness.report.save import left_over, save_tables
from sago_harness.report.tables import Column, Table
from sago_harness.whole import whole, write_all

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
