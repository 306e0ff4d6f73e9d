"""From the columns of every model to the blocks of one data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sago_harness.axes import MEASURES
from sago_harness.errors import SagoError
from sago_harness.runs.columns import (
    BESIDE,
    CANONICAL,
    CONTROL,
    FIRST,
    RAW,
    REPEAT,
    VARIANT,
    Codes,
    Columns,
)
from sago_harness.runs.find import RunFile
from sago_harness.scores.document import HEALTH_FLAGS
from sago_harness.scores.reduce import scored_families
from sago_harness.stats.table import Doubles, Flags, TaskTable, VariantKey

#: Reads the columns of one run, given those of the run before.
Read = Callable[[RunFile, Columns | None], Columns]


def task_table(task: str, runs: Sequence[RunFile], read: Read, mixed: Sequence[bool] = ()) -> TaskTable:
    """Scatter the columns of M models into blocks over documents and variants.

    Parameters
    ----------
    task : str
    runs : sequence of RunFile
        M runs, sorted by model.
    read : callable
        ``read(run, before)`` returns the columns of a run; ``before`` are those of the one before it.
        Where all are Parquet of the same prompts a model's columns are in their places before the
        next ones are read; else all are held at once.
    mixed : sequence of bool

    Raises
    ------
    SagoError
        If a file has two records of the same prompt.
    """
    # Samples take long to read: they are never read twice.
    quick = all(run.path.suffix == ".parquet" for run in runs)
    made = _filled(runs, _each(runs, read), None) if quick else None
    if made is None:
        held = list(_each(runs, read))
        # Emptied on the way, so that memory is given back model by model.
        made = _filled(runs, (held.pop(0) for _ in runs), _Layout.of(held))
    assert made is not None
    layout, into, of_models = made
    # What an unmarked model says, where some are marked.
    first = sorted(range(len(runs)), key=lambda m: bool(mixed[m]) if mixed else False)
    families = next((of_models[m] for m in first if of_models[m]), {})
    return TaskTable(
        task,
        tuple(run.model for run in runs),
        layout.documents,
        layout.variants,
        layout.measures,
        scored_families(families),
        into.distances,
        into.controls,
        into.repeats,
        into.raw,
        into.first,
        into.first_controls,
        into.correct,
        into.responses,
        into.tokens,
        into.flags,
        into.reasons,
        tuple(run.signature for run in runs),
        tuple(str(run.path) for run in runs),
        tuple(mixed) or (False,) * len(runs),
        into.partners if (into.partners >= 0).any() else None,
        into.made,
    )


def _each(runs: Sequence[RunFile], read: Read) -> Iterator[Columns]:
    before: Columns | None = None
    for run in runs:
        before = read(run, before)
        yield before


def _filled(
    runs: Sequence[RunFile], columns: Iterable[Columns], layout: _Layout | None
) -> tuple[_Layout, _Blocks, list[Mapping[str, int]]] | None:
    """Return the filled blocks and what each model says of its families.

    Without a layout that of the first model is taken; None if another one does not fit in.
    """
    alone = layout is None
    into: _Blocks | None = None
    where: _Where | None = None
    families = []
    for m, (run, one) in enumerate(zip(runs, columns, strict=True)):
        if layout is None:
            layout = _Layout.of([one])
        if into is None:
            into = _Blocks(layout, len(runs))
        if where is None or not where.fits(one):
            if alone and m:
                return None
            where = _Where.of(one, layout, run)
        if not one.measures <= layout.present:
            return None
        into.fill(m, one, where)
        families.append(one.families)
    assert layout is not None
    assert into is not None
    return layout, into, families


@dataclass(frozen=True)
class _Layout:
    """What the axes of a data set's blocks stand for; ``present`` are all measures that are named."""

    documents: tuple[str, ...]
    variants: tuple[VariantKey, ...]
    controls: tuple[VariantKey, ...]
    repeats: tuple[VariantKey, ...]
    present: frozenset[str]
    measures: Mapping[str, str]

    @classmethod
    def of(cls, columns: Sequence[Columns]) -> _Layout:
        """Return that of all models together."""
        documents = tuple(sorted({name for one in columns for name in one.documents}))
        present = frozenset(name for one in columns for name in one.measures)
        measures = {name: MEASURES.load(name).axis for name in MEASURES if name in present}
        variants, controls, repeats = (_merged(columns, role) for role in (VARIANT, CONTROL, REPEAT))
        return cls(documents, variants, controls, repeats, present, measures)

    def keys(self) -> dict[int, tuple[VariantKey, ...]]:
        """Return the keys of each role."""
        return {VARIANT: self.variants, CONTROL: self.controls, REPEAT: self.repeats}


@dataclass(frozen=True)
class _Cells:
    """The rows of one role, and the cells of a block that they fill; D documents, K keys.

    Attributes
    ----------
    flat : ndarray of shape (R,)
        Place of each row in a flat block.
    source : ndarray of shape (D * K,)
        Row of each cell; any one where there is none.
    empty : ndarray of shape (E,)
        Cells without a row.
    """

    flat: Codes
    source: Codes
    empty: Codes

    @classmethod
    def of(cls, rows: Codes, flat: Codes, size: int) -> _Cells:
        source = np.full(size, -1, dtype=np.intp)
        source[flat] = rows
        empty = np.flatnonzero(source < 0)
        source[empty] = 0
        return cls(flat, source, empty)

    def fill(self, block: Doubles, values: Doubles) -> None:
        """Write the numbers of all rows, of shape (N,), to their cells; NaN to those without a row."""
        flat = block.reshape(-1)
        np.take(values, self.source, out=flat, mode="clip")
        flat[self.empty] = np.nan

    def marked(self, rows: Flags) -> Flags:
        """Return which cells have a row that is marked; of shape (D * K,)."""
        found = rows[self.source]
        found[self.empty] = False
        return found


@dataclass(frozen=True)
class _Where:
    """Where the rows of a file go: worked out once for files of the same prompts in the same order.

    ``canonical`` are the canonical rows and their documents, ``document`` is the place of each row's
    document, ``made`` the variants that there are records of. ``partner`` has for the rows of controls the
    places of the documents whose prompts they are, -1 for none.
    """

    columns: Columns
    canonical: tuple[Codes, Codes]
    document: Codes
    roles: Mapping[int, _Cells]
    made: Flags
    partner: Codes

    @classmethod
    def of(cls, columns: Columns, layout: _Layout, run: RunFile) -> _Where:
        at_document = {name: place for place, name in enumerate(layout.documents)}
        document = np.array([at_document[name] for name in columns.documents], dtype=np.intp)
        document = document[columns.document]
        canonical = np.flatnonzero(columns.role == CANONICAL)
        _check_once(document[canonical], canonical, columns, run)
        _check_canonical(canonical, columns, run)
        roles = {}
        for role, keys in layout.keys().items():
            place = {key.id: at for at, key in enumerate(keys)}
            rows = np.flatnonzero(columns.role == role)
            key = np.array([place.get(key.id, 0) for key in columns.keys], dtype=np.intp)[columns.variant]
            flat = document[rows] * len(place) + key[rows]
            _check_once(flat, rows, columns, run)
            roles[role] = _Cells.of(rows, flat, len(at_document) * len(place))
        made = np.ones(len(roles[VARIANT].source), dtype=bool)
        made[roles[VARIANT].empty] = False
        places = [at_document.get(name, -1) for name in columns.partners]
        controls = columns.role == CONTROL
        partner = np.array([*places, -1], dtype=np.intp)[columns.partner[controls]]
        # Its numbers are not kept.
        less = replace(columns, numbers={})
        return cls(less, (canonical, document[canonical]), document, roles, made, partner)

    def fits(self, columns: Columns) -> bool:
        """Say whether another file has the same prompts in the same order."""
        return _same_prompts(self.columns, columns)


def _same_prompts(one: Columns, other: Columns) -> bool:
    if one.asked is not None and one.asked is other.asked:
        return True
    return (
        one.documents == other.documents
        and one.keys == other.keys
        and np.array_equal(one.document, other.document)
        and np.array_equal(one.variant, other.variant)
        and np.array_equal(one.role, other.role)
        and one.partners == other.partners
        and np.array_equal(one.partner, other.partner)
    )


class _Blocks:
    """The arrays of a table while they are filled, model by model."""

    def __init__(self, layout: _Layout, models: int) -> None:
        shape, measures = (models, len(layout.documents)), layout.measures
        variants, controls, repeats = (len(keys) for keys in layout.keys().values())

        def block(names: Iterable[str], depth: int) -> dict[str, Doubles]:
            # Every cell of it is written, with a number or NaN.
            return {name: np.empty((*shape, depth)) for name in names}

        self.distances = block((*measures, *BESIDE), variants)
        self.controls = block(measures, controls)
        self.repeats = block(measures, repeats)
        self.partners: Codes = np.full((*shape, controls), -1, dtype=np.intp)
        self.made: Flags = np.zeros((*shape, variants), dtype=bool)
        self.raw = block(RAW, variants)
        first = [name for name in FIRST if name in measures]
        self.first = block(first, variants)
        self.first_controls = block(first, controls)
        self.correct: Doubles = np.full((*shape, variants + 1), np.nan)
        self.responses: npt.NDArray[np.object_] = np.full(shape, None, dtype=object)
        self.tokens: Doubles = np.full(shape, np.nan)
        self.flags = {name: np.zeros(shape, dtype=bool) for name in HEALTH_FLAGS}
        self.reasons: dict[str, list[Counter[str]]] = {name: [] for name in (*measures, "x_mr")}

    def fill(self, m: int, columns: Columns, where: _Where) -> None:
        """Write one model's numbers to their places."""
        numbers = columns.numbers
        for role, groups in (
            (VARIANT, [("", self.distances), ("raw_", self.raw), ("first_", self.first)]),
            (CONTROL, [("", self.controls), ("first_", self.first_controls)]),
            (REPEAT, [("", self.repeats)]),
        ):
            cells = where.roles[role]
            if not len(cells.source):
                continue
            for prefix, blocks in groups:
                for name, block in blocks.items():
                    cells.fill(block[m], numbers[prefix + name])
        self.partners[m].reshape(-1)[where.roles[CONTROL].flat] = where.partner
        self._variants(m, columns, where)
        self._canonical(m, columns, where)

    def _variants(self, m: int, columns: Columns, where: _Where) -> None:
        """Answers of the variants, and why they are unscored."""
        cells = where.roles[VARIANT]
        self.made[m].reshape(-1)[:] = where.made
        self._reasons(m, columns, cells)
        correct = np.empty(self.made[m].shape)
        cells.fill(correct, columns.numbers["correct"])
        if columns.unsent.any():
            # A variant that did not reach the model says nothing about it.
            unsent = cells.marked(columns.unsent)
            correct.reshape(-1)[unsent] = np.nan
            self.distances["flip"][m].reshape(-1)[unsent] = np.nan
        self.correct[m][:, 1:] = correct

    def _reasons(self, m: int, columns: Columns, cells: _Cells) -> None:
        for name, counters in self.reasons.items():
            counter: Counter[str] = Counter()
            missing = ~np.isfinite(self.distances[name][m]).reshape(-1)
            if name == "x_mr":
                missing |= ~np.isfinite(self.distances["x_mr_floor"][m]).reshape(-1)
            missing[cells.empty] = False
            if missing.any():
                counts = np.bincount(columns.reason[cells.source[missing]], minlength=len(columns.reasons))
                for place in np.flatnonzero(counts):
                    counter[columns.reasons[place].get(name) or "unknown"] += int(counts[place])
            counters.append(counter)

    def _canonical(self, m: int, columns: Columns, where: _Where) -> None:
        rows, of = where.canonical
        self.correct[m][of, 0] = columns.numbers["correct"][rows]
        # What was never sent, or does not count, is no stock answer either.
        sent = rows[~columns.unsent[rows]]
        document = where.document
        self.responses[m][document[sent]] = columns.responses[sent]
        self.tokens[m][document[sent]] = columns.numbers["tokens"][sent]
        for row, flags in columns.flags.items():
            for flag in flags:
                if flag in self.flags:
                    self.flags[flag][m, document[row]] = True


def _check_once(flat: Codes, rows: Codes, columns: Columns, run: RunFile) -> None:
    """Refuse two records of one prompt: one would silently hide the other."""
    if len(flat) and np.bincount(flat).max() > 1:
        _, first = np.unique(flat, return_index=True)
        row = np.delete(rows, first)[0]
        raise SagoError(
            f"{run.path} holds document {columns.documents[columns.document[row]]!r} twice with variant "
            f"{columns.keys[columns.variant[row]].id!r}: were two runs joined into one file?"
        )


def _check_canonical(canonical: Codes, columns: Columns, run: RunFile) -> None:
    """Refuse a document without the response that all others are held against."""
    lacking = np.ones(len(columns.documents), dtype=bool)
    lacking[columns.document[canonical]] = False
    if lacking.any():
        name = columns.documents[int(np.flatnonzero(lacking)[0])]
        raise SagoError(f"{run.path} holds document {name!r} without its canonical response")


def _merged(columns: Sequence[Columns], role: int) -> tuple[VariantKey, ...]:
    """Return the keys of all models in the recipe's order, as far as any document shows it."""
    order: list[VariantKey] = []
    known: set[str] = set()
    before: Columns | None = None
    for one in columns:
        same = before is not None and _same_prompts(one, before)
        before = one
        if same:
            continue
        own = _ordered(one, role)
        if known.issuperset(key.id for key in own):
            continue
        for place, key in enumerate(own):
            if key.id not in known:
                _insert(order, key, own[place - 1].id if place else None)
                known.add(key.id)
    return tuple(order)


def _ordered(columns: Columns, role: int) -> list[VariantKey]:
    """Return the keys of one model; a variant that the first documents lack comes to its place."""
    rows = np.flatnonzero(columns.role == role)
    _, first = np.unique(columns.variant[rows], return_index=True)
    order: list[VariantKey] = []
    for place in np.sort(first):
        row, before = rows[place], rows[place - 1]
        follows = place > 0 and columns.document[before] == columns.document[row]
        previous = columns.keys[columns.variant[before]].id if follows else None
        _insert(order, columns.keys[columns.variant[row]], previous)
    return order


def _insert(order: list[VariantKey], key: VariantKey, previous: str | None) -> None:
    at = next((i + 1 for i, known in enumerate(order) if known.id == previous), 0)
    order.insert(at, key)
