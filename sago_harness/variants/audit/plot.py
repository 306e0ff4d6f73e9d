"""Draws the audit: error bars with intervals, and where the scores lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError
from sago_harness.variants.audit.figures import clopper_pearson


def draw_audit(
    rates: Sequence[Mapping[str, Any]], scores: Mapping[str, Sequence[float]], threshold: float, path: Path
) -> None:
    """Write an SVG or PNG, by the file's ending.

    Parameters
    ----------
    rates : sequence of mapping
        Rows of the figures, those of the check alone are drawn.
    scores : mapping of str to sequence of float
        Group of pairs -> scores.
    threshold : float
        Drawn as a line.
    path : Path

    Raises
    ------
    SagoError
        If matplotlib is not installed.
    """
    rows = [row for row in rates if row["check"] == "equivalence" and row["n"]]
    figure = _figure(12, max(4.0, 0.24 * len(rows)))
    left, right = figure.subplots(1, 2)
    for at, row in enumerate(reversed(rows)):
        colour = "tab:blue" if row["error"] == "false refusal" else "tab:orange"
        left.barh(at, row["value"], color=colour)
        left.plot([row["low"], row["high"]], [at, at], color="black", linewidth=1)
    left.set_yticks(
        range(len(rows)), [f"{row['source']}: {row['kind']}" for row in reversed(rows)], fontsize=7
    )
    left.set_xlabel("false refusal (blue), false acceptance (orange), 95 % interval")
    left.set_xlim(0, 1)
    for name, values in scores.items():
        right.hist(list(values), bins=60, density=True, histtype="step", label=name)
    right.axvline(threshold, color="black", linestyle=":", label="threshold")
    right.set_xlabel("score of the check")
    right.set_ylabel("density")
    right.legend(fontsize=7)
    _save(figure, path)


def draw_pack(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write an SVG or PNG of a pack's audit: made and refused, and what the check doubts.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of the figures, one an operator.
    path : Path

    Raises
    ------
    SagoError
        If matplotlib is not installed.
    """
    figure = _figure(12, max(4.0, 0.26 * len(rows)))
    left, right = figure.subplots(1, 2, sharey=True)
    for at, row in enumerate(reversed(rows)):
        left.barh(at, row["made"], color="tab:blue")
        left.barh(at, row["refused"], left=row["made"], color="tab:orange")
        if row["judged"]:
            doubted = round(row["doubted"] * row["judged"])
            low, high = clopper_pearson(doubted, row["judged"])
            right.barh(at, row["doubted"], color="tab:green")
            right.plot([low, high], [at, at], color="black", linewidth=1)
    names = [row["operator"] or "(the document's own)" for row in reversed(rows)]
    left.set_yticks(range(len(rows)), names, fontsize=7)
    left.set_xlabel("variants made (blue) and refused (orange)")
    right.set_xlabel("share that the equivalence check would refuse, 95 % interval")
    right.set_xlim(0, 1)
    _save(figure, path)


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SagoError("--plot needs matplotlib: pip install matplotlib, or leave it out") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: Path) -> None:
    # No date inside, so that the same figures give the same file.
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
