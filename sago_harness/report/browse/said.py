"""What the records of a run say in words, a row a response, in the order of its numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.runs.columns import Columns, read_columns
from sago_harness.runs.find import RunFile
from sago_harness.scores.table import read_filters


@dataclass(frozen=True)
class Said:
    """Records of one model on one task; N rows.

    Attributes
    ----------
    columns : Columns
        Their numbers.
    prompts, responses, answers : list of (str or None)
        The varied span, what was said, and the answer that was read off it; None where the record has
        none.
    flags : list of tuple of str
    stopped : list of str
        Why a row, or its document, does not count at all; "" where it does.
    language : str
        ISO 639-1 code of the task; "" where it is not known.
    damaged : tuple of str
        What is wrong with the lines that were left out.
    """

    columns: Columns
    prompts: Sequence[str | None]
    responses: Sequence[str | None]
    answers: Sequence[str | None]
    flags: Sequence[tuple[str, ...]]
    stopped: Sequence[str]
    language: str
    damaged: tuple[str, ...] = ()


def read_said(run: RunFile) -> Said:
    """Read the texts of a run's records beside their numbers.

    Parameters
    ----------
    run : RunFile

    Returns
    -------
    Said
        Damaged lines are left out: whether that may be was decided where the numbers were read.

    Raises
    ------
    SagoError
        If the file cannot be read, or was changed meanwhile.
    """
    damaged: list[str] = []
    columns = read_columns(run, damaged)
    column = _of_parquet(run) if run.path.suffix == ".parquet" else _of_samples(run)
    prompts = column("text")
    if len(prompts) != len(columns.document):
        raise SagoError(f"{run.path} was changed while it was read: make the report again")
    languages = column("language")
    return Said(
        columns,
        prompts,
        column("response"),
        column("answer"),
        [tuple(flags or ()) for flags in column("flags")],
        [a or b or "" for a, b in zip(column("document_reason"), column("text_reason"), strict=True)],
        next((name for name in languages if name), ""),
        tuple(damaged),
    )


def _of_parquet(run: RunFile) -> Callable[[str], list[Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = ("text", "response", "answer", "flags", "document_reason", "text_reason", "language")
    try:
        with pq.ParquetFile(run.path, memory_map=True) as file:
            names = set(file.schema_arrow.names)
            table = file.read(columns=[name for name in wanted if name in names], use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise SagoError(f"{run.path} is no Parquet file: {error}") from error

    def column(name: str) -> list[Any]:
        if name not in table.column_names or table.column(name).null_count == table.num_rows:
            return [None] * table.num_rows
        values: list[Any] = table.column(name).to_pylist()
        return values

    return column


def _of_samples(run: RunFile) -> Callable[[str], list[Any]]:
    found = read_filters(run.path, [])
    rows: Sequence[Mapping[str, Any]]
    rows = found.get(run.filter, []) if run.filter else next(iter(found.values()), [])

    def column(name: str) -> list[Any]:
        return [_plain(row.get(name)) for row in rows]

    return column


def _plain(value: Any) -> Any:
    """Return a cell as Parquet would hold it: text, a list of flags, or nothing."""
    if value is None or isinstance(value, (str, list)):
        return value
    return json.dumps(value)
