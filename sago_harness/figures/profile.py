"""The four axes of each model: how far text, states, probabilities and manner move."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.panels import arranged
from sago_harness.figures.places import AXIS_NAMES, Value, axes_of, is_own, noise_note, place_of, where
from sago_harness.figures.plain import some, told
from sago_harness.figures.series import Series
from sago_harness.figures.strips import Row, strip
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study

_WIDTH = 132

_KEY = (
    "Lower is more stable. Bar: {level} interval. Dashed line at 1: chance, a variant moves "
    "the model as far as "
    "another question does (mirroring: its manner is taken over whole)."
)

_NOISE = " Dotted tick: noise floor, asking the same again."


def profile(study: Study) -> list[Drawn]:
    """Return the four-axis profile of all models: a panel an axis, a row a model.

    Parallel points and no radar: points on a common scale are read most exactly (Cleveland and McGill,
    1984), intervals and reference lines have a place, and the area of a radar's outline depends on the
    order of its axes.
    """
    found = study.found
    place = place_of(found)
    title = f"Profile: the four axes, {where(place.name)}"
    if not is_own(found):
        reason = f"the published scheme {found.settings.scheme} has no axes"
        return [NotDrawn("profile", "profile", title, reason)]
    axes = axes_of(place.quantities)
    given = {axis: place.values(axis) for axis in axes}
    flat = [one for of in given.values() for one in of]
    if not any(math.isfinite(one.value) for one in flat):
        why = some(dict.fromkeys(one.reason for one in flat if one.reason), 2) or "nothing is scored"
        return [NotDrawn("profile", "profile", title, f"no model has any axis: {why}")]
    series = Series(found.models)
    order = place.order()
    panels = []
    for number, axis in enumerate(axes):
        by = {one.model: one for one in given[axis]}
        panels.append(
            strip(
                series,
                [_row(by[model]) for model in order],
                domain=(0.0, 1.0),
                title=AXIS_NAMES[axis],
                chance=1.0,
                chance_text="1 = as far as for another question",
                named=number == 0,
                width=_WIDTH,
                first=number == 0,
                ticks=3,
            )
        )
    noisy = any(math.isfinite(one.noise) for one in flat)
    key = _KEY.format(level=found.settings.confidence) + (_NOISE if noisy else "")
    spec = arranged(panels, key, columns=len(panels), width=len(panels) * _WIDTH + 90, spacing=22)
    columns = (
        Column("model", kind="text"),
        Column("axis", kind="text"),
        Column("value"),
        Column("interval", f"{found.settings.confidence} interval", "interval"),
        Column("noise", "noise floor"),
        Column("chance"),
        Column("documents", "n", "count"),
        Column("reason", kind="text"),
    )
    rows: list[tuple[Cell, ...]] = []
    for model in order:
        for axis in axes:
            (one,) = [value for value in given[axis] if value.model == model]
            cells = (one.value, (one.low, one.high), one.noise, 1.0, one.n, one.reason)
            rows.append((model, AXIS_NAMES[axis], *cells))
    notes = noise_note(found, "", noisy)
    table = Table("profile", title, columns, tuple(rows), notes)
    return [Figure("profile", "profile", title, _words(given), spec, table, notes)]


def _row(one: Value) -> Row:
    return Row(one.model, one.value, one.low, one.high, one.noise, reason=one.reason, n=one.n)


def _words(given: dict[str, list[Value]]) -> str:
    parts = []
    for axis, of in given.items():
        known = [one for one in of if math.isfinite(one.value)]
        if not known:
            parts.append(f"{AXIS_NAMES[axis]} unscored")
            continue
        low, high = min(known, key=lambda one: one.value), max(known, key=lambda one: one.value)
        if len(known) == 1:
            parts.append(f"{AXIS_NAMES[axis]} {told(low.value)}")
        else:
            parts.append(
                f"{AXIS_NAMES[axis]} {told(low.value)} ({low.model}) to {told(high.value)} ({high.model})"
            )
    scale = "0 = nothing moves, 1 = as far as for another question"
    return f"Instability on each axis, {scale}: {'; '.join(parts)}."
