"""One data set for the browser: an index of its documents, and their texts in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sago_harness.axes import MEASURES
from sago_harness.report.browse.block import DataBlock, packed
from sago_harness.report.browse.said import Said, read_said
from sago_harness.report.browse.unrest import (
    Unrest,
    floor_share,
    furthest,
    inside,
    levels,
    unrest,
    variant_shares,
)
from sago_harness.runs.columns import CANONICAL, REPEAT, VARIANT, Codes
from sago_harness.runs.find import RunFile
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, VariantKey
from sago_harness.stats.worst import WorstResult

#: Documents whose texts are unpacked together.
CHUNK = 50

#: Characters of a canonical prompt that stand in the list of documents.
HEAD = 80

#: Numbers are kept as whole thousandths.
SCALE = 1000

#: Beside the measures: of a variant, in no chance level.
BESIDE = ("x_mr", "x_mr_floor", "flip")

#: Share of a variant that a document lacks; one that is there without a share has null.
LACKS = False


@dataclass
class _Prompts:
    """The prompts of a data set, each once; documents x keys, the canonical one first."""

    keys: dict[str, tuple[VariantKey, str, bool]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    texts: list[list[str | None]] = field(default_factory=list)

    def place(self, id: str, key: VariantKey, role: str, scored: bool) -> int:
        if id not in self.places:
            self.places[id] = len(self.places)
            self.keys[id] = (key, role, scored)
        return self.places[id]

    def of(self, document: int, size: int) -> list[str | None]:
        """Return the texts of a document, to be written to, of at least so many keys."""
        row = self.texts[document]
        row.extend([None] * (size - len(row)))
        return row


@dataclass
class DataSet:
    """What the browser shows of one data set.

    Attributes
    ----------
    task : str
    unrest : Unrest
    documents : tuple of str
    blocks : list of DataBlock
        Index, prompts and responses.
    index : str
        Id of the index.
    models : list of str
        Those whose records are there.
    notes : list of str
    """

    task: str
    unrest: Unrest
    documents: tuple[str, ...]
    blocks: list[DataBlock] = field(default_factory=list)
    index: str = ""
    models: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def data_set(
    number: int,
    scored: ScoredTask,
    worst: Sequence[WorstResult],
    runs: Mapping[tuple[str, str], RunFile],
) -> Iterator[DataSet]:
    """Pack one data set, yielding it after each model and once it is complete.

    Parameters
    ----------
    number : int
        Of the data set in the report: part of its blocks' ids.
    scored : ScoredTask
    worst : sequence of WorstResult
    runs : dict of (str, str) to RunFile

    Yields
    ------
    DataSet
        The same one each time.

    Raises
    ------
    SagoError
        If a file cannot be read.
    """
    made = DataSet(scored.task, unrest(scored, worst), scored.documents)
    at = {name: place for place, name in enumerate(scored.documents)}
    prompts = _Prompts(texts=[[] for _ in at])
    prompts.place("canonical", VariantKey("canonical", "", ""), "canonical", False)
    models: list[dict[str, Any]] = []
    languages: list[str] = []
    for m, model in enumerate(scored.models):
        run = runs.get((scored.task, model))
        if run is None:
            made.notes.append(f"{scored.task}: {model}: its records were not found")
            continue
        said = read_said(run)
        made.notes += _notes(scored.task, model, said)
        cells = _cells(said, at, prompts)
        models.append(_of_model(said, scored, m, made.unrest, cells, prompts))
        made.blocks += _responses(said, cells, prompts, f"browse-r-{number}-{len(made.models)}")
        made.models.append(model)
        languages.append(said.language)
        yield made
    made.blocks += [
        packed(f"browse-p-{number}-{place}", prompts.texts[start : start + CHUNK])
        for place, start in enumerate(range(0, len(at), CHUNK))
    ]
    made.index = f"browse-i-{number}"
    made.blocks.append(packed(made.index, _index(made, prompts, models, languages)))
    yield made


def _notes(task: str, model: str, said: Said) -> Iterator[str]:
    if said.damaged:
        count = len(said.damaged)
        yield f"{task}: {model}: {count} damaged line{'' if count == 1 else 's'} left out of the browser"
    for name, texts in (("prompts", said.prompts), ("responses", said.responses)):
        if all(text is None for text in texts):
            yield f"{task}: {model}: the records hold no {name}, distances alone are shown"


def _cells(said: Said, at: Mapping[str, int], prompts: _Prompts) -> Codes:
    """Return the row of each document and key, -1 for none; of shape (D, K)."""
    columns = said.columns
    scored = inside(columns)
    rows = np.flatnonzero(np.isin(columns.role, (CANONICAL, VARIANT, REPEAT)))
    places = np.zeros(len(columns.keys), dtype=np.intp)
    shown, first = np.unique(columns.variant[rows], return_index=True)
    for k, row in sorted(zip(shown.tolist(), rows[first].tolist(), strict=True), key=lambda pair: pair[1]):
        role = int(columns.role[row])
        if role != CANONICAL:
            key = columns.keys[k]
            name = "variant" if role == VARIANT else "repeat"
            places[k] = prompts.place(key.id, key, name, bool(scored[k]) and role == VARIANT)
    documents = np.array([at.get(name, -1) for name in columns.documents], dtype=np.intp)
    document = documents[columns.document[rows]]
    cells: Codes = np.full((len(at), len(prompts.places)), -1, dtype=np.intp)
    kept = document >= 0
    cells[document[kept], places[columns.variant[rows[kept]]]] = rows[kept]
    return cells


def _of_model(
    said: Said, scored: ScoredTask, place: int, of: Unrest, cells: Codes, prompts: _Prompts
) -> dict[str, Any]:
    """Return a model's part of the index."""
    columns = said.columns
    shares = np.append(variant_shares(columns, scored, place, of.score), np.nan)[cells]
    if of.reasons[place]:
        shares[:] = np.nan
    names = list(prompts.places)
    counted = np.array([prompts.keys[name][2] for name in names], dtype=bool)
    whole: list[list[int | None]] = _thousandths(shares)
    for row, missing in zip(whole, (cells < 0).tolist(), strict=True):
        for k, lacks in enumerate(missing):
            if lacks:
                row[k] = LACKS
    measures = _measures(said)
    known = [name for name in measures if name not in BESIDE]
    return {
        "name": scored.models[place],
        "reason": of.reasons[place],
        "values": _thousandths(of.values[place]),
        "order": of.orders[place],
        "has": (cells.max(axis=1) >= 0).astype(int).tolist(),
        # Without the canonical prompt, which is no variant.
        "shares": [row[1:] for row in whole],
        # Noise, where chance is 1.
        "floor": _number(floor_share(scored, place, of.score)),
        "furthest": furthest(np.where(counted, shares, np.nan), names).tolist(),
        "measures": measures,
        "levels": {name: [_number(value) for value in levels(columns, name)] for name in known},
    }


def _measures(said: Said) -> list[str]:
    """Return what was measured, in table order; what is beside it last."""
    numbers = said.columns.numbers
    beside = [name for name in BESIDE if np.isfinite(numbers[name]).any()]
    return [name for name in MEASURES if name in said.columns.measures and name in numbers] + beside


def _responses(said: Said, cells: Codes, prompts: _Prompts, id: str) -> Iterator[DataBlock]:
    """Yield the blocks of a model's responses, with everything that was read off them."""
    numbers = said.columns.numbers
    measures = _measures(said)
    distances = {name: _thousandths(np.append(numbers[name], np.nan)[cells]) for name in measures}
    correct = _thousandths(np.append(numbers["correct"], np.nan)[cells], scale=1)
    of = [tuple(reasons.items()) for reasons in said.columns.reasons]
    codes = said.columns.reason.tolist()
    for chunk, start in enumerate(range(0, len(cells), CHUNK)):
        tables = _Tables(of, codes)
        documents = [
            _document(said, d, row, prompts, tables)
            | {"d": [distances[name][d][1:] for name in measures]}
            | ({"c": correct[d]} if any(value is not None for value in correct[d]) else {})
            if max(row) >= 0
            else None
            for d, row in enumerate(cells[start : start + CHUNK].tolist(), start)
        ]
        content = {"measures": measures, **tables.content(), "documents": documents}
        yield packed(f"{id}-{chunk}", content)


@dataclass
class _Tables:
    """What many responses share, kept once.

    ``of`` are the reasons by their code, ``codes`` those of the rows.
    """

    of: Sequence[tuple[tuple[str, str], ...]]
    codes: Sequence[int]
    flags: dict[tuple[str, ...], int] = field(default_factory=lambda: {(): 0})
    reasons: dict[tuple[str, tuple[tuple[str, str], ...]], int] = field(default_factory=lambda: {("", ()): 0})

    def content(self) -> dict[str, Any]:
        reasons = [[stopped, dict(of)] for stopped, of in self.reasons]
        return {"flags": [list(flags) for flags in self.flags], "reasons": reasons}


def _document(
    said: Said, document: int, rows: Sequence[int], prompts: _Prompts, tables: _Tables
) -> dict[str, Any]:
    """Return what a model said on one document: responses, answers, flags, reasons, prompts of its own."""
    shared = prompts.of(document, len(rows))
    known: dict[str, int] = {}
    responses: list[str | int | None] = []
    own: dict[str, str | None] = {}
    answers: list[str | None] = []
    flags: list[int] = []
    reasons: list[int] = []
    for place, row in enumerate(rows):
        if row < 0:
            responses.append(None)
            answers.append(None)
            flags.append(0)
            reasons.append(0)
            continue
        asked, text = said.prompts[row], said.responses[row]
        if shared[place] is None and asked is not None:
            shared[place] = asked
        elif asked is None or shared[place] != asked:
            own[str(place)] = asked
        # A response that was given before is named by its place.
        first = place if text is None else known.setdefault(text, place)
        responses.append(text if first == place else first)
        answers.append(said.answers[row])
        flags.append(tables.flags.setdefault(said.flags[row], len(tables.flags)))
        why = (said.stopped[row], tables.of[tables.codes[row]])
        reasons.append(tables.reasons.setdefault(why, len(tables.reasons)))
    found: dict[str, Any] = {"r": responses}
    if any(answer is not None for answer in answers):
        found["a"] = answers
    if any(flags):
        found["f"] = flags
    if any(reasons):
        found["w"] = reasons
    if own:
        found["p"] = own
    return found


def _index(
    made: DataSet, prompts: _Prompts, models: list[dict[str, Any]], languages: Sequence[str]
) -> dict[str, Any]:
    keys = [
        [id, key.family, key.operator, key.strength, role, int(scored)]
        for id, (key, role, scored) in prompts.keys.items()
    ]
    measured = {name for model in models for name in model["measures"]}
    heads = [" ".join((row[0] or "")[: 4 * HEAD].split())[:HEAD] if row else "" for row in prompts.texts]
    return {
        "task": made.task,
        "score": made.unrest.score,
        "language": next((name for name in languages if name), ""),
        "chunk": CHUNK,
        "scale": SCALE,
        "axes": {name: MEASURES.load(name).axis for name in MEASURES if name in measured},
        "keys": keys,
        "documents": list(made.documents),
        "heads": heads,
        "models": models,
    }


def _number(value: float) -> int | None:
    return round(value * SCALE) if np.isfinite(value) else None


def _thousandths(values: Doubles, scale: int = SCALE) -> list[Any]:
    """Return whole thousandths as lists, None for NaN."""
    known = np.isfinite(values)
    whole = np.rint(np.where(known, values, 0.0) * scale).astype(np.int64).astype(object)
    whole[~known] = None
    listed: list[Any] = whole.tolist()
    return listed
