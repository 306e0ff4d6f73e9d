"""Tables as strict JSON with full precision, piece by piece."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sago_harness.jsonsafe import clean_text, dumps, json_safe
from sago_harness.report.arrow_text import joined, number_texts, replaced, taken, texts, together
from sago_harness.report.cells import Bounds, Cell, CellColumn, CellRows, Coded

if TYPE_CHECKING:
    from sago_harness.report.tables import Column, Table

#: Rows that are turned into JSON together: as objects, and as columns.
_AT_ONCE, _COLUMNS_AT_ONCE = 200, 2**14

_STRICT: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}


def as_json(tables: Sequence[Table], about: Mapping[str, Any]) -> str:
    """Return all tables with full precision, and what they depend on, as strict JSON."""
    return "".join(json_pieces(tables, about))


def json_pieces(tables: Sequence[Table], about: Mapping[str, Any]) -> Iterator[str]:
    """Yield the same text piece by piece: as objects all rows of a large table take many times its space."""
    yield f'{{"about":{dumps(dict(about))},"tables":{{'
    for place, (name, table) in enumerate({dumps(table.name): table for table in tables}.items()):
        yield f'{"," if place else ""}{name}:{{"title":{dumps(table.title)},"rows":['
        yield from _rows(table)
        yield f'],"notes":{dumps(list(table.notes))}}}'
    yield "}}"


def records(table: Table, start: int, stop: int) -> list[dict[str, Any]]:
    """Return some rows as JSON objects."""
    keys = _keys(table.columns)
    return [dict(zip(keys, map(_strict, row), strict=True)) for row in table.rows[start:stop]]


def _rows(table: Table) -> Iterator[str]:
    if isinstance(table.rows, CellRows):
        yield from _of_columns(table.columns, table.rows)
        return
    for start in range(0, len(table.rows), _AT_ONCE):
        yield ("," if start else "") + _some_rows(table, start)


def _some_rows(table: Table, start: int) -> str:
    """Return some rows in JSON, first as they are: most have nothing that JSON has not."""
    keys = _keys(table.columns)
    plain = [dict(zip(keys, row, strict=True)) for row in table.rows[start : start + _AT_ONCE]]
    try:
        text = json.dumps(plain, **_STRICT)
        text.encode()
    except (ValueError, TypeError):
        text = json.dumps(records(table, start, start + _AT_ONCE), **_STRICT)
    return text[1:-1]


def _keys(columns: Sequence[Column]) -> list[str]:
    return [clean_text(column.key) for column in columns]


def _strict(cell: Cell) -> Any:
    """Return a cell as JSON has it: what :func:`json_safe` does, quick for what most cells are."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, str):
        return cell if cell.isascii() else clean_text(cell)
    if isinstance(cell, tuple):
        return [_strict(bound) for bound in cell]
    return cell if cell is None or isinstance(cell, int) else json_safe(cell)


def _of_columns(columns: Sequence[Column], rows: CellRows) -> Iterator[str]:
    """Yield rows that are kept as columns without making objects of their cells."""
    words = [
        texts([json.dumps(_strict(cell), **_STRICT) for cell in column.values])
        if isinstance(column, Coded)
        else None
        for column in rows.columns
    ]
    heads = [f"{json.dumps(key, **_STRICT)}:" for key in _keys(columns)]
    for start in range(0, len(rows), _COLUMNS_AT_ONCE):
        part = slice(start, start + _COLUMNS_AT_ONCE)
        pieces: list[Any] = []
        for place, (head, column, coded) in enumerate(zip(heads, rows.columns, words, strict=True)):
            pieces += [("," if place else ",{") + head, _column(column, coded, part)]
        text = joined([*pieces, "}"])
        yield text if start else text[1:]


def _column(column: CellColumn, words: Any, part: slice) -> Any:
    """Return some cells of a column in JSON, as an Arrow array."""
    if isinstance(column, Coded):
        return taken(words, column.codes[part])
    if not isinstance(column, Bounds):
        return number_texts(column.values[part], _number)
    low, high = (number_texts(bound[part], _number) for bound in (column.low, column.high))
    made = together(["[", low, ",", high, "]"])
    if column.known is None:
        return made
    return replaced(made, ~column.known[part], "null")


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "null"
