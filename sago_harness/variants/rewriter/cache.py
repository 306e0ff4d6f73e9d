"""What a writer has written: a file of JSON lines that only grows."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.logs import warn_once
from sago_harness.models.lock import exclusive

_HEADER = {"sago_rewriter_cache": 1}


@dataclass(frozen=True, slots=True)
class Written:
    """One answer: its text, or ``None`` and the reason why there is none."""

    text: str | None
    reason: str = ""


def cache_key(maker: str, messages: list[dict[str, str]], seed: int, attempt: int) -> str:
    """Return the sha256 of everything that decides on an answer.

    Parameters
    ----------
    maker : str
        Writer, prompt version and sampling, as JSON.
    messages : list of dict
    seed, attempt : int

    Examples
    --------
    >>> key = cache_key("{}", [{"role": "user", "content": "a"}], 1, 0)
    >>> len(key), key == cache_key("{}", [{"role": "user", "content": "a"}], 1, 1)
    (64, False)
    """
    content = json.dumps([maker, messages, seed, attempt], sort_keys=True)
    return hashlib.sha256(content.encode("ascii")).hexdigest()


class Cache:
    """Reads a cache file, and adds to it one line at a time.

    A line is on the disk before the next answer is asked for. Several processes may add to
    one file: a lock beside it orders them, and the first answer under a key stands. A line
    that a killed process left half written is skipped.

    Parameters
    ----------
    path : Path
        Made with the first answer; its folder must exist.

    Raises
    ------
    SagoError
        If the file cannot be read or is no cache.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = Cache(Path(folder) / "cache.jsonl")
    ...     cache.put("k", Written("Who?"), "{}")
    ...     Cache(Path(folder) / "cache.jsonl").get("k").text
    Written(text='Who?', reason='')
    'Who?'
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        #: Makers whose answers are in the file, in its order.
        self.makers: list[str] = []
        self._written: dict[str, Written] = {}
        self._offset = 0
        self._known = False
        self._file: tuple[int, int] | None = None
        if not path.parent.is_dir():
            raise SagoError(f"rewriter cache {path}: its folder does not exist")
        self._read_on()

    def __len__(self) -> int:
        return len(self._written)

    def get(self, key: str) -> Written | None:
        """Return what is under a key; answers that another process added since are seen."""
        if key not in self._written:
            self._read_on()
        return self._written.get(key)

    def put(self, key: str, written: Written, maker: str) -> Written:
        """Add an answer and return what stands under the key: the first one, if another came before."""
        line = {"key": key, "maker": maker, "text": written.text}
        if written.reason:
            line["reason"] = written.reason
        return self._append(line, key) or written

    def reject(self, key: str, reason: str) -> None:
        """Note why a text that was just written is not used; for people to read."""
        self._append({"rejected": key, "reason": reason}, "")

    def _append(self, line: dict[str, Any], key: str) -> Written | None:
        try:
            with exclusive(self.path.with_name(self.path.name + ".lock"), lambda: None, every=0.01):
                self._read_on()
                if key in self._written:
                    return self._written[key]
                self._write(line)
                self._read_on()
        except OSError as error:
            raise self._fails("written", error) from error
        return self._written.get(key)

    def _write(self, line: dict[str, Any]) -> None:
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(handle).st_size
            # What a killed process left half written must not swallow this line.
            torn = size > self._offset
            lines = ([] if self._known else [_HEADER]) + [line]
            data = b"\n" * torn + b"".join(json.dumps(item).encode("ascii") + b"\n" for item in lines)
            while data:
                data = data[os.write(handle, data) :]
            os.fsync(handle)
        finally:
            os.close(handle)

    def _read_on(self) -> None:
        """Read the whole lines that were added since the last time."""
        try:
            with self.path.open("rb") as stream:
                stat = os.fstat(stream.fileno())
                file = (stat.st_dev, stat.st_ino)
                if stat.st_size < self._offset or file != (self._file or file):
                    self._start_over()
                self._file = file
                stream.seek(self._offset)
                data = stream.read()
        except FileNotFoundError:
            self._start_over()
            return
        except OSError as error:
            raise self._fails("read", error) from error
        end = data.rfind(b"\n") + 1
        for line in data[:end].split(b"\n"):
            if line.strip():
                self._take(line)
        self._offset += end
        if not self._known and data[end:] and not json.dumps(_HEADER).encode().startswith(data[end:][:24]):
            raise self._foreign()

    def _start_over(self) -> None:
        """Forget what was read: somebody emptied, replaced or removed the file, which is what counts."""
        if self._offset:
            warn_once(f"rewriter cache {self.path}: it was emptied or replaced, and is read anew")
        self._offset, self._known, self._file = 0, False, None
        self.makers.clear()
        self._written.clear()

    def _take(self, line: bytes) -> None:
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            item = None
        if not self._known:
            if isinstance(item, Mapping) and item.get("sago_rewriter_cache") == 1:
                self._known = True
            elif not json.dumps(_HEADER).encode().startswith(line):
                raise self._foreign()
            return
        if not isinstance(item, Mapping):
            warn_once(f"rewriter cache {self.path}: a line that is not whole is skipped")
            return
        key, maker, text = item.get("key"), item.get("maker"), item.get("text")
        if not isinstance(key, str) or not isinstance(maker, str) or not isinstance(text, str | None):
            return
        if maker not in self.makers:
            self.makers.append(maker)
        self._written.setdefault(key, Written(text, str(item.get("reason", ""))))

    def _foreign(self) -> SagoError:
        return SagoError(
            f"{self.path} is no rewriter cache: name a new file, or one that --rewriter-cache made"
        )

    def _fails(self, how: str, error: OSError) -> SagoError:
        return SagoError(f"rewriter cache {self.path} cannot be {how}: {error.strerror or error}")
