"""Marks models that were read with ``--allow-mixed`` in every table that shows a number of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sago_harness.report.cells import Cell, CellRows, Coded, Coding, Row
from sago_harness.report.tables import Column, Table
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.firmness import PACK_SEED

#: Heading of the mark's column, and its key in CSV and JSON.
MIXED = Column("mixed", "mixed on", "text")

#: Notes on single models under a table; the leaderboard has them all.
MOST_NOTES = 10

#: What a note on reading says of such a model, between its name and the fields.
_SAYS = " is marked as mixed: "


@dataclass(frozen=True, slots=True)
class _Keys:
    """Columns of a table that say whose numbers a row holds; without them: of all."""

    models: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


_ONE, _OF_TASK, _PAIR = _Keys(("model",)), _Keys(("model",), ("task",)), ("a", "b")

_KEYS: Mapping[str, _Keys] = {
    "leaderboard": _ONE,
    "weighted": _ONE,
    "schemes": _ONE,
    "ranking": _OF_TASK,
    "measures": _OF_TASK,
    "apart": _OF_TASK,
    "unstable": _OF_TASK,
    "independence": _OF_TASK,
    "variance": _OF_TASK,
    "dose": _OF_TASK,
    "worst": _OF_TASK,
    "seeds": _OF_TASK,
    "pairs": _Keys(_PAIR, ("task",)),
    "reversals": _Keys(_PAIR),
    "where-reversed": _Keys(_PAIR, ("first", "second")),
    "tau": _Keys((), ("first", "second")),
}


def mixed_on(found: Comparison, model: str, tasks: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the data sets on which a model was let in though its run differs.

    Parameters
    ----------
    found : Comparison
    model : str
    tasks : sequence of str, optional
        Those alone; default: all.

    Returns
    -------
    tuple of str
    """
    return tuple(
        task
        for task in tasks or found.scored
        if (one := found.scored.get(task)) and any(one.mixed) and model in one.models
        and one.mixed[one.models.index(model)]
    )  # fmt: skip


def marked(make: Callable[[Comparison], Table]) -> Callable[[Comparison], Table]:
    """Return what makes the same table with its marks; it is the same table where nothing is mixed."""

    def made(found: Comparison) -> Table:
        return with_marks(make(found), found)

    made.__doc__, made.__name__ = make.__doc__, make.__name__
    return made


def with_marks(table: Table, found: Comparison) -> Table:
    """Return a table of ``sago compare`` with a column and notes on the models that are mixed.

    Parameters
    ----------
    table : Table
    found : Comparison

    Returns
    -------
    Table
        The same one, if no row of it holds a number of a mixed model. Else with a column ``mixed``
        behind the names: data sets on which the row's model differs, with its name in front where the
        row is of several models.
    """
    known = {model: tasks for model in found.models if (tasks := mixed_on(found, model))}
    packs = _mixed_packs(found) if table.name in ("firmness", "seeds") else {}
    if not known and not packs:
        return table
    keys = _KEYS.get(table.name, _Keys())
    at = {column.key: place for place, column in enumerate(table.columns)}
    names, places = ([at[key] for key in some if key in at] for some in (keys.models, keys.tasks))
    # Tables of whole rankings have no column of models: those that enter stand in the results.
    whole = [] if names else list(_entering(table, found))
    entering: list[tuple[str, ...] | None] = [*whole] or [None] * len(table.rows)
    seen: dict[tuple[str, str], None] = {}
    made: dict[tuple[tuple[Cell, ...], tuple[Cell, ...], tuple[str, ...] | None], str] = {}

    def mark(models: tuple[Cell, ...], tasks: tuple[Cell, ...], within: tuple[str, ...] | None) -> str:
        key = (models, tasks, within)
        if key not in made:
            chosen = [model for model in models if model in found.models] or within or found.models
            named = [str(task) for task in tasks if task in found.scored]
            told = []
            for model in dict.fromkeys(map(str, chosen)):
                if model in known and (on := mixed_on(found, model, named)):
                    seen.update(dict.fromkeys((task, model) for task in on))
                    told.append((model, ", ".join(on)))
            alone = len(keys.models) == 1 and models[0] in found.models
            made[key] = "; ".join(on if alone else f"{model}: {on}" for model, on in told)
        return made[key]

    cells: Coded | list[str]
    if isinstance(table.rows, CellRows):
        cells = _coded(table.rows, names, places, lambda models, tasks: mark(models, tasks, None))
        any_marked = any(cells.values)
    else:
        cells = [
            mark(tuple(row[i] for i in names), tuple(row[i] for i in places), within)
            for row, within in zip(table.rows, entering, strict=True)
        ]
        if packs:
            of_pack = _packs_of_rows(table, found, packs)
            cells = ["; ".join(filter(None, (cell, *own))) for cell, own in zip(cells, of_pack, strict=True)]
        any_marked = any(cells)
    if not any_marked:
        return table
    behind = 1 + max([*names, *places], default=_last_text(table))
    columns = (*table.columns[:behind], MIXED, *table.columns[behind:])
    of_packs = [note for pack in packs.values() for on in pack.values() for note in on.values()]
    notes = (*table.notes, *_notes(found, list(seen), table.notes), *_first(of_packs))
    return replace(table, columns=columns, rows=_inserted(table.rows, cells, behind), notes=notes)


def _entering(table: Table, found: Comparison) -> Iterator[tuple[str, ...]]:
    """Yield the models whose numbers form each row of a table without names."""
    if table.name == "firmness":
        yield from (tuple(one.models) for one in found.firmness)
        return
    if table.name in ("agreement", "tau"):
        yield from (tuple(found.agreement[str(row[0])].models) for row in table.rows)
        return
    yield from (found.models for _ in table.rows)


def _mixed_packs(found: Comparison) -> dict[str, dict[str, dict[str, str]]]:
    """Return pack seed -> models that are mixed with it -> data sets on which they are -> the note on that.

    Runs of another seed are no part of the scores; what was marked on reading them is told in notes alone.
    """
    told = {note.split(_SAYS)[0]: note for note in found.notes if _SAYS in note}
    made: dict[str, dict[str, dict[str, str]]] = {}
    for seed in sorted({one.detail for one in found.firmness if one.kind == PACK_SEED}):
        for model in found.models:
            heads = {task: f"{task}: {model} with pack seed {seed}" for task in found.tasks}
            on = {task: told[head] for task, head in heads.items() if head in told}
            if on:
                made.setdefault(seed, {})[model] = on
    return made


def _packs_of_rows(
    table: Table, found: Comparison, packs: Mapping[str, Mapping[str, Mapping[str, str]]]
) -> Iterator[list[str]]:
    """Yield which runs of other seeds that a row holds numbers of are mixed, and where."""
    if table.name == "firmness":
        for one in found.firmness:
            of_seed = packs.get(one.detail, {}) if one.kind == PACK_SEED else {}
            yield [f"{model}: {', '.join(on)}" for model, on in of_seed.items()]
        return
    for task, model, *_ in table.rows:
        of_model = {seed: [*of_seed.get(str(model), ())] for seed, of_seed in packs.items()}
        on_task = {
            seed: [task] if task in on else [] if task in found.tasks else on for seed, on in of_model.items()
        }
        yield [f"seed {seed}: {', '.join(map(str, on))}" for seed, on in on_task.items() if on]


def _last_text(table: Table) -> int:
    """Return the last of the text columns that lead a table: what its rows are called by."""
    kinds = [column.kind == "text" for column in table.columns]
    return max(0, (kinds.index(False) if False in kinds else len(kinds)) - 1)


def _coded(
    rows: CellRows,
    names: Sequence[int],
    places: Sequence[int],
    mark: Callable[[tuple[Cell, ...], tuple[Cell, ...]], str],
) -> Coded:
    """Return the marks of many rows: each combination of names is looked at once."""
    columns = [column for i in (*names, *places) if isinstance(column := rows.columns[i], Coded)]
    key = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        key = key * max(1, len(column.values)) + column.codes
    distinct, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    coding = Coding()
    codes = coding.codes(
        mark(tuple(cells[: len(names)]), tuple(cells[len(names) :]))
        for i in first.tolist()
        for cells in [[column.values[column.codes[i]] for column in columns]]
    )
    coding.add(codes[inverse.reshape(-1)] if len(distinct) else codes)
    return coding.made()


def _inserted(rows: Sequence[Row], cells: Coded | Sequence[Cell], behind: int) -> Sequence[Row]:
    if isinstance(rows, CellRows) and isinstance(cells, Coded):
        return CellRows([*rows.columns[:behind], cells, *rows.columns[behind:]])
    assert not isinstance(cells, Coded)
    return tuple((*row[:behind], cell, *row[behind:]) for row, cell in zip(rows, cells, strict=True))


def _notes(found: Comparison, seen: Sequence[tuple[str, str]], there: Sequence[str]) -> Iterator[str]:
    """Yield which fields differ, model by model, unless it is told already."""
    told = []
    for task, model in sorted(seen):
        begins = f"{task}: {model}{_SAYS}"
        read = [note for note in found.notes if note.startswith(begins)]
        told += [note for note in read or [begins.removesuffix(": ")] if note not in there]
    yield from _first(told)


def _first(told: Sequence[str]) -> Iterator[str]:
    yield from told[:MOST_NOTES]
    if len(told) > MOST_NOTES:
        yield f"{len(told) - MOST_NOTES} more are marked as mixed: see the notes under the leaderboard"
