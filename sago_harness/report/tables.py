"""Tables of results and how they are written: terminal, Markdown, CSV, LaTeX, HTML, JSON.

A table knows its numbers; every format rounds and escapes for itself. No text that came from a
model, a data set or a folder name can break out of a cell.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sago_harness.jsonsafe import clean_text, dumps, json_safe
from sago_harness.report.changes import escape_line

Cell = str | int | float | bool | tuple[float, float] | None

#: Kinds of column: how a number in it is rounded. The last two hold a lower and an upper bound.
KINDS = ("text", "count", "number", "signed", "p", "share", "yes", "interval", "ranks")

_PAIRS = ("interval", "ranks")

#: Rows that are turned into JSON together.
_AT_ONCE = 200

_STRICT: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}


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


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of results.

    Attributes
    ----------
    name : str
        File name without its ending, and key in JSON.
    title : str
    columns : tuple of Column
    rows : tuple of tuple
        Cells in the order of the columns; None and NaN are missing.
    notes : tuple of str
        What must be read with it.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = field(default=())

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as JSON objects, unrounded; missing is null."""
        return _records(self, 0, len(self.rows))

    def without(self, key: str) -> Table:
        """Return the table without one of its columns."""
        kept = [place for place, column in enumerate(self.columns) if column.key != key]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)

    def _repr_html_(self) -> str:
        return as_html(self)

    def __str__(self) -> str:
        return as_text(self)


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
    if _missing(cell):
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


def _missing(cell: Cell) -> bool:
    if isinstance(cell, tuple):
        return any(math.isnan(bound) for bound in cell)
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _bounds(cell: tuple[float, float], column: Column) -> str:
    low, high = cell
    if column.kind == "ranks":
        return f"{low:.0f}" if low == high else f"{low:.0f}-{high:.0f}"
    number = Column(column.key, kind="number", digits=column.digits)
    return f"[{shown(low, number)}, {shown(high, number)}]"


def _line(text: str) -> str:
    """Return a text in one line in which every character can be seen; most texts are so already."""
    return text if text.isascii() and text.isprintable() else escape_line(text)


def _short(number: str) -> str:
    return number.replace("0.", ".", 1) if number.removeprefix("-").startswith("0.") else number


def as_text(table: Table) -> str:
    """Return the table for a terminal: aligned, headings underlined by their position alone.

    Examples
    --------
    >>> print(as_text(Table("t", "Scores", (Column("m", "model", "text"), Column("r")), (("a", 0.5),))))
    Scores
      model     r
      a      .500
    """
    lines = [escape_line(table.title)]
    rows = [[column.heading for column in table.columns]]
    rows += [[_line(shown(c, k)) for c, k in zip(row, table.columns, strict=True)] for row in table.rows]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(table.columns))]
    for row in rows:
        cells = [
            _padded(cell, width, left=column.kind == "text")
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    if not table.rows:
        lines.append("  (nothing)")
    return "\n".join([*lines, *(f"  {escape_line(note)}" for note in table.notes)])


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
    head = [column.heading for column in table.columns]
    marks = ["---" if column.kind == "text" else "---:" for column in table.columns]
    lines = [f"### {_plain_md(table.title)}", "", _md_row(map(_plain_md, head)), _md_row(marks)]
    for row in table.rows:
        lines.append(_md_row(_plain_md(shown(c, k)) for c, k in zip(row, table.columns, strict=True)))
    return "\n".join([*lines, *(f"\n{_plain_md(note)}" for note in table.notes)])


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
    spec = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    lines = [f"% {escape_line(table.title)}", rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
    lines.append(" & ".join(_tex(column.heading) for column in table.columns) + r" \\")
    lines.append(r"\midrule")
    for row in table.rows:
        cells = [_tex(shown(c, k)) for c, k in zip(row, table.columns, strict=True)]
        # Behind the end of a row both would be read as part of it.
        guard = "{}" if cells[0].startswith(("[", "*")) else ""
        lines.append(guard + " & ".join(cells) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *(f"% {escape_line(note)}" for note in table.notes)])


def _tex(text: str) -> str:
    return _line(text).translate(_LATEX)


def as_csv(table: Table) -> str:
    """Return CSV with full precision; missing is an empty cell.

    A text that a spreadsheet would take for a formula is led by an apostrophe.

    Examples
    --------
    >>> print(as_csv(Table("t", "A", (Column("m", "", "text"), Column("r")), (("=1+1", 0.25),))), end="")
    m,r
    '=1+1,0.25
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head: list[str] = []
    for column in table.columns:
        pair = column.kind in _PAIRS
        head += [f"{column.key}_low", f"{column.key}_high"] if pair else [column.key]
    writer.writerow(head)
    for row in table.rows:
        cells: list[str | int | float] = []
        for cell, column in zip(row, table.columns, strict=True):
            if column.kind in _PAIRS:
                bounds = cell if isinstance(cell, tuple) else (None, None)
                cells += [_csv(bound) for bound in bounds]
            else:
                cells.append(_csv(cell))
        writer.writerow(cells)
    return out.getvalue()


def _csv(cell: Cell) -> str | int | float:
    if _missing(cell) or isinstance(cell, tuple) or cell is None:
        return ""
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, str):
        text = cell.encode("utf-8", "replace").decode()
        return f"'{text}" if text[:1] in "=+-@\t\r" else text
    return cell


def as_html(table: Table) -> str:
    """Return an HTML table; what a notebook shows.

    Examples
    --------
    >>> "&lt;b&gt;" in as_html(Table("t", "A", (Column("m", "", "text"),), (("<b>",),)))
    True
    """
    head = "".join(f"<th>{html.escape(column.heading)}</th>" for column in table.columns)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{html.escape(_line(shown(c, k)))}</td>" for c, k in zip(row, table.columns, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    notes = "".join(f"<p>{html.escape(escape_line(note))}</p>" for note in table.notes)
    title = html.escape(escape_line(table.title))
    return f"<table><caption>{title}</caption><tr>{head}</tr>{body}</table>{notes}"


def as_json(tables: Sequence[Table], about: Mapping[str, Any]) -> str:
    """Return all tables with full precision, and what they depend on, as strict JSON."""
    return "".join(_pieces({dumps(table.name): table for table in tables}, about))


def _pieces(named: Mapping[str, Table], about: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text piece by piece: as objects all rows of a large table take many times its space."""
    yield f'{{"about":{dumps(dict(about))},"tables":{{'
    for place, (name, table) in enumerate(named.items()):
        yield f'{"," if place else ""}{name}:{{"title":{dumps(table.title)},"rows":['
        for start in range(0, len(table.rows), _AT_ONCE):
            yield ("," if start else "") + _some_rows(table, start)
        yield f'],"notes":{dumps(list(table.notes))}}}'
    yield "}}"


def _some_rows(table: Table, start: int) -> str:
    """Return some rows in JSON, first as they are: most have nothing that JSON has not."""
    keys = [clean_text(column.key) for column in table.columns]
    plain = [dict(zip(keys, row, strict=True)) for row in table.rows[start : start + _AT_ONCE]]
    try:
        text = json.dumps(plain, **_STRICT)
        text.encode()
    except (ValueError, TypeError):
        text = json.dumps(_records(table, start, start + _AT_ONCE), **_STRICT)
    return text[1:-1]


def _records(table: Table, start: int, stop: int) -> list[dict[str, Any]]:
    keys = [clean_text(column.key) for column in table.columns]
    return [dict(zip(keys, map(_strict, row), strict=True)) for row in table.rows[start:stop]]


def _strict(cell: Cell) -> Any:
    """Return a cell as JSON has it: what :func:`json_safe` does, quick for what most cells are."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, str):
        return cell if cell.isascii() else clean_text(cell)
    if isinstance(cell, tuple):
        return [_strict(bound) for bound in cell]
    return cell if cell is None or isinstance(cell, int) else json_safe(cell)


#: Ending -> how one table is written.
FORMATS = {"md": as_markdown, "csv": as_csv, "tex": as_latex}
