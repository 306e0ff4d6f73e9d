"""From the columns of every model to the blocks of one data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from sago_harness.stats.table import Doubles, TaskTable, VariantKey


def task_table(
    task: str, runs: Sequence[RunFile], columns: list[Columns], mixed: Sequence[bool] = ()
) -> TaskTable:
    """Scatter the columns of M models into blocks over documents and variants.

    Parameters
    ----------
    task : str
    runs : sequence of RunFile
        M runs, sorted by model.
    columns : list of Columns
        Of the runs; emptied, so that memory is given back model by model.
    mixed : sequence of bool

    Raises
    ------
    SagoError
        If a file has two records of the same prompt.
    """
    documents = tuple(sorted({name for one in columns for name in one.documents}))
    variants, controls, repeats = (_merged(columns, role) for role in (VARIANT, CONTROL, REPEAT))
    present = {name for one in columns for name in one.measures}
    measures = {name: MEASURES.load(name).axis for name in MEASURES if name in present}
    # What an unmarked model says, where some are marked.
    first = sorted(range(len(columns)), key=lambda m: bool(mixed[m]) if mixed else False)
    families = next((columns[m].families for m in first if columns[m].families), {})
    shape = (len(runs), len(documents))
    into = _Blocks(shape, len(variants), len(controls), len(repeats), measures)
    at_document = {name: place for place, name in enumerate(documents)}
    at_key = {
        role: {key.id: place for place, key in enumerate(keys)}
        for role, keys in ((VARIANT, variants), (CONTROL, controls), (REPEAT, repeats))
    }
    where: _Where | None = None
    for m, run in enumerate(runs):
        one = columns[0]
        if where is None or not where.fits(one):
            where = _Where.of(one, at_document, at_key, run)
        into.fill(m, one, where)
        del columns[0]
    return TaskTable(
        task,
        tuple(run.model for run in runs),
        documents,
        variants,
        measures,
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


@dataclass(frozen=True)
class _Where:
    """Where the rows of a file go: worked out once for files of the same prompts in the same order.

    ``role`` -> rows, the places of their documents, those of their variants, and those in a flat block;
    and for the rows of controls the places of the documents whose prompts they are, -1 for none.
    """

    columns: Columns
    canonical: tuple[Codes, Codes]
    document: Codes
    roles: Mapping[int, tuple[Codes, Codes, Codes, Codes]]
    partner: Codes

    @classmethod
    def of(
        cls,
        columns: Columns,
        at_document: Mapping[str, int],
        at_key: Mapping[int, Mapping[str, int]],
        run: RunFile,
    ) -> _Where:
        document = np.array([at_document[name] for name in columns.documents], dtype=np.intp)
        document = document[columns.document]
        canonical = np.flatnonzero(columns.role == CANONICAL)
        _check_once(document[canonical], canonical, columns, run)
        roles = {}
        for role, place in at_key.items():
            rows = np.flatnonzero(columns.role == role)
            key = np.array([place.get(key.id, 0) for key in columns.keys], dtype=np.intp)[columns.variant]
            flat = document[rows] * len(place) + key[rows]
            _check_once(flat, rows, columns, run)
            roles[role] = rows, document[rows], key[rows], flat
        places = [at_document.get(name, -1) for name in columns.partners]
        partner = np.array([*places, -1], dtype=np.intp)[columns.partner[roles[CONTROL][0]]]
        # Its numbers are not kept.
        return cls(replace(columns, numbers={}), (canonical, document[canonical]), document, roles, partner)

    def fits(self, columns: Columns) -> bool:
        """Say whether another file has the same prompts in the same order."""
        return _same_prompts(self.columns, columns)


def _same_prompts(one: Columns, other: Columns) -> bool:
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

    def __init__(
        self,
        shape: tuple[int, int],
        variants: int,
        controls: int,
        repeats: int,
        measures: Mapping[str, str],
    ) -> None:
        def block(names: Iterable[str], depth: int) -> dict[str, Doubles]:
            return {name: np.full((*shape, depth), np.nan) for name in names}

        self.distances = block((*measures, *BESIDE), variants)
        self.controls = block(measures, controls)
        self.repeats = block(measures, repeats)
        self.partners: Codes = np.full((*shape, controls), -1, dtype=np.intp)
        self.made: npt.NDArray[np.bool_] = np.zeros((*shape, variants), dtype=bool)
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
            rows, document, key, flat = where.roles[role]
            for prefix, blocks in groups:
                for name, block in blocks.items():
                    block[m].reshape(-1)[flat] = numbers[prefix + name][rows]
            if role == CONTROL:
                self.partners[m].reshape(-1)[flat] = where.partner
            if role == VARIANT:
                self._variants(m, columns, rows, document, key)
        self._canonical(m, columns, where)

    def _variants(self, m: int, columns: Columns, rows: Codes, document: Codes, key: Codes) -> None:
        """Answers of the variants, and why they are unscored."""
        self.made[m][document, key] = True
        sent = ~columns.unsent[rows]
        # A variant that did not reach the model says nothing about it.
        self.correct[m][document, key + 1] = np.where(sent, columns.numbers["correct"][rows], np.nan)
        self.distances["flip"][m][document, key] = np.where(sent, columns.numbers["flip"][rows], np.nan)
        reason = columns.reason[rows]
        for name, counters in self.reasons.items():
            parts = ("x_mr", "x_mr_floor") if name == "x_mr" else (name,)
            counter: Counter[str] = Counter()
            missing = ~np.isfinite(columns.numbers[parts[0]][rows])
            for part in parts[1:]:
                missing |= ~np.isfinite(columns.numbers[part][rows])
            counts = np.bincount(reason[missing], minlength=len(columns.reasons))
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
