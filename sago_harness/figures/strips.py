"""Strips: a row a model, a point with its interval, chance and noise on the same scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.figures.panels import Spec, axis, counted, heading, lean, only, quantity, tips, values
from sago_harness.figures.plain import number
from sago_harness.figures.series import Series, picked
from sago_harness.figures.theme import UPRIGHT


@dataclass(frozen=True)
class Row:
    """One row of a strip.

    Attributes
    ----------
    model : str
    value, low, high : float
    noise : float
        Noise floor on this scale; NaN where there is none.
    chance : float
        Chance level of this row alone; NaN where all rows share one.
    sure : bool
        Whether the point is filled.
    reason : str
        Stands in the place of a missing point.
    side : str
        Text to the right of the strip.
    n : int
        Documents.
    """

    model: str
    value: float
    low: float = math.nan
    high: float = math.nan
    noise: float = math.nan
    chance: float = math.nan
    sure: bool = True
    reason: str = ""
    side: str = ""
    n: int = 0


def step(models: int) -> int:
    """Return the height of a row in pixels."""
    return 26 if models <= 4 else 22 if models <= 12 else 17


def strip(
    series: Series,
    rows: Sequence[Row],
    *,
    domain: tuple[float, float],
    title: str = "",
    x_title: str | None = None,
    chance: float | None = None,
    chance_text: str = "",
    named: bool = True,
    width: int = 360,
    side: str = "",
    first: bool = False,
    ticks: int = 5,
) -> Spec:
    """Return one panel.

    Parameters
    ----------
    series : Series
    rows : sequence of Row
        From top to bottom.
    domain : tuple of float
        Ends of the scale.
    title : str
        Of the panel.
    x_title : str, optional
    chance : float, optional
        Where all rows share a chance level.
    chance_text : str
        What it is, for its tooltip.
    named : bool
        Write the models' names on the left.
    width : int
    side : str
        Heading of the texts on the right; "" for none.
    first : bool
        The panel that holds the selection of a model.
    ticks : int
        About so many on the scale.
    """
    names = [series.label[row.model] for row in rows]
    y: Spec = {
        "field": "model",
        "type": "nominal",
        "sort": None,
        "scale": {"type": "point", "padding": 0.5, "domain": names},
        "axis": {"title": None, "labelLimit": 280, "ticks": False, "domain": False, "grid": False}
        if named
        else None,
    }
    x_axis = axis(x_title, ticks, format=".4~g")
    data = [_datum(series, row) for row in rows]
    told_fields = [
        *series.tip,
        *counted(value=("value", ".3f"), low=("interval from", ".3f"), high=("to", ".3f"),
                 noise=("noise floor", ".3f"), chance=("chance", ".3f"), n=("documents", ",d")),
        *tips(reason="no value", side="rank"),
    ]  # fmt: skip
    layers: list[Spec] = []
    if chance is not None:
        layers.append({
            "data": values([{"value": number(chance), "text": chance_text}]),
            "mark": {"type": "rule", "style": "chance"},
            "encoding": {"x": quantity("value", domain, axis=x_axis), "tooltip": tips(text="chance")},
        })  # fmt: skip
    layers.append({
        **only("value", "low", "high"),
        "mark": {"type": "rule", "style": "span", "strokeWidth": 3},
        "encoding": {"x": quantity("low", domain, axis=x_axis), "x2": {"field": "high"}, "y": y,
                     **series.looks("color"), **picked(0.75)},
    })  # fmt: skip
    for field, name in (("chance", "chance"), ("noise", "noise floor")):
        if any(field in one for one in data):
            layers.append({
                **only(field),
                "mark": {"type": "point", "style": field, "shape": UPRIGHT, "size": 256, "filled": False},
                "encoding": {"x": quantity(field, domain, axis=x_axis), "y": y, **picked(),
                             "tooltip": [*series.tip, *counted(**{field: (name, ".3f")})]},
            })  # fmt: skip
    for sure in (True, False):
        if not sure and all(one["sure"] for one in data):
            continue
        points: Spec = {
            **only("value", sure=sure),
            "mark": {"type": "point", "style": "series", "size": 56, "filled": sure, "strokeWidth": 1.8},
            "encoding": {"x": quantity("value", domain, axis=x_axis), "y": y, "tooltip": told_fields,
                         **series.looks("color", "shape"), **picked()},
        }  # fmt: skip
        if not sure:
            points["mark"]["fill"] = "transparent"
        if first and sure:
            points["params"] = [series.param()]
        layers.append(points)
    layers += _texts(data, y, width, side, tip=told_fields)
    made: Spec = {
        "data": values(data), "width": width, "height": {"step": step(len(rows))}, "layer": layers
    }  # fmt: skip
    return {**made, "title": heading(title)} if title else made


def _datum(series: Series, row: Row) -> dict[str, Any]:
    return lean({
        **series.said(row.model),
        "value": number(row.value),
        "low": number(row.low),
        "high": number(row.high),
        "noise": number(row.noise),
        "chance": number(row.chance),
        "sure": row.sure,
        "n": row.n,
        "reason": row.reason,
        "side": row.side,
    })  # fmt: skip


def _texts(data: list[dict[str, Any]], y: Spec, width: int, side: str, tip: list[Spec]) -> list[Spec]:
    """Return what is written in the place of missing points, and to the right of the strip."""
    layers: list[Spec] = []
    if any("value" not in one and "reason" in one for one in data):
        layers.append({
            **only("reason"),
            "mark": {"type": "text", "style": "told", "align": "left", "limit": width - 8},
            "encoding": {"x": {"value": 5}, "y": y, "text": {"field": "reason", "type": "nominal"},
                         "tooltip": tip},
        })  # fmt: skip
    if side:
        layers.append({
            **only("side"),
            "mark": {"type": "text", "style": "plain", "align": "left"},
            "encoding": {"x": {"value": width + 10}, "y": y, "text": {"field": "side", "type": "nominal"},
                         **picked()},
        })  # fmt: skip
        layers.append({
            "data": values([{"heading": side}]),
            "mark": {"type": "text", "style": "told", "align": "left", "baseline": "bottom"},
            "encoding": {"x": {"value": width + 10}, "y": {"value": -4},
                         "text": {"field": "heading", "type": "nominal"}},
        })  # fmt: skip
    return layers
