"""Cells as people read them: one at a time, or a column of numbers at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sago_harness.report.cells import Bounds, Cell, CellColumn, CellRows, Coded, Row

#: Kinds of column: how a number in it is rounded. The last two hold a lower and an upper bound.
KINDS = ("text", "count", "number", "signed", "p", "share", "yes", "interval", "ranks")

#: Those that take two columns of a file.
PAIRS = ("interval", "ranks")

#: Rows that are shown together.
_AT_ONCE = 2**12


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes
    ----------
    key : str
        Name in CSV and JSON.
    title : str
        Name for people; the key where it is empty.
    kind : str
        One of :data:`KINDS`.
    digits : int
        Decimals of a number.
    """

    key: str
    title: str = ""
    kind: str = "number"
    digits: int = 3

    @property
    def heading(self) -> str:
        """What stands above the column."""
        return self.title or self.key


def shown(cell: Cell, column: Column) -> str:
    """Return a cell as people read it.

    Examples
    --------
    >>> shown(0.00004, Column("p", kind="p")), shown(-0.5, Column("d", kind="signed"))
    ('<.0001', '-.500')
    >>> shown(float("nan"), Column("r")), shown(1.0, Column("r")), shown(0.253, Column("s", kind="share"))
    ('-', '1.000', '25 %')
    >>> shown((0.1, 0.25), Column("i", kind="interval")), shown((1, 3), Column("k", kind="ranks"))
    ('[.100, .250]', '1-3')
    """
    if missing(cell):
        return "-"
    if isinstance(cell, tuple):
        return _bounds(cell, column)
    assert cell is not None
    if column.kind == "yes" or isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    if column.kind == "count":
        return f"{cell:,.0f}"
    if math.isinf(cell):
        return "-inf" if cell < 0 else "inf"
    if column.kind == "share":
        return f"{100 * cell:.0f} %"
    if column.kind == "p":
        return "<.0001" if cell < 0.0001 else _short(f"{cell:.4f}")
    made = f"{cell:.{column.digits}f}"
    if float(made) == 0.0:
        made = made.removeprefix("-")
    sign = "+" if column.kind == "signed" and float(made) > 0 else ""
    return sign + _short(made)


def missing(cell: Cell) -> bool:
    """Say whether there is nothing in a cell, or no number."""
    if isinstance(cell, tuple):
        return any(math.isnan(bound) for bound in cell)
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _bounds(cell: tuple[float, float], column: Column) -> str:
    low, high = cell
    if column.kind == "ranks":
        return f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}"
    number = Column(column.key, kind="number", digits=column.digits)
    return f"[{shown(low, number)}, {shown(high, number)}]"


def _short(number: str) -> str:
    return number.replace("0.", ".", 1) if number.removeprefix("-").startswith("0.") else number


def text_rows(
    columns: Sequence[Column], rows: Sequence[Row], escape: Callable[[str], str]
) -> Iterator[Sequence[str]]:
    """Yield the cells of every row as people read them, escaped.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of tuple
    escape : callable
        What a format does with the text of a cell, character by character.

    Examples
    --------
    >>> list(text_rows((Column("m", kind="text"), Column("r")), (("a", 0.5),), str.upper))
    [['A', '.500']]
    """
    if not isinstance(rows, CellRows):
        for row in rows:
            yield [escape(shown(cell, column)) for cell, column in zip(row, columns, strict=True)]
        return
    escaped = _Escaped(escape)
    words = [
        [escape(shown(value, column)) for value in cells.values] if isinstance(cells, Coded) else []
        for cells, column in zip(rows.columns, columns, strict=True)
    ]
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        made = [_some(*of, part, escaped) for of in zip(rows.columns, columns, words, strict=True)]
        yield from zip(*made, strict=True)


class _Escaped(dict[str, str]):
    """Text -> escaped text: rounded numbers are the same again and again."""

    def __init__(self, escape: Callable[[str], str]) -> None:
        super().__init__()
        self._escape = escape

    def __missing__(self, text: str) -> str:
        self[text] = made = self._escape(text)
        return made


def _some(
    cells: CellColumn, column: Column, words: Sequence[str], part: slice, escaped: _Escaped
) -> list[str]:
    if isinstance(cells, Coded):
        return list(map(words.__getitem__, cells.codes[part].tolist()))
    if not isinstance(cells, Bounds):
        return [escaped[text] for text in shown_numbers(cells.values[part], column)]
    if column.kind == "ranks" or cells.known is not None:
        return [escaped[shown(cell, column)] for cell in cells.cells(part)]
    number = Column(column.key, kind="number", digits=column.digits)
    ends = (shown_numbers(bound[part], number) for bound in (cells.low, cells.high))
    left, right, nothing = escaped["["], escaped["]"], escaped["-"]
    return [
        nothing if "-" in (low, high) else f"{left}{low}, {high}{right}"
        for low, high in zip(*ends, strict=True)
    ]


def shown_numbers(values: npt.NDArray[np.float64], column: Column) -> list[str]:
    """Return what :func:`shown` says of each number.

    Examples
    --------
    >>> shown_numbers(np.array([0.25, -0.0001, np.nan, 12.0]), Column("d", kind="signed", digits=2))
    ['+.25', '.00', '-', '+12.00']
    """
    if column.kind not in ("number", "signed") or not column.digits:
        # By their bits: 0 and -0 may be shown differently. Few p-values and shares differ.
        bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
        distinct, codes = np.unique(bits, return_inverse=True)
        words = [shown(value, column) for value in distinct.view(np.float64).tolist()]
        return list(map(words.__getitem__, codes.reshape(-1).tolist()))
    sign = "+" if column.kind == "signed" else ""
    made = (f"\n%{sign}.{column.digits}f" * len(values)) % tuple(values.tolist())
    zero = "0." + "0" * column.digits
    for before, after in (
        (f"-{zero}", zero), (f"+{zero}", zero), ("+nan", "-"), ("nan", "-"), ("+inf", "inf"),
        ("0.", "."), ("-0.", "-."), ("+0.", "+."),
    ):  # fmt: skip
        made = made.replace(f"\n{before}", f"\n{after}")
    return made.split("\n")[1:]
