"""The word lists in ``tables/``: read on first use, hashed for signatures."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError, unknown

FOLDER = Path(__file__).parent / "tables"


def read_table(name: str) -> dict[str, Any]:
    """Return the content of ``tables/<name>.json``.

    Parameters
    ----------
    name : str
        File name without the ending.

    Returns
    -------
    dict
        Shared between callers: do not change it.

    Raises
    ------
    SagoError
        If there is no such table, or it is not a JSON object.

    Examples
    --------
    >>> sorted(read_table("politeness"))
    ['en', 'zh']
    """
    return _read(_path(name))


def table_hash(name: str) -> str:
    """Return the sha256 of a table file, as hexadecimal digits."""
    return hashlib.sha256(_path(name).read_bytes()).hexdigest()


def _path(name: str) -> Path:
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        raise unknown("table", name, (file.stem for file in FOLDER.glob("*.json")), str(FOLDER))
    return path


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise SagoError(f"table {path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise SagoError(f"table {path} must be a JSON object, it is a {type(content).__name__}")
    return content
