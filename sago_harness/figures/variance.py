"""Where the distances come from: shares of variance, stacked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import fitting, labels
from sago_harness.figures.panels import (
    Spec,
    across,
    arranged,
    axis,
    counted,
    heading,
    lean,
    only,
    quantity,
    tips,
    values,
)
from sago_harness.figures.places import place_of
from sago_harness.figures.plain import number, told
from sago_harness.figures.series import Series
from sago_harness.figures.theme import PARTS, ink_on
from sago_harness.report.compared_origins import variance_table
from sago_harness.stats.variance import COMPONENTS

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison
    from sago_harness.stats.variance import VarianceResult

_COLUMNS = 4

#: A share has its number written in it from here on, in the space of a panel so wide.
_LEAST = {380: 0.04, 240: 0.06, 180: 0.08, 136: 0.12}

#: Component -> what people call it.
_NAMES = {
    "document": "document",
    "family": "family",
    "operator": "operator",
    "variant": "variant (strength)",
    "rest": "rest (document x variant, chance)",
}

_KEY = (
    "Shares of the variance of distances, from left to right: document, family, operator, "
    "variant (strength), rest. "
    "Numbers: per cent. Intervals are in the table."
)


def variance(study: Study) -> list[Drawn]:
    """Return a figure for each measure: a panel a data set, a bar a model.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    measures = dict.fromkeys(one.measure for one in found.variance)
    if not measures:
        return [NotDrawn("variance", "variance", "Where it comes from", "no measure is scored")]
    order = place_of(found).order()
    return [_measure(found, measure, order) for measure in measures]


def _measure(found: Comparison, measure: str, order: Sequence[str]) -> Drawn:
    name, title = f"variance-{measure}", f"Where it comes from: {measure}"
    given = [one for one in found.variance if one.measure == measure]
    if not any(math.isfinite(share) for one in given for share in one.shares.flat):
        why = next((reason for one in given for reason in one.share_reasons if reason), "not measured")
        return NotDrawn(name, "variance", title, f"no shares of {measure}: {why.replace('_', ' ')}")
    series = Series(found.models)
    columns_of = across(len(given), _COLUMNS)
    width = {1: 380, 2: 240, 3: 180}.get(columns_of, 136)
    task_label = labels((one.task for one in given), fitting(width))
    panels = [
        _panel(series, one, order, task_label[one.task], number % columns_of == 0, width)
        for number, one in enumerate(given)
    ]
    spec = arranged(panels, _KEY, columns=columns_of, width=columns_of * width + 120, spacing=18)
    table = variance_table(name, title, given, order).without("measure")
    return Figure(name, "variance", title, _words(measure, given), spec, table)


def _panel(
    series: Series, one: VarianceResult, order: Sequence[str], title: str, named: bool, width: int
) -> Spec:
    bars = _bars(series, one, order)
    names = [series.label[model] for model in order]
    y: Spec = {
        "field": "model", "type": "nominal", "sort": None,
        "scale": {"type": "band", "domain": names, "padding": 0.18},
        "axis": {"title": None, "labelLimit": 280, "ticks": False, "domain": False} if named else None,
    }  # fmt: skip
    x = quantity("start", (0.0, 1.0), axis=axis(None, 3, format=".0%", grid=False))
    colour: Spec = {
        "field": "part", "type": "nominal",
        "scale": {"domain": list(_NAMES.values()), "range": list(PARTS)},
        "legend": {"title": None, "orient": "bottom", "direction": "horizontal", "columns": 3,
                   "symbolType": "square"},
    }  # fmt: skip
    told_fields = [
        *series.tip,
        *tips(part="component"),
        *counted(share=("share", ".0%"), variance=("variance", ".5f"), low=("its interval from", ".5f"),
                 high=("to", ".5f")),
        *tips(state="note"),
    ]  # fmt: skip
    layers: list[Spec] = [{
        **only("share"),
        "mark": {"type": "bar", "style": "edge", "strokeWidth": 0.5},
        "encoding": {"x": x, "x2": {"field": "stop"}, "y": y, "color": colour, "tooltip": told_fields},
    }]  # fmt: skip
    least = _LEAST[width]
    for component, colour_of in zip(_NAMES.values(), PARTS, strict=True):
        if any(bar.get("part") == component and bar["share"] >= least for bar in bars):
            wide = {"filter": {"field": "share", "gte": least}}
            layers.append({
                "transform": [*only(part=component)["transform"], wide],
                "mark": {"type": "text", "color": ink_on(colour_of), "fontSize": 9.5},
                "encoding": {"x": quantity("middle", (0.0, 1.0), axis=x["axis"]), "y": y,
                             "text": {"field": "inside", "type": "nominal"}, "tooltip": told_fields},
            })  # fmt: skip
    if any("reason" in bar for bar in bars):
        layers.append({
            **only("reason"),
            "mark": {"type": "text", "style": "told", "align": "left", "limit": width - 8},
            "encoding": {"x": {"value": 5}, "y": y, "text": {"field": "reason", "type": "nominal"}},
        })  # fmt: skip
    height = {"step": 22 if len(order) <= 12 else 17}
    return {"data": values(bars), "width": width, "height": height, "layer": layers, "title": heading(title)}


def _bars(series: Series, one: VarianceResult, order: Sequence[str]) -> list[dict[str, Any]]:
    """Return the parts of each bar, or why a bar is missing."""
    bars: list[dict[str, Any]] = []
    for model in order:
        if model not in one.models:
            bars.append({**series.said(model), "reason": "not run"})
            continue
        m = one.models.index(model)
        shares = [float(share) for share in one.shares[m]]
        if not any(map(math.isfinite, shares)):
            why = one.share_reasons[m] if one.share_reasons else next(filter(None, one.reasons[m]), "")
            bars.append({**series.said(model), "reason": why.replace("_", " ") or "not scored"})
            continue
        start = 0.0
        for c, component in enumerate(COMPONENTS):
            if not math.isfinite(shares[c]):
                continue
            stop = start + shares[c]
            bars.append(lean({
                **series.said(model), "part": _NAMES[component], "share": number(shares[c]),
                "start": number(start), "stop": number(stop), "middle": number((start + stop) / 2.0),
                "inside": f"{100 * shares[c]:.0f}", "variance": number(float(one.statistic[m, c])),
                "low": number(float(one.low[m, c])), "high": number(float(one.high[m, c])),
                "state": "estimate was negative" if one.negative[m, c] else "",
            }))  # fmt: skip
            start = stop
    return bars


def _words(measure: str, given: Sequence[VarianceResult]) -> str:
    parts = []
    for c, component in enumerate(COMPONENTS):
        known = [float(s) for one in given for s in one.shares[:, c] if math.isfinite(s)]
        if known:
            low, high = (told(end, kind="share") for end in (min(known), max(known)))
            parts.append(f"{component} {low}" + (f" to {high}" if low != high else ""))
    cells = sum(len(one.models) for one in given)
    return f"Shares of the variance of {measure} in {cells} cells of model and data set: {', '.join(parts)}."
