"""Curves: a line a model over something that grows, with intervals, chance and noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.figures.panels import Spec, axis, counted, heading, lean, only, quantity, tips, values
from sago_harness.figures.plain import number
from sago_harness.figures.series import Series, picked


@dataclass(frozen=True)
class Curve:
    """One model in a panel.

    Attributes
    ----------
    model : str
    x, y, low, high : sequence of float
        Points; those without y are left out.
    chance, noise : float or sequence of float
        Level of this model, or one for each point; NaN where there is none.
    ring : float
        The x that is marked; NaN for none.
    n : sequence of int
        Documents of each point.
    """

    model: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    chance: float = math.nan
    noise: float | Sequence[float] = math.nan
    ring: float = math.nan
    n: Sequence[int] = ()


def curves(
    series: Series,
    given: Sequence[Curve],
    *,
    x_domain: tuple[float, float],
    y_domain: tuple[float, float],
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    x_name: str = "x",
    y_name: str = "value",
    chance: float | None = None,
    chance_text: str = "",
    size: tuple[int, int] = (170, 110),
    legend: dict[str, Any] | None = None,
    first: bool = False,
    y_labels: bool = True,
    x_values: Sequence[float] | None = None,
) -> Spec:
    """Return one panel.

    Parameters
    ----------
    series : Series
    given : sequence of Curve
    x_domain, y_domain : tuple of float
    title, x_title, y_title : str
    x_name, y_name : str
        Headings in tooltips.
    chance : float, optional
        Level that all models share.
    chance_text : str
    size : pair of int
    legend : dict, optional
    first : bool
        The panel that holds the selection of a model.
    y_labels : bool
        Write numbers on the left.
    x_values : sequence of float, optional
        Where ticks stand.
    """
    x_axis = axis(x_title, 4, format=".4~g", labelOverlap=True, grid=False)
    if x_values is not None:
        x_axis["values"] = [number(x) for x in x_values]
    y_axis = axis(y_title, 3, format=".4~g", labels=y_labels, ticks=y_labels, titleLimit=size[1] + 30)
    data = [row for curve in given for row in _rows(series, curve)]
    x = quantity("x", x_domain, axis=x_axis)
    y = quantity("y", y_domain, axis=y_axis)
    looks = series.looks("color", legend=legend)
    thin = 1.0 if series.many else 1.8
    layers: list[Spec] = [{
        "mark": {"type": "line", "style": "span", "strokeWidth": thin},
        "encoding": {"x": x, "y": y, **looks, **series.dashes(),
                     "detail": {"field": "model", "type": "nominal"}, **picked(0.55 if series.many else 1.0)},
    }]  # fmt: skip
    if not series.many:
        layers.append({
            **only("low", "high"),
            "mark": {"type": "rule", "style": "span", "strokeWidth": 1.2},
            "encoding": {"x": x, "y": quantity("low", y_domain, axis=y_axis), "y2": {"field": "high"},
                         **looks,
                         **picked(0.7)},
        })  # fmt: skip
    for level, style in (("chance", "chance"), ("noise", "noise")):
        layers += _levels(series, given, level, style, x_domain, y_domain, x_axis, y_axis, legend)
    if chance is not None:
        layers.append({
            "data": values([{"y": number(chance), "text": chance_text}]),
            "mark": {"type": "rule", "style": "chance"},
            "encoding": {"y": y, "tooltip": tips(text="chance")},
        })  # fmt: skip
    points: Spec = {
        "mark": {"type": "point", "style": "series", "filled": True, "size": 14 if series.many else 42},
        "encoding": {
            "x": x, "y": y, **series.looks("color", "shape", legend=legend), **picked(),
            "tooltip": [
                *series.tip,
                *counted(x=(x_name, ".4~g"), y=(y_name, ".3f"), low=("from", ".3f"), high=("to", ".3f"),
                         noise=("noise floor", ".3f"), n=("documents", ",d")),
            ],
        },
    }  # fmt: skip
    if first:
        # A legend is that of the first layer, and so is what it answers to.
        layers[0]["params"] = [series.param(legend=legend is not None)]
    layers.append(points)
    if any(row["ring"] for row in data) and not series.many:
        layers.append({
            **only(ring=True),
            "mark": {"type": "point", "style": "strong", "filled": False, "fill": "transparent", "size": 130,
                     "shape": "circle", "strokeWidth": 1.3},
            "encoding": {"x": x, "y": y, **picked()},
        })  # fmt: skip
    made: Spec = {"data": values(data), "width": size[0], "height": size[1], "layer": layers}
    return {**made, "title": heading(title)} if title else made


def _rows(series: Series, curve: Curve) -> list[dict[str, Any]]:
    rows = []
    for k, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
        if not math.isfinite(y):
            continue
        noise = curve.noise if isinstance(curve.noise, float) else curve.noise[k]
        rows.append(lean({
            **series.said(curve.model),
            "dash": series.dash(curve.model),
            "x": number(x),
            "y": number(y),
            "low": number(curve.low[k]),
            "high": number(curve.high[k]),
            "noise": number(noise),
            "ring": x == curve.ring,
            "n": curve.n[k] if k < len(curve.n) else None,
        }))  # fmt: skip
    return rows


def _levels(
    series: Series, given: Sequence[Curve], level: str, style: str, x_domain: tuple[float, float],
    y_domain: tuple[float, float], x_axis: Spec, y_axis: Spec, legend: dict[str, Any] | None,
) -> list[Spec]:  # fmt: skip
    """Return a line across the panel for each model, or one through its points, at its own level."""
    flat: list[dict[str, Any]] = []
    bent: list[dict[str, Any]] = []
    for curve in given:
        of = curve.chance if level == "chance" else curve.noise
        head = series.said(curve.model)
        if isinstance(of, float):
            flat += [{**head, "level": number(of)}] if math.isfinite(of) else []
        else:
            bent += [
                {**head, "x": number(x), "level": number(y)}
                for x, y in zip(curve.x, of, strict=True) if math.isfinite(y)
            ]  # fmt: skip
    name = "noise floor" if level == "noise" else "chance"
    encoding = {
        "y": quantity("level", y_domain, axis=y_axis), **series.looks("color", legend=legend),
        **picked(0.3 if series.many else 0.8),
        "tooltip": [*series.tip, *counted(level=(name, ".3f"))],
    }  # fmt: skip
    layers: list[Spec] = []
    if flat:
        layers.append({"data": values(flat), "mark": {"type": "rule", "style": style}, "encoding": encoding})
    if bent:
        across = {"x": quantity("x", x_domain, axis=x_axis), "detail": {"field": "model", "type": "nominal"}}
        layers.append(
            {"data": values(bent), "mark": {"type": "line", "style": style}, "encoding": encoding | across}
        )
    return layers


def room(values: Sequence[float], least: float = 0.0) -> tuple[float, float]:
    """Return a domain from ``least`` or below that holds all values, with a little room at its top.

    Examples
    --------
    >>> room([0.1, 0.5, float("nan")])
    (0.0, 0.53)
    """
    known = [value for value in values if math.isfinite(value)]
    high = max(known, default=1.0)
    low = min([least, *known])
    return low, high + 0.06 * ((high - low) or 1.0)
