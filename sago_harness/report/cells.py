"""Rows of a table that are kept column by column: all pairs of a hundred models are millions of cells.

A cell becomes an object of its own only where somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

Cell = str | int | float | bool | tuple[float, float] | None

Row = tuple[Cell, ...]

Codes = npt.NDArray[np.int32]
_Doubles = npt.NDArray[np.float64]

#: Rows that become objects together.
_AT_ONCE = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of N cells of few distinct values.

    Attributes
    ----------
    codes : ndarray of shape (N,)
        Places in ``values``.
    values : tuple of Cell
    """

    codes: Codes
    values: Sequence[Cell]

    def __len__(self) -> int:
        return len(self.codes)

    def cells(self, part: slice) -> list[Cell]:
        """Return some of the cells."""
        return list(map(self.values.__getitem__, self.codes[part].tolist()))


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of N numbers, NaN where missing.

    Attributes
    ----------
    values : ndarray of shape (N,)
    """

    values: _Doubles

    def __len__(self) -> int:
        return len(self.values)

    def cells(self, part: slice) -> list[Cell]:
        """Return some of the cells."""
        return list(self.values[part].tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """A column of N lower and upper bounds.

    Attributes
    ----------
    low, high : ndarray of shape (N,)
    known : ndarray of shape (N,), optional
        Marks the cells that have bounds at all; the others are None.
    """

    low: _Doubles
    high: _Doubles
    known: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.low)

    def cells(self, part: slice) -> list[Cell]:
        """Return some of the cells."""
        pairs = list(zip(self.low[part].tolist(), self.high[part].tolist(), strict=True))
        if self.known is None:
            return list(pairs)
        return [pair if known else None for pair, known in zip(pairs, self.known[part].tolist(), strict=True)]


CellColumn = Coded | Numbers | Bounds


class CellRows(Sequence[Row]):
    """Rows that are made of columns when they are looked at.

    Parameters
    ----------
    columns : sequence of Coded, Numbers or Bounds
        At least one, all equally long.

    Raises
    ------
    ValueError
        If they are not.

    Examples
    --------
    >>> rows = CellRows([Coded(np.array([1, 0], dtype=np.int32), ("a", "b")), Numbers(np.array([0.5, 2.0]))])
    >>> len(rows), rows[-1], list(rows)
    (2, ('a', 2.0), [('b', 0.5), ('a', 2.0)])
    """

    def __init__(self, columns: Sequence[CellColumn]) -> None:
        self.columns = tuple(columns)
        if len({len(column) for column in columns}) != 1:
            raise ValueError(f"columns of {[len(column) for column in columns]} cells make no rows")

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Row, ...]: ...

    def __getitem__(self, place: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(place, slice):
            return tuple(zip(*(column.cells(place) for column in self.columns), strict=True))
        at = range(len(self))[place]
        return self[at : at + 1][0]

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellRows | tuple) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def only(self, places: Iterable[int]) -> CellRows:
        """Return the rows with some of the columns alone."""
        return CellRows([self.columns[place] for place in places])

    def __repr__(self) -> str:
        return f"CellRows of {len(self)} rows and {len(self.columns)} columns"


class Coding:
    """Collects a column of few distinct cells, part by part.

    Examples
    --------
    >>> names = Coding()
    >>> names.same("a", 2)
    >>> names.add(names.codes(["b", "a"])[np.array([1, 0, 0])])
    >>> names.made().cells(slice(None))
    ['a', 'a', 'a', 'b', 'b']
    """

    def __init__(self) -> None:
        self._place: dict[Cell, int] = {}
        self._parts: list[Codes] = []

    def code(self, cell: Cell) -> int:
        """Return the code of a cell. Cells of one column are of one type: 1 and True would be the same."""
        return self._place.setdefault(cell, len(self._place))

    def codes(self, cells: Iterable[Cell]) -> Codes:
        """Return the codes of cells."""
        return np.fromiter(map(self.code, cells), dtype=np.int32)

    def add(self, codes: npt.NDArray[np.integer[Any]]) -> None:
        """Add cells by their codes."""
        self._parts.append(codes.astype(np.int32, copy=False))

    def same(self, cell: Cell, count: int) -> None:
        """Add one cell many times."""
        self._parts.append(np.full(count, self.code(cell), dtype=np.int32))

    def made(self) -> Coded:
        """Return the column."""
        codes = np.concatenate([np.zeros(0, dtype=np.int32), *self._parts])
        return Coded(codes, tuple(self._place))


def numbers(parts: Sequence[_Doubles]) -> Numbers:
    """Return a column of numbers that come in parts."""
    return Numbers(np.concatenate([np.zeros(0), *parts]))


def counts(parts: Sequence[npt.NDArray[np.integer[Any]]]) -> Coded:
    """Return a column of whole numbers that come in parts; few of them differ.

    Examples
    --------
    >>> counts([np.array([7, 3]), np.array([7])]).cells(slice(None))
    [7, 3, 7]
    """
    values, codes = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *parts]), return_inverse=True)
    return Coded(codes.reshape(-1).astype(np.int32), tuple(values.tolist()))
