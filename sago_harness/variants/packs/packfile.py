"""Packs as files: the manifest, then one line a document, sorted by id.

Written streamed and renamed into place, read line by line: neither holds more than one
document and an index of the ids.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from sago_harness.data import VariantSet
from sago_harness.documents.read import is_deep
from sago_harness.errors import SagoError, nearest
from sago_harness.jsonsafe import dumps
from sago_harness.report.changes import escape_line
from sago_harness.variants.packs.pack import MARK, Manifest
from sago_harness.variants.packs.packline import PackLine, decode_set, encode_set

#: What a file that is being written is called, with the process id, beside the target.
_PARTIAL = ".sago-unfinished-{pid}.pack"
# The id is the first key of a line: no need to read the rest.
_ID = re.compile(rb'\{"id":("(?:[^"\\]|\\.)*"),')


def write_pack(path: Path, manifest: Manifest, sets: Iterable[VariantSet]) -> Manifest:
    """Write a pack, whole or not at all.

    Parameters
    ----------
    path : Path
        An existing file is replaced.
    manifest : Manifest
        Counts and hash are filled in.
    sets : iterable of VariantSet
        Read once, in any order; see :func:`write_lines` for what need not be held in memory.

    Returns
    -------
    Manifest
        As written.

    Raises
    ------
    SagoError
        If two documents have one id, or the file cannot be written.

    Examples
    --------
    >>> from sago_harness.data import Document, Variant
    >>> fields = {"q": "Who?"}
    >>> made = VariantSet(Document("1", fields), (Variant("canonical", "canonical", "", fields),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest = write_pack(Path(folder) / "a.jsonl", Manifest("t", "1.0", "quick.1", "00", 42), [made])
    ...     open_pack(Path(folder) / "a.jsonl").get("1") == made
    True
    """
    return write_lines(path, manifest, sorted(map(encode_set, sets), key=lambda line: line.id))


def write_lines(path: Path, manifest: Manifest, lines: Iterable[PackLine]) -> Manifest:
    """Write a pack from lines that come in the order of their ids.

    Raises
    ------
    SagoError
        As :func:`write_pack`.
    """
    partial = path.with_name(_PARTIAL.format(pid=os.getpid()))
    try:
        _sweep(path.parent)
        # It has no name, so that a killed process leaves nothing of it.
        with tempfile.TemporaryFile(dir=path.parent) as body:
            sealed = _write_body(body, manifest, lines)
            body.seek(0)
            with partial.open("wb") as file:
                file.write(dumps(sealed.as_dict()).encode() + b"\n")
                shutil.copyfileobj(body, file, 1 << 20)
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        raise SagoError(f"the pack {path} could not be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return sealed


def _write_body(file: IO[bytes], manifest: Manifest, lines: Iterable[PackLine]) -> Manifest:
    digest = hashlib.sha256()
    made: Counter[str] = Counter()
    documents = rejects = 0
    last: str | None = None
    for line in lines:
        if last is not None and line.id <= last:
            fault = "twice" if line.id == last else f"after {last!r}: lines must be sorted"
            raise SagoError(f"a pack cannot hold document {line.id!r} {fault}")
        last = line.id
        file.write(line.data)
        digest.update(line.data)
        documents += 1
        rejects += len(line.refused)
        made.update(family for family, _ in line.made)
    counted = replace(
        manifest,
        documents=documents,
        variants=made.total(),
        rejects=rejects,
        made=dict(sorted(made.items())),
    )
    return counted.sealed(digest.hexdigest())


def _sweep(folder: Path) -> None:
    """Remove what killed processes left."""
    for path in folder.glob(_PARTIAL.format(pid="*")):
        pid = path.name.removesuffix(".pack").rpartition("-")[2]
        if pid.isdigit() and not _alive(int(pid)):
            path.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class Pack:
    """An open pack: the manifest and an index; documents are read when asked for.

    Made by :func:`open_pack`.

    Attributes
    ----------
    path : Path
    manifest : Manifest
    ids : tuple of str
        Documents, in the file's order.
    found : str
        The hash of what is in the file; equal to ``manifest.sha256`` unless it was altered.
    """

    def __init__(self, path: Path, manifest: Manifest, index: dict[str, tuple[int, int]], found: str) -> None:
        self.path = path
        self.manifest = manifest
        self.found = found
        self._index = index

    @property
    def ids(self) -> tuple[str, ...]:
        """Documents, in the file's order."""
        return tuple(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[VariantSet]:
        """Yield every document's variants, one at a time."""
        with self.path.open("rb") as file:
            for offset, number in self._index.values():
                file.seek(offset)
                yield decode_set(file.readline(), f"{self.path} line {number}")

    def get(self, name: str) -> VariantSet:
        """Return the variants of one document.

        Raises
        ------
        SagoError
            If the pack has no such document; the nearest ids are named.
        """
        if name not in self._index:
            close = nearest(name, self._index)
            hint = f"did you mean {' or '.join(close)}?" if close else f"it has {', '.join(self.ids[:3])}"
            hint = escape_line(hint)
            raise SagoError(f"{self.path} has no document {name!r} among its {len(self)}: {hint}")
        offset, number = self._index[name]
        with self.path.open("rb") as file:
            file.seek(offset)
            return decode_set(file.readline(), f"{self.path} line {number}")

    def check_documents(self, names: Sequence[str]) -> None:
        """Refuse if documents are missing.

        Raises
        ------
        SagoError
            Names the first three and their number.
        """
        absent = [name for name in names if name not in self._index]
        if absent:
            shown = ", ".join(map(repr, absent[:3])) + (" ..." if len(absent) > 3 else "")
            raise SagoError(
                f"pack {self.path} lacks {len(absent)} of {len(names)} documents: {shown}; "
                "build it again for all of them"
            )


def open_pack(path: str | Path, *, check: bool = True) -> Pack:
    """Open a pack: read its manifest, index its documents, compare its hash.

    Parameters
    ----------
    path : str or Path
    check : bool
        Refuse a file whose hash differs; without it :attr:`Pack.found` tells.

    Raises
    ------
    SagoError
        If the file is no pack, of another format, cut short, holds a document twice, or
        (``check``) was altered.
    """
    path = Path(path).expanduser()
    try:
        with path.open("rb") as file:
            return _read(path, file, check)
    except OSError as error:
        raise SagoError(f"pack {path} cannot be read: {error.strerror or error}") from error


def _read(path: Path, file: IO[bytes], check: bool) -> Pack:
    manifest = Manifest.of(_first(path, file.readline(1 << 24)), str(path))
    digest = hashlib.sha256()
    index: dict[str, tuple[int, int]] = {}
    offset = file.tell()
    for number, line in enumerate(file, start=2):
        if not line.endswith(b"\n"):
            raise SagoError(_cut(path, manifest, len(index)))
        match = _ID.match(line)
        if match is None:
            raise SagoError(f"{path} line {number} is no document of a pack")
        try:
            name = json.loads(match[1].decode("utf-8"))
        except ValueError as error:
            raise SagoError(f"{path} line {number} is no document of a pack: {error}") from error
        if name in index:
            raise SagoError(
                f"{path} holds document {name!r} twice, on lines {index[name][1]} and {number}: "
                "every document has one line"
            )
        index[name] = (offset, number)
        digest.update(line)
        offset += len(line)
    if len(index) < manifest.documents:
        raise SagoError(_cut(path, manifest, len(index)))
    pack = Pack(path, manifest, index, manifest.sealed(digest.hexdigest()).sha256)
    if check and pack.found != manifest.sha256:
        raise SagoError(
            f"{path} was altered: its content has sha256 {pack.found}, its manifest says "
            f"{manifest.sha256}; `sago variants verify` says more, or build it again"
        )
    return pack


def _first(path: Path, line: bytes) -> dict[str, object]:
    try:
        content = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SagoError(f"{path} is no pack of variants: its first line is not JSON") from error
    if is_deep(content):
        raise SagoError(f"{path} is no pack of variants: its first line is nested too deeply")
    if not isinstance(content, dict):
        raise SagoError(f"{path} is no pack of variants: its first line lacks {MARK!r}")
    return content


def _cut(path: Path, manifest: Manifest, found: int) -> str:
    return f"{path} is cut short: it holds {found} of {manifest.documents} documents; copy or build it again"
