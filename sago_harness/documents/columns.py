"""Maps the columns of a published file, or of a hub data set, to a task's own fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sago_harness.errors import SagoError, nearest

_ABSENT = object()


def map_row(row: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with the task's fields.

    Parameters
    ----------
    row : mapping
        As read.
    columns : mapping
        Field -> candidates: a name, a list of names, or ``{from: names, split: ";"}`` to
        make a list of a string, ``{from: names, after: "####"}`` for what follows the last
        mark. A dotted name reaches into nested values. The first candidate present wins;
        where none is, the field is None.

    Returns
    -------
    dict

    Examples
    --------
    >>> map_row({"Q": "one?", "A": "x; y"}, {"question": "Q", "answers": {"from": "A", "split": ";"}})
    {'question': 'one?', 'answers': ['x', 'y']}
    """
    if not columns:
        return dict(row)
    return {field: _take(row, rule) for field, rule in columns.items()}


def check_columns(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any], task: str, source: str
) -> None:
    """Stop when a field's candidates are in no row at all: the file is not what it should be.

    Raises
    ------
    SagoError
        Names the task, the source, the field and the nearest columns.
    """
    if not rows:
        raise SagoError(f"task {task!r}: {source} holds no documents")
    head = rows[: min(len(rows), 100)]
    for field, rule in columns.items():
        names = _names(rule)
        if all(_find(row, name) is _ABSENT for row in head for name in names):
            known = sorted({key for row in head for key in row})
            close = nearest(names[0], known)
            hint = f"; nearest: {', '.join(close)}" if close else ""
            raise SagoError(
                f"task {task!r}: {source} has no column {' or '.join(map(repr, names))} for {field!r}; "
                f"it has {', '.join(map(str, known))}{hint}"
            )


def _names(rule: Any) -> list[str]:
    names = rule["from"] if isinstance(rule, Mapping) else rule
    return [names] if isinstance(names, str) else list(names)


def _take(row: Mapping[str, Any], rule: Any) -> Any:
    value: Any = None
    for name in _names(rule):
        found = _find(row, name)
        if found is not _ABSENT:
            value = found
            break
    if isinstance(rule, Mapping) and isinstance(value, str):
        if "after" in rule and rule["after"] in value:
            value = value.rsplit(rule["after"], 1)[1].strip()
        if "split" in rule:
            value = [part.strip() for part in value.split(rule["split"]) if part.strip()]
    return value


def _find(row: Mapping[str, Any], name: str) -> Any:
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value
