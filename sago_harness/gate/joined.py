"""A run and its baseline as the two models of one table, document by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sago_harness.gate.rates import rows_of_variants
from sago_harness.stats.table import Doubles, Flags, Places, TaskTable, VariantKey

#: Names of the two models of a joined table. Every difference is the first less the second, also where
#: models are sorted by their names.
RUN, BASELINE = "1: run", "2: baseline"


def joined(run: TaskTable, baseline: TaskTable) -> TaskTable:
    """Return both as one table of two models, the run first.

    Parameters
    ----------
    run, baseline : TaskTable
        Of one model each, on one data set.

    Returns
    -------
    TaskTable
        Documents and variants of either; NaN where one lacks them.

    Examples
    --------
    >>> from sago_harness.stats.table import VariantKey
    >>> a = TaskTable("t", ("a",), ("d", "e"), (VariantKey("v", "noise", "case"),), {"x_act": "activation"},
    ...               {"noise": 1}, {"x_act": np.array([[[0.1], [0.2]]])}, {})
    >>> b = a.with_documents(np.array([False, True]))
    >>> joined(a, b).distances["x_act"][:, :, 0].tolist()
    [[0.1, 0.2], [nan, 0.2]]
    """
    both = (run, baseline)
    documents = tuple(sorted({*run.documents, *baseline.documents}))
    at = {name: place for place, name in enumerate(documents)}
    variants = _merged(baseline.variants, run.variants)
    column = {key.id: place for place, key in enumerate(variants)}
    rows = [np.array([at[name] for name in one.documents], dtype=np.intp) for one in both]
    columns = [np.array([column[key.id] for key in one.variants], dtype=np.intp) for one in both]
    shape = (2, len(documents))

    def blocks(name: str, depth: int | None) -> dict[str, Doubles]:
        """Scatter blocks over variants, or, without a depth, over whatever is counted there."""
        kinds: list[dict[str, Doubles]] = [dict(getattr(one, name)) for one in both]
        found = {}
        for key in dict.fromkeys(k for kind in kinds for k in kind):
            size = max(kind[key].shape[2] for kind in kinds if key in kind) if depth is None else depth
            made = np.full((*shape, size), np.nan)
            for m, kind in enumerate(kinds):
                if key in kind:
                    to = columns[m] if depth is not None else np.arange(kind[key].shape[2])
                    made[m][rows[m][:, None], to] = kind[key][0]
            found[key] = made
        return found

    flags = {
        name: _rows([one.flags.get(name) for one in both], rows, np.zeros(shape, dtype=bool))
        for name in dict.fromkeys(name for one in both for name in one.flags)
    }
    return TaskTable(
        run.task,
        (RUN, BASELINE),
        documents,
        variants,
        {**baseline.measures, **run.measures},
        {**baseline.families, **run.families},
        blocks("distances", len(variants)),
        blocks("controls", None),
        blocks("repeats", None),
        blocks("raw", len(variants)),
        blocks("first", len(variants)),
        blocks("first_controls", None),
        _correct(both, rows, columns, (*shape, len(variants) + 1)),
        _rows([one.responses for one in both], rows, np.full(shape, None, dtype=object)),
        _rows([one.tokens for one in both], rows, np.full(shape, np.nan)),
        flags,
        {
            name: [one.reasons[name][0] if one.reasons.get(name) else Counter[str]() for one in both]
            for name in dict.fromkeys(name for one in both for name in one.reasons)
        },
        tuple((one.signatures or ({},))[0] for one in both),
        tuple((one.sources or ("",))[0] for one in both),
        (False, False),
        _partners(both, rows, at, shape),
        _made(both, rows, columns, (*shape, len(variants))),
    )


def _merged(first: Sequence[VariantKey], second: Sequence[VariantKey]) -> tuple[VariantKey, ...]:
    known = {key.id for key in first}
    return (*first, *(key for key in second if key.id not in known))


def _rows(blocks: Sequence[Any], rows: Sequence[Places], into: Any) -> Any:
    """Put one row for each model into an array; None where neither has any."""
    if all(block is None for block in blocks):
        return None
    for m, block in enumerate(blocks):
        if block is not None:
            into[m, rows[m]] = block[0]
    return into


def _correct(
    both: Sequence[TaskTable], rows: Sequence[Places], columns: Sequence[Places], shape: tuple[int, int, int]
) -> Doubles | None:
    if all(one.correct is None for one in both):
        return None
    made: Doubles = np.full(shape, np.nan)
    for m, one in enumerate(both):
        if one.correct is not None:
            to = np.concatenate([[0], columns[m] + 1])
            made[m][rows[m][:, None], to] = one.correct[0]
    return made


def _made(
    both: Sequence[TaskTable], rows: Sequence[Places], columns: Sequence[Places], shape: tuple[int, int, int]
) -> Flags | None:
    if all(one.made is None for one in both):
        return None
    made: Flags = np.zeros(shape, dtype=bool)
    for m, one in enumerate(both):
        made[m][rows[m][:, None], columns[m]] = rows_of_variants(one)[0]
    return made


def _partners(
    both: Sequence[TaskTable], rows: Sequence[Places], at: dict[str, int], shape: tuple[int, int]
) -> Places | None:
    depth = max((one.partners.shape[2] for one in both if one.partners is not None), default=0)
    if not depth:
        return None
    depth = max(depth, *(block.shape[2] for one in both for block in one.controls.values()))
    made: Places = np.full((*shape, depth), -1, dtype=np.intp)
    for m, one in enumerate(both):
        if one.partners is not None:
            place = np.array([*(at[name] for name in one.documents), -1], dtype=np.intp)
            own = place[one.partners[0]]
            made[m][rows[m][:, None], np.arange(own.shape[1])] = own
    return made
