"""The columns of the host's table, derived from the table of measures.

Each column says its name, direction and how it is aggregated over documents; its standard
error is a column of its own, ``<name>_stderr``, which the host prints beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sago_harness.axes import MEASURES
from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.scores.composite import COMPOSITES
from sago_harness.variants.base import OTHER_FAMILIES

#: Axis scores and composites, in table order.
AXIS_COLUMNS: dict[str, str] = {
    "sago_generation": "generation",
    "sago_activation": "activation",
    "sago_confidence": "confidence",
    "sago_mirroring": "mirroring",
}


#: Families whose values beside the score are held against chance as the score is.
PEOPLES: tuple[str, ...] = OTHER_FAMILIES[:2]


#: Columns that say something of the canonical responses, or of the run, and need no score.
_CANONICAL = ("acc", "n_scored", "stock_share", "response_tokens")


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes
    ----------
    name : str
    higher_is_better : bool or None
        None for figures that are neither good nor bad.
    kind : {"mean", "dataset", "axis", "composite", "count", "stock"}
        ``dataset``: one number for all documents together, in no axis.
    family : str
        Family beside the score whose values these are; "" for the score's own.
    """

    name: str
    higher_is_better: bool | None
    kind: str
    family: str = ""

    @property
    def base(self) -> str:
        """Name without the family.

        Examples
        --------
        >>> Column("human_x_bleu", False, "mean", "human").base, Column("x_mr", False, "mean").base
        ('x_bleu', 'x_mr')
        """
        return self.name.removeprefix(f"{self.family}_") if self.family else self.name


def all_columns() -> list[Column]:
    """Return every column that any task can have, in table order.

    Examples
    --------
    >>> [c.name for c in all_columns() if c.kind == "composite" and not c.family]
    ['sago', 'sago_core', 'sago_text']
    """
    measures = [Column(name, False, "mean") for name in MEASURES if MEASURES.load(name).axis]
    own = [column for family in OTHER_FAMILIES for column in _family_columns(family, measures)]
    return [
        *measures,
        Column("x_mr", False, "mean"),
        *(Column(name, False, "dataset") for name in REPRESENTATIONS),
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


def _family_columns(family: str, measures: Sequence[Column]) -> list[Column]:
    """Return the columns of a family beside the score.

    Mirroring is left out, since people's variants move no declared feature. Edits that change
    the meaning should move a model: their columns are neither good nor bad, and no stability.
    """
    if family not in PEOPLES:
        names = [*(column.name for column in measures), "flip"]
        return [Column(f"{family}_{name}", None, "mean", family) for name in names]
    columns = [
        *measures,
        Column("flip", False, "mean"),
        Column("acc_mean", True, "mean"),
        Column("acc_worst", True, "mean"),
        *(Column(name, False, "axis") for name, axis in AXIS_COLUMNS.items() if axis != "mirroring"),
        Column("sago_core", True, "composite"),
    ]
    return [Column(f"{family}_{c.name}", c.higher_is_better, c.kind, family) for c in columns]


def task_columns(
    measures: Mapping[str, str],
    *,
    gold: bool,
    extracts: bool,
    own_families: Sequence[str] = (),
    scored: bool = True,
    representation: Sequence[str] = (),
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
        Families beside the score that the task has.
    scored : bool
        Does the recipe have variants that form a score?
    representation : sequence of str
        Measures over the whole data set that are asked for.
    """
    absent = {name for name in MEASURES if not measures.get(name)}
    absent |= set() if gold else {"acc", "acc_mean", "acc_worst"}
    absent |= set() if extracts else {"flip"}
    absent |= set(REPRESENTATIONS) - set(representation)
    families = {*own_families, *([""] if scored else [])}
    return [
        column
        for column in all_columns()
        if column.base not in absent
        and (column.family in families or column.kind == "dataset" or column.name in _CANONICAL)
    ]
