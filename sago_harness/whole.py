"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sago_harness.errors import SagoError


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a path to write to, and put it in place when that is done.

    Parameters
    ----------
    path : Path
        What a reader will find: the old file or the new one, never half of one.

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
    partial = path.with_name(path.name + ".part")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise SagoError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
