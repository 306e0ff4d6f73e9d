"""Dose and response: does a stronger change of the prompt move the model further?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sago_harness.figures.chances import chance_of
from sago_harness.figures.curves import Curve, curves, room
from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import labels, slug
from sago_harness.figures.panels import Spec, arranged
from sago_harness.figures.places import NO_NOISE
from sago_harness.figures.plain import some, told
from sago_harness.figures.series import Series
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison
    from sago_harness.stats.dose import DoseResult

#: Up to so many data sets stand beside each other; more get a figure each.
MOST_TASKS = 4

_KEY = "Mean distance at each strength. "

_CHANCE = "Dashed line: chance, another question. "

_FEW = "Bar: {level} interval. Ring: smallest strength whose interval excludes the noise floor. "

_MANY = "Intervals, and the smallest strength whose interval excludes the noise floor, are in the table. "

Key = tuple[str, str, str]


def dose(study: Study) -> list[Drawn]:
    """Return a figure for each measure, a row of panels an operator; many data sets get a figure each.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    title = "Dose and response"
    graded = [one for one in found.dose if one.graded]
    if not graded:
        why = "no operator comes in more than one strength"
        return [NotDrawn("dose", "dose", title, why if found.dose else "no operator forms a score")]
    made: list[Drawn] = []
    for measure in dict.fromkeys(one.measure for one in graded):
        own = [one for one in graded if one.measure == measure]
        tasks = list(dict.fromkeys(one.task for one in own))
        chance = chance_of(study, measure)
        if len(tasks) <= MOST_TASKS:
            made.append(_figure(found, f"dose-{measure}", f"{title}: {measure}", own, chance))
        else:
            for task in tasks:
                part = [one for one in own if one.task == task]
                name = f"dose-{measure}-{slug(task)}"
                made.append(_figure(found, name, f"{title}: {measure} on {task}", part, chance))
    return made


def _figure(
    found: Comparison,
    name: str,
    title: str,
    given: Sequence[DoseResult],
    chance: Mapping[tuple[str, str], float],
) -> Drawn:
    if not any(math.isfinite(value) for one in given for value in one.means.flat):
        why = next((reason for one in given for reason in one.threshold_reasons if reason), "not measured")
        return NotDrawn(name, "dose", title, why.replace("_", " "))
    tasks = list(dict.fromkeys(one.task for one in given))
    keys = list(dict.fromkeys((one.family, one.operator, one.arm) for one in given))
    by = {(one.family, one.operator, one.arm, one.task): one for one in given}
    series = Series(found.models)
    task_label = labels(tasks, 24)
    key_label = dict(zip(keys, labels(map(_operator, keys), 22).values(), strict=True))
    levels = [float(x) for one in given for block in (one.means, one.high) for x in block.flat]
    levels += [float(level) for one in given for level in one.floors]
    levels += [chance.get((one.task, model), math.nan) for one in given for model in one.models]
    y_domain = room(levels)
    one_task = len(tasks) == 1
    across = min(3, len(keys)) if one_task else len(tasks)
    size = (170, 110) if across > 1 else (300, 150)
    legend = series.legend(across * (size[0] + 40))
    panels: list[Spec] = []
    places = [(key, task) for key in keys for task in tasks]
    for number, (key, task) in enumerate(places):
        left = number % across == 0
        result = by.get((*key, task))
        heads = key_label[key] if one_task else task_label[task] if number < across else ""
        strengths = sorted({x for t in tasks if (*key, t) in by for x in by[*key, t].strengths})
        edge = 0.06 * (strengths[-1] - strengths[0])
        panels.append(
            curves(
                series,
                _curves(result, chance),
                x_domain=(strengths[0] - edge, strengths[-1] + edge),
                y_domain=y_domain,
                title=heads,
                x_title="strength" if number >= len(places) - across else None,
                y_title=(given[0].measure if one_task else key_label[key]) if left else None,
                x_name="strength",
                y_name="distance",
                size=size,
                legend=legend,
                first=number == 0,
                y_labels=left,
                x_values=strengths if len(strengths) <= 6 else None,
            )
        )
    key_text = _KEY + (_CHANCE if _levelled(given, chance) else "")
    key_text += (_MANY if series.many else _FEW).format(level=found.settings.confidence) + _noise_key(given)
    spec = arranged(panels, key_text, columns=across, width=across * (size[0] + 30), spacing=14)
    notes = _notes(found, given, chance)
    table = Table(name, title, _columns(found), tuple(_rows(given, chance)), notes)
    return Figure(name, "dose", title, _words(given), spec, table, notes)


def _levelled(given: Sequence[DoseResult], chance: Mapping[tuple[str, str], float]) -> bool:
    """Say whether any curve has a chance level."""
    return any((one.task, model) in chance for one in given for model in one.models)


def _noise_key(given: Sequence[DoseResult]) -> str:
    """Say how the noise floor is drawn; "" where there is none."""
    floors = [level for one in given for level, why in zip(one.floors, one.floor_reasons, strict=True)
              if why != "no_repeats"]  # fmt: skip
    if not floors:
        return ""
    return "Dotted line: noise floor." if max(floors) > 0.0 else "Dotted line: noise floor, 0 here."


def _operator(key: Key) -> str:
    return f"{key[0]}/{key[1]}{key[2]}"


def _curves(one: DoseResult | None, chance: Mapping[tuple[str, str], float]) -> list[Curve]:
    if one is None:
        return []
    return [
        Curve(
            model, one.strengths, one.means[m].tolist(), one.low[m].tolist(), one.high[m].tolist(),
            float(chance.get((one.task, model), math.nan)),
            # A floor that nobody measured is none.
            math.nan if one.floor_reasons[m] == "no_repeats" else float(one.floors[m]),
            float(one.threshold[m]), one.counts[m].tolist(),
        )
        for m, model in enumerate(one.models)
    ]  # fmt: skip


def _columns(found: Comparison) -> tuple[Column, ...]:
    return (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("operator", kind="text"),
        Column("strength", digits=2),
        Column("distance"),
        Column("interval", f"{found.settings.confidence} interval", "interval"),
        Column("documents", "n", "count"),
        Column("floor", "noise floor"),
        Column("chance"),
        Column("threshold", "smallest strength above it", digits=2),
        Column("reason", kind="text"),
    )


def _rows(given: Sequence[DoseResult], chance: Mapping[tuple[str, str], float]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for one in given:
        for m, model in enumerate(one.models):
            why = " ".join(w for w in (one.reasons[m], one.threshold_reasons[m], one.floor_reasons[m]) if w)
            for s, strength in enumerate(one.strengths):
                rows.append((
                    one.task, model, _operator((one.family, one.operator, one.arm)), strength,
                    float(one.means[m, s]), (float(one.low[m, s]), float(one.high[m, s])),
                    int(one.counts[m, s]),
                    None if one.floor_reasons[m] == "no_repeats" else float(one.floors[m]),
                    chance.get((one.task, model)), float(one.threshold[m]), why,
                ))  # fmt: skip
    return rows


def _notes(
    found: Comparison, given: Sequence[DoseResult], chance: Mapping[tuple[str, str], float]
) -> tuple[str, ...]:
    """Return what is not drawn and why, and where strength and position go together."""
    notes = []
    if not _levelled(given, chance):
        notes.append(_without_chance(found, given[0].measure))
    if not _noise_key(given):
        notes.append(NO_NOISE)
    tasks = {one.task for one in given}
    single = dict.fromkeys(
        f"{one.family}/{one.operator}" for one in found.dose if not one.graded and one.task in tasks
    )
    if single:
        notes.append(f"in one strength, or none, and not drawn: {some(single, 12)}")
    differ = dict.fromkeys(_operator((o.family, o.operator, o.arm)) for o in given if o.note)
    if differ:
        notes.append(f"strength and position of the variants go together: {some(differ, 8)}")
    return tuple(notes)


def _without_chance(found: Comparison, measure: str) -> str:
    if any(one.measure == measure for one in found.unstable):
        return "no chance level: no chance control has this distance"
    return (
        f"no chance level: {measure} forms no score, so that no test holds its level, and the records have "
        "no chance control with it, or are not at hand"
    )


def _words(given: Sequence[DoseResult]) -> str:
    steepest, rise = None, -math.inf
    growing = cells = 0
    for one in given:
        for m, model in enumerate(one.models):
            if not math.isfinite(one.statistic[m]):
                continue
            cells += 1
            growing += bool(one.monotone[m])
            change = float(one.means[m, -1] - one.means[m, 0])
            if change > rise:
                steepest, rise = (one, m, model), change
    operators = len({(one.family, one.operator, one.arm) for one in given})
    head = f"Distance {given[0].measure} against strength of {operators} operators: "
    if steepest is None:
        return f"{head}too few documents for a trend."
    one, m, model = steepest
    first, last = told(float(one.means[m, 0])), told(float(one.means[m, -1]))
    return (
        f"{head}it never falls in {growing} of {cells} curves; it changes most for {model} under "
        f"{one.operator}{one.arm} "
        f"on {one.task}, from {first} at {one.strengths[0]:g} to {last} at {one.strengths[-1]:g}."
    )
