"""Files that will be needed soon, read by the system while the processors are busy with others."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def ask_ahead(paths: Iterable[Path]) -> int:
    """Ask the system to have files in memory soon; return how many it was asked for.

    Only a hint: nothing waits for it, and a file that cannot be opened is left to whoever reads it.
    Systems without such hints are asked for none.

    Parameters
    ----------
    paths : iterable of Path

    Examples
    --------
    >>> ask_ahead([Path("no such file")])
    0
    """
    if not hasattr(os, "posix_fadvise"):
        return 0
    asked = 0
    for path in paths:
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            continue
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_WILLNEED)
            asked += 1
        except OSError:
            # A pipe takes no hints.
            pass
        finally:
            os.close(file)
    return asked
