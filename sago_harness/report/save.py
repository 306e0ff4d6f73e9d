"""Writes result tables to a folder: every file whole or not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.report.cells import Cell
from sago_harness.report.json_text import json_pieces
from sago_harness.report.tables import FORMATS, Column, Table, as_csv
from sago_harness.whole import whole

#: The one file that holds all tables and what they depend on.
WHOLE = "comparison.json"

#: What the tables depend on, beside those of CSV, which take no comment.
SETTINGS = "settings.csv"


def save_tables(
    tables: Sequence[Table], about: Mapping[str, Any], folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Write the tables.

    Parameters
    ----------
    tables : sequence of Table
    about : mapping
        Settings and signatures; they stand in the JSON file, the signature in every Markdown and LaTeX
        file, and both in ``settings.csv`` beside the tables of CSV.
    folder : Path
        Made if it is not there.
    formats : sequence of str
        ``json`` and endings of :data:`sago_harness.report.tables.FORMATS`.

    Returns
    -------
    list of Path

    Raises
    ------
    SagoError
        If a file cannot be written.
    """
    # Made when they are written: all of them at once would fill the memory.
    texts: dict[Path, Iterable[str]] = {}
    if "json" in formats:
        texts[folder / WHOLE] = chain(json_pieces(tables, about), "\n")
    if "csv" in formats and about:
        texts[folder / SETTINGS] = [as_csv(settings_table(about))]
    signature = str(about.get("signature", ""))
    for ending in formats:
        for table in tables if ending in FORMATS else ():
            texts[folder / f"{table.name}.{ending}"] = _pieces(table, ending, signature)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SagoError(f"{folder} cannot be written: {error.strerror or error}") from error
    # They are put in place when the last one is written: tables of two calls never stand side by side.
    with ExitStack() as stack:
        for path, pieces in texts.items():
            partial = stack.enter_context(whole(path))
            with partial.open("w", encoding="utf-8", errors="replace") as out:
                out.writelines(pieces)
    return list(texts)


def _pieces(table: Table, ending: str, signature: str) -> Iterator[str]:
    yield FORMATS[ending](table)
    if ending == "md":
        yield f"\n\n`{signature.replace('`', '')}`\n"
    elif ending == "tex":
        yield f"\n% {signature}\n"


def settings_table(about: Mapping[str, Any]) -> Table:
    """Return signature, version, settings and caps of resamples as rows of a name and a value.

    Parameters
    ----------
    about : mapping
        Of :meth:`sago_harness.stats.comparison.Comparison.about`; what it lacks has no row.

    Examples
    --------
    >>> about = {"signature": "s", "settings": {"seed": 0}, "caps": {"variance": 999}}
    >>> settings_table(about).rows
    (('signature', 's'), ('seed', 0), ('resamples_variance_at_most', 999))
    """
    rows: list[tuple[Cell, ...]] = [(key, about[key]) for key in ("signature", "version") if key in about]
    rows += list(about.get("settings", {}).items())
    rows += [(f"resamples_{name}_at_most", most) for name, most in about.get("caps", {}).items()]
    columns = (Column("name", kind="text"), Column("value", kind="text"))
    return Table("settings", "Settings", columns, tuple(rows))


def left_over(tables: Sequence[Table], folder: Path, formats: Sequence[str]) -> list[Path]:
    """Return the tables of an earlier call that this one did not write: they may tell of other runs.

    Parameters
    ----------
    tables : sequence of Table
    folder : Path
    formats : sequence of str
        Those that were written.
    """
    possible = [
        folder / f"{table.name}.{ending}" for ending in FORMATS for table in tables if ending not in formats
    ]
    if "csv" not in formats:
        possible.append(folder / SETTINGS)
    if "json" not in formats:
        possible.insert(0, folder / WHOLE)
    return [path for path in possible if path.is_file()]
