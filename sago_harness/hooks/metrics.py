"""Registers the columns with the host: name, direction, aggregation, standard error.

Aggregations skip null values and say N/A where nothing was scored; the standard error is a
metric of its own, ``<name>_stderr``, which fills the host's Stderr column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from lm_eval.api.registry import aggregation_registry, metric_registry, register_aggregation, register_metric

from sago_harness.axes import MEASURES
from sago_harness.scores.columns import AXIS_COLUMNS, Column, all_columns
from sago_harness.scores.composite import COMPOSITES, Estimate, mean_estimate, stock_share, task_scores

Items = Sequence[Any]


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
    return _shown(_estimate(column, items).value)


def stderr_of(items: Items, column: Column) -> float | str:
    """Return a column's standard error over documents, N/A under two."""
    if column.kind in ("count", "stock"):
        return "N/A"
    stderr = _estimate(column, items).stderr
    return stderr if math.isfinite(stderr) else "N/A"


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
