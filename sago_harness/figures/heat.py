"""Heat maps: a number in each cell, its colour by the number, hatched where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sago_harness.figures.panels import Spec, heading, lean, only, tips, values
from sago_harness.figures.plain import number
from sago_harness.figures.theme import HEAT, ink_on

#: Lines of a hatched cell, twice as wide as high; a path of ours, scaled by the cell's size.
_HATCH = "M-1,.25L-.75,.5M-1,-.25L-.25,.5M-.75,-.5L.25,.5M-.25,-.5L.75,.5M.25,-.5L1,.25M.75,-.5L1,-.25"

#: Ends of the steps of colour of a relative instability, whose chance level is 1.
STEPS: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    row, column : str
        Labels.
    value : float
        NaN where there is none.
    text : str
        What stands in the cell.
    full : str
        What it is, for the tooltip.
    detail : str
        More for the tooltip, or why there is no value.
    second : str
        Second line in the cell; in the place of hatching where there is no value.
    """

    row: str
    column: str
    value: float
    text: str
    full: str
    detail: str = ""
    second: str = ""


@dataclass(frozen=True)
class Colours:
    """Steps of colour.

    Attributes
    ----------
    ends : tuple of float
        Ends of the steps, one fewer than colours.
    colours : tuple of str
        Lowest step first.
    title : str
        Of the legend.
    format : str
        Of its numbers, as d3 has it.
    """

    ends: tuple[float, ...]
    colours: tuple[str, ...]
    title: str
    format: str = ".1f"

    def ink(self, value: float) -> str:
        """Return the colour of a text on the cell of a value."""
        return ink_on(self.colours[sum(value >= end for end in self.ends)])


def instability_colours(title: str, *, higher: bool = False) -> Colours:
    """Return colours of a share of chance; darker is less stable, also where higher values are more so."""
    return Colours(STEPS, tuple(reversed(HEAT)) if higher else HEAT, title)


def heat(
    cells: Sequence[Cell],
    rows: Sequence[str],
    columns: Sequence[str],
    colours: Colours,
    *,
    title: str = "",
    size: tuple[int, int] = (44, 22),
    named: bool = True,
    row_title: str = "row",
    column_title: str = "column",
    value_title: str = "value",
) -> Spec:
    """Return one panel.

    Parameters
    ----------
    cells : sequence of Cell
    rows, columns : sequence of str
        Labels, from top to bottom and from left to right.
    colours : Colours
    title : str
    size : pair of int
        Of a cell, in pixels.
    named : bool
        Write the rows' labels.
    row_title, column_title, value_title : str
        Headings in tooltips.
    """
    width, height = size
    data = [_datum(cell, colours) for cell in cells]
    y: Spec = {
        "field": "row",
        "type": "nominal",
        "sort": None,
        "scale": {"type": "band", "domain": list(rows), "paddingInner": 0, "paddingOuter": 0},
        "axis": {"title": None, "labelLimit": 280, "ticks": False, "domain": False} if named else None,
    }
    # Short labels stand level.
    level = max((len(name) for name in columns), default=0) * 6.5 <= width
    x: Spec = {
        "field": "column",
        "type": "nominal",
        "sort": None,
        "scale": {"type": "band", "domain": list(columns), "paddingInner": 0, "paddingOuter": 0},
        "axis": {"title": None, "orient": "top", "labelAngle": 0 if level else -40, "labelLimit": 240,
                 "labelAlign": "center" if level else "left", "ticks": False, "domain": False,
                 "labelOverlap": False},
    }  # fmt: skip
    told_fields = tips(full=row_title, column=column_title, text=value_title, detail="note")
    layers: list[Spec] = [{
        **only("value"),
        "mark": {"type": "rect", "stroke": "#ffffff", "strokeWidth": 0.6},
        "encoding": {
            "x": x, "y": y,
            "color": {"field": "value", "type": "quantitative",
                      "scale": {"type": "threshold", "domain": list(colours.ends),
                                "range": list(colours.colours)},
                      "legend": {"title": colours.title, "format": colours.format, "orient": "bottom",
                                 "direction": "horizontal", "titleLimit": 500}},
            "tooltip": told_fields,
        },
    }]  # fmt: skip
    gone = [one for one in data if "value" not in one]
    if gone:
        marks: list[tuple[Spec, Spec]] = [
            (only(known=False), {"type": "rect", "style": "missing", "filled": False}),
            (only(known=False, hatched=True),
             {"type": "point", "style": "missing", "shape": _HATCH, "size": min(width, 2 * height) ** 2,
              "filled": False}),
        ]  # fmt: skip
        layers += [
            {**rows_of, "mark": mark, "encoding": {"x": x, "y": y, "tooltip": told_fields}}
            for rows_of, mark in marks
        ]
        if any(not one["hatched"] for one in gone):
            layers.append({
                **only("second", known=False),
                "mark": {"type": "text", "style": "told", "fontSize": 9, "limit": width - 4},
                "encoding": {"x": x, "y": y, "text": {"field": "second", "type": "nominal"},
                             "tooltip": told_fields},
            })  # fmt: skip
    layers += _texts(data, x, y, told_fields)
    made: Spec = {
        "data": values(data), "width": {"step": width}, "height": {"step": height}, "layer": layers
    }  # fmt: skip
    return {**made, "title": heading(title)} if title else made


def _datum(cell: Cell, colours: Colours) -> dict[str, Any]:
    value = number(cell.value)
    return lean({
        "row": cell.row,
        "column": cell.column,
        "value": value,
        "known": value is not None,
        "hatched": value is None and not cell.second,
        "text": cell.text,
        "second": cell.second,
        "full": cell.full,
        "detail": cell.detail,
        "white": value is not None and colours.ink(value) == "#ffffff",
    })  # fmt: skip


def _texts(data: list[dict[str, Any]], x: Spec, y: Spec, told_fields: list[Spec]) -> list[Spec]:
    layers: list[Spec] = []
    two = any("second" in one and one["known"] for one in data)
    for field, shift, size in (("text", -5 if two else 0, 10.5), ("second", 7, 8.5)):
        for white in (True, False):
            if any(one["white"] is white and one["known"] and field in one for one in data):
                layers.append({
                    **only(field, known=True, white=white),
                    "mark": {"type": "text", "fontSize": size, "dy": shift,
                             "color": "#ffffff" if white else "#000000"},
                    "encoding": {"x": x, "y": y, "text": {"field": field, "type": "nominal"},
                                 "tooltip": told_fields},
                })  # fmt: skip
    return layers
