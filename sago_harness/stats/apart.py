"""Families beside the score: what people wrote, other languages, edits that change the meaning.

They form values of their own by the rules of the score, over the document's variants of this family
alone: a document enters with one scored variant, and mirroring is left out, since such variants
move no declared feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sago_harness.stats.intervals import IntervalResult, intervals
from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import MIRRORING, reduce_task
from sago_harness.stats.resampling import Settings
from sago_harness.stats.rich import Rich
from sago_harness.stats.table import Flags, TaskTable
from sago_harness.variants.base import OTHER_FAMILIES

#: Composites that such a family forms: those without mirroring.
CORE = "sago_core"


@dataclass(frozen=True)
class ApartResult(Rich):
    """One family beside the score on one data set, for all its models.

    Attributes
    ----------
    task, family : str
    models : tuple of str
        M names.
    operators : tuple of str
        Where its variants come from.
    variants : float
        Mean number of variants that a document has, of documents with any.
    documents : tuple of int
        For each model, the documents that form its first axis with a value; 0 without one.
    intervals : dict of str to IntervalResult
        Axis (``sago_generation`` ..., 0 = nothing moves, 1 = as far as for an unrelated question), and
        ``sago_core`` (1 = nothing moves) -> value and confidence interval of every model.
    """

    task: str
    family: str
    models: tuple[str, ...]
    operators: tuple[str, ...]
    variants: float
    documents: tuple[int, ...]
    intervals: Mapping[str, IntervalResult]

    def __str__(self) -> str:
        return f"{self.task}, {self.family}: {self.intervals[CORE]}"


def families_apart(table: TaskTable, settings: Settings | None = None) -> Iterator[ApartResult]:
    """Yield the values of every family beside the score that a data set has variants of.

    Parameters
    ----------
    table : TaskTable
    settings : Settings, optional
        ``level``, ``resamples`` and ``seed`` of the intervals.

    Examples
    --------
    >>> from sago_harness.stats.table import VariantKey
    >>> moved, chance = np.full((1, 2, 1), 0.2), np.full((1, 2, 2), 0.4)
    >>> keys = (VariantKey("v", "human", "typed"),)
    >>> made = TaskTable("t", ("a",), ("d", "e"), keys, {"x_act": "activation"}, {},
    ...                  {"x_act": moved}, {"x_act": chance})
    >>> (one,) = families_apart(made)
    >>> one.family, one.documents, one.intervals["sago_activation"].statistic.tolist()
    ('human', (2,), [0.5])
    """
    settings = settings or Settings()
    distances = {name: values for name, values in table.distances.items() if name != MIRRORING}
    for family in OTHER_FAMILIES:
        inside: Flags = np.array([key.family == family for key in table.variants], dtype=bool)
        if not inside.any():
            continue
        alone = replace(table, families={family: 1}, distances=distances)
        found = quantities(reduce_task(alone))
        axes = [q for q in found.values() if q.kind == "axis"]
        counts = np.zeros(len(table.models), dtype=np.intp)
        for axis in reversed(axes):
            counts = np.where(axis.counts > 0, axis.counts, counts)
        yield ApartResult(
            table.task,
            family,
            table.models,
            tuple(dict.fromkeys(key.operator for key in table.variants if key.family == family)),
            _variants(table, inside),
            tuple(counts.tolist()),
            {
                q.name: intervals(
                    q, settings.level, resamples=settings.resamples, seed=settings.seed, task=table.task
                )
                for q in (*axes, found[CORE])
            },
        )


def _variants(table: TaskTable, inside: Flags) -> float:
    """Return the mean number of variants of documents that have any, scored for a model or not."""
    known = [np.isfinite(values[:, :, inside]).any(axis=0) for values in table.distances.values()]
    each = np.any(known, axis=0).sum(axis=1)
    return float(each[each > 0].mean()) if each.any() else 0.0
