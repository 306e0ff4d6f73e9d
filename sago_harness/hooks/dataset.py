"""Where a task's rows come from, decided once: shipped, the user's file, a local copy, the hub."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from sago_harness.data import Variant
from sago_harness.documents.columns import check_columns, map_row
from sago_harness.documents.read import Row, read_file, read_hub, read_local
from sago_harness.errors import SagoError, unknown
from sago_harness.hooks.spec import TaskSpec
from sago_harness.jsonsafe import clean_text, dumps
from sago_harness.variants.base import OTHER_FAMILIES, SCORED_FAMILIES
from sago_harness.variants.features import FEATURES
from sago_harness.variants.people import PEOPLE

_PATTERNS = ("*.jsonl", "*.json", "*.parquet", "*.csv")

#: Columns of a user's file.
_USER_FIELDS = ("id", "prompt", "target", "variants", "language")

#: Keys of the host that may read further columns.
_READERS = ("doc_to_", "process_", "gen_prefix", "fewshot_config", "description")


@dataclass(slots=True)
class Source:
    """The rows of one task, read on first use.

    Attributes
    ----------
    spec : TaskSpec
    path, name : str or None
        Hub data set and configuration.
    split, fewshot_split : str
    kwargs : dict
        The host's ``dataset_kwargs``.
    yaml : str
        File the task was read from; shipped rows lie beside it.
    first_n : bool
        Few-shot examples are the first of the pool.
    templates : str or None
        What the host reads further columns with; None where a function may read any.
    """

    spec: TaskSpec
    path: str | None
    name: str | None
    split: str
    fewshot_split: str
    kwargs: dict[str, Any]
    yaml: str
    first_n: bool = False
    templates: str | None = ""
    _rows: list[Row] | None = field(default=None, repr=False)
    _pool: list[Row] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, spec: TaskSpec, config: Mapping[str, Any]) -> Source:
        """Read the host's own keys of a task."""
        split = config.get("test_split") or config.get("validation_split")
        if not split:
            raise SagoError(f"task {spec.task!r}: the YAML names no test_split")
        kwargs = {k: v for k, v in (config.get("dataset_kwargs") or {}).items() if k != "trust_remote_code"}
        fewshot = config.get("fewshot_config") or {}
        return cls(
            spec,
            config.get("dataset_path"),
            config.get("dataset_name"),
            split,
            config.get("fewshot_split") or split,
            kwargs,
            str((config.get("metadata") or {}).get("config_source", "")),
            first_n=isinstance(fewshot, Mapping) and fewshot.get("sampler") == "first_n",
            templates=_templates(config),
        )

    @property
    def is_users_file(self) -> bool:
        """The rows are a file of the user's (``local_sago``)."""
        return bool(self.spec.local.get("file"))

    @property
    def id_field(self) -> str | None:
        """Column with the documents' own ids."""
        return "id" if self.is_users_file else self.spec.id_field

    def rows(self) -> list[Row]:
        """Return the evaluated split's rows, columns mapped, own ids kept.

        Raises
        ------
        SagoError
            In one line, when they cannot be had or do not fit.
        """
        if self._rows is None:
            rows, where = self._read(self.split)
            check_columns(rows, self.spec.columns, self.spec.task, where)
            self._check_variants_column(rows, where)
            mapped = [self._mapped(row) for row in rows]
            self._check_varied(mapped, where)
            if self.is_users_file:
                mapped = [self._user_row(row) for row in mapped]
            self._rows = mapped
        return self._rows

    def pool_rows(self) -> list[Row] | None:
        """Return the few-shot split's rows; None where the pool is the evaluated split."""
        if self.fewshot_split == self.split or self._local_folder() is not None or not self.path:
            return None
        if self._pool is None:
            folder = self.spec.local.get("folder")
            rows = read_hub(self.path, self.name, self.fewshot_split, self.spec.task, folder, **self.kwargs)
            self._pool = [self._mapped(row) for row in rows]
        return self._pool

    def _mapped(self, row: Row) -> Row:
        mapped = map_row(row, self.spec.columns)
        for name in (self.spec.id_field, self.spec.cluster_field):
            if name and name in row:
                mapped[name] = row[name]
        if self.spec.variants_column:
            given = row.get(self.spec.variants_column)
            if isinstance(given, str):
                # A table without lists holds one text a row.
                given = [given] if given.strip() else None
            mapped["variants"] = given
        return mapped

    def _read(self, split: str) -> tuple[list[Row], str]:
        if self.spec.shipped:
            path = self._beside(self.spec.shipped)
            return read_file(path), path.name
        if self.is_users_file:
            return self._user_file()
        folder = self._local_folder()
        if self.spec.local.get("people"):
            return self._people(folder)
        if folder is not None:
            rows = read_local(folder, self.spec.local.get("files") or _PATTERNS)
            if rows is not None:
                return rows, str(folder)
        if not self.path:
            raise SagoError(
                f"task {self.spec.task!r}: the YAML names no data (dataset_path, shipped or local)"
            )
        rows = read_hub(
            self.path, self.name, split, self.spec.task, self.spec.local.get("folder"), **self.kwargs
        )
        return rows, self.path

    def _people(self, folder: Path | None) -> tuple[list[Row], str]:
        people = PEOPLE.load(str(self.spec.local["people"]), f"task {self.spec.task!r}")()
        if folder is None:
            raise SagoError(
                f"task {self.spec.task!r}: {people.name} is not at hand: put {', '.join(people.files)} of "
                f"{people.source} into the folder {self.spec.local['folder']!r} under $SAGO_DATA_DIR"
            )
        return people.rows(folder), str(folder)

    def _beside(self, name: str) -> Path:
        beside = Path(self.yaml).parent / name if self.yaml else Path(name)
        if beside.is_file():
            return beside
        inside = files("sago_harness.task_configs") / "demo" / name
        return Path(str(inside))

    def _user_file(self) -> tuple[list[Row], str]:
        if not self.spec.file:
            raise SagoError(
                f'task {self.spec.task!r} needs your file: --metadata \'{{"file": "prompts.jsonl"}}\' '
                "or SAGO_FILE=prompts.jsonl, one JSON object a line with the field `prompt`"
            )
        path = Path(self.spec.file).expanduser()
        if not path.is_file():
            raise SagoError(f"task {self.spec.task!r}: there is no file {self.spec.file}")
        return read_file(path), str(path)

    def _local_folder(self) -> Path | None:
        folder = self.spec.local.get("folder")
        if not folder or not self.spec.data_dir:
            return None
        path = Path(self.spec.data_dir).expanduser()
        if not path.is_dir():
            raise SagoError(f"task {self.spec.task!r}: the data folder {self.spec.data_dir} does not exist")
        return path / folder if (path / folder).is_dir() else None

    def _check_variants_column(self, rows: Sequence[Row], where: str) -> None:
        column = self.spec.variants_column
        if column and not any(column in row for row in rows):
            known = {key for row in rows[:100] for key in row}
            raise unknown("column of variants", column, known, f"task {self.spec.task!r}, {where}")

    def _check_varied(self, rows: Sequence[Row], where: str) -> None:
        if not rows:
            raise SagoError(f"task {self.spec.task!r}: {where} holds no documents")
        for vary in self.spec.vary:
            if all(row.get(vary.field) is None for row in rows):
                # A column that is empty everywhere would be no help.
                known = {key for row in rows[:100] for key, value in row.items() if value is not None}
                raise unknown("field to vary", vary.field, known, f"task {self.spec.task!r}, {where}")

    def _user_row(self, row: Row) -> Row:
        """Give every row of a user's file the same columns: those that the task reads."""
        kept = {name: row.get(name) for name in _USER_FIELDS}
        kept |= {name: value for name, value in row.items() if name not in kept and self._reads(name)}
        for name in ("id", "language"):
            kept[name] = None if kept[name] is None else _as_text(kept[name])
        return kept

    def _reads(self, name: str) -> bool:
        own = {self.spec.answers, self.spec.id_field, self.spec.cluster_field}
        if self.templates is None or name in own or any(name == vary.field for vary in self.spec.vary):
            return True
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.templates) is not None


def _templates(config: Mapping[str, Any]) -> str | None:
    """Return all text by which the host may read columns; None where it calls a function."""
    values = [value for key, value in config.items() if key.startswith(_READERS)]
    values += [item for value in values if isinstance(value, Mapping) for item in value.values()]
    return None if any(map(callable, values)) else "\n".join(map(str, values))


def own_variants(
    row: Mapping[str, Any], field_name: str, fields: Mapping[str, str] | None = None
) -> tuple[Variant, ...]:
    """Return the variants that a row brings: texts, or objects with text, family, operator ...

    Parameters
    ----------
    row : mapping
    field_name : str
        The field that a variant's text stands for.
    fields : mapping of str to str, optional
        All varied fields of the document; those beside ``field_name`` stay as they are.

    Raises
    ------
    SagoError
        For variants that are no list, and for one without text, with an unknown family or
        feature, or with a strength that is no number.

    Examples
    --------
    >>> own_variants({"variants": ["say hi"]}, "prompt")[0].family
    'human'
    """
    document = row.get("id") or row.get("prompt")
    given = row.get("variants") or ()
    if not isinstance(given, list | tuple):
        raise SagoError(f"`variants` of document {document!r} must be a list, not {type(given).__name__}")
    made = []
    for number, item in enumerate(given, start=1):
        where = f"variant {number} of document {document!r}"
        if not isinstance(item, str | Mapping):
            raise SagoError(f"{where} must be a text, or an object with `text`, not {type(item).__name__}")
        entry = {"text": item} if isinstance(item, str) else dict(item)
        entry = {key: value for key, value in entry.items() if value is not None}
        if not isinstance(entry.get("text"), str):
            raise SagoError(f"{where} has no `text`")
        strength: Any = entry.get("strength")
        if not _is_number(strength):
            raise SagoError(f"{where}: strength {strength!r} is not a number")
        family = str(entry.get("family", "human"))
        if family not in (*SCORED_FAMILIES, *OTHER_FAMILIES[:2]):
            raise unknown("family", family, (*SCORED_FAMILIES, *OTHER_FAMILIES[:2]), where)
        feature = entry.get("feature")
        if feature is not None and feature not in list(FEATURES):
            raise unknown("feature", feature, FEATURES, where)
        made.append(
            Variant(
                id=str(entry.get("id", f"own{number}")),
                family=family,
                operator=str(entry.get("operator", "own")),
                fields={**(fields or {}), field_name: clean_text(entry["text"])},
                strength=strength,
                position=entry.get("position"),
                feature=feature,
            )
        )
    return tuple(made)


def _is_number(strength: Any) -> bool:
    if strength is None:
        return True
    if isinstance(strength, bool) or not isinstance(strength, int | float):
        return False
    try:
        return math.isfinite(float(strength))
    except OverflowError:
        return False


def brought_families(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the families of the variants that rows bring."""
    return {variant.family for row in rows for variant in own_variants(row, "prompt")}


def uniform(rows: Sequence[Mapping[str, Any]], varied: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Make rows fit one table: the same keys everywhere, and one type a column.

    A column that mixes lists and texts becomes lists of texts, one that mixes other types,
    or holds what no table has a type for, text; variants become one kind of object. What is
    missing stays missing, in lists too.

    Parameters
    ----------
    rows : sequence of mapping
        Strict JSON.
    varied : sequence of str
        Fields that hold prompts: beside texts, a list or an object there is missing.

    Returns
    -------
    list of dict

    Examples
    --------
    >>> uniform([{"target": ["Paris", None]}, {"target": 5}])
    [{'target': ['Paris', None]}, {'target': ['5']}]
    """
    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns: dict[str, list[Any]] = {}
    for key in keys:
        column = [row.get(key) for row in rows]
        if key == "variants":
            columns[key] = [[_variant_row(item) for item in value or ()] for value in column]
            continue
        if key in varied and any(isinstance(value, str) for value in column):
            column = [None if isinstance(value, list | Mapping) else value for value in column]
        columns[key] = _one_type(column)
    return [{key: columns[key][index] for key in keys} for index in range(len(rows))]


def _one_type(column: list[Any]) -> list[Any]:
    kinds = {type(value) for value in column if value is not None}
    if (len(kinds) < 2 or kinds <= {int, float}) and _fits(column):
        return column
    if list in kinds:
        lists = [value if isinstance(value, list | None) else [value] for value in column]
        if all(isinstance(item, Mapping) for value in lists for item in value or ()) and _fits(lists):
            return lists
        return [value if value is None else [_as_text(item) for item in value] for value in lists]
    return [_as_text(value) for value in column]


def _fits(column: list[Any]) -> bool:
    """Say whether a table can hold the column as it is."""
    import pyarrow as pa

    try:
        pa.array(column)
    except (pa.ArrowException, OverflowError):
        return False
    return True


def _as_text(value: Any) -> Any:
    """Return a value as text, lists and objects as JSON; None stays None."""
    if value is None or isinstance(value, str):
        return value
    return dumps(value) if isinstance(value, list | Mapping) else str(value)


def _variant_row(item: Any) -> dict[str, Any]:
    entry = {"text": item} if isinstance(item, str) else dict(item or {})
    strength = entry.get("strength")
    names = ("id", "text", "family", "operator", "position", "feature")
    row: dict[str, Any] = {n: None if entry.get(n) is None else str(entry[n]) for n in names}
    row["strength"] = None if strength is None else float(strength)
    return row
