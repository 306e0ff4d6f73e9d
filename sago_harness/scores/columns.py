"""The columns of the host's table, derived from the table of measures.

Each column says its name, direction and how it is aggregated over documents; its standard
error is a column of its own, ``<name>_stderr``, which the host prints beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sago_harness.axes import MEASURES
from sago_harness.scores.composite import COMPOSITES

#: Axis scores and composites, in table order.
AXIS_COLUMNS: dict[str, str] = {
    "sago_generation": "generation",
    "sago_activation": "activation",
    "sago_confidence": "confidence",
    "sago_mirroring": "mirroring",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes
    ----------
    name : str
    higher_is_better : bool or None
        None for figures that are neither good nor bad.
    kind : {"mean", "axis", "composite", "count", "stock"}
    """

    name: str
    higher_is_better: bool | None
    kind: str


def all_columns() -> list[Column]:
    """Return every column that any task can have, in table order.

    Examples
    --------
    >>> [c.name for c in all_columns() if c.kind == "composite"]
    ['sago', 'sago_core', 'sago_text']
    """
    measures = [Column(name, False, "mean") for name in MEASURES if MEASURES.load(name).axis]
    own = [Column(f"{family}_{c.name}", False, "mean") for family in ("human", "language") for c in measures]
    return [
        *measures,
        Column("x_mr", False, "mean"),
        Column("flip", False, "mean"),
        Column("acc", True, "mean"),
        Column("acc_mean", True, "mean"),
        Column("acc_worst", True, "mean"),
        *(Column(name, False, "axis") for name in AXIS_COLUMNS),
        *(Column(name, True, "composite") for name in COMPOSITES),
        Column("n_scored", None, "count"),
        Column("stock_share", False, "stock"),
        Column("response_tokens", None, "mean"),
        *own,
    ]


def task_columns(
    measures: Mapping[str, str], *, gold: bool, extracts: bool, own_families: Sequence[str] = ()
) -> list[Column]:
    """Return the columns of one task.

    Parameters
    ----------
    measures : mapping of str to str
        Measure -> axis.
    gold : bool
        Does the task have gold answers (accuracy columns)?
    extracts : bool
        Does it extract an answer (flip column)?
    own_families : sequence of str
        Families beside the score that the documents bring.
    """
    scored = {name for name, axis in measures.items() if axis}
    names = {*scored, "x_mr", *AXIS_COLUMNS, *COMPOSITES, "n_scored", "stock_share", "response_tokens"}
    if gold:
        names |= {"acc", "acc_mean", "acc_worst"}
    if extracts:
        names |= {"flip"}
    names |= {f"{family}_{name}" for family in own_families for name in scored}
    return [column for column in all_columns() if column.name in names]
