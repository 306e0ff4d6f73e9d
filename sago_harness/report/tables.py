"""Tables of results and how they are written: terminal, Markdown, CSV, LaTeX, HTML, JSON.

A table knows its numbers; every format rounds and escapes for itself. No text that came from a
model, a data set or a folder name can break out of a cell.
"""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sago_harness.report.arrow_text import joined, number_texts, taken, texts
from sago_harness.report.cells import Bounds, CellRows, Coded, Row
from sago_harness.report.cells import Cell as Cell
from sago_harness.report.changes import escape_line
from sago_harness.report.json_text import as_json as as_json
from sago_harness.report.json_text import records
from sago_harness.report.matrix import Matrices
from sago_harness.report.shown import PAIRS, missing, text_rows
from sago_harness.report.shown import Column as Column
from sago_harness.report.shown import shown as shown

#: Rows that are written together.
_AT_ONCE = 2**14

#: What a spreadsheet takes a text for a formula by.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

#: What steers a terminal, or ends a text for some readers of CSV; tabs and ends of lines are text.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

#: Characters of a line that columns of a matrix are held to, on a terminal and in LaTeX.
WIDTH = 100


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of results.

    Attributes
    ----------
    name : str
        File name without its ending, and key in JSON.
    title : str
    columns : tuple of Column
    rows : sequence of tuple
        Cells in the order of the columns; None and NaN are missing. Of large tables
        :class:`sago_harness.report.cells.CellRows`.
    notes : tuple of str
        What must be read with it.
    matrices : callable, optional
        Lays the rows out for people: the terminal, Markdown and LaTeX show what it makes of the table
        in their place. CSV, JSON and HTML have the rows.
    wrapped : bool
        The last column is prose: on a terminal it goes on below where the line is full.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    notes: tuple[str, ...] = field(default=())
    matrices: Callable[[Table], Matrices] | None = field(default=None, compare=False, repr=False)
    wrapped: bool = False

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as JSON objects, unrounded; missing is null."""
        return records(self, 0, len(self.rows))

    def without(self, key: str) -> Table:
        """Return the table without one of its columns, as a list: a matrix may need it."""
        kept = [place for place, column in enumerate(self.columns) if column.key != key]
        rows: Sequence[Row]
        if isinstance(self.rows, CellRows):
            rows = self.rows.only(kept)
        else:
            rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows, matrices=None)

    def _repr_html_(self) -> str:
        return as_html(self)

    def __str__(self) -> str:
        return as_text(self)


def _line(text: str) -> str:
    """Return a text in one line in which every character can be seen; most texts are so already."""
    return text if text.isascii() and text.isprintable() else escape_line(text)


def as_text(table: Table, width: int = WIDTH) -> str:
    """Return the table for a terminal: aligned, headings underlined by their position alone.

    Parameters
    ----------
    table : Table
    width : int
        Characters of a line that matrices and prose are held to, by going on below. Lists take what they
        need.

    Examples
    --------
    >>> print(as_text(Table("t", "Scores", (Column("m", "model", "text"), Column("r")), (("a", 0.5),))))
    Scores
      model     r
      a      .500
    """
    lines = [escape_line(table.title)]
    if table.matrices is None:
        lines += _aligned(table.columns, table.rows, width if table.wrapped else 0)
        if not table.rows:
            lines.append("  (nothing)")
    else:
        made = table.matrices(table)
        lines += [f"  {escape_line(line)}" for line in made.reading]
        for matrix in made.each:
            lines += ["", f"  {escape_line(matrix.title)}"]
            for place, block in enumerate(matrix.blocks(width - 2, lambda text: _width(_line(text)))):
                lines += [""] * bool(place)
                lines += _aligned(*block)
            lines += [f"  {escape_line(note)}" for note in matrix.notes]
        lines += [""] * bool(made.each and table.notes)
    return "\n".join([*lines, *(f"  {escape_line(note)}" for note in table.notes)])


def _aligned(columns: Sequence[Column], rows: Sequence[Row], width: int = 0) -> list[str]:
    """Return a line of headings and one for each row, or several of so many characters."""
    cells: list[Sequence[str]] = [[_line(column.heading) for column in columns]]
    cells += text_rows(columns, rows, _line)
    widths = [max(_width(row[i]) for row in cells) for i in range(len(columns))]
    lines = []
    for row in cells:
        padded = [
            _padded(cell, width, left=column.kind == "text")
            for cell, width, column in zip(row, widths, columns, strict=True)
        ]
        line = "  " + "  ".join(padded).rstrip()
        if width and _width(line) > width:
            lines += _broken(line, row[-1].rstrip(), width)
        else:
            lines.append(line)
    return lines


def _broken(line: str, last: str, width: int) -> list[str]:
    """Return a line whose last cell goes on below its own beginning; no word or interval is parted."""
    head = line.removesuffix(last)
    room = max(20, width - _width(head))
    words: list[str] = []
    for word in re.split(r" (?!-?[\d.]+\])", last):
        # A word of more than a line is parted all the same: each character takes two columns at most.
        words += [word] if _width(word) <= room else re.findall(f".{{1,{room // 2}}}", word)
    parts = [""]
    for word in words:
        if parts[-1] and _width(parts[-1]) + 1 + _width(word) > room:
            parts.append(word)
        else:
            parts[-1] = f"{parts[-1]} {word}" if parts[-1] else word
    return [(" " * _width(head) if place else head) + part for place, part in enumerate(parts)]


def _width(text: str) -> int:
    """Return the columns that a text takes: Chinese characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _padded(text: str, width: int, *, left: bool) -> str:
    blank = " " * (width - _width(text))
    return text + blank if left else blank + text


_MARKDOWN = str.maketrans(
    {c: f"\\{c}" for c in "\\`*_{}[]()#+!|~$"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
)

_SPECIAL = re.compile(r"[\\`*\[\]<>&|~$#!{}]")


def as_markdown(table: Table) -> str:
    r"""Return the table in GitHub's Markdown.

    Examples
    --------
    >>> made = as_markdown(Table("t", "Scores", (Column("m", "model", "text"),), (("a|b\n| c",),)))
    >>> print(made)
    ### Scores
    <BLANKLINE>
    | model |
    | --- |
    | a\|b\\n\| c |
    """
    lines = [f"### {_plain_md(table.title)}"]
    if table.matrices is None:
        lines += ["", *_md_rows(table.columns, table.rows)]
    else:
        made = table.matrices(table)
        lines += [f"\n{_plain_md(line)}" for line in made.reading]
        for matrix in made.each:
            lines += ["", f"#### {_plain_md(matrix.title)}", ""]
            # A page of Markdown can be moved sideways: its columns stay together.
            for block in matrix.blocks():
                lines += _md_rows(*block)
            lines += [f"\n{_plain_md(note)}" for note in matrix.notes]
    return "\n".join([*lines, *(f"\n{_plain_md(note)}" for note in table.notes)])


def _md_rows(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    yield _md_row(_plain_md(column.heading) for column in columns)
    yield _md_row("---" if column.kind == "text" else "---:" for column in columns)
    yield from map(_md_row, text_rows(columns, rows, _plain_md))


def _plain_md(text: str) -> str:
    # What is safe as it is keeps its looks: most cells are numbers and names.
    text = _line(text)
    special = _SPECIAL.search(text) or text.startswith(("_", "+ ", "- "))
    return text.translate(_MARKDOWN) if special else text


def _md_row(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
})  # fmt: skip


def as_latex(table: Table) -> str:
    r"""Return a ``tabular`` with the rules of the booktabs package.

    Examples
    --------
    >>> print(as_latex(Table("t", "A", (Column("m", "a_b", "text"), Column("r")), (("50%", 0.5),))))
    % A
    \begin{tabular}{lr}
    \toprule
    a\_b & r \\
    \midrule
    50\% & .500 \\
    \bottomrule
    \end{tabular}
    """
    lines = [f"% {escape_line(table.title)}"]
    if table.matrices is None:
        lines += _tabular(table.columns, table.rows, wrapped=table.wrapped)
    else:
        made = table.matrices(table)
        lines += [f"% {escape_line(line)}" for line in made.reading]
        for matrix in made.each:
            for block in matrix.blocks(WIDTH, lambda text: _width(_line(text))):
                lines += ["", *_tabular(*block, matrix.title)]
            lines += [f"% {escape_line(note)}" for note in matrix.notes]
    return "\n".join([*lines, *(f"% {escape_line(note)}" for note in table.notes)])


def _tabular(
    columns: Sequence[Column], rows: Sequence[Row], title: str = "", *, wrapped: bool = False
) -> Iterator[str]:
    """Yield the lines of a tabular, with a title across its columns where it has one."""
    spec = "".join("l" if column.kind == "text" else "r" for column in columns)
    if wrapped:
        spec = spec[:-1] + r"p{0.55\linewidth}"
    yield rf"\begin{{tabular}}{{{spec}}}"
    yield r"\toprule"
    if title:
        yield rf"\multicolumn{{{len(columns)}}}{{l}}{{{_tex(title)}}} \\"
        yield r"\midrule"
    yield " & ".join(_tex(column.heading) for column in columns) + r" \\"
    yield r"\midrule"
    for cells in text_rows(columns, rows, _tex):
        # Behind the end of a row both would be read as part of it.
        guard = "{}" if cells[0].startswith(("[", "*")) else ""
        yield guard + " & ".join(cells) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def _tex(text: str) -> str:
    return _line(text).translate(_LATEX)


def as_csv(table: Table) -> str:
    r"""Return CSV with full precision; missing is an empty cell.

    A text that a spreadsheet would take for a formula is led by an apostrophe; characters that steer a
    terminal are written as ``\x1b``.

    Examples
    --------
    >>> print(as_csv(Table("t", "A", (Column("m", "", "text"), Column("r")), (("=1+1", 0.25),))), end="")
    m,r
    '=1+1,0.25
    """
    head: list[str] = []
    for column in table.columns:
        pair = column.kind in PAIRS
        head += [f"{column.key}_low", f"{column.key}_high"] if pair else [column.key]
    if isinstance(table.rows, CellRows):
        return "".join([_csv_line(head), "\n", *_csv_rows(table.rows)])
    lines = [_csv_line(head)]
    for row in table.rows:
        cells: list[str | int | float] = []
        for cell, column in zip(row, table.columns, strict=True):
            if column.kind in PAIRS:
                bounds = cell if isinstance(cell, tuple) else (None, None)
                cells += [_csv(bound) for bound in bounds]
            else:
                cells.append(_csv(cell))
        lines.append(_csv_line(cells))
    return "\n".join([*lines, ""])


def _csv_rows(rows: CellRows) -> Iterator[str]:
    """Yield rows that are kept as columns, many at a time, without making objects of their cells."""
    words = [
        texts([_field(cell) for cell in column.values]) if isinstance(column, Coded) else None
        for column in rows.columns
    ]
    for start in range(0, len(rows), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        pieces: list[Any] = []
        for column, coded in zip(rows.columns, words, strict=True):
            if isinstance(column, Coded):
                pieces += [",", taken(coded, column.codes[part])]
                continue
            known = None
            if isinstance(column, Bounds):
                ends, known = [column.low[part], column.high[part]], column.known
            else:
                ends = [column.values[part]]
            for values in ends:
                values = values if known is None else np.where(known[part], values, np.nan)
                pieces += [",", number_texts(values, lambda value: str(_csv(value)))]
        yield joined([*pieces[1:], "\n"])


def _field(cell: Cell) -> str:
    """Return a cell as it stands in a row of several, in quotes where it needs them."""
    return _csv_line([_csv(cell), ""]).removesuffix(",")


def _csv_line(cells: Sequence[str | int | float]) -> str:
    """Return a row without its end."""
    out = io.StringIO(newline="")
    # The writer puts in quotes what holds any character of the end of its lines.
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n")


def _csv(cell: Cell) -> str | int | float:
    if missing(cell) or isinstance(cell, tuple) or cell is None:
        return ""
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, str):
        text = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", cell.encode("utf-8", "replace").decode())
        return f"'{text}" if text.startswith(_FORMULA) else text
    return cell


def as_html(table: Table, signature: str = "") -> str:
    """Return an HTML table; what a notebook shows.

    Parameters
    ----------
    table : Table
    signature : str
        Line at its end: what its numbers depend on.

    Examples
    --------
    >>> made = as_html(Table("t", "A", (Column("m", "", "text"),), (("<b>",),)), "made by <me>")
    >>> "<td>&lt;b&gt;</td>" in made, made.endswith("<p><code>made by &lt;me&gt;</code></p>")
    (True, True)
    """
    head = "".join(f"<th>{html.escape(column.heading)}</th>" for column in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
        for row in text_rows(table.columns, table.rows, lambda text: html.escape(_line(text)))
    )
    notes = "".join(f"<p>{html.escape(escape_line(note))}</p>" for note in table.notes)
    title = html.escape(escape_line(table.title))
    end = f"<p><code>{html.escape(escape_line(signature))}</code></p>" if signature else ""
    return f"<table><caption>{title}</caption><tr>{head}</tr>{body}</table>{notes}{end}"


#: Ending -> how one table is written.
FORMATS = {"md": as_markdown, "csv": as_csv, "tex": as_latex}
