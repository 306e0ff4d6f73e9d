"""The table of one result by itself, whatever its class: what a notebook shows of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import numpy as np

from sago_harness.report.cells import Cell
from sago_harness.report.shown import Column
from sago_harness.report.tables import Table

#: Rows of a long result that are shown.
MOST = 60

#: Fields that name the second axis of arrays.
_ACROSS = ("components", "strengths", "tasks")

#: Of results inside a result, what is shown, and what it is called behind the name.
_PARTS = {"statistic": "", "values": "", "low": " low", "high": " high"}

#: Tuples that have an item for each model; others are lists of something else, whatever their length.
_EACH = ("values", "documents")


def result_table(one: Any) -> Table:
    """Return the table of a frozen result.

    Parameters
    ----------
    one : dataclass instance
        With a method ``rows`` (pairs, ranks, reversals) or a field ``cases`` it has a row for each of those.
        Else one with ``models`` has a row for each model and a column for whatever is said of models: arrays
        and tuples of their number, a second axis laid out across, mappings of both. Any other has a row for
        each field. What is said of no model in particular stands under the table.

    Returns
    -------
    Table

    Examples
    --------
    >>> from sago_harness.stats.ranks import RankTable
    >>> at, half = np.array([1, 2]), np.array([0.5, 0.4])
    >>> one = RankTable("facts", "sago", ("a", "b"), half, half / 10, at + 40, at, at, at, False, {}, {})
    >>> print(result_table(one))
    RankTable
      model  value  stderr   n  rank  lower  upper
      a       .500    .050  41     1      1      1
      b       .400    .040  42     2      2      2
      sago: a 1 [1, 1], b 2 [2, 2]
    """
    cases: Iterable[Any] | None = getattr(one, "cases", None)
    # Of reversals every pair of models; the confirmed ones may be none.
    for name in ("pairs", "rows"):
        if cases is None and callable(getattr(one, name, None)):
            cases = getattr(one, name)()
    if cases is not None:
        return _of_rows(one, cases)
    if getattr(one, "models", None) and isinstance(one.models, tuple):
        return _of_models(one, one.models)
    count = {len(value) for _, value in _named(one) if isinstance(value, np.ndarray) and value.ndim}
    if len(count) == 1:
        return _of_models(one, tuple(str(place) for place in range(count.pop())))
    return _of_fields(one)


def _of_rows(one: Any, cases: Iterable[Any]) -> Table:
    some = list(islice(cases, MOST + 1))
    columns: dict[str, Column] = {}
    records = []
    for case in some[:MOST]:
        record: dict[str, Cell] = {}
        for name, value in _named(case):
            items = value.items() if isinstance(value, Mapping) else [("", value)]
            for key, item in items:
                full = f"{name} {key}".strip()
                record[full] = _cell(item)
                columns.setdefault(full, _column(full, item))
        records.append(record)
    rows = tuple(tuple(record.get(name) for name in columns) for record in records)
    notes = (f"the first {MOST}",) if len(some) > MOST else ()
    return Table(_name(one), _name(one), tuple(columns.values()), rows, (str(one), *notes))


def _of_models(one: Any, models: tuple[str, ...]) -> Table:
    columns, cells, beside = [Column("model", kind="text")], [list[Cell](models)], [str(one)]

    def add(name: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                add(f"{name} {key}", item)
        elif is_dataclass(value):
            for part, short in _PARTS.items():
                add(f"{name}{short}", getattr(value, part, None))
        elif isinstance(value, np.ndarray) and value.ndim == 2 and len(value) == len(models):
            across = next((of for of in map(one_field, _ACROSS) if len(of) == value.shape[1]), ())
            for title, column in zip(across, value.T, strict=False):
                add(f"{name} {title}", column)
        elif len(np.shape(value)) == 1 and len(value) == len(models) and _of_each(name, value):
            columns.append(_column(name, next(iter(value), None)))
            cells.append([_cell(item) for item in value])

    def one_field(name: str) -> tuple[Any, ...]:
        return tuple(getattr(one, name, ()))

    for name, value in _named(one):
        if name not in ("models", *_ACROSS):
            add(name, value)
    beside += [f"{first}, {second}: tau {value:.3f}" for first, second, value in _pairs(one)]
    return Table(_name(one), _name(one), tuple(columns), tuple(zip(*cells, strict=True)), tuple(beside))


def _pairs(one: Any) -> list[tuple[str, str, float]]:
    """Return how far the rankings of two data sets agree, of a result that says so."""
    names, tau = getattr(one, "rows", ()), getattr(one, "tau", None)
    if not isinstance(tau, np.ndarray) or tau.shape != (len(names), len(names)):
        return []
    places = [(i, j) for i in range(len(names)) for j in range(i)][:MOST]
    return [(names[j], names[i], float(tau[i, j])) for i, j in places]


def _of_fields(one: Any) -> Table:
    columns = (Column("field", kind="text"), Column("value", kind="text"))
    rows = []
    for name, value in _named(one):
        if isinstance(value, Mapping):
            rows += [(f"{name} {key}", _said(item)) for key, item in value.items()]
        else:
            rows.append((name, _said(value)))
    return Table(_name(one), _name(one), columns, tuple(rows), (str(one),))


def _of_each(name: str, value: Any) -> bool:
    return isinstance(value, np.ndarray) or name.endswith("reasons") or name in _EACH


def _named(one: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(one, field.name)) for field in fields(one)]


def _name(one: Any) -> str:
    return type(one).__name__


def _column(name: str, example: Any) -> Column:
    if isinstance(example, (bool, np.bool_)):
        return Column(name, kind="yes")
    if isinstance(example, (int, np.integer)):
        return Column(name, kind="count")
    if isinstance(example, tuple) and len(example) == 2:
        return Column(name, kind="interval")
    if isinstance(example, (float, np.floating)) or example is None:
        return Column(name, kind="p" if name.startswith(("pvalue", "p_", "adjusted")) else "number")
    return Column(name, kind="text")


def _cell(value: Any) -> Cell:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(v, (int, float)) for v in value):
        return value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _said(value)


def _said(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.4g}"
    if isinstance(value, (tuple, list)):
        return ", ".join(_said(item) for item in value)
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return str(value)
