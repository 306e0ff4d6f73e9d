"""Where fetched models live on this computer."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def sago_home() -> Path:
    r"""Return the folder that holds everything sago keeps between runs.

    ``$SAGO_HOME`` if it is set and not empty. Otherwise the platform's cache
    folder: ``$XDG_CACHE_HOME/sago-harness`` or ``~/.cache/sago-harness`` on
    Linux, ``~/Library/Caches/sago-harness`` on macOS,
    ``%LOCALAPPDATA%\sago-harness`` on Windows.

    Returns
    -------
    pathlib.Path
        An absolute path. The folder is not created.

    Examples
    --------
    >>> sago_home().is_absolute()
    True
    """
    chosen = os.environ.get("SAGO_HOME")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        xdg = os.environ.get("XDG_CACHE_HOME")
        # The XDG base directory rules say that a relative value is to be ignored.
        base = Path(xdg) if xdg and Path(xdg).is_absolute() else Path.home() / ".cache"
    return base / "sago-harness"
