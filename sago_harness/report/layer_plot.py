"""Draws layer profiles: one panel a task, one line a run, with chance and noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.scores.profile import LayerProfile
from sago_harness.whole import whole

#: Endings of file names that can be drawn.
ENDINGS = (".svg", ".png", ".pdf")

#: The same figures give the same file: no date inside.
_METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}

_COLUMNS = 3


def draw_layers(profiles: Sequence[tuple[str, str, LayerProfile]], path: Path) -> None:
    """Write an SVG, PNG or PDF, by the file's ending; whole or not at all.

    Parameters
    ----------
    profiles : sequence of (str, str, LayerProfile)
        Panel, name of the line, profile with at least one layer.
    path : Path

    Raises
    ------
    SagoError
        If matplotlib is not installed or the file cannot be written.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SagoError("--plot needs matplotlib: pip install matplotlib, or leave it out") from error
    panels = list(dict.fromkeys(panel for panel, _, _ in profiles))
    columns = min(_COLUMNS, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(6.0 * columns, 4.0 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for panel, axes in zip(panels, grid.flat, strict=False):
        for number, (_, name, profile) in enumerate(p for p in profiles if p[0] == panel):
            _line(axes, name, profile, f"C{number % 10}")
        axes.axhline(1.0, color="black", linestyle="--", linewidth=1, label="chance: another question")
        axes.set_title(panel, parse_math=False)
        axes.set_xlabel("layer (0 = embedding)")
        axes.set_ylabel("r, with standard error")
        axes.set_ylim(bottom=0.0)
        axes.legend(fontsize=7)
    ending = path.suffix.lower()
    with whole(path) as partial, rc_context({"svg.hashsalt": "sago"}):
        figure.savefig(partial, format=ending[1:], metadata=_METADATA.get(ending))


def _line(axes: Any, name: str, profile: LayerProfile, colour: str) -> None:
    """Draw r with its standard error, and the noise of repeats on the same scale."""
    label = name.replace("$", r"\$")
    layers = [level.layer for level in profile.layers]
    values = [level.r for level in profile.layers]
    errors = [level.stderr if math.isfinite(level.stderr) else 0.0 for level in profile.layers]
    axes.errorbar(layers, values, yerr=errors, color=colour, marker="o", markersize=3, capsize=2, label=label)
    noise = [_relative(level.noise, level.controls) for level in profile.layers]
    if any(math.isfinite(value) for value in noise):
        axes.plot(layers, noise, color=colour, linestyle=":", label=f"{label}: repeats (noise)")


def _relative(noise: float, controls: float) -> float:
    return noise / controls if controls > 0.0 else float("nan")
