"""Reads the rows of a task: shipped with the project, a local copy, or the hub.

A local copy stands in for every hub data set in one way: a folder of the task's name under
``$SAGO_DATA_DIR`` (or ``--metadata '{"data_dir": ...}'``) with JSONL, JSON, CSV or Parquet
files, or a data set saved with ``save_to_disk``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.hub import hub_errors
from sago_harness.jsonsafe import json_safe

Row = dict[str, Any]

#: Levels of lists and objects in one JSON value; what is deeper is no text or answer.
_DEEPEST = 50


def read_file(path: Path) -> list[Row]:
    """Return the rows of one file, by its ending.

    Parameters
    ----------
    path : Path
        ``.jsonl``, ``.json`` (a list of objects, or an object that holds one list), ``.csv``,
        ``.tsv`` or ``.parquet``.

    Raises
    ------
    SagoError
        For another ending, or content that cannot be read: names file and line.
    """
    readers = {
        ".jsonl": _jsonl,
        ".json": _json,
        ".csv": _csv,
        ".tsv": _csv,
        ".parquet": _parquet,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        raise SagoError(
            f"{path}: files of kind {suffix or 'no ending'} are not read; use {', '.join(readers)}"
        )
    try:
        return list(readers[suffix](path))
    except (OSError, UnicodeDecodeError) as error:
        raise SagoError(f"{path} cannot be read: {error}") from error


def _jsonl(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _object(line, f"{path} line {number}")


def _object(text: str, where: str) -> Row:
    row = parse_json(text, where)
    if not isinstance(row, dict):
        raise SagoError(f"{where} is not a JSON object but {type(row).__name__}")
    return row


def read_json(path: Path) -> Any:
    """Return what a JSON file holds, of any form.

    Parameters
    ----------
    path : Path

    Raises
    ------
    SagoError
        If it cannot be read or is not JSON.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SagoError(f"{path} cannot be read: {error}") from error
    return parse_json(text, str(path))


def parse_json(text: str, where: str) -> Any:
    """Return what a JSON text holds.

    Parameters
    ----------
    text : str
    where : str
        Names the text in messages.

    Raises
    ------
    SagoError
        If it is not JSON, or nested too deeply.

    Examples
    --------
    >>> parse_json("[1,", "a.json")
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: a.json is not JSON: Expecting value: line 1 column 4 (char 3)
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise SagoError(f"{where} is nested too deeply: at most {_DEEPEST} levels are read") from error
    except ValueError as error:  # beside bad JSON, an integer of thousands of digits
        raise SagoError(f"{where} is not JSON: {error}") from error
    if is_deep(value):
        raise SagoError(f"{where} is nested too deeply: at most {_DEEPEST} levels are read")
    return json_safe(value)


def is_deep(value: Any, levels: int = _DEEPEST) -> bool:
    """Say whether lists and objects are nested deeper; level by level, so that nothing overflows.

    Examples
    --------
    >>> is_deep([[1]], levels=1), is_deep([[1]], levels=2)
    (True, False)
    """
    level = [value]
    for _ in range(levels + 1):
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
        if not level:
            return False
    return True


def _json(path: Path) -> Iterator[Row]:
    data = parse_json(path.read_text(encoding="utf-8-sig"), str(path))
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else data
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise SagoError(f"{path} is no list of JSON objects")
    yield from data


def _csv(path: Path) -> Iterator[Row]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines, delimiter=delimiter)
        try:
            for row in reader:
                yield {str(key): value for key, value in row.items() if key is not None}
        except csv.Error as error:
            # The limit of a field is the interpreter's and holds for all of its threads: left as it is.
            raise SagoError(
                f"{path} line {reader.line_num + 1} cannot be read: {error}; long texts fit into JSONL"
            ) from error


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise SagoError(f"{path} is no Parquet file: {error}") from error
    yield from (json_safe(row) for row in table.to_pylist())


def read_local(folder: Path, patterns: Sequence[str]) -> list[Row] | None:
    """Return the rows of a local copy, or None where there is none.

    Parameters
    ----------
    folder : Path
    patterns : sequence of str
        The first that matches any file wins; all its matches are read, in name order.

    Raises
    ------
    SagoError
        If the folder is there but no file fits.
    """
    if not folder.is_dir():
        return None
    if (folder / "dataset_info.json").is_file() or (folder / "dataset_dict.json").is_file():
        return _saved(folder)
    for pattern in patterns:
        files = sorted(folder.glob(pattern))
        if files:
            return [row for file in files for row in read_file(file)]
    raise SagoError(f"{folder} is there but holds none of {', '.join(patterns)}")


def _saved(folder: Path) -> list[Row]:
    import datasets

    data = datasets.load_from_disk(str(folder))
    if isinstance(data, Mapping):
        if len(data) != 1:
            raise SagoError(f"{folder} holds the splits {', '.join(data)}: save the one that is to be used")
        data = next(iter(data.values()))
    return [json_safe(row) for row in data]


def read_hub(
    path: str, name: str | None, split: str, task: str, folder: str | None, **kwargs: Any
) -> list[Row]:
    """Return the rows of one split of a hub data set.

    Raises
    ------
    SagoError
        If the hub does not give it; the one line names the data set and both remedies.
    """
    import datasets

    try:
        data = datasets.load_dataset(path=path, name=name, split=split, **kwargs)
    except (*hub_errors(), ValueError, datasets.exceptions.DatasetsError) as error:
        label = f"{path} ({name})" if name else path
        copy = (
            f"or put a copy into the folder {folder!r} under $SAGO_DATA_DIR"
            if folder
            else "or use a task with a local copy"
        )
        first = str(error).strip().splitlines()[0][:120] if str(error).strip() else type(error).__name__
        raise SagoError(
            f"task {task!r}: data set {label}, split {split!r}, is not at hand: "
            f"let this machine reach the hub (or its cache), {copy} [{first}]"
        ) from error
    return [json_safe(row) for row in data]
