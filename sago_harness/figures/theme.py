"""How figures look: fonts, colours, shapes and dashes, in light and in dark.

Specifications name no colour of text, background or series; they come from here as Vega-Lite's
configuration, so that one specification serves a light page, a dark page and a sheet of paper. A series
has its own shape and dash beside its colour and is told apart without it: in grey, and by eyes
that do not tell red from green. The colours are taken from the palettes of Okabe and Ito (2008) and of Tol
(2021), chosen and ordered so that any two differ by at least 17 (CIE 1976) to ordinary, deuteranope and
protanope eyes, and each stands out against its background by 3 to 1.
"""

from __future__ import annotations

import math
from typing import Any

#: Version of Vega-Lite that all figures are made for, as vl-convert names it.
VEGA_LITE = "6.4"

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

#: Font of drawn files; it stands in the folder ``fonts``.
FONT = "DejaVu Sans"

#: Fonts of the report: what the reader's system has, Chinese after Latin.
STACK = (
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "Liberation Sans", Arial, '
    '"PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", '
    '"Source Han Sans SC", "WenQuanYi Micro Hei", sans-serif'
)

LIGHT = ("#0072b2", "#d55e00", "#111111", "#009988", "#332288", "#882255", "#ee3377", "#117733")
DARK = ("#56b4e9", "#e69f00", "#f4f4f4", "#009e73", "#ddcc77", "#cc79a7", "#d55e00", "#f0e442")

#: More models than this are not told apart by looks: they are drawn alike, and named by labels and tooltips.
MOST = 12


def _star(points: int, inner: float) -> str:
    """Return the outline of a star, or of a polygon where ``inner`` is 1."""
    steps = 2 * points if inner < 1.0 else points
    corners = []
    for k in range(steps):
        radius = inner if inner < 1.0 and k % 2 else 1.0
        angle = 2.0 * math.pi * k / steps
        corners.append(f"{radius * math.sin(angle):.3f},{-radius * math.cos(angle):.3f}")
    return f"M{'L'.join(corners)}Z"


#: A shape for each of :data:`MOST` series.
SHAPES: tuple[str, ...] = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    _star(5, 0.45),
    "triangle-right",
    "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0Z",
    "triangle-left",
    _star(5, 1.0),
    "M-1,-.35H1V.35H-1Z",
)

#: Short lines that mark a level in a row, or above a point.
UPRIGHT, LEVEL = "M0,-1V1", "M-1,0H1"

#: A dash for each of :data:`MOST` series.
DASHES: tuple[tuple[int, ...], ...] = (
    (1, 0),
    (7, 3),
    (2, 2),
    (9, 3, 2, 3),
    (14, 4),
    (5, 2, 1, 2, 1, 2),
    (4, 6),
    (12, 2, 4, 2),
    (1, 4),
    (16, 3, 1, 3),
    (3, 1),
    (8, 8),
)

#: From little to much: light yellow to dark blue, matplotlib's cividis turned round (Nunez, Anderton and
#: Renslow, 2018). Its luminance falls all the way, so it can be read in grey.
HEAT: tuple[str, ...] = (
    "#fee838", "#e5cf52", "#c8b866", "#ada272", "#948e77", "#7d7c78",
    "#666970", "#4f576c", "#35456c", "#0c3470", "#00224e",
)  # fmt: skip

#: Parts of a whole, from dark to light; in order of luminance.
PARTS: tuple[str, ...] = ("#0b3c5d", "#0072b2", "#c26a1b", "#8fc1e3", "#dcdcdc")


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2), 0 = black, 1 = white.

    Examples
    --------
    >>> luminance("#ffffff"), luminance("#000000"), round(luminance("#ff0000"), 4)
    (1.0, 0.0, 0.2126)
    """
    parts = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(colour: str) -> str:
    """Return black or white, whichever stands out more on a colour.

    Examples
    --------
    >>> ink_on("#fee838"), ink_on("#00224e")
    ('#000000', '#ffffff')
    """
    level = luminance(colour)
    return "#ffffff" if 1.05 / (level + 0.05) > (level + 0.05) / 0.05 else "#000000"


def light(font: str = STACK, background: str | None = None) -> dict[str, Any]:
    """Return Vega-Lite's configuration for a light page, or paper.

    Parameters
    ----------
    font : str
        Families, as CSS has them.
    background : str, optional
        Default: none, the page shows through.

    Examples
    --------
    >>> light()["range"]["category"][0]
    '#0072b2'
    """
    return _config(font, background, "#1b1b1b", "#595959", "#e3e3e3", "#8a8a8a", LIGHT)


def dark(font: str = STACK, background: str | None = None) -> dict[str, Any]:
    """Return Vega-Lite's configuration for a dark page; parameters as for :func:`light`."""
    return _config(font, background, "#ececec", "#b4b4b4", "#3a3a3a", "#8a8a8a", DARK)


def _config(
    font: str,
    background: str | None,
    ink: str,
    muted: str,
    grid: str,
    line: str,
    palette: tuple[str, ...],
) -> dict[str, Any]:
    text = {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    return {
        "background": background or "transparent",
        "font": font,
        "padding": 6,
        "view": {"stroke": None},
        "concat": {"spacing": 18},
        "axis": {
            **text,
            "labelColor": ink,
            "titleColor": muted,
            "gridColor": grid,
            "domainColor": line,
            "tickColor": line,
            "titlePadding": 6,
        },
        "axisY": {"labelPadding": 5},
        "legend": {
            **text,
            "labelColor": ink,
            "titleColor": muted,
            "symbolStrokeWidth": 2,
            "labelLimit": 260,
            "symbolSize": 70,
            "gradientLength": 330,
            "gradientHorizontalMaxLength": 330,
            "gradientHorizontalMinLength": 330,
        },
        "title": {
            "anchor": "start",
            "frame": "group",
            "offset": 14,
            "color": ink,
            "fontSize": 12,
            "fontWeight": "normal",
            "subtitleColor": muted,
            "subtitleFontSize": 11,
            "subtitlePadding": 5,
        },
        "range": {"category": list(palette), "heatmap": list(HEAT), "ramp": list(HEAT)},
        "mark": {"tooltip": False},
        "style": {
            "series": {"color": palette[0]},
            "span": {"color": palette[0]},
            "chance": {"color": ink, "strokeDash": [5, 4], "strokeWidth": 1.2},
            "noise": {"color": ink, "strokeDash": [1, 2.5], "strokeWidth": 1.6},
            "told": {"color": muted, "fontSize": 10.5},
            "plain": {"color": ink, "fontSize": 11},
            "missing": {"color": line, "strokeWidth": 0.8},
            "edge": {"color": line, "strokeWidth": 0.8},
            "strong": {"color": ink},
        },
    }
