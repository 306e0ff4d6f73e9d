"""One operator at a time: by which way of saying the same is a model moved?

The scores of a data set formed of one operator's variants alone, by the rules of the score itself:
over the same chance controls, with the influence of every document, so that intervals and tests
work on them as on any score. A document enters with two of the operator's variants scored, or with the
only one that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sago_harness.scores.reduce import required_counts
from sago_harness.stats.quantities import Quantity, quantities
from sago_harness.stats.reduce import MeasureValues
from sago_harness.stats.rich import Rich
from sago_harness.stats.table import TaskTable


@dataclass(frozen=True)
class OperatorResult(Rich):
    """All scores of M models under one operator's variants of one data set.

    Attributes
    ----------
    task, family, operator : str
    models : tuple of str
        M names.
    variants : int
        Variants that the operator has of a document.
    quantities : dict of str to Quantity
        Measures (relative instability r, unclipped), axes and composites, named as in
        :class:`sago_harness.stats.scored.ScoredTask`.
    """

    task: str
    family: str
    operator: str
    models: tuple[str, ...]
    variants: int
    quantities: Mapping[str, Quantity]

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {q.values.mean():.3f}" for name, q in self.quantities.items())
        return f"{self.task}, {self.family}/{self.operator}: {shown}"


def by_operator(table: TaskTable, reduced: Mapping[str, MeasureValues]) -> Iterator[OperatorResult]:
    """Yield the scores of every operator of the families that form the score.

    Parameters
    ----------
    table : TaskTable
    reduced : dict of str to MeasureValues
        Of :func:`sago_harness.stats.reduce.reduce_task`, of the same table.

    Examples
    --------
    >>> from sago_harness.stats.reduce import reduce_task
    >>> from sago_harness.stats.table import VariantKey
    >>> keys = (VariantKey("v", "noise", "typo"), VariantKey("w", "noise", "case"))
    >>> moved = np.array([[[0.1, 0.3], [0.1, 0.3]]])
    >>> made = TaskTable("t", ("a",), ("d", "e"), keys, {"x_act": "activation"}, {"noise": 2},
    ...                  {"x_act": moved}, {"x_act": np.full((1, 2, 2), 0.4)})
    >>> for one in by_operator(made, reduce_task(made)):
    ...     print(one.operator, one.variants, one.quantities["x_act"].values.round(6).tolist())
    typo 1 [0.25]
    case 1 [0.75]
    """
    yield from operator_scores(table.task, table.models, variants_of_operators(table), reduced)


def variants_of_operators(table: TaskTable) -> dict[tuple[str, str], int]:
    """Return (family, operator) -> variants that it has of a document, in the table's order."""
    return {pair: int((table.operator_of == place).sum()) for place, pair in enumerate(table.operators)}


def operator_scores(
    task: str,
    models: tuple[str, ...],
    operators: Mapping[tuple[str, str], int],
    reduced: Mapping[str, MeasureValues],
) -> Iterator[OperatorResult]:
    """Yield the scores of every operator of a data set whose variants are reduced already.

    Parameters
    ----------
    task : str
    models : tuple of str
    operators : dict of (str, str) to int
        Of :func:`variants_of_operators`.
    reduced : dict of str to MeasureValues
    """
    for place, ((family, operator), variants) in enumerate(operators.items()):
        own = {name: alone(values, place, variants) for name, values in reduced.items()}
        yield OperatorResult(task, family, operator, models, variants, quantities(own))


def alone(values: MeasureValues, place: int, variants: int) -> MeasureValues:
    """Return the values of one operator, as if it were the only family.

    Parameters
    ----------
    values : MeasureValues
    place : int
        The operator's place in :attr:`sago_harness.stats.table.TaskTable.operators`.
    variants : int
        Variants that it has of a document: of two or more, two must be scored.

    Examples
    --------
    >>> from sago_harness.stats.reduce import reduce_task
    >>> from sago_harness.stats.table import VariantKey
    >>> keys = (VariantKey("v", "noise", "typo"), VariantKey("w", "noise", "case"))
    >>> made = TaskTable("t", ("a",), ("d",), keys, {"x_act": "activation"}, {"noise": 2},
    ...                  {"x_act": np.array([[[0.1, 0.3]]])}, {"x_act": np.full((1, 1, 2), 0.4)})
    >>> alone(reduce_task(made)["x_act"], 1, 1).squares().round(6).tolist()
    [[0.09]]
    """
    return replace(
        values,
        sums=values.sums[:, :, [place]],
        counts=values.counts[:, :, [place]],
        family_of=np.zeros(1, dtype=np.intp),
        needed=np.array([required_counts({"": variants})[""]], dtype=np.intp),
    )
