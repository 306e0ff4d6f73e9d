"""What a model answered, kept in one SQLite file: written bundle by bundle, read by the document.

An entry belongs to the document that it was computed with, because forced values are
relative to that computation's canonical response: a document is read whole, all its
entries from one computation, or not at all.

Safe when killed at any moment and for several processes of one machine at once: each
bundle is one transaction of SQLite's write-ahead log. Entries are strict JSON and bytes;
nothing in the file is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.logs import warn_once

#: Marks the file as ours ("sago" in ASCII), and its layout.
APPLICATION, LAYOUT = 0x7361676F, 1

_TABLES = (
    "CREATE TABLE entries (document TEXT NOT NULL, key TEXT NOT NULL, content BLOB NOT NULL,"
    " vectors BLOB, digest BLOB NOT NULL, PRIMARY KEY (document, key))",
    "CREATE INDEX entries_by_key ON entries (key)",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A response as it is kept.

    Attributes
    ----------
    text : str
    measured : dict
        Strict JSON: distances, reasons, raw deltas ...
    held : frozenset of str
        Signals that were read off, or never can be for this model; ``vectors`` if hidden
        states were asked for.
    vectors : bytes or None
        Packed hidden states.
    """

    text: str
    measured: dict[str, Any]
    held: frozenset[str]
    vectors: bytes | None = None


class Store:
    """Opens or makes the file.

    A file that cannot be opened, read or written to from the start stops the run, before
    anything is computed in vain. When writing fails later (a full disk, a file that became
    read-only), what was computed still counts: the run goes on with one warning, and each
    further bundle is tried again.

    Parameters
    ----------
    path : Path
        Its folder must exist.
    patience : float
        Seconds to wait for another process that writes.

    Raises
    ------
    SagoError
        If the file is no SQLite file, another program's, of another layout, damaged, or
        cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "x.sqlite") as store:
    ...     kept = store.put([("d", [("k", Entry("Hi", {"flags": []}, frozenset({"text"})))])])
    ...     store.get("d", ["k"], {"text"})[0].text, store.get("d", ["k"], {"text", "hidden"})
    ('Hi', None)
    """

    def __init__(self, path: Path, *, patience: float = 60.0) -> None:
        self.path = path
        self._patience = patience
        self._link: sqlite3.Connection | None = None
        try:
            self._link = sqlite3.connect(path, timeout=patience, isolation_level=None)
            self._link.text_factory = lambda data: data.decode("utf-8", "replace")
            self._open(self._link)
        except sqlite3.Error as error:
            self.close()
            raise self._fails(error) from error
        except SagoError:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def get(self, document: str, keys: Sequence[str], asked: Set[str]) -> list[Entry] | None:
        """Return a document's entries, in the order of ``keys``, or None if one is missing.

        Parameters
        ----------
        document : str
            Of this very computation; another one that holds all keys serves too.
        keys : sequence of str
        asked : set of str
            What every entry must hold.

        Raises
        ------
        SagoError
            If the file is damaged.
        """
        try:
            found = self._read(document, keys, asked)
            if found is None and keys:
                # The last one is the least common: a document's first prompt is in many sets.
                others = self._connection.execute(
                    "SELECT document FROM entries WHERE key = ? AND document != ? ORDER BY rowid",
                    (keys[-1], document),
                ).fetchall()
                tried = (self._read(other, keys, asked) for (other,) in others)
                found = next((entries for entries in tried if entries is not None), None)
        except sqlite3.Error as error:
            raise self._fails(error) from error
        return found

    def put(self, documents: Iterable[tuple[str, Iterable[tuple[str, Entry]]]]) -> bool:
        """Keep all entries of a bundle's documents, or none of them.

        Parameters
        ----------
        documents : iterable of (str, iterable of (key, Entry))
            Each with all its entries; read while it is written.

        Returns
        -------
        bool
            Were they kept?
        """
        try:
            with self._transaction():
                for document, entries in documents:
                    self._connection.execute("DELETE FROM entries WHERE document = ?", (document,))
                    self._connection.executemany(
                        "INSERT INTO entries VALUES (?, ?, ?, ?, ?)",
                        ((document, key, *_row(entry)) for key, entry in entries),
                    )
        except sqlite3.Error as error:
            warn_once(
                f"--use_cache: {self.path} cannot be written ({error}): "
                "the run goes on, what is computed now is not kept"
            )
            return False
        return True

    # ------------------------------------------------------------------ SQLite

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._link is None:
            raise ValueError(f"{self.path} is closed")
        return self._link

    def _open(self, link: sqlite3.Connection) -> None:
        """Check whose file it is, and lay it out if it is empty."""
        # Two processes that turn the log on at once refuse each other without waiting.
        deadline = time.monotonic() + self._patience
        while True:
            try:
                self._lay_out(link)
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _lay_out(self, link: sqlite3.Connection) -> None:
        # Looked at first, so that nothing is changed in a file that is not ours.
        with self._transaction("BEGIN"):
            self._check(link)
        link.execute("PRAGMA journal_mode = WAL")
        # A killed process loses nothing with it; a power cut the last bundles at most.
        link.execute("PRAGMA synchronous = NORMAL")
        with self._transaction():
            if not self._check(link):
                for statement in _TABLES:
                    link.execute(statement)
                link.execute(f"PRAGMA application_id = {APPLICATION}")
                link.execute(f"PRAGMA user_version = {LAYOUT}")

    def _check(self, link: sqlite3.Connection) -> bool:
        """Say whether the file is laid out; refuse what is not ours."""
        (application,), (layout,), (tables,) = (
            link.execute(statement).fetchone()
            for statement in (
                "PRAGMA application_id",
                "PRAGMA user_version",
                "SELECT count(*) FROM sqlite_master",
            )
        )
        if application == APPLICATION and layout == LAYOUT:
            return True
        if application == APPLICATION:
            raise SagoError(
                f"--use_cache: {self.path} has layout {layout}, this version of the project reads "
                f"{LAYOUT}: name another path, or delete the file"
            )
        if tables or layout or application:
            raise SagoError(
                f"--use_cache: {self.path} is another program's file: name another path, or move it away"
            )
        return False

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        link = self._connection
        link.execute(begin)
        try:
            yield
            link.execute("COMMIT")
        except BaseException:
            # A full disk has rolled back already.
            if link.in_transaction:
                link.execute("ROLLBACK")
            raise

    def _read(self, document: str, keys: Sequence[str], asked: Set[str]) -> list[Entry] | None:
        rows = self._connection.execute(
            "SELECT key, content, vectors, digest FROM entries WHERE document = ?", (document,)
        )
        found: dict[str, Entry] = {}
        for key, content, vectors, digest in rows:
            entry = _entry(content, vectors, digest)
            if entry is None:
                warn_once(f"--use_cache: {self.path}: entries that are damaged are computed again")
                return None
            found[key] = entry
        entries = [found[key] for key in keys if key in found and asked <= found[key].held]
        return entries if len(entries) == len(keys) else None

    def _fails(self, error: sqlite3.Error) -> SagoError:
        """Put an error of SQLite in one line with what to do."""
        message = str(error)
        if "not a database" in message:
            advice = "it is no SQLite file: name another path, or move it away"
        elif "malformed" in message or "disk image" in message or "schema" in message:
            advice = "it is damaged: delete it, or name another path"
        elif "locked" in message or "busy" in message:
            advice = f"another process has held it for {self._patience:.0f} s: end that one, or try again"
        else:
            advice = (
                f"it cannot be opened for writing ({message}): name another path, or leave --use_cache out"
            )
        return SagoError(f"--use_cache: {self.path}: {advice}")


def _row(entry: Entry) -> tuple[bytes, bytes | None, bytes]:
    # Escaped to ASCII: a lone surrogate or a NUL comes back as it was.
    content = json.dumps(
        [entry.text, entry.measured, sorted(entry.held)], allow_nan=False, separators=(",", ":")
    ).encode("ascii")
    return content, entry.vectors, _digest(content, entry.vectors)


def _entry(content: Any, vectors: Any, digest: Any) -> Entry | None:
    """Return a row as an entry, None if it is not as it was written: SQLite checks no content."""
    if not (isinstance(content, bytes) and isinstance(vectors, bytes | None)):
        return None
    if digest != _digest(content, vectors):
        return None
    text, measured, held = json.loads(content)
    return Entry(text, measured, frozenset(held), vectors)


def _digest(content: bytes, vectors: bytes | None) -> bytes:
    # The length tells where one ends and the other begins.
    head = f"{len(content)} {vectors is None}".encode()
    return hashlib.sha256(head + content + (vectors or b"")).digest()[:16]
