"""The records of one file as arrays, a row a response.

Parquet is read column by column, no row ever becomes an object, and what was asked only once where the
files of several models hold the same bytes (:mod:`sago_harness.runs.asked`). Parquet of the first version,
whose numbers are nested, and samples take the slow way over records and give the same arrays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.axes import MEASURES
from sago_harness.errors import SagoError
from sago_harness.runs.arrow import coded, doubles, filled_lists, places
from sago_harness.runs.asked import ASKED, CODED, ROLES, Asked, roles, stored_bytes
from sago_harness.runs.asked import CANONICAL as CANONICAL
from sago_harness.runs.asked import CONTROL as CONTROL
from sago_harness.runs.asked import REPEAT as REPEAT
from sago_harness.runs.asked import VARIANT as VARIANT
from sago_harness.runs.asked import Codes as Codes
from sago_harness.runs.find import RunFile
from sago_harness.scores.table import read_filters, read_parquet
from sago_harness.scores.versions import migrated
from sago_harness.stats.table import Doubles, VariantKey

RAW: tuple[str, ...] = ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "mirroring")
FIRST: tuple[str, ...] = ("x_bleu", "x_bert", "x_sem", "x_prob", "x_ent")
BESIDE: tuple[str, ...] = ("x_mr", "x_mr_floor", "flip")


@dataclass(frozen=True)
class Columns:
    """Records of one model on one task; N rows.

    Attributes
    ----------
    documents : tuple of str
        Ids, in order of appearance.
    document : ndarray of shape (N,)
        Place of each row's document.
    keys : tuple of VariantKey
        Variants, controls and repeats by their id, in order of appearance.
    variant : ndarray of shape (N,)
        Place of each row's key.
    role : ndarray of shape (N,)
        Place in :data:`ROLES`.
    numbers : dict of str to ndarray of shape (N,)
        Measures, ``x_mr``, ``x_mr_floor``, ``flip``, ``raw_...``, ``first_...``, ``correct``,
        ``tokens``; NaN = unscored.
    reasons : tuple of dict
        Distinct mappings from measure to reason.
    reason : ndarray of shape (N,)
        Place of each row's mapping.
    unsent : ndarray of shape (N,) of bool
        The row, or its document, has a reason not to count.
    responses : ndarray of shape (N,) of object
        Key of the response, for canonical rows.
    flags : dict of int to tuple of str
        Canonical row -> what is marked of its response; rows without a mark are left out.
    families : dict of str to int
        Of the task, as its first canonical record says.
    measures : frozenset of str
    partners : tuple of str
        Documents whose prompts are chance controls, in order of appearance.
    partner : ndarray of shape (N,)
        Place of each row's partner, -1 for none.
    asked : Asked, optional
        What of this comes from Parquet and may be the same in other files.
    """

    documents: tuple[str, ...]
    document: Codes
    keys: tuple[VariantKey, ...]
    variant: Codes
    role: Codes
    numbers: Mapping[str, Doubles]
    reasons: tuple[Mapping[str, str], ...]
    reason: Codes
    unsent: npt.NDArray[np.bool_]
    responses: npt.NDArray[np.object_]
    flags: Mapping[int, tuple[str, ...]]
    families: Mapping[str, int]
    measures: frozenset[str]
    partners: tuple[str, ...]
    partner: Codes
    asked: Asked | None = None


def read_columns(run: RunFile, damaged: list[str] | None = None, before: Columns | None = None) -> Columns:
    """Read the records of a run.

    Parameters
    ----------
    run : RunFile
    damaged : list of str, optional
        Takes what is wrong with lines of samples that cannot be read, which are left out then.
    before : Columns, optional
        Of a file that may have the same prompts: those are taken over then, not read again.

    Raises
    ------
    SagoError
        Names the file, and the line where it has lines, that cannot be read; or a file without
        records of this project.
    """
    try:
        if run.path.suffix == ".parquet":
            return _of_parquet(run.path, before.asked if before else None)
        return _of_rows(_sampled(run, damaged))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
        # Arrow's errors are of these kinds, too: a column of lists is "not implemented" where text is wanted.
        if isinstance(error, SagoError):
            raise
        raise SagoError(f"{run.path} holds a record that cannot be read: {error!r}") from error


def _sampled(run: RunFile, damaged: list[str] | None) -> list[dict[str, Any]]:
    try:
        found = read_filters(run.path, damaged)
    except SagoError as error:
        # Only a line can be left out.
        hint = " (--skip-damaged leaves such lines out)" if f"{run.path} line " in str(error) else ""
        raise SagoError(f"{error}{hint}") from error
    if not run.filter and len(found) > 1:
        raise SagoError(
            f"{run.path} holds responses of the filters {', '.join(found)}, and its results file names "
            "fewer: is that file of another run?"
        )
    rows = found.get(run.filter, []) if run.filter else next(iter(found.values()), [])
    if not rows:
        raise SagoError(
            f"{run.path} holds no records of sago-harness" + (" that can be read" if damaged else "")
        )
    return rows


def _of_parquet(path: Path, before: Asked | None) -> Columns:
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source, _opened(source) as file:
            names = set(file.schema_arrow.names)
            if not {"document", "reasons", "record", "role"} <= names:
                raise SagoError(f"{path} holds no records of sago-harness")
            if "raw" in names:
                return _of_rows(read_parquet(path))
            stored = stored_bytes(file, source)
            asked = before if before is not None and before.stored == stored else None
            wanted = [name for name in (*_number_columns().values(), *_SAID) if name in names]
            if asked is None:
                wanted += [name for name in ASKED if name in names]
            table = file.read(columns=wanted, use_threads=False)
    except (OSError, pa.ArrowException) as error:
        raise SagoError(f"{path} is no Parquet file: {error}") from error
    size = table.num_rows
    if not size:
        raise SagoError(f"{path} holds no records of sago-harness")
    if asked is None:
        for version in table.column("record").unique().to_pylist():
            migrated({"record": version}, path)
        asked = Asked.of(table, stored)
    of_text = {name: coded(table.column(name)) for name in _REASONS if name in names}

    def number(column: str) -> Doubles:
        if column not in names:
            return np.full(size, np.nan)
        return doubles(table.column(column))

    canonical = asked.canonical
    responses = np.full(size, None, dtype=object)
    responses[canonical] = table.column("response_hash").take(places(canonical)).to_pylist()
    return Columns(
        asked.documents,
        asked.document,
        asked.keys,
        asked.variant,
        asked.role,
        {name: number(column) for name, column in _number_columns().items()},
        *_reasons(*of_text["reasons"]),
        _marked(of_text.get("text_reason"), size) | _marked(of_text.get("document_reason"), size),
        responses,
        filled_lists(table.column("flags"), canonical),
        asked.families,
        asked.measures,
        asked.partners,
        asked.partner,
        asked,
    )


#: Text of few distinct values, read as codes.
_REASONS = ("reasons", "text_reason", "document_reason")

#: What a model said, beside the numbers: read of every file.
_SAID = (*_REASONS, "response_hash", "flags")


def _number_columns() -> dict[str, str]:
    """Return name -> Parquet column of the numbers."""
    plain = {name: name for name in (*MEASURES, *BESIDE, "correct")}
    spread = [f"raw_{name}" for name in RAW] + [f"first_{name}" for name in FIRST]
    return {**plain, **{name: name for name in spread}, "tokens": "tokens_response"}


def _opened(source: Any) -> Any:
    """Open a file so that its text columns are read as codes."""
    import pyarrow.parquet as pq

    few = [*CODED, *_REASONS]
    try:
        return pq.ParquetFile(source, read_dictionary=few)
    except KeyError:
        # Older records lack some of the columns.
        names = set(pq.read_schema(source).names)
        return pq.ParquetFile(source, read_dictionary=[name for name in few if name in names])


def _reasons(codes: Codes, texts: Sequence[str]) -> tuple[tuple[Mapping[str, str], ...], Codes]:
    """Parse the distinct reasons; no reason at all is the last one."""
    found = tuple({} if text == "{}" else dict(json.loads(text)) for text in texts)
    return (*found, {}), np.where(codes < 0, len(found), codes)


def _marked(found: tuple[Codes, list[str]] | None, size: int) -> npt.NDArray[np.bool_]:
    """Say which rows have a text that is not empty."""
    if found is None or not any(found[1]):
        return np.zeros(size, dtype=bool)
    marked: npt.NDArray[np.bool_] = np.array([*map(bool, found[1]), False], dtype=bool)[found[0]]
    return marked


def _of_rows(rows: Sequence[Mapping[str, Any]]) -> Columns:
    documents: dict[str, int] = {}
    keys: dict[str, VariantKey] = {}
    places: dict[str, int] = {}
    reasons: dict[str, int] = {}
    partners: dict[str, int] = {}
    document, variant, reason, partner = (np.zeros(len(rows), dtype=np.intp) for _ in range(4))
    for i, row in enumerate(rows):
        document[i] = documents.setdefault(str(row["document"]), len(documents))
        id = str(row["variant"])
        variant[i] = places.setdefault(id, len(places))
        if id not in keys:
            strength = row.get("strength")
            keys[id] = VariantKey(
                id,
                str(row["family"] or ""),
                str(row["operator"] or ""),
                None if strength is None else float(strength),
                row.get("position"),
            )
        reason[i] = reasons.setdefault(json.dumps(row["reasons"] or {}), len(reasons))
        other = row.get("partner")
        partner[i] = -1 if other is None else partners.setdefault(str(other), len(partners))
    said = [str(row["role"]) for row in rows]
    role = roles(np.array([*map(_place_of_role, said)], dtype=np.intp), ROLES)
    numbers = {name: _numbers([row["distances"].get(name) for row in rows]) for name in (*MEASURES, *BESIDE)}
    for part, names in (("raw", RAW), ("first", FIRST)):
        for name in names:
            numbers[f"{part}_{name}"] = _numbers([(row.get(part) or {}).get(name) for row in rows])
    numbers["correct"] = _numbers([row.get("correct") for row in rows])
    numbers["tokens"] = _numbers([(row.get("tokens") or {}).get("response") for row in rows])
    responses = np.full(len(rows), None, dtype=object)
    flags = {}
    for place in np.flatnonzero(role == CANONICAL).tolist():
        responses[place] = rows[place]["response_hash"]
        if rows[place].get("flags"):
            flags[place] = tuple(rows[place]["flags"])
    families: Mapping[str, Any] = next((row["families"] for row in rows if row.get("families")), {})
    return Columns(
        tuple(documents),
        document,
        tuple(keys.values()),
        variant,
        role,
        numbers,
        tuple(json.loads(text) for text in reasons),
        reason,
        np.array([bool(row.get("text_reason") or row.get("document_reason")) for row in rows], dtype=bool),
        responses,
        flags,
        {str(family): int(count) for family, count in families.items()},
        frozenset(name for row in rows for name in row.get("measures") or ()),
        tuple(partners),
        partner,
    )


def _place_of_role(role: str) -> int:
    if role not in ROLES:
        raise ValueError(f"role {role}")
    return ROLES.index(role)


def _numbers(values: list[Any]) -> Doubles:
    numbers: Doubles = np.array(values, dtype=np.float64)
    return numbers
