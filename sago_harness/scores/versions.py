"""Records of older versions of the project: brought up to date, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sago_harness.axes.record import RECORD_VERSION
from sago_harness.errors import SagoError

Row = dict[str, Any]


def migrated(row: Row, where: object) -> Row:
    """Return a record as this version of the project writes it.

    Parameters
    ----------
    row : dict
        As it was read; changed in place.
    where : object
        File, and line where it has one: named in the error.

    Returns
    -------
    dict

    Raises
    ------
    SagoError
        If the record was written by a newer version, or by none that is known.

    Examples
    --------
    >>> migrated({"record": 1}, "a.jsonl line 1")
    {'record': 2, 'first': {}}
    """
    version = row.get("record")
    if version == RECORD_VERSION:
        return row
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise SagoError(f"{where}: a record of version {version!r}; known are 1 to {RECORD_VERSION}")
    if version > RECORD_VERSION:
        raise SagoError(
            f"{where}: a record of version {version}, written by a newer sago-harness; this one reads up to "
            f"{RECORD_VERSION}: upgrade with pip install -U sago-harness"
        )
    for step in range(version, RECORD_VERSION):
        _STEPS[step](row)
        row["record"] = step + 1
    return row


def _first_tokens(row: Row) -> None:
    """Version 1 kept no distances over the first tokens: they stay unknown."""
    row["first"] = {}


_STEPS: dict[int, Callable[[Row], None]] = {1: _first_tokens}
