"""Accuracy against stability: is the more accurate model the more stable one?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import fitting, labels
from sago_harness.figures.panels import Spec, across, arranged, axis, heading, quantity, tips, values
from sago_harness.figures.places import is_own, noise_note, place_of
from sago_harness.figures.plain import number, span, told
from sago_harness.figures.series import Series, picked
from sago_harness.figures.theme import LEVEL, UPRIGHT
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison
    from sago_harness.stats.scored import ScoredTask

_KINDS = ("acc", "acc_mean", "acc_worst")

_KEY = (
    "Filled: share of canonical prompts answered right. Line to the left and its tick: right "
    "whatever the variant "
    "(worst). Open circle: mean over variants. Upright bar: {level} interval of the score."
)

_CHANCE = " Dashed line at 0: chance."

_NOISE = " Dotted tick, level: the score that noise alone would leave, asking the same again."


@dataclass(frozen=True)
class _Point:
    task: str
    model: str
    accuracy: dict[str, float]
    errors: dict[str, float]
    score: float
    low: float
    high: float
    noise: float
    reason: str


def accuracy(study: Study) -> list[Drawn]:
    """Return a figure for each score: a panel a data set that has answers to be right or wrong.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    return [_score(found, score) for score in found.scores]


def _score(found: Comparison, score: str) -> Drawn:
    name, title = f"accuracy-{score}", f"Accuracy against stability: {score}"
    points = [point for task, one in found.scored.items() for point in _points(found, task, one, score)]
    if not any(any(kind in one.beside for kind in _KINDS) for one in found.scored.values()):
        why = "no data set has answers that are right or wrong"
        return NotDrawn(name, "accuracy", title, why)
    drawn = [p for p in points if math.isfinite(p.score) and math.isfinite(p.accuracy["acc"])]
    if not drawn:
        why = next((p.reason for p in points if p.reason), "nothing is scored")
        return NotDrawn(name, "accuracy", title, f"no model has both {score} and accuracy: {why}")
    series = Series(found.models)
    higher = next(
        one.quantities[score].higher_is_better for one in found.scored.values() if score in one.quantities
    )
    tasks = list(dict.fromkeys(p.task for p in drawn))
    columns_of = across(len(tasks), 3)
    size = {1: 360, 2: 260}.get(columns_of, 190)
    task_label = labels(tasks, fitting(size))
    legend = series.legend(columns_of * (size + 30))
    own = is_own(found)
    ends = [x for p in drawn for x in (p.score, p.low, p.high) if math.isfinite(x)]
    # A little more than 1, so that its label stands within the panel and titles stand level.
    y_domain = (0.0, 1.05) if own else (min([0.0, *ends]), max(ends))
    panels = []
    for place, task in enumerate(tasks):
        panels.append(
            _panel(
                series,
                [p for p in drawn if p.task == task],
                title=task_label[task],
                size=size,
                legend=legend,
                y_domain=y_domain,
                y_title=score if place % columns_of == 0 else None,
                own=own,
                first=place == 0,
                x_title="accuracy" if place >= len(tasks) - columns_of else None,
            )
        )
    noisy = any(math.isfinite(p.noise) for p in drawn)
    key = _KEY.format(level=found.settings.confidence) + (_CHANCE if own else "") + (_NOISE if noisy else "")
    spec = arranged(panels, key, columns=columns_of, width=max(440, columns_of * (size + 30)), spacing=16)
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column(score),
        Column("interval", f"{found.settings.confidence} interval", "interval"),
        Column("noise", "noise alone"),
        Column("chance"),
        *(c for kind in _KINDS for c in (Column(kind), Column(f"{kind}_stderr", "±"))),
        Column("reason", kind="text"),
    )
    rows: list[tuple[Cell, ...]] = [
        (p.task, p.model, p.score, (p.low, p.high), p.noise, 0.0 if own else math.nan,
         *(x for kind in _KINDS for x in (p.accuracy[kind], p.errors[kind])), p.reason)
        for p in points
    ]  # fmt: skip
    without = [task for task in found.tasks if task not in tasks]
    notes = noise_note(found, score, noisy)
    notes += (f"without accuracy: {', '.join(without)}",) if without else ()
    table = Table(name, title, columns, tuple(rows), notes)
    return Figure(name, "accuracy", title, _words(score, drawn, higher=higher), spec, table, notes)


def _points(found: Comparison, task: str, one: ScoredTask, score: str) -> list[_Point]:
    place = place_of(found, task)
    if score not in place.quantities:
        return []
    made = []
    for value in place.values(score):
        if value.model not in one.models:
            continue
        m = one.models.index(value.model)
        accuracies = {k: float(one.beside[k].values[m]) if k in one.beside else math.nan for k in _KINDS}
        errors = {k: float(one.beside[k].stderr[m]) if k in one.beside else math.nan for k in _KINDS}
        why = value.reason or ("" if math.isfinite(accuracies["acc"]) else "no accuracy")
        made.append(
            _Point(
                task, value.model, accuracies, errors, value.value, value.low, value.high, value.noise, why
            )
        )
    return made


def _panel(
    series: Series, points: Sequence[_Point], *, title: str, size: int, legend: dict[str, Any],
    y_domain: tuple[float, float], y_title: str | None, x_title: str | None, own: bool, first: bool,
) -> Spec:  # fmt: skip
    data = [_datum(series, p) for p in points]
    # A model that is always right, or never, is not cut in half by the frame.
    x_domain = (-0.04, 1.04)
    x_axis = axis(x_title, 3, format=".0%", values=[0, 0.25, 0.5, 0.75, 1])
    y_axis = axis(y_title, 4, format=".4~g", labels=y_title is not None, ticks=y_title is not None)
    y = quantity("score", y_domain, axis=y_axis)
    colour = series.looks("color", legend=legend)

    def x(field: str) -> Spec:
        return quantity(field, x_domain, axis=x_axis)

    def known(*fields: str) -> Spec:
        return values([row for row in data if all(row[field] is not None for field in fields)])

    told_fields = [*series.tip, *tips(acc_text="accuracy", mean_text="mean over variants",
                                      worst_text="worst over variants", score_text="stability",
                                      interval="interval", noise_text="noise alone")]  # fmt: skip
    layers: list[Spec] = []
    if own:
        layers.append({
            "data": values([{"score": 0.0, "text": "0 = as if every variant were another question"}]),
            "mark": {"type": "rule", "style": "chance"},
            "encoding": {"y": y, "tooltip": tips(text="chance")},
        })  # fmt: skip
    layers += [
        {"data": known("low", "high"), "mark": {"type": "rule", "style": "span", "strokeWidth": 1.4},
         "encoding": {"x": x("acc"), "y": quantity("low", y_domain, axis=y_axis), "y2": {"field": "high"},
                      **colour, **picked(0.3 if series.many else 0.8)}},
        {"data": known("acc", "worst"), "mark": {"type": "rule", "style": "span", "strokeWidth": 1.4},
         "encoding": {"x": x("worst"), "x2": {"field": "acc"}, "y": y, **colour,
                      **picked(0.2 if series.many else 0.8)}},
        {"data": known("worst"),
         "mark": {"type": "point", "style": "span", "shape": UPRIGHT, "size": 121, "strokeWidth": 2,
                  "filled": False},
         "encoding": {"x": x("worst"), "y": y, **colour, **picked(0.3 if series.many else 1.0)}},
        {"data": known("mean"),
         "mark": {"type": "point", "style": "series", "filled": False, "fill": "transparent", "size": 40,
                  "shape": "circle", "strokeWidth": 1.6},
         "encoding": {"x": x("mean"), "y": y, "tooltip": told_fields, **colour,
                      **picked(0.4 if series.many else 1.0)}},
    ]  # fmt: skip
    noisy = known("noise")
    if noisy["values"]:
        layers.append({
            "data": noisy,
            "mark": {"type": "point", "style": "noise", "shape": LEVEL, "size": 196, "filled": False},
            "encoding": {"x": x("acc"), "y": quantity("noise", y_domain, axis=y_axis), **picked(),
                         "tooltip": [*series.tip, *tips(noise_text="noise alone")]},
        })  # fmt: skip
    last: Spec = {
        "data": known("acc"), "mark": {"type": "point", "style": "series", "filled": True, "size": 75},
        "encoding": {"x": x("acc"), "y": y, "tooltip": told_fields,
                     **series.looks("color", "shape", legend=legend), **picked()},
    }  # fmt: skip
    if first:
        # A legend is that of the first layer in colour, and so is what it answers to.
        next(layer for layer in layers if "color" in layer["encoding"] or series.many)["params"] = [
            series.param(legend=True)
        ]
    layers.append(last)
    return {"width": size, "height": size, "layer": layers, "title": heading(title)}


def _datum(series: Series, p: _Point) -> dict[str, Any]:
    given = math.isfinite(p.low) and math.isfinite(p.high)
    acc, mean, worst = (p.accuracy[kind] for kind in _KINDS)
    return {
        **series.said(p.model), "score": number(p.score),
        "low": number(p.low),
        "high": number(p.high), "noise": number(p.noise), "acc": number(acc), "mean": number(mean),
        "worst": number(worst), "acc_text": told(acc), "mean_text": told(mean), "worst_text": told(worst),
        "score_text": told(p.score), "interval": span(p.low, p.high) if given else "-",
        "noise_text": told(p.noise),
    }  # fmt: skip


def _words(score: str, drawn: Sequence[_Point], *, higher: bool) -> str:
    best = max(drawn, key=lambda p: p.accuracy["acc"])
    firm = max(drawn, key=lambda p: p.score if higher else -p.score)
    return (
        f"{len(drawn)} cells of model and data set by accuracy and {score}: most accurate "
        f"{best.model} on {best.task} "
        f"(accuracy {told(best.accuracy['acc'])}, worst {told(best.accuracy['acc_worst'])}, {score} "
        f"{told(best.score)}); most stable {firm.model} on {firm.task} (accuracy "
        f"{told(firm.accuracy['acc'])}, "
        f"{score} {told(firm.score)})."
    )
