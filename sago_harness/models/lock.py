"""One process at a time: a lock that the system lets go when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)


@contextmanager
def exclusive(path: Path, on_wait: Callable[[], None], every: float = 0.2) -> Iterator[None]:
    """Hold ``path`` as a lock while the block runs.

    The lock belongs to the open file, so a killed process leaves none behind.
    The empty file itself stays: removing it would let two processes hold two
    different files of the same name.

    Parameters
    ----------
    path : pathlib.Path
        The lock file; made if missing. Its folder must exist.
    on_wait : callable
        Called once if another process holds the lock.
    every : float
        Seconds between tries.

    Raises
    ------
    OSError
        The file cannot be opened, or its file system has no locks.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, exclusive(Path(folder) / "x.lock", lambda: None):
    ...     print("held")
    held
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _try_lock(handle):
            on_wait()
            while not _try_lock(handle):
                time.sleep(every)
        try:
            yield
        finally:
            _unlock(handle)
    finally:
        os.close(handle)
