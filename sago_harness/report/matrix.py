"""A list of pairs laid out as a matrix: names down and across, in blocks of columns that fit a width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sago_harness.report.cells import Cell, Row
from sago_harness.report.shown import Column, shown

#: Blanks between two columns.
_GAP = 2


@dataclass(frozen=True, slots=True)
class Matrix:
    """One matrix of N names.

    Attributes
    ----------
    title : str
        What its cells are of.
    corner : str
        What the names are.
    names : tuple of str
        Down and across.
    cells : tuple of tuple
        N rows of N cells.
    column : Column
        How a number in a cell is shown.
    notes : tuple of str
    """

    title: str
    corner: str
    names: tuple[str, ...]
    cells: tuple[Row, ...]
    column: Column
    notes: tuple[str, ...] = ()

    def blocks(
        self, width: int | None = None, measure: Callable[[str], int] = len
    ) -> Iterator[tuple[tuple[Column, ...], list[Row]]]:
        """Yield columns and rows of tables that hold some of the columns each, led by the names.

        Parameters
        ----------
        width : int, optional
            Characters of a line; one column at least stands in a block. Default: all in one.
        measure : callable
            How many characters a text takes.

        Examples
        --------
        >>> made = Matrix("t", "", ("a", "b"), (("1", 0.5), (0.5, "1")), Column("v", digits=1))
        >>> [rows for _, rows in made.blocks(8)]
        [[('a', '1'), ('b', 0.5)], [('a', 0.5), ('b', '1')]]
        """
        first = max(map(measure, (self.corner, *self.names)))
        for start, stop in self._breaks(first, width, measure):
            columns = [Column("name", self.corner or " ", "text")]
            columns += [
                Column(name, kind=self.column.kind, digits=self.column.digits)
                for name in self.names[start:stop]
            ]
            rows = [(name, *row[start:stop]) for name, row in zip(self.names, self.cells, strict=True)]
            yield tuple(columns), rows

    def _breaks(
        self, first: int, width: int | None, measure: Callable[[str], int]
    ) -> Iterator[tuple[int, int]]:
        start, used = 0, first
        for place, name in enumerate(self.names if width is not None else ()):
            widest = max(measure(name), *(measure(shown(row[place], self.column)) for row in self.cells))
            if width is not None and place > start and used + _GAP + widest > width:
                yield start, place
                start, used = place, first
            used += _GAP + widest
        yield start, len(self.names)


@dataclass(frozen=True, slots=True)
class Matrices:
    """What people read in place of a list of pairs.

    Attributes
    ----------
    each : sequence of Matrix
    reading : tuple of str
        How they are read; stands once, before them.
    """

    each: Sequence[Matrix]
    reading: tuple[str, ...] = field(default=())

    def fitting(self, rows: int) -> Matrices:
        """Return the first matrices, as many as so many rows hold; one is always there.

        Examples
        --------
        >>> two = Matrix("t", "", ("a", "b"), (("1", "0"), ("0", "1")), Column("v"))
        >>> [len(Matrices((two, two, two)).fitting(rows).each) for rows in (1, 4, 5, 6)]
        [1, 2, 2, 3]
        """
        kept = 0
        for matrix in self.each:
            rows -= len(matrix.names)
            if rows < 0 and kept:
                break
            kept += 1
        return Matrices(self.each[:kept], self.reading)


def filled(names: Sequence[str], diagonal: Sequence[Cell]) -> list[list[Cell]]:
    """Return N rows of N cells, missing but on the diagonal.

    Examples
    --------
    >>> filled(("a", "b"), ("1", "1"))
    [['1', None], [None, '1']]
    """
    cells: list[list[Cell]] = [[None] * len(names) for _ in names]
    for place, cell in enumerate(diagonal):
        cells[place][place] = cell
    return cells
