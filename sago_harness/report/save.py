"""Writes result tables to a folder: every file whole or not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.report.tables import FORMATS, Table, as_json
from sago_harness.whole import whole

#: The one file that holds all tables and what they depend on.
WHOLE = "comparison.json"


def save_tables(
    tables: Sequence[Table], about: Mapping[str, Any], folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Write the tables.

    Parameters
    ----------
    tables : sequence of Table
    about : mapping
        Settings and signatures; they stand in the JSON file and in every Markdown and LaTeX file.
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
    signature = str(about.get("signature", ""))
    texts: dict[Path, str] = {}
    if "json" in formats:
        texts[folder / WHOLE] = as_json(tables, about) + "\n"
    for ending in formats:
        for table in tables if ending in FORMATS else ():
            text = FORMATS[ending](table)
            # A spreadsheet takes no comment: its signature stands in the JSON file beside it.
            if ending == "md":
                text += f"\n\n`{signature.replace('`', '')}`\n"
            elif ending == "tex":
                text += f"\n% {signature}\n"
            texts[folder / f"{table.name}.{ending}"] = text
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SagoError(f"{folder} cannot be written: {error.strerror or error}") from error
    for path, text in texts.items():
        with whole(path) as partial:
            partial.write_text(text, encoding="utf-8", errors="replace")
    return list(texts)


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
    if "json" not in formats:
        possible.insert(0, folder / WHOLE)
    return [path for path in possible if path.is_file()]
