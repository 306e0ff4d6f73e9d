"""The file of kept responses: whole bundles or none, whatever happens to the process or the file."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sago_harness.backends.store import APPLICATION, LAYOUT, Entry, Store
from sago_harness.errors import SagoError
from sago_harness.logs import warn_once

ROOT = Path(__file__).parents[2]
TEXT = frozenset({"text"})


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    warn_once.cache_clear()
    yield
    warn_once.cache_clear()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "c.sago.sqlite"


def entry(text: str = "Hi", held: frozenset[str] = TEXT, **measured: Any) -> Entry:
    return Entry(text, measured, held)


def test_what_is_put_comes_back_to_the_last_bit(path: Path) -> None:
    numbers = {"distances": {"x_act": 0.1 + 0.2, "x_ent": None, "tiny": 5e-324}, "n": 3, "flags": ["a"]}
    texts = ["it's \"quoted\"'); DROP TABLE entries; --", "a\0b", "lone \ud800 surrogate", "", "𝔘 日本\r\n"]
    blob = bytes(range(256)) * 3
    made = [(f"key{k}", Entry(text, numbers, TEXT, blob)) for k, text in enumerate(texts)]
    name = "document '\0\" ;"
    with Store(path) as store:
        assert store.put([(name, made)])
    with Store(path) as store:
        found = store.get(name, [key for key, _ in made], TEXT)
    assert found == [item for _, item in made]
    assert found is not None
    assert list(found[0].measured["distances"]) == ["x_act", "x_ent", "tiny"], "the order of keys too"
    assert [type(value) for value in found[0].measured["distances"].values()] == [float, type(None), float]


def test_a_document_is_there_whole_or_not_at_all(path: Path) -> None:
    with Store(path) as store:
        store.put([("d", [("a", entry("A")), ("b", entry("B"))])])
        assert store.get("d", ["a", "b", "c"], TEXT) is None
        assert store.get("other", ["a", "c"], TEXT) is None
        store.put([("e", [("c", entry("C"))])])
        assert store.get("f", ["a", "c"], TEXT) is None, "never put together from two computations"


def test_more_than_is_asked_for_serves(path: Path) -> None:
    with Store(path) as store:
        store.put([("d", [("a", entry("A")), ("b", entry("B")), ("c", entry("C"))])])
        found = store.get("another name", ["b", "a"], TEXT)
        assert found is not None
        assert [item.text for item in found] == ["B", "A"]


def test_ones_own_computation_comes_before_anothers(path: Path) -> None:
    with Store(path) as store:
        store.put([("first", [("a", entry("1"))])])
        store.put([("second", [("a", entry("2"))])])
        for name, text in (("first", "1"), ("second", "2"), ("third", "1")):
            found = store.get(name, ["a"], TEXT)
            assert found is not None
            assert found[0].text == text


def test_a_lacking_signal_is_a_miss_until_it_is_there(path: Path) -> None:
    both = frozenset({"text", "hidden"})
    with Store(path) as store:
        store.put([("d", [("a", entry(held=both)), ("b", entry())])])
        assert store.get("d", ["a", "b"], TEXT) is not None
        assert store.get("d", ["a", "b"], both) is None
        store.put([("d", [("a", entry(held=both)), ("b", entry(held=both))])])
        assert store.get("d", ["a", "b"], both) is not None


def test_what_is_put_again_replaces_the_whole_document(path: Path) -> None:
    with Store(path) as store:
        store.put([("d", [("a", entry("old")), ("b", entry("old"))])])
        store.put([("d", [("a", entry("new"))])])
        assert store.get("d", ["a", "b"], TEXT) is None


def test_a_bundle_that_breaks_off_leaves_nothing(path: Path) -> None:
    def breaks() -> Iterator[tuple[str, Entry]]:
        yield "b", entry()
        raise KeyboardInterrupt

    with Store(path) as store:
        with pytest.raises(KeyboardInterrupt):
            store.put([("d", [("a", entry())]), ("e", breaks())])
        assert store.get("d", ["a"], TEXT) is None
        assert store.put([("d", [("a", entry())])]), "the next one can be written"


def test_numbers_that_are_not_strict_json_are_refused(path: Path) -> None:
    with Store(path) as store, pytest.raises(ValueError, match="JSON"):
        store.put([("d", [("a", entry(value=float("nan")))])])


def test_content_that_was_changed_is_computed_again(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    changes = [
        "content = replace(content, 'Hi', 'Ho')",
        "content = 'no json'",
        "vectors = x'00'",
        "vectors = 'no bytes'",
        "digest = x'00'",
    ]
    with Store(path) as store:
        for change in changes:
            store.put([("d", [("a", entry())])])
            assert store.get("d", ["a"], TEXT) is not None
            with sqlite3.connect(path) as link:
                link.execute(f"UPDATE entries SET {change}")
            assert store.get("d", ["a"], TEXT) is None
    assert [r.getMessage() for r in caplog.records] == [
        f"--use_cache: {path}: entries that are damaged are computed again"
    ]


# ---------------------------------------------------------------------- files that are not ours, or broken


def refused(path: Path) -> str:
    with pytest.raises(SagoError) as caught:
        Store(path, patience=0.1)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_a_file_that_is_no_sqlite_file_is_refused_and_left_alone(path: Path) -> None:
    path.write_text("these are my notes " * 100, encoding="utf-8")
    assert "no SQLite file: name another path" in refused(path)
    assert path.read_text(encoding="utf-8").startswith("these are my notes")


def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    with sqlite3.connect(path) as link:
        link.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    assert "another program's file" in refused(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("layout", [0, LAYOUT + 1, 99])
def test_an_unknown_layout_is_refused(path: Path, layout: int) -> None:
    Store(path).close()
    with sqlite3.connect(path) as link:
        link.execute(f"PRAGMA user_version = {layout}")
    assert f"layout {layout}, this version of the project reads {LAYOUT}" in refused(path)


def test_the_layout_stands_in_the_file(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path) as link:
        found = [link.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        assert found == [APPLICATION, LAYOUT]
        assert link.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_empty_file_is_laid_out(path: Path) -> None:
    path.touch()
    with Store(path) as store:
        assert store.put([("d", [("a", entry())])])


def filled(path: Path) -> None:
    with Store(path) as store:
        for number in range(60):
            store.put([(f"d{number}", [(f"a{number}", entry("x" * 30_000))])])


def read_all(path: Path) -> list[str | None]:
    """The text of every entry of a filled file, or the one line that it is damaged."""
    try:
        with Store(path) as store:
            found = [store.get(f"d{number}", [f"a{number}"], TEXT) for number in range(60)]
    except SagoError as error:
        return [str(error)]
    return [None if entries is None else entries[0].text for entries in found]


def test_a_file_that_lost_its_end_is_told_in_one_line(path: Path) -> None:
    filled(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    (told,) = read_all(path)
    assert told == f"--use_cache: {path}: it is damaged: delete it, or name another path"


def test_a_file_with_noise_in_it_never_gives_a_wrong_response(path: Path) -> None:
    filled(path)
    whole = path.read_bytes()
    outcomes = set()
    for seed in range(20):
        draw = random.Random(seed)
        broken = bytearray(whole)
        for _ in range(1 + seed // 4):
            at = draw.randrange(100, len(broken) - 64)
            # Letters: what stands there is still a text.
            broken[at : at + 64] = bytes(draw.choices(b"abcxyz", k=64)) if seed % 2 else draw.randbytes(64)
        path.write_bytes(broken)
        found = read_all(path)
        outcomes |= set(found)
        if len(found) == 1:
            assert found[0] is not None
            assert "damaged" in found[0]
            assert "\n" not in found[0]
        else:
            assert set(found) <= {None, "x" * 30_000}
    assert None in outcomes, "at least once an entry alone was hit"


@pytest.mark.parametrize("kind", ["folder", "no folder"])
def test_a_place_that_cannot_be_written_is_told_in_one_line(kind: str, tmp_path: Path) -> None:
    place = tmp_path if kind == "folder" else tmp_path / "none" / "c.sqlite"
    assert "cannot be opened for writing" in refused(place)


def test_a_file_that_another_process_holds_is_told_in_one_line(path: Path) -> None:
    Store(path).close()
    with sqlite3.connect(path, isolation_level=None) as link:
        link.execute("BEGIN IMMEDIATE")
        assert "another process has held it" in refused(path)


@pytest.mark.parametrize("trouble", ["max_page_count = 1", "query_only = 1"])
def test_a_full_disk_or_a_read_only_file_is_one_warning(
    trouble: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Written through SQLite's own limits: what it reports is what a disk makes it report."""
    with Store(path) as store:
        store.put([("d", [("a", entry("kept"))])])
        store._connection.execute(f"PRAGMA {trouble}")
        for number in range(3):
            assert not store.put([(f"e{number}", [("b", entry("x" * 100_000))])])
        assert store.get("e0", ["b"], TEXT) is None
        found = store.get("d", ["a"], TEXT)
        assert found is not None
        assert found[0].text == "kept"
    (told,) = [r.getMessage() for r in caplog.records]
    assert f"{path} cannot be written (" in told
    assert "the run goes on" in told


# ---------------------------------------------------------------------- several processes, and kills

WRITER = """
import sys, time
from pathlib import Path
from sago_harness.backends.store import Entry, Store
path, name, bundles = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Store(path) as store:
    print("open", flush=True)
    for bundle in range(bundles):
        entries = [(f"{name}.{bundle}.{k}", Entry("x" * 20000, {}, frozenset({"text"}))) for k in range(4)]
        assert store.put([(f"{name}.{bundle}.{d}", entries) for d in range(3)])
        print(bundle, flush=True)
"""


def write(path: Path, name: str, bundles: int) -> subprocess.Popen[bytes]:
    with path.with_name(name).open("wb") as stream:
        return subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, str(bundles)],
            cwd=ROOT,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )


def said(path: Path, name: str) -> list[str]:
    """What a writer has told so far: that the file is open, then each bundle that is kept."""
    return path.with_name(name).read_text(encoding="utf-8").splitlines()


def by_bundle(path: Path) -> dict[str, int]:
    """Entries of each writer's bundle."""
    with sqlite3.connect(path) as link:
        assert link.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found: dict[str, int] = {}
        for (document,) in link.execute("SELECT document FROM entries"):
            bundle = document.rpartition(".")[0]
            found[bundle] = found.get(bundle, 0) + 1
    return found


def test_processes_that_make_the_file_at_once_lose_nothing(path: Path) -> None:
    writers = [write(path, f"w{k}", 10) for k in range(4)]
    for writer in writers:
        assert writer.wait(timeout=120) == 0, [said(path, f"w{k}")[-5:] for k in range(4)]
    assert by_bundle(path) == {f"w{k}.{bundle}": 12 for k in range(4) for bundle in range(10)}


def test_killed_at_any_moment_a_bundle_is_whole_or_absent(path: Path) -> None:
    moments = random.Random(7)
    total = 0
    for turn in range(6):
        name = f"k{turn}"
        writer = write(path, name, 100_000)
        deadline = time.monotonic() + 120
        while not said(path, name) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(moments.uniform(0.0, 0.2))
        writer.kill()
        writer.wait(timeout=60)
        found = by_bundle(path)
        assert set(found.values()) <= {12}
        # Every bundle that was said to be kept is; one more may be.
        told = said(path, name)
        assert told[0] == "open"
        total += sum(bundle.startswith(f"{name}.") for bundle in found)
        assert sum(bundle.startswith(f"{name}.") for bundle in found) - (len(told) - 1) in (0, 1)
    assert total > 0
    with Store(path) as store:
        assert store.put([("after", [("a", entry())])])


def test_killed_while_the_file_is_made_it_can_be_used(tmp_path: Path) -> None:
    moments = random.Random(11)
    for turn in range(30):
        path = tmp_path / f"{turn}.sqlite"
        child = os.fork()
        if not child:
            try:
                Store(path).put([("d", [("a", entry())])])
            finally:
                os._exit(0)
        time.sleep(moments.uniform(0.0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with Store(path) as store:
            found = store.get("d", ["a"], TEXT)
            assert found is None or found[0] == entry()
            assert store.put([("d", [("a", entry())])])


def test_a_reader_is_not_held_up_by_a_writer(path: Path) -> None:
    with Store(path) as store, Store(path, patience=0.1) as reader:
        store.put([("d", [("a", entry())])])
        with store._transaction():
            store._connection.execute("DELETE FROM entries")
            assert reader.get("d", ["a"], TEXT) is not None, "as it was before"
        assert reader.get("d", ["a"], TEXT) is None
