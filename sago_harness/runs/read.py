"""Run folders -> the score table that all statistics read."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from sago_harness.errors import SagoError, unknown
from sago_harness.runs.ahead import ask_ahead
from sago_harness.runs.blocks import task_table
from sago_harness.runs.columns import Columns, read_columns
from sago_harness.runs.comparable import check, check_pack, unstated
from sago_harness.runs.find import RunFile
from sago_harness.runs.packs import by_pack
from sago_harness.runs.texts import texts as texts
from sago_harness.scores.table import read_filters
from sago_harness.stats.table import ScoreTable, TaskTable

#: Damaged lines, or older runs, that are named one by one.
_NAMED = 3

#: Data sets that are asked for while one is read: those that other threads and the next step take.
_AHEAD = 3


def read_table(
    runs: Sequence[RunFile],
    *,
    allow_mixed: bool = False,
    skip_damaged: bool = False,
    models: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
) -> ScoreTable:
    """Return the score table of runs; a data set's records are read when it is asked for.

    Parameters
    ----------
    runs : sequence of RunFile
        Of :func:`sago_harness.runs.find.find_runs`.
    allow_mixed : bool
        Mark models whose runs differ in more than the model, in place of refusing them.
    skip_damaged : bool
        Leave out damaged lines of samples, and say so in the notes; they are looked for at once.
    models, tasks : sequence of str, optional
        Those alone; a task stands for all its filters.

    Returns
    -------
    ScoreTable
        Of one seed of the variants (:func:`sago_harness.runs.packs.by_pack`); other seeds of the same
        models and tasks are in its ``packs``.

    Raises
    ------
    SagoError
        If there is nothing to read, a model or task is unknown, or runs cannot be compared. Files
        that cannot be read are refused, by file and line, when their data set is loaded.
    """
    chosen = _chosen(runs, models, tasks)
    ranked, others, found = by_pack(chosen)
    marked, mixed = check(ranked, allow_mixed=allow_mixed)
    repeated = _repeated(ranked)
    alone = len({run.model for run in chosen}) < 2
    notes = [*_older(chosen), *found, *mixed, *_filters(repeated), *(() if alone else unstated(chosen))]
    for seed, these in others.items():
        notes += check_pack(seed, these, ranked, allow_mixed=allow_mixed)
    if skip_damaged:
        notes += [note for run in chosen for note in _damage(run)]
    packs = {seed: _table(these, frozenset(), skip_damaged) for seed, these in others.items()}
    return replace(_table(ranked, marked, skip_damaged), notes=tuple(notes), packs=packs, repeated=repeated)


def _table(runs: Sequence[RunFile], marked: Set[tuple[str, str]], skip_damaged: bool) -> ScoreTable:
    """Return the table of runs of one seed; the models of ``marked`` (task, model) are mixed."""
    of_task: dict[str, list[RunFile]] = {}
    for run in sorted(runs, key=lambda run: run.model):
        of_task.setdefault(run.task, []).append(run)
    for task, these in of_task.items():
        for one, other in itertools.pairwise(these):
            if one.model == other.model:
                raise SagoError(
                    f"{task}: {one.path} and {other.path} are both of model {one.model}: "
                    "tell them apart as NAME=PATH"
                )

    order = sorted(of_task)

    def load(task: str) -> TaskTable:
        these = of_task[task]
        after = order.index(task) + 1
        ask_ahead(run.path for soon in order[after : after + _AHEAD] for run in of_task[soon])

        def read(run: RunFile, before: Columns | None) -> Columns:
            return read_columns(run, [] if skip_damaged else None, before)

        return task_table(task, these, read, [(task, run.model) in marked for run in these])

    names = sorted({run.model for run in runs})
    return ScoreTable(tuple(order), tuple(names), load)


def _chosen(
    runs: Sequence[RunFile], models: Sequence[str] | None, tasks: Sequence[str] | None
) -> list[RunFile]:
    if not runs:
        raise SagoError("there are no runs to read")
    known = {run.model for run in runs}
    for name in models or ():
        if name not in known:
            raise unknown("model", name, known, "these runs")
    chosen = [run for run in runs if models is None or run.model in models]
    named = {run.task for run in chosen} | {run.plain_task for run in chosen}
    for name in tasks or ():
        if name not in named:
            raise unknown("task", name, named, "these runs")
    return [run for run in chosen if tasks is None or run.task in tasks or run.plain_task in tasks]


def _repeated(runs: Sequence[RunFile]) -> dict[str, str]:
    """Return, of tasks under several filters, those that another filter stands for over data sets.

    That is the filter that most models have, of several the first in the files.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for run in runs:
        if run.filter:
            found.setdefault(run.plain_task, {}).setdefault(run.task, set()).add(run.model)
    repeated: dict[str, str] = {}
    for tasks in found.values():
        first = max(tasks, key=lambda task: len(tasks[task]))
        repeated |= {task: first for task in tasks if task != first}
    return repeated


def _filters(repeated: Mapping[str, str]) -> list[str]:
    """Return a note on each task that is there under several filters."""
    of: dict[str, list[str]] = {}
    for task, first in repeated.items():
        of.setdefault(first, []).append(task)
    return [
        f"{' and '.join((first, *tasks))} are the same responses under several filters: what spans data sets "
        f"takes {first} alone (--tasks '{tasks[0]}' takes another)"
        for first, tasks in of.items()
    ]


def _damage(run: RunFile) -> list[str]:
    """Return a note on the damaged lines of a samples file, if it has any."""
    if run.path.suffix == ".parquet":
        return []
    damaged: list[str] = []
    read_filters(run.path, damaged)
    if not damaged:
        return []
    count = f"{len(damaged)} damaged line{'s' if len(damaged) > 1 else ''} left out"
    return [f"{run.task}: {run.model}: {count}: {_some(damaged)}"]


def _older(runs: Sequence[RunFile]) -> list[str]:
    """Return notes on runs that others stand for, if there are any."""
    notes = []
    for one, many, counts in (
        ("older run", "older runs", [run.older for run in runs]),
        ("copy of the same time", "copies of the same time", [run.copies for run in runs]),
    ):
        count = sum(counts)
        if count:
            named = [f"{run.model} on {run.task}" for run, here in zip(runs, counts, strict=True) if here]
            notes.append(f"{count} {one if count == 1 else many} left out: {_some(named)}")
    return notes


def _some(lines: Sequence[str]) -> str:
    more = f" and {len(lines) - _NAMED} more" if len(lines) > _NAMED else ""
    return "; ".join(lines[:_NAMED]) + more
