"""Reversals by their certainty: which models change order between which data sets, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import labels, whole
from sago_harness.figures.panels import Spec, arranged, axis, quantity, tips, values
from sago_harness.figures.plain import number, told
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.stats.comparison import Comparison
    from sago_harness.stats.reversal import ReversalResult

#: Resampling support from which a reversal has an open mark: two equal models that happen to be seen in
#: opposite order have more than a half already.
SUPPORTED = 0.8

#: Pairs of models that have a row; the table has more.
MOST_PAIRS = 30

#: Reversals in the drawing and in its table: the surest ones.
MOST_TURNS = 400

CERTAINTY = (
    "solid = confirmed by a test, corrected for all of them; open = in at least 80 % of the resamples, not "
    "confirmed; faint dot = not shown."
)


@dataclass(frozen=True)
class Turn:
    """Two models in opposite order on two data sets."""

    result: ReversalResult

    @property
    def certainty(self) -> str:
        """Say how sure it is."""
        if self.result.confirmed:
            return "confirmed"
        supported = math.isfinite(self.result.support) and self.result.support >= SUPPORTED
        return "supported" if supported else "not shown"

    def datum(self) -> dict[str, Any]:
        """Return what tooltips and marks need."""
        one = self.result
        return {
            "pair": f"{whole(one.a)} and {whole(one.b)}",
            "orders": f"{whole(one.first)}: {whole(one.ahead_first) or 'neither'} ahead; "
            f"{whole(one.second)}: {whole(one.ahead_second) or 'neither'} ahead",
            "certainty": self.certainty,
            "support": number(one.support),
            "support_text": told(one.support, kind="share"),
            "p_text": told(one.pvalue_adjusted, kind="p"),
        }


def turns(found: Comparison, score: str) -> list[Turn]:
    """Return what is seen in the values or confirmed, the surest first.

    Parameters
    ----------
    found : Comparison
    score : str
    """
    table = found.reversals.get(score)
    if table is None:
        return []
    places = np.argwhere(table.observed | table.confirmed)
    keys = table.pvalue[places[:, 0], places[:, 1]]
    order = np.argsort(np.where(np.isfinite(keys), keys, np.inf), kind="stable")
    return [Turn(table.result(int(places[k][0]), int(places[k][1]))) for k in order[:MOST_TURNS]]


_TIPS = {"pair": "models", "orders": "who leads", "certainty": "certainty",
         "support_text": "resampling support",
         "p_text": "adjusted p"}  # fmt: skip

_MARKS: dict[str, dict[str, Any]] = {
    "not shown": {"filled": True, "size": 22, "opacity": 0.35, "shape": "circle"},
    "supported": {"filled": False, "size": 95, "strokeWidth": 1.6, "shape": "diamond"},
    "confirmed": {"filled": True, "size": 130, "shape": "diamond"},
}


def certainty_marks(rows: Sequence[dict[str, Any]], x: Spec, y: Spec) -> list[Spec]:
    """Return marks of reversals at their places, the surest on top.

    Parameters
    ----------
    rows : sequence of dict
        Of :meth:`Turn.datum`, with their places.
    x, y : dict
        Encodings.
    """
    layers: list[Spec] = []
    for certainty, mark in _MARKS.items():
        own = [row for row in rows if row["certainty"] == certainty]
        if own:
            layers.append({
                "data": values(own),
                "mark": {"type": "point", "style": "strong", "opacity": 1, **mark,
                         **({} if mark["filled"] else {"fill": "transparent"})},
                "encoding": {"x": x, "y": y, "tooltip": tips(**_TIPS)},
            })  # fmt: skip
    return layers


def reversals_figure(found: Comparison, score: str) -> Drawn:
    """Return all reversals of a score: a row a pair of models, a mark a pair of data sets.

    Parameters
    ----------
    found : Comparison
    score : str
    """
    name, title = f"bump-reversals-{score}", f"Reversals by certainty: {score}"
    table = found.reversals.get(score)
    if table is None or len(found.tasks) < 2 or len(found.models) < 2:
        return NotDrawn(name, "bump", title, "one model, or one data set: a ranking cannot turn round")
    seen = turns(found, score)
    if not seen:
        reason = "no two models change order between any two data sets"
        return NotDrawn(name, "bump", title, f"{reason} ({table.headline})")
    half = labels(found.models, 22)
    pairs = list(dict.fromkeys((turn.result.a, turn.result.b) for turn in seen))
    shown = pairs[:MOST_PAIRS]
    pair_label = dict(
        zip(shown, labels((f"{half[a]} / {half[b]}" for a, b in shown), 50).values(), strict=True)
    )
    width = 300
    data = [
        {"row": pair_label[turn.result.a, turn.result.b], **turn.datum()}
        for turn in seen
        if (turn.result.a, turn.result.b) in pair_label
    ]
    x = quantity(
        "support",
        (-0.02, 1.02),
        axis=axis("resampling support", 4, format=".0%", values=[0, 0.25, 0.5, 0.75, 1]),
    )
    y: Spec = {
        "field": "row", "type": "nominal", "sort": None,
        "scale": {"type": "point", "padding": 0.5, "domain": list(pair_label.values())},
        "axis": {"title": None, "labelLimit": 340, "ticks": False, "domain": False, "grid": True},
    }  # fmt: skip
    placed = [row for row in data if row["support"] is not None]
    task_label = labels(found.tasks, 22)
    best: dict[tuple[str, str], ReversalResult] = {}
    for turn in seen:
        best.setdefault((turn.result.a, turn.result.b), turn.result)
    sides = [
        {"row": label, "text": f"{task_label[best[pair].first]} / {task_label[best[pair].second]}"}
        for pair, label in pair_label.items()
    ]
    layers = [
        *certainty_marks(placed, x, y),
        {"data": values(sides), "mark": {"type": "text", "style": "told", "align": "left"},
         "encoding": {"x": {"value": width + 8}, "y": y, "text": {"field": "text", "type": "nominal"}}},
        {"data": values([{"text": "most clearly between"}]),
         "mark": {"type": "text", "style": "told", "align": "left", "baseline": "bottom"},
         "encoding": {"x": {"value": width + 8}, "y": {"value": -4},
                      "text": {"field": "text", "type": "nominal"}}},
    ]  # fmt: skip
    key = (
        "A row for each pair of models that change order, a mark for each pair of data sets: "
        + CERTAINTY
        + " Resampling support is no probability that the ranking reverses."
    )
    panel = {"width": width, "height": {"step": 22 if len(shown) <= 12 else 17}, "layer": layers}
    notes = []
    if len(pairs) > len(shown):
        notes.append(f"the {len(shown)} surest of {len(pairs)} pairs of models have a row")
    total = int((table.observed | table.confirmed).sum())
    if total > len(seen):
        notes.append(f"the table holds the {len(seen)} surest of {total:,} reversals that are seen")
    return Figure(name, "bump", title, _words(score, seen, table.headline),
                  arranged([panel], key, columns=1, width=620), _table(name, title, seen, notes),
                  tuple(notes))  # fmt: skip


def _table(name: str, title: str, seen: Sequence[Turn], notes: Sequence[str]) -> Table:
    columns = (
        Column("a", kind="text"),
        Column("b", kind="text"),
        Column("first", "on", "text"),
        Column("ahead_first", "ahead", "text"),
        Column("second", "and on", "text"),
        Column("ahead_second", "ahead", "text"),
        Column("p_adjusted", "adjusted p", "p"),
        Column("support", "resampling support", "share"),
        Column("probability", "P(reversal)", "share"),
        Column("certainty", kind="text"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.a, one.b, one.first, one.ahead_first or "neither", one.second, one.ahead_second or "neither",
            one.pvalue_adjusted, one.support, one.probability, turn.certainty,
        )
        for turn in seen for one in (turn.result,)
    ]  # fmt: skip
    return Table(name, title, columns, tuple(rows), tuple(notes))


def _words(score: str, seen: Sequence[Turn], headline: str) -> str:
    count = {kind: sum(turn.certainty == kind for turn in seen) for kind in _MARKS}
    return (
        f"{len(seen)} reversals of {score}: {count['confirmed']} confirmed, {count['supported']} in at least "
        f"{SUPPORTED:.0%} of the resamples, {count['not shown']} not shown. {headline}."
    )
