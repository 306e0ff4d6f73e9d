"""Results as HTML: no text from outside can be more than text.

Every character is to be seen: what is invisible or turns the direction of reading is written as its code,
as in all tables of this project. Chinese, Japanese and Korean text says its language, so that a
browser takes the right letters and a screen reader the right voice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup, escape

from sago_harness.jsonsafe import clean_text
from sago_harness.report.changes import escape_line
from sago_harness.report.tables import Cell, Column, Table, shown

#: Characters of an outside text that are shown; its file has all of them.
LONGEST = 240

#: Rows of a table that stand in the page from the start; the others are one press away.
MOST_ROWS = 200

#: A table with so many columns is printed in small letters, one with so many more on a page turned round.
_MANY, _ACROSS = 12, 20

#: From this length on a text may take several lines.
_WRAPPED = 36

_LANGUAGES = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
)


def language_of(text: str) -> str:
    """Return the language that a text's letters give away, "" for none.

    Examples
    --------
    >>> language_of("模型 A"), language_of("モデル"), language_of("model A")
    ('zh', 'ja', '')
    """
    return next((name for name, letters in _LANGUAGES if letters.search(text)), "")


def one_line(text: str, longest: int = LONGEST) -> str:
    r"""Return an outside text in one line in which every character can be seen, cut where it is long.

    Examples
    --------
    >>> one_line("a\u202eb\n"), one_line("x" * 500, longest=3)
    ('a\\u202eb\\n', 'xxx… (500 characters)')
    """
    plain = text[:longest]
    seen = plain if plain.isascii() and plain.isprintable() else escape_line(plain)
    return seen if len(text) <= longest else f"{seen}… ({len(text):,} characters)"


def line(text: str, longest: int = LONGEST) -> Markup:
    """Return an outside text as HTML, kept from turning its neighbours round.

    Examples
    --------
    >>> print(line("<b>"), line("模型"))
    &lt;b&gt; <bdi lang="zh">模型</bdi>
    """
    seen = one_line(str(text), longest)
    if seen.isascii():
        return escape(seen)
    named = language_of(seen)
    lang = Markup(' lang="{}"').format(named) if named else ""
    return Markup("<bdi{}>{}</bdi>").format(lang, seen)


def document_link(task: str, model: str, document: str) -> str:
    """Return the address of a document in the browser of documents.

    Examples
    --------
    >>> document_link("facts", "org/a", "d 1")
    '#doc=facts/org%2Fa/d%201'
    """
    # A lone surrogate is U+FFFD there, as in all data of the page.
    return "#doc=" + "/".join(quote(clean_text(name), safe="") for name in (task, model, document))


@dataclass(frozen=True)
class Shown:
    """A table as the page has it.

    Attributes
    ----------
    id : str
        Of the element, unique in the page.
    table : Table
        All of it, for the download.
    html : Markup
    rest : tuple of tuple of str
        Rows that are not in ``html``, as they are shown.
    """

    id: str
    table: Table
    html: Markup
    rest: tuple[tuple[str, ...], ...] = ()


def html_table(table: Table, id: str, *, rows: int = MOST_ROWS, linked: bool = False) -> Shown:
    """Return a table with a caption, headings that say what they head, and its notes.

    Columns of text that are empty in every row are left out; the file of the table has them.

    Parameters
    ----------
    table : Table
    id : str
    rows : int
        As many stand in the page.
    linked : bool
        Documents lead to their browser: the table has columns ``task``, ``model`` and ``document``.

    Examples
    --------
    >>> made = html_table(Table("t", "A", (Column("m", "", "text"), Column("r")), (("<b>", 0.5),)), "t1")
    >>> '<th scope="row">&lt;b&gt;</th><td class="n">.500</td>' in made.html
    True
    """
    keep = [i for i, column in enumerate(table.columns) if not _empty(table, i, column)]
    columns = [table.columns[i] for i in keep]
    wide = [column.kind == "text" and _long(table, i) for i, column in zip(keep, columns, strict=True)]
    classes = [_class(column, wraps) for column, wraps in zip(columns, wide, strict=True)]
    # The first column names the row wherever it is a name.
    heads = bool(columns) and columns[0].kind == "text"
    some = [[row[i] for i in keep] for row in table.rows]
    at = {column.key: i for i, column in enumerate(columns)} if linked else {}
    parts = [_open(table, id, heads, _width(len(columns)))]
    parts.append(Markup("<thead><tr>{}</tr></thead><tbody>").format(_headings(columns, classes)))
    parts += [_row(row, columns, classes, heads, at) for row in some[:rows]]
    parts.append(Markup("</tbody></table></div>"))
    rest = tuple(tuple(_text(c, k) for c, k in zip(row, columns, strict=True)) for row in some[rows:])
    if rest:
        parts.append(
            Markup(
                '<p class="more"><span>{:,} of {:,} rows. The CSV file has all.</span> '
                '<button type="button" hidden data-rest="{}">Show all {:,} rows</button></p>'
            ).format(rows, len(table.rows), id, len(table.rows))
        )
    if not table.rows:
        parts.append(Markup('<p class="note">Nothing to show.</p>'))
    parts += [Markup('<p class="note">{}</p>').format(line(note, 1000)) for note in table.notes]
    return Shown(id, table, Markup("").join(parts), rest)


def _open(table: Table, id: str, heads: bool, width: str) -> Markup:
    # A box of its own, so that a wide table does not widen the page; it can be scrolled by keys.
    return Markup(
        '<div class="scroll{}" tabindex="0" role="group" aria-labelledby="{}-caption">'
        '<table id="{}"{}><caption id="{}-caption">{}</caption>'
    ).format(width, id, id, Markup(" data-heads") if heads else "", id, line(table.title))


def _width(columns: int) -> str:
    if columns < _MANY:
        return ""
    return " many" if columns < _ACROSS else " many across"


def _headings(columns: Sequence[Column], classes: Sequence[str]) -> Markup:
    return Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(_attribute(name), line(column.heading))
        for column, name in zip(columns, classes, strict=True)
    )


def _row(
    row: Sequence[Cell],
    columns: Sequence[Column],
    classes: Sequence[str],
    heads: bool,
    at: Mapping[str, int],
) -> Markup:
    cells = []
    address = document_link(*(str(row[at[key]]) for key in ("task", "model", "document"))) if at else ""
    for place, (cell, column, name) in enumerate(zip(row, columns, classes, strict=True)):
        text = line(_text(cell, column)) if column.kind == "text" else escape(_text(cell, column))
        if at and column.key == "document":
            text = Markup('<a href="{}">{}</a>').format(address, text)
        tag, scope = ("th", ' scope="row"') if heads and place == 0 else ("td", "")
        # Put together by hand: a page has a hundred thousand cells.
        cells.append(f"<{tag}{scope}{_attribute(name)}>{text}</{tag}>")
    return Markup(f"<tr>{''.join(cells)}</tr>")


def _text(cell: Cell, column: Column) -> str:
    text = shown(cell, column)
    if column.kind == "text":
        return one_line(text)
    # A true minus sign is as wide as a plus sign; in a range it is a dash.
    return text.replace("-", "–" if column.kind == "ranks" or text == "-" else "−")


def _class(column: Column, wraps: bool) -> str:
    if column.kind == "text":
        return "w" if wraps else ""
    return "y" if column.kind == "yes" else "n"


def _attribute(name: str) -> Markup:
    return Markup(f' class="{name}"') if name else Markup("")


def _long(table: Table, place: int) -> bool:
    return any(isinstance(row[place], str) and len(str(row[place])) > _WRAPPED for row in table.rows)


def _empty(table: Table, place: int, column: Column) -> bool:
    return bool(table.rows) and column.kind == "text" and all(row[place] in (None, "") for row in table.rows)
