"""Distances themselves: how far variants move a model, beside chance and its own noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import fitting, labels
from sago_harness.figures.panels import Spec, across, arranged
from sago_harness.figures.places import NO_NOISE, place_of
from sago_harness.figures.plain import told
from sago_harness.figures.series import Series
from sago_harness.figures.strips import Row, strip
from sago_harness.report.tables import Cell, Column, Table
from sago_harness.stats.reduce import MIRRORING

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison
    from sago_harness.stats.instability import InstabilityResult

_COLUMNS = 4

_KEY = (
    "Point: mean distance s of a document, filled where it is shown to be more than {epsilon:g} "
    "of chance and "
    "more than noise (adjusted p up to {level:g}), hollow where not. Dashed tick: chance, another question."
)


def unstable(study: Study) -> list[Drawn]:
    """Return a figure for each measure: a panel a data set, a row a model.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    measures = dict.fromkeys(one.measure for one in found.unstable)
    if not measures:
        why = "no measure of a score is there"
        return [NotDrawn("unstable", "unstable", "Is it unstable?", why)]
    order = place_of(found).order()
    return [_measure(found, name, order) for name in measures]


def _measure(found: Comparison, measure: str, order: list[str]) -> Drawn:
    name, title = f"unstable-{measure}", f"Is it unstable? {measure}"
    given = [one for one in found.unstable if one.measure == measure]
    if not any(math.isfinite(one.s) for one in given):
        why = next((one.reason for one in given if one.reason), "not measured")
        return NotDrawn(name, "unstable", title, f"{measure} is scored on no data set: {why}")
    series = Series(found.models)
    tasks = list(dict.fromkeys(one.task for one in given))
    columns_of = across(len(tasks), _COLUMNS)
    width = {1: 360, 2: 220, 3: 160}.get(columns_of, 118)
    task_label = labels(tasks, fitting(width))
    ends = [x for one in given for x in (one.s, one.chance, one.floor) if math.isfinite(x)]
    domain = (min(0.0, *ends) * 1.05, max(*ends, 1e-3) * 1.05)
    panels: list[Spec] = []
    rows: list[tuple[Cell, ...]] = []
    for number, task in enumerate(tasks):
        by = {one.model: one for one in given if one.task == task}
        lines = [_row(by.get(model), model, found.settings.level) for model in order]
        panels.append(
            strip(
                series,
                lines,
                domain=domain,
                title=task_label[task],
                named=number % columns_of == 0,
                width=width,
                first=number == 0,
                ticks=3,
            )
        )
        for model in order:
            one = by.get(model)
            if one is None:
                rows.append((task, model, None, None, None, None, None, None, "not run"))
                continue
            verdict = "unstable" if one.adjusted <= found.settings.level else one.reason or "not shown"
            numbers = (one.documents, one.s, one.chance, one.floor, one.excess, one.adjusted)
            rows.append((task, model, *numbers, verdict))
    noisy = any(math.isfinite(one.floor) for one in given)
    key = _KEY.format(epsilon=found.settings.epsilon, level=found.settings.level)
    if measure == MIRRORING:
        key += " Mirroring: share of the prompt's change of manner, its floor taken off."
    elif noisy:
        key += " Dotted tick: noise floor, the same asked again."
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("documents", "n", "count"),
        Column("s"),
        Column("chance"),
        Column("floor", "noise floor"),
        Column("excess"),
        Column("p_adjusted", "adjusted p", "p"),
        Column("verdict", kind="text"),
    )
    lacking = not noisy and measure != MIRRORING
    notes = (NO_NOISE,) if lacking else ()
    spec = arranged(panels, key, columns=columns_of, width=columns_of * width + 120, spacing=20)
    table = Table(name, title, columns, tuple(rows), notes)
    return Figure(name, "unstable", title, _words(found, measure, given), spec, table, notes)


def _row(one: InstabilityResult | None, model: str, level: float) -> Row:
    if one is None:
        return Row(model, math.nan, reason="not run")
    sure = one.adjusted <= level
    return Row(
        model, one.s, noise=one.floor, chance=one.chance, sure=sure,
        reason="" if math.isfinite(one.s) else one.reason or "not scored", n=one.documents,
    )  # fmt: skip


def _words(found: Comparison, measure: str, given: Sequence[InstabilityResult]) -> str:
    known = [one for one in given if math.isfinite(one.s)]
    sure = sum(one.adjusted <= found.settings.level for one in given)
    tested = sum(math.isfinite(one.pvalue) for one in given)
    low, high = min(known, key=lambda one: one.s), max(known, key=lambda one: one.s)
    return (
        f"Mean distance {measure} of {len(known)} cells of model and data set, from "
        f"{told(low.s)} ({low.model} on "
        f"{low.task}, chance {told(low.chance)}) to {told(high.s)} ({high.model} on {high.task}, chance "
        f"{told(high.chance)}); {sure} of {tested} tests find instability."
    )
