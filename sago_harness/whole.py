"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sago_harness.errors import SagoError


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a path to write to, and put it in place when that is done.

    Parameters
    ----------
    path : Path
        What a reader will find: the old file or the new one, never half of one. A link stays one: the
        file that it points to is replaced. Devices and pipes are written straight into.

    Yields
    ------
    Path
        Beside it; removed if anything goes wrong.

    Raises
    ------
    SagoError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with whole(target) as partial:
    ...     _ = partial.write_text("all of it")
    >>> target.read_text(), len(list(target.parent.iterdir()))
    ('all of it', 1)
    """
    target = partial = None
    try:
        target = _replaced(path)
        partial = target.with_name(target.name + ".part") if target else path
        yield partial
        if target:
            partial.replace(target)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        if target and partial:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)


def write_all(texts: Sequence[tuple[Path, str]], last: Callable[[], None] = lambda: None) -> None:
    """Write several files, all of them or none.

    Parameters
    ----------
    texts : sequence of (Path, str)
    last : callable
        Called when they are in place; if it fails they are taken back.

    Raises
    ------
    SagoError
        If one of them cannot be written; none of this call is there then, and what was there before is.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> write_all([(folder / "a", "1"), (folder / "no" / "b", "2")])
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: ...b cannot be written: No such file or directory
    >>> list(folder.iterdir())
    []
    """
    partials: list[tuple[Path, Path, Path]] = []
    straight: list[tuple[Path, str]] = []
    placed: list[tuple[Path, Path | None]] = []
    path = Path()
    try:
        for place, (path, text) in enumerate(texts):
            target = _replaced(path)
            if target is None:
                straight.append((path, text))
                continue
            partial = target.with_name(f"{target.name}.{place}.part")
            partials.append((path, partial, target))
            partial.write_text(text, encoding="utf-8", errors="replace")
        for named, partial, target in partials:
            path = named
            older = _kept(target, len(placed))
            placed.append((target, older))
            partial.replace(target)
        for path, text in straight:
            path.write_text(text, encoding="utf-8", errors="replace")
        last()
    except BaseException as error:
        for target, older in reversed(placed):
            with contextlib.suppress(OSError):
                if older:
                    older.replace(target)
                else:
                    target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritten(path, error) from error
        raise
    finally:
        for beside in [*(partial for _, partial, _ in partials), *(older for _, older in placed if older)]:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)


def _kept(target: Path, place: int) -> Path | None:
    """Keep what is there under a second name, so that it can be put back; None where there is nothing."""
    if not target.exists():
        return None
    older = target.with_name(f"{target.name}.{place}.old")
    older.unlink(missing_ok=True)
    try:
        older.hardlink_to(target)
    except OSError:
        # Not every file system has links.
        shutil.copy2(target, older)
    return older


def what_is(path: Path) -> str:
    """Return ``file``, ``folder``, ``other`` (a device, a pipe), or "" where there is nothing to be found.

    Examples
    --------
    >>> what_is(Path("/")), what_is(Path("/dev/null")), what_is(Path("n" * 300))
    ('folder', 'other', '')
    """
    try:
        mode = path.stat().st_mode
    # `Path.is_file` has an error of its own for a name that is too long.
    except (OSError, ValueError):
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def _replaced(path: Path) -> Path | None:
    """Return the file that is replaced; None for what must be written straight into."""
    # What a shell has opened would be cut off from it by a new file of its name.
    opened = str(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    if opened or what_is(path) in ("folder", "other"):
        return None
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


def _unwritten(path: Path, error: OSError) -> SagoError:
    return SagoError(f"{path} cannot be written: {error.strerror or error}")
