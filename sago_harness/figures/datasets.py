"""Data set by data set: scores and axes of all models with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import fitting, labels
from sago_harness.figures.panels import Spec, across, arranged
from sago_harness.figures.places import AXIS_NAMES, Place, Value, is_own, noise_note, place_of
from sago_harness.figures.plain import told
from sago_harness.figures.series import Series
from sago_harness.figures.strips import Row, strip
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison

#: Panels in a row.
_COLUMNS = 4

_KEY = {
    True: "Higher is more stable; bar: {level} interval; dashed line at 0: chance.",
    False: "Lower is more stable; bar: {level} interval; dashed line at 1: chance, another question.",
}

_MIRRORING = (
    "Lower is more stable; bar: {level} interval; dashed line at 1: the prompt's change of manner is taken "
    "over whole, which stands for chance."
)


def datasets(study: Study) -> list[Drawn]:
    """Return a figure for each score and axis: a panel a data set, a row a model.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    places = {task: place_of(found, task) for task in found.tasks}
    seen = dict.fromkeys(name for place in places.values() for name in place.quantities)
    names = [name for name in seen if name in found.scores] + [name for name in seen if name in AXIS_NAMES]
    order = place_of(found).order()
    return [_score(found, places, name, order) for name in names]


def _score(found: Comparison, places: Mapping[str, Place], score: str, order: list[str]) -> Drawn:
    told_as = AXIS_NAMES.get(score, score)
    name, title = f"datasets-{told_as}", f"Each data set: {told_as}"
    given = {task: place.values(score) for task, place in places.items() if score in place.quantities}
    flat = [one for of in given.values() for one in of]
    known = [one for one in flat if math.isfinite(one.value)]
    if not known:
        why = next((one.reason for one in flat if one.reason), "not measured")
        return NotDrawn(name, "datasets", title, f"no model has {told_as} on any data set: {why}")
    series = Series(found.models)
    columns_of = across(len(given), _COLUMNS)
    width = {1: 360, 2: 220, 3: 160}.get(columns_of, 118)
    task_label = labels(given, fitting(width))
    higher = next(q.quantities[score].higher_is_better for q in places.values()
                  if score in q.quantities)  # fmt: skip
    own = is_own(found)
    ends = [x for one in known for x in (one.value, one.low, one.high) if math.isfinite(x)]
    domain = (0.0, 1.0) if own else (min([0.0, *ends]), max(ends) or 1.0)
    chance = (0.0 if higher else 1.0) if own else None
    panels: list[Spec] = []
    for number, (task, of) in enumerate(given.items()):
        by = {one.model: one for one in of}
        panels.append(
            strip(
                series,
                [_row(by[model]) for model in order],
                domain=domain,
                title=task_label[task],
                chance=chance,
                chance_text=f"{chance:g} = chance" if own else "",
                named=number % columns_of == 0,
                width=width,
                first=number == 0,
                ticks=3,
            )
        )
    noisy = any(math.isfinite(one.noise) for one in flat)
    level_of = found.settings.confidence
    key = _KEY[bool(higher)].format(level=level_of) if own else f"Bar: {level_of} interval."
    if own and score == "sago_mirroring":
        key = _MIRRORING.format(level=level_of)
    if noisy:
        key += " Dotted tick: what noise alone would leave." if higher else " Dotted tick: noise floor."
    spec = arranged(panels, key, columns=columns_of, width=columns_of * width + 120, spacing=20)
    rows: list[tuple[Cell, ...]] = []
    for task, of in given.items():
        by = {one.model: one for one in of}
        for one in (by[model] for model in order):
            level = chance if chance is not None else np.nan
            cells = (one.value, (one.low, one.high), one.noise, level, one.n, one.reason)
            rows.append((task, one.model, *cells))
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column(score),
        Column("interval", f"{found.settings.confidence} interval", "interval"),
        Column("noise", "noise alone"),
        Column("chance"),
        Column("documents", "n", "count"),
        Column("reason", kind="text"),
    )
    notes = noise_note(found, score, noisy)
    table = Table(name, title, columns, tuple(rows), notes)
    return Figure(name, "datasets", title, _words(told_as, given), spec, table, notes)


def _row(one: Value) -> Row:
    return Row(one.model, one.value, one.low, one.high, one.noise, reason=one.reason, n=one.n)


def _words(score: str, given: Mapping[str, list[Value]]) -> str:
    parts = []
    for task, of in given.items():
        known = sorted((one.value, one.model) for one in of if math.isfinite(one.value))
        if known:
            ends = f"{told(known[0][0])} to {told(known[-1][0])}" if len(known) > 1 else told(known[0][0])
            parts.append(f"{task} {ends}")
        else:
            parts.append(f"{task} unscored")
    more = f"; and {len(parts) - 8} more data sets" if len(parts) > 8 else ""
    counted = f"each of {len(parts)} data sets" if len(parts) > 1 else "one data set"
    return f"{score} of the models on {counted}: {'; '.join(parts[:8])}{more}."
