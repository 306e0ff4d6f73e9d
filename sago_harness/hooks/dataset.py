"""Where a task's rows come from, decided once: shipped, the user's file, a local copy, the hub."""

from __future__ import annotations

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
from sago_harness.jsonsafe import clean_text
from sago_harness.variants.base import OTHER_FAMILIES, SCORED_FAMILIES

_PATTERNS = ("*.jsonl", "*.json", "*.parquet", "*.csv")

#: Columns of a user's file.
_USER_FIELDS = ("id", "prompt", "target", "variants", "language")


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
    """

    spec: TaskSpec
    path: str | None
    name: str | None
    split: str
    fewshot_split: str
    kwargs: dict[str, Any]
    yaml: str
    first_n: bool = False
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
            mapped = [self._mapped(row) for row in rows]
            if self.is_users_file:
                mapped = [_user_row(row) for row in mapped]
            self._check_varied(mapped, where)
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
        return mapped

    def _read(self, split: str) -> tuple[list[Row], str]:
        if self.spec.shipped:
            path = self._beside(self.spec.shipped)
            return read_file(path), path.name
        if self.is_users_file:
            return self._user_file()
        folder = self._local_folder()
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

    def _check_varied(self, rows: Sequence[Row], where: str) -> None:
        if not rows:
            raise SagoError(f"task {self.spec.task!r}: {where} holds no documents")
        for vary in self.spec.vary:
            if all(row.get(vary.field) is None for row in rows):
                # A column that is empty everywhere would be no help.
                known = {key for row in rows[:100] for key, value in row.items() if value is not None}
                raise unknown("field to vary", vary.field, known, f"task {self.spec.task!r}, {where}")


def _user_row(row: Row) -> Row:
    """Give every row of a user's file the same columns."""
    return {name: row.get(name) for name in _USER_FIELDS} | row


def own_variants(row: Mapping[str, Any], field_name: str) -> tuple[Variant, ...]:
    """Return the variants that a row brings: texts, or objects with text, family, operator ...

    Raises
    ------
    SagoError
        For variants that are no list, and for one without text, with an unknown family, or
        with a strength that is no number.

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
        strength = entry.get("strength")
        if isinstance(strength, bool) or not isinstance(strength, int | float | None):
            raise SagoError(f"{where}: strength {strength!r} is not a number")
        family = str(entry.get("family", "human"))
        if family not in (*SCORED_FAMILIES, *OTHER_FAMILIES[:2]):
            raise unknown("family", family, (*SCORED_FAMILIES, *OTHER_FAMILIES[:2]), where)
        made.append(
            Variant(
                id=str(entry.get("id", f"own{number}")),
                family=family,
                operator=str(entry.get("operator", "own")),
                fields={field_name: clean_text(entry["text"])},
                strength=strength,
                position=entry.get("position"),
                feature=entry.get("feature"),
            )
        )
    return tuple(made)


def brought_families(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the families of the variants that rows bring."""
    return {variant.family for row in rows for variant in own_variants(row, "prompt")}


def uniform(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Make rows fit one table: the same keys everywhere, and one type a column.

    A column that mixes lists and texts becomes lists, one that mixes other types text;
    variants become one kind of object.
    """
    keys = list(dict.fromkeys(key for row in rows for key in row))
    table = [{key: row.get(key) for key in keys} for row in rows]
    for key in keys:
        kinds = {type(row[key]) for row in table if row[key] is not None}
        if key == "variants":
            for row in table:
                row[key] = [_variant_row(item) for item in row[key] or ()]
        elif list in kinds:
            for row in table:
                value = row[key]
                if value is not None:
                    items = value if isinstance(value, list) else [value]
                    row[key] = (
                        items if all(isinstance(v, Mapping) for v in items) else [str(v) for v in items]
                    )
        elif len(kinds) > 1 and not kinds <= {int, float}:
            for row in table:
                row[key] = None if row[key] is None else str(row[key])
    return table


def _variant_row(item: Any) -> dict[str, Any]:
    entry = {"text": item} if isinstance(item, str) else dict(item or {})
    strength = entry.get("strength")
    names = ("id", "text", "family", "operator", "position", "feature")
    row: dict[str, Any] = {n: None if entry.get(n) is None else str(entry[n]) for n in names}
    row["strength"] = None if strength is None else float(strength)
    return row
