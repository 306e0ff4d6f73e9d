"""Registers the columns with the host: name, direction, aggregation, standard error.

Aggregations skip null values and say N/A where nothing was scored; the standard error is a
metric of its own, ``<name>_stderr``, which fills the host's Stderr column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from lm_eval.api.registry import aggregation_registry, metric_registry, register_aggregation, register_metric

from sago_harness.axes import MEASURES
from sago_harness.axes.representation.dataset import Level, compare_documents
from sago_harness.scores.columns import AXIS_COLUMNS, Column, all_columns
from sago_harness.scores.composite import (
    COMPOSITES,
    CONTROLS,
    Estimate,
    mean_estimate,
    stock_share,
    task_scores,
)

Items = Sequence[Any]


class Values(dict[str, Any]):
    """A document's values: what its sample shows, and what the aggregations get.

    The host copies a document's values into its sample and hands them, one by one, to the
    aggregations. Hidden states and single controls are only for the latter: the host gathers both, and
    would carry them from rank to rank twice.

    Parameters
    ----------
    shown : mapping of str to object
    handed : mapping of str to object
        For the aggregations, in place of what is shown.

    Examples
    --------
    >>> values = Values({"a": "shown"}, {"a": "handed"})
    >>> {**values}, dict.fromkeys(values), list(values.items())
    ({'a': 'shown'}, {'a': None}, [('a', 'handed')])
    """

    def __init__(self, shown: Mapping[str, Any], handed: Mapping[str, Any]) -> None:
        super().__init__(shown)
        self._handed = handed

    def items(self) -> Any:
        """Return what the aggregations get; copies are made of what is shown."""
        return {key: self._handed.get(key, value) for key, value in super().items()}.items()


def document_values(
    columns: Sequence[Column], values: Mapping[str, Any], states: Mapping[str, Any] | None
) -> Values:
    """Return a document's value of every column and of its standard error.

    Parameters
    ----------
    columns : sequence of Column
        The task's.
    values : mapping of str to object
        Of ``scores/document.py``.
    states : mapping or None
        The document's hidden states, where they are kept.
    """
    shown: dict[str, Any] = {}
    handed: dict[str, Any] = {}
    for column in columns:
        stderr = f"{column.name}_stderr"
        value = values.get(column.name)
        if column.kind == "dataset" and states:
            # A sample shows the hashes; one object for all columns is pickled once.
            value = {variant: str(state) for variant, state in states["states"].items()}
            handed |= {column.name: states, stderr: states}
        elif column.kind in ("axis", "composite"):
            # Single controls stand in the records; a sample need not hold them again for every column.
            whole = values[column.name]
            value = {name: part for name, part in whole.items() if name != CONTROLS}
            handed |= {column.name: whole, stderr: whole}
            if column.base == "sago_core":
                prefix = column.name.removesuffix(column.base)
                handed[column.name] = {**whole, "layers": values[f"{prefix}layers"]}
        shown |= {column.name: value, stderr: value}
    return Values(shown, handed)


class NotScored(str):
    """``N/A`` in tables and JSON; a group that has one in it is N/A too, never the mean of the rest."""

    def __new__(cls) -> NotScored:
        """Make the one value."""
        return super().__new__(cls, "N/A")

    def _same(self, _other: object) -> NotScored:
        return self

    __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = _same

    def __reduce__(self) -> tuple[type[NotScored], tuple[()]]:
        """Pickle without arguments."""
        return (NotScored, ())


def document_mean(items: Items) -> float | NotScored:
    """Return the mean over the scored documents.

    Examples
    --------
    >>> document_mean([0.8, None, None]), document_mean([None])
    (0.8, 'N/A')
    """
    return _shown(_mean(items).value)


def _mean(items: Items) -> Estimate:
    return mean_estimate(np.array([float("nan") if item is None else float(item) for item in items]))


def _shown(value: float) -> float | NotScored:
    return value if math.isfinite(value) else NotScored()


def _measures(items: Items) -> dict[str, str]:
    """Return the measures that the payloads hold, with their axes."""
    names = {key for item in items for key in item}
    return {name: MEASURES.load(name).axis for name in MEASURES if name in names}


def _estimate(column: Column, items: Items) -> Estimate:
    """Return a column's estimate from its items."""
    if column.kind == "mean":
        return _mean(items)
    scores = task_scores(items, _measures(items))
    if column.base in COMPOSITES:
        made: Estimate = getattr(scores, column.base)
        return made
    axis = AXIS_COLUMNS[column.base]
    return scores.axes.get(axis) or Estimate(float("nan"), np.zeros(len(items)), 0, "not_measured")


def value_of(items: Items, column: Column) -> float | int | NotScored:
    """Aggregate a column over documents."""
    if column.kind == "count":
        return sum(int(item or 0) for item in items)
    if column.kind == "stock":
        return _shown(stock_share(items))
    if column.kind == "dataset":
        return level_value(compare_documents(items, [column.name])[column.name].value)
    return _shown(_estimate(column, items).value)


def stderr_of(items: Items, column: Column) -> float | str:
    """Return a column's standard error over documents, N/A under two."""
    if column.kind in ("count", "stock"):
        return "N/A"
    if column.kind == "dataset":
        return level_stderr(compare_documents(items, [column.name])[column.name].value)
    stderr = _estimate(column, items).stderr
    return stderr if math.isfinite(stderr) else "N/A"


def level_value(level: Level) -> float | NotScored:
    """Return a value over the data set as the table shows it."""
    return _shown(level.value)


def level_stderr(level: Level) -> float | str:
    """Return its standard error as the table shows it."""
    return level.stderr if math.isfinite(level.stderr) else "N/A"


def register() -> None:
    """Register every column once; a second call changes nothing."""
    for column in all_columns():
        functions: dict[str, Callable[[Items], Any]] = {
            column.name: partial(value_of, column=column),
            f"{column.name}_stderr": partial(stderr_of, column=column),
        }
        for name, function in functions.items():
            aggregation = f"sago_{name}"
            if aggregation in aggregation_registry:
                continue
            register_aggregation(aggregation)(function)
            if name in metric_registry:
                continue  # the host's own `acc` is the same thing
            direction = (
                {} if column.higher_is_better is None else {"higher_is_better": column.higher_is_better}
            )
            register_metric(metric=name, output_type="generate_until", aggregation=aggregation, **direction)(
                _pass_through
            )


def _pass_through(items: Any) -> Any:
    """Stand in for a metric function: the task computes its own values."""
    return items
