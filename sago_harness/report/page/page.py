"""The report of a study as one HTML file.

Read :func:`build`: it collects what is to be shown, then fills the template. The file needs nothing from
outside, and the same study gives the same file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sago_harness.errors import SagoError
from sago_harness.figures import Figure, NotDrawn, figures
from sago_harness.figures.theme import dark, light
from sago_harness.report.browse.script import TEMPLATES, script
from sago_harness.report.compared import RARE, TABLES
from sago_harness.report.page.board import board_of
from sago_harness.report.page.bundle import plotting_library, plotting_versions
from sago_harness.report.page.commands import commands_table, rebuilt_commands
from sago_harness.report.page.layout import READING, SEEN, WITH_DOCUMENTS, Part, parts_of
from sago_harness.report.page.markup import Shown, html_table, line, one_line
from sago_harness.report.page.policy import content_policy, embedded, inline_script, inline_style, packed
from sago_harness.report.page.sources import sources_table
from sago_harness.report.page.standing import sentences, standings
from sago_harness.report.page.verdict import verdict
from sago_harness.report.tables import Column, Table, as_csv, shown
from sago_harness.whole import whole

if TYPE_CHECKING:
    from sago_harness.report.browse.data import BrowseData
    from sago_harness.report.study import Study

_HERE = Path(__file__).parent / "templates"

#: More models than this are told of in a fold, the first of them before it.
_TOLD = 12


@dataclass(frozen=True)
class Plate:
    """A figure as the page has it: its number, its elements' ids, its table."""

    id: str
    number: int
    figure: Figure
    table: Shown

    @property
    def file(self) -> str:
        """Return the name of its files, without ending."""
        return file_name(self.figure.name)


@dataclass(frozen=True)
class Kind:
    """The figures of one kind: some are seen at once, the others are in a fold."""

    seen: tuple[Plate, ...]
    folded: tuple[Plate, ...]

    @property
    def names(self) -> list[str]:
        """Return what tells the folded ones apart: their titles without what all titles begin with."""
        titles = [plate.figure.title for plate in (*self.seen, *self.folded)]
        start = commonpath(titles).rfind(": ") + 2
        return [title[start if start > 1 else 0 :] for title in titles[len(self.seen) :]]


@dataclass(frozen=True)
class Filled:
    """A part with what it shows."""

    part: Part
    kinds: tuple[Kind, ...]
    missing: tuple[NotDrawn, ...]
    tables: tuple[Shown, ...]


def build(
    study: Study,
    *,
    browse: BrowseData | None = None,
    drawn: Sequence[Figure | NotDrawn] | None = None,
) -> str:
    """Return the report.

    Parameters
    ----------
    study : Study
    browse : BrowseData, optional
        Documents of the browser; without it the report has none.
    drawn : sequence of Figure or NotDrawn, optional
        Default: all figures of the study.

    Returns
    -------
    str
        HTML, UTF-8 without lone surrogates.
    """
    drawn = figures(study) if drawn is None else drawn
    made = {name: make(study.found) for name, make in TABLES.items()}
    tables = {name: table for name, table in made.items() if table.rows or name not in RARE}
    numbers = _Numbers()
    filled = [_fill(part, drawn, tables, numbers) for part in parts_of((one.kind for one in drawn), tables)]
    documents = [numbers.table(tables[name], browse is not None) for name in WITH_DOCUMENTS if name in tables]
    sources = numbers.table(sources_table(study))
    plates = [plate for one in filled for kind in one.kinds for plate in (*kind.seen, *kind.folded)]
    code = {
        "library": inline_script(plotting_library()),
        "page": inline_script(_text(_HERE / "report.js")),
        "browse": inline_script(script()) if browse else Markup(""),
    }
    style = inline_style(_text(_HERE / "report.css") + (_text(TEMPLATES / "browse.css") if browse else ""))
    scripts = [text for text in code.values() if text]
    rows = standings(study.found)
    board = board_of(rows, study.found)
    commands = rebuilt_commands(study)
    # They stand there in another shape; their files are tables as all others are.
    numbers.tables.append(Shown("board", board.table, Markup("")))
    if commands:
        numbers.tables.append(Shown("commands", commands_table(commands), Markup("")))
    return _environment().get_template("report.html.j2").render(
        policy=content_policy(scripts, [style]),
        style=style,
        code=code,
        title=title_of(study),
        subtitle=_subtitle(study),
        notes=study.found.notes,
        told=[(one, sentences(one, study.found, linked=browse is not None)) for one in rows],
        most_told=_TOLD,
        board=board,
        verdict=verdict(study.found),
        parts=[one for one in filled if one.kinds or one.missing or one.tables],
        plates=plates,
        browse=browse,
        documents=documents,
        reading=READING,
        sources=sources,
        signature=study.found.signature,
        command=study.command,
        commands=commands,
        versions=plotting_versions(),
        level=study.found.settings.confidence.replace("%", " %"),
        themes={"light": light(), "dark": dark()},
        # Much the same a hundred times over: a twelfth of its size when packed.
        specs=packed({plate.id: plate.figure.spec for plate in plates}),
        tables=packed({one.id: _stored(one) for one in numbers.tables}),
    )  # fmt: skip


def save(text: str, path: Path) -> None:
    """Write the report, whole or not at all.

    Raises
    ------
    SagoError
        If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SagoError(f"{path} cannot be written: {error.strerror or error}") from error
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def title_of(study: Study) -> str:
    """Return the title of the report."""
    models, tasks = study.found.models, study.found.tasks
    who = one_line(models[0], 60) if len(models) == 1 else f"{len(models)} models"
    where = one_line(tasks[0], 60) if len(tasks) == 1 else f"{len(tasks)} data sets"
    return f"Stability of {who} on {where}"


def file_name(name: str) -> str:
    """Return a name that every file system takes.

    Examples
    --------
    >>> file_name("bump-sago"), file_name('a/"b')
    ('bump-sago', 'a_b')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:100].strip("._") or "figure"


class _Numbers:
    """Numbers figures, and gives every table an id."""

    def __init__(self) -> None:
        self.tables: list[Shown] = []
        self.figures = 0

    def table(self, table: Table, linked: bool = False) -> Shown:
        self.tables.append(html_table(table, f"table-{len(self.tables) + 1}", linked=linked))
        return self.tables[-1]

    def plate(self, figure: Figure) -> Plate:
        self.figures += 1
        return Plate(f"figure-{self.figures}", self.figures, figure, self.table(figure.table))


def _fill(
    part: Part, drawn: Sequence[Figure | NotDrawn], tables: Mapping[str, Table], numbers: _Numbers
) -> Filled:
    kinds = []
    for kind in part.kinds:
        plates = tuple(numbers.plate(one) for one in drawn if one.kind == kind and isinstance(one, Figure))
        most = SEEN.get(kind, 1)
        if plates:
            kinds.append(Kind(plates[:most], plates[most:]))
    return Filled(
        part,
        tuple(kinds),
        tuple(one for one in drawn if one.kind in part.kinds and isinstance(one, NotDrawn)),
        tuple(numbers.table(tables[name]) for name in part.tables if name in tables),
    )


def _stored(one: Shown) -> dict[str, Any]:
    return {"file": f"{file_name(one.table.name)}.csv", "csv": as_csv(one.table), "rest": one.rest}


def _subtitle(study: Study) -> str:
    found = study.found
    documents = sum(len(one.documents) for one in found.scored.values())
    parts = [
        f"{len(found.models)} model{'' if len(found.models) == 1 else 's'}",
        f"{len(found.tasks)} data set{'' if len(found.tasks) == 1 else 's'}",
        f"{documents:,} document{'' if documents == 1 else 's'}",
    ]
    if found.settings.scheme != "sago":
        parts.append(f"scheme {found.settings.scheme}")
    return ", ".join(parts)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader([str(_HERE), str(TEMPLATES)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["line"] = line
    # For attributes, which hold no markup.
    environment.filters["plain"] = one_line
    environment.filters["embedded"] = embedded
    environment.filters["cell"] = _cell
    return environment


def _cell(value: object) -> str:
    number = float(value) if isinstance(value, int | float) else float("nan")
    return shown(number, Column("value")).replace("-", "–" if number != number else "−")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
