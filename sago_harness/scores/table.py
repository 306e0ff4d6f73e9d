"""The score table: one row a response, read from samples files or Parquet records.

Both carry enough to compute every score again without a model.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from sago_harness.axes import MEASURES
from sago_harness.data import Role
from sago_harness.errors import SagoError
from sago_harness.scores.composite import SIGNED, TaskScores, task_scores
from sago_harness.scores.document import document_metrics
from sago_harness.scores.versions import migrated
from sago_harness.variants.base import OTHER_FAMILIES

Row = dict[str, Any]

_PLAIN = (
    "record",
    "document",
    "variant",
    "role",
    "family",
    "operator",
    "strength",
    "position",
    "feature",
    "language",
    "text",
    "partner",
    "repeat",
    "prompt_hash",
    "response_hash",
    "prompt_change",
    "text_reason",
    "document_reason",
    "answer",
    "correct",
    "signature",
)
_NESTED = ("reasons", "signals", "families", "measures", "model", "rejects")

#: Nested numbers that stand in columns of their own, ``<part>_<name>``: statistics read millions of them.
_SPREAD: dict[str, tuple[str, ...]] = {
    "raw": ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "mirroring"),
    "first": ("x_bleu", "x_bert", "x_sem", "x_prob", "x_ent", "characters"),
    "tokens": ("prompt", "response", "forced"),
}

#: What a response can be of a document.
ROLES: tuple[str, ...] = get_args(Role)

#: What no record of any version lacks.
_NEEDED: dict[str, type] = {
    "document": str,
    "variant": str,
    "role": str,
    "family": str,
    "distances": dict,
    "reasons": dict,
}


def read_samples(path: Path, damaged: list[str] | None = None) -> list[Row]:
    """Return the records of a samples file of the host, responses joined in.

    Parameters
    ----------
    path : Path
        ``samples_<task>_<time>.jsonl``.
    damaged : list of str, optional
        Takes what is wrong with lines that cannot be read, which are left out then.

    Returns
    -------
    list of dict
        One a response; of the first filter where the task has several
        (:func:`read_filters`); empty for a task that is not ours.

    Raises
    ------
    SagoError
        Names the file and line that cannot be read, if ``damaged`` is not given.
    """
    return next(iter(read_filters(path, damaged).values()), [])


def read_filters(path: Path, damaged: list[str] | None = None) -> dict[str, list[Row]]:
    """Return the records of a samples file, filter by filter; those of other projects are left out.

    Parameters
    ----------
    path, damaged
        As of :func:`read_samples`.

    Returns
    -------
    dict of str to list of dict
        Filter -> records, in the order in which the filters stand in the file.
    """
    found: dict[str, list[Row]] = {}
    # Lines of other projects; a file is of one task, and beside ours there are none.
    foreign: list[int] = []
    try:
        # Bytes that are no UTF-8 must name their line, so lines are decoded one by one.
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    # Nothing is lost with it.
                    continue
                where = f"{path} line {number}"
                try:
                    try:
                        name, rows = _records(line, where)
                    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
                        if isinstance(error, SagoError):
                            raise
                        raise SagoError(f"{where} is no sample of lm-eval: {error}") from error
                except SagoError as error:
                    if damaged is None:
                        raise
                    damaged.append(str(error))
                    continue
                if rows:
                    found.setdefault(name, []).extend(rows)
                else:
                    foreign.append(number)
    except OSError as error:
        raise SagoError(f"{path} cannot be read: {error.strerror}") from error
    for number in foreign if found else ():
        said = f"{path} line {number} holds no record of sago-harness, as the other lines do"
        if damaged is None:
            raise SagoError(said)
        damaged.append(said)
    return found


def _records(line: bytes, where: str) -> tuple[str, list[Row]]:
    """Return the filter of one sample and its records, none where they are not ours."""
    # Some editors put a byte order mark before the first line.
    sample = json.loads(line.decode("utf-8-sig"))
    filtered, responses = sample["filtered_resps"], sample["resps"]
    ours = [isinstance(t, str) and t.startswith('{"record":') for t in filtered]
    if not any(ours):
        return "", []
    if not all(ours):
        raise SagoError(f"{where}: response {ours.index(False) + 1} of {len(ours)} is no record")
    rows = [
        _whole(migrated({**json.loads(text), "response": said[0]}, where), where)
        for text, said in zip(filtered, responses, strict=True)
    ]
    return str(sample.get("filter", "none")), rows


def _whole(row: Row, where: str) -> Row:
    """Refuse a record without what every score needs, while its line is still known."""
    for name, kind in _NEEDED.items():
        if not isinstance(row.get(name), kind):
            raise SagoError(f"{where}: a record without {name!r}")
    for name, value in row["distances"].items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise SagoError(f"{where}: {name} is {value!r:.40}, and no number")
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise SagoError(f"{where}: {name} is a whole number beyond what a float holds")
        if value is not None and (value in (math.inf, -math.inf) or (value < 0.0 and name not in SIGNED)):
            raise SagoError(f"{where}: {name} is {value:g}, and no distance")
    if row["role"] not in ROLES:
        raise SagoError(f"{where}: role {row['role']!r:.40}: known are {', '.join(ROLES)}")
    return row


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write records as Parquet, atomically; nested parts as columns of their own.

    Parameters
    ----------
    rows : sequence of dict
        Of :func:`read_samples`.
    path : Path
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    measures = [*MEASURES, "x_mr", "x_mr_floor", "flip"]
    table: dict[str, Any] = {}
    for name in _PLAIN:
        table[name] = [row.get(name) for row in rows]
    table["response"] = [row.get("response") for row in rows]
    table["flags"] = pa.array([row.get("flags") or [] for row in rows], pa.list_(pa.string()))
    table["layers"] = pa.array([row.get("layers") for row in rows], pa.list_(pa.float64()))
    for name in measures:
        table[name] = pa.array([row["distances"].get(name) for row in rows], pa.float64())
    for part, names in _SPREAD.items():
        kind = pa.int32() if part == "tokens" else pa.float64()
        for name in names:
            table[f"{part}_{name}"] = pa.array([(row.get(part) or {}).get(name) for row in rows], kind)
    for name in _NESTED:
        table[name] = [None if row.get(name) is None else json.dumps(row[name]) for row in rows]
    for name, kind in (("strength", pa.float64()), ("prompt_change", pa.float64()), ("correct", pa.int8())):
        table[name] = pa.array(table[name], kind)
    for name in ("record", "repeat"):
        table[name] = pa.array(table[name], pa.int32())
    for name, column in table.items():
        if isinstance(column, list):
            table[name] = pa.array(column, pa.string())
    partial = path.with_name(path.name + ".part")
    made = pa.table(table)
    pq.write_table(made, partial, compression="zstd", **encodings(made.schema))
    partial.replace(path)


def encodings(schema: Any) -> dict[str, list[str]]:
    """Return how Parquet holds columns of a schema: numbers byte by byte, texts each one once.

    Read in half of the time of the default, and smaller: hardly two distances are equal, so that a
    dictionary of them is a detour.

    Examples
    --------
    >>> import pyarrow as pa
    >>> encodings(pa.schema([("x_bleu", pa.float64()), ("document", pa.string())]))
    {'use_dictionary': ['document'], 'use_byte_stream_split': ['x_bleu']}
    """
    import pyarrow.types as kinds

    return {
        "use_dictionary": [one.name for one in schema if kinds.is_string(one.type)],
        "use_byte_stream_split": [one.name for one in schema if kinds.is_floating(one.type)],
    }


def read_parquet(path: Path) -> list[Row]:
    """Return records as :func:`read_samples` does.

    Raises
    ------
    SagoError
        If the file is no Parquet, or not of this project.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        raw = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise SagoError(f"{path} is no Parquet file: {error}") from error
    measures = [*MEASURES, "x_mr", "x_mr_floor", "flip"]
    rows = []
    for entry in raw:
        if "document" not in entry or "reasons" not in entry:
            raise SagoError(f"{path} holds no records of sago-harness")
        row: Row = {name: entry[name] for name in (*_PLAIN, "response", "flags", "layers") if name in entry}
        row["distances"] = {name: entry.get(name) for name in measures}
        for name in _NESTED:
            row[name] = None if entry.get(name) is None else json.loads(entry[name])
        for part, names in _SPREAD.items():
            if part in entry:
                # As the first version kept them.
                row[part] = None if entry[part] is None else json.loads(entry[part])
            else:
                known = {name: entry.get(f"{part}_{name}") for name in names}
                row[part] = {name: value for name, value in known.items() if value is not None}
        rows.append(migrated(row, path))
    return rows


@dataclass(frozen=True, slots=True)
class Rescored:
    """Scores of a task, computed from its records.

    Attributes
    ----------
    values : list of dict
        Each document's values (:func:`document_metrics`).
    scores : TaskScores
    own : dict of str to TaskScores
        Family beside the score -> how far it moves the model, by the same rules.
    families : dict of str to int
        Variants of the recipe in each scored family; empty where nothing forms a score.
    """

    values: list[dict[str, Any]]
    scores: TaskScores
    own: dict[str, TaskScores]
    families: dict[str, int]


def rescore(rows: Sequence[Row]) -> Rescored:
    """Compute a task's scores from its records, without a model.

    Parameters
    ----------
    rows : sequence of dict
        Records of one task, of :func:`read_samples` or :func:`read_parquet`.

    Returns
    -------
    Rescored

    Raises
    ------
    SagoError
        If there are no records.
    """
    if not rows:
        raise SagoError("no records to score")
    documents: dict[str, list[Row]] = {}
    for row in rows:
        documents.setdefault(row["document"], []).append(row)
    measures = measures_in(rows)
    families: Mapping[str, int] = next((r["families"] for r in rows if r.get("families")), {})
    present = {row["family"] for row in rows if row["role"] == "variant"}
    own = tuple(family for family in OTHER_FAMILIES if family in present)
    values = [document_metrics(records, measures, families, own) for records in documents.values()]
    of = {family: task_scores([value[f"{family}_sago"] for value in values], measures) for family in own}
    scores = task_scores([value["sago"] for value in values], measures)
    return Rescored(values, scores, of, dict(families))


def measures_in(rows: Sequence[Row]) -> dict[str, str]:
    """Return the measures of a task's run, with their axes, in table order."""
    names = {name for row in rows for name in row.get("measures") or ()}
    return {name: MEASURES.load(name).axis for name in MEASURES if name in names}
