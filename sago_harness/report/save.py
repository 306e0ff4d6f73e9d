"""Writes result tables to a folder: every file whole or not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.report.tables import FORMATS, Table, as_json

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
    written = []
    signature = str(about.get("signature", ""))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if "json" in formats:
            written.append(_whole(folder / WHOLE, as_json(tables, about) + "\n"))
        for ending in formats:
            for table in tables if ending in FORMATS else ():
                text = FORMATS[ending](table)
                # A spreadsheet takes no comment: its signature stands in the JSON file beside it.
                if ending == "md":
                    text += f"\n\n`{signature.replace('`', '')}`\n"
                elif ending == "tex":
                    text += f"\n% {signature}\n"
                written.append(_whole(folder / f"{table.name}.{ending}", text))
    except OSError as error:
        raise SagoError(f"{folder} cannot be written: {error.strerror or error}") from error
    return written


def _whole(path: Path, text: str) -> Path:
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8", errors="replace")
    partial.replace(path)
    return path
