"""Ranks across data sets, and how sure it is that two models swap places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import columns, labels, whole
from sago_harness.figures.panels import Spec, arranged, quantity, tips, values
from sago_harness.figures.plain import number, some
from sago_harness.figures.reversals import CERTAINTY, Turn, certainty_marks, reversals_figure, turns
from sago_harness.figures.series import Series, picked
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison

_RANK = (
    "Rank on each data set, 1 = most stable; models below the line are not ranked there (stock "
    "answers, answers drawn at random, or no value). "
)

_KEY = _RANK + "Where two lines cross between neighbours, the mark says how sure that is: "

#: More crossings than this cannot be told apart.
MOST_CROSSINGS = 40

_MANY = (
    f"Lines cross more than {MOST_CROSSINGS} times between neighbours, too often to mark each: confirmed "
    "reversals alone have a mark (solid = confirmed by a test, corrected for all of them)."
)


@dataclass(frozen=True)
class _Spot:
    """A model on a data set: its slot in the drawing, and its rank where it has one."""

    task: int
    model: str
    slot: float
    rank: int | None
    bounds: tuple[int, int] | None
    why: str


def bump(study: Study) -> list[Drawn]:
    """Return, for each score, the ranks across data sets and all reversals that are seen.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    made: list[Drawn] = []
    for score in found.scores:
        made += [_ranks(found, score), reversals_figure(found, score)]
    return made


def _ranks(found: Comparison, score: str) -> Drawn:
    name, title = f"bump-{score}", f"Ranks across data sets: {score}"
    if len(found.tasks) < 2:
        return NotDrawn(name, "bump", title, "there is one data set: a ranking cannot turn round")
    if len(found.models) < 2:
        return NotDrawn(name, "bump", title, "there is one model: it has no rank")
    spots = _spots(found, score)
    if not any(spot.rank is not None for spot in spots):
        return NotDrawn(name, "bump", title, f"no model is ranked in {score} on any data set")
    series = Series(found.models)
    seen = turns(found, score)
    width = max(260, (92 if len(found.tasks) <= 8 else 66) * (len(found.tasks) - 1) + 90)
    crossings = _crossings(found, spots, seen)
    key = _KEY + CERTAINTY
    if len(crossings) > MOST_CROSSINGS:
        crossings = [one for one in crossings if one.turn.certainty == "confirmed"]
        key = f"{_RANK}{_MANY} {_unmarked(len(crossings))}"
        # The surest come first.
        crossings = crossings[:MOST_CROSSINGS]
    panel = _panel(found, series, spots, crossings, width)
    spec = arranged([panel], key, columns=1, width=width + 160)
    table = Table(
        name, title,
        (Column("task", "data set", "text"), Column("model", kind="text"), Column("rank", kind="count"),
         Column("bounds", "rank range", "ranks"), Column("reason", kind="text")),
        tuple(_row(found, spot) for spot in spots),
    )  # fmt: skip
    table_of = found.reversals.get(score)
    words = table_of.headline if table_of is not None else f"{score}: reversals are not tested"
    return Figure(name, "bump", title, f"{_leaders(found, spots)} {words}.", spec, table)


def _unmarked(confirmed: int) -> str:
    """Say what a crossing without a mark is, where confirmed ones alone have one."""
    if not confirmed:
        without = "None is confirmed here"
    elif confirmed <= MOST_CROSSINGS:
        without = "A crossing without a mark is not confirmed"
    else:
        without = f"These are the {MOST_CROSSINGS} surest of them"
    return f"{without}; the figure of reversals has those of every certainty."


def _row(found: Comparison, spot: _Spot) -> tuple[Cell, ...]:
    bounds = None if spot.bounds is None else (float(spot.bounds[0]), float(spot.bounds[1]))
    return found.tasks[spot.task], spot.model, spot.rank, bounds, spot.why


def _spots(found: Comparison, score: str) -> list[_Spot]:
    """Return every model on every data set that it was run on; those without a rank below all ranks."""
    most = max((len(found.ranks[t][score].models) for t in found.tasks if score in found.ranks.get(t, {})),
               default=0)  # fmt: skip
    made = []
    for t, task in enumerate(found.tasks):
        ranks = found.ranks.get(task, {}).get(score)
        if ranks is None:
            continue
        order = sorted(range(len(ranks.models)), key=lambda k: (int(ranks.rank[k]), ranks.models[k]))
        for slot, k in enumerate(order, start=1):
            bounds = (int(ranks.lower[k]), int(ranks.upper[k]))
            made.append(_Spot(t, ranks.models[k], float(slot), int(ranks.rank[k]), bounds, ""))
        for below, (model, why) in enumerate(sorted(ranks.excluded.items()), start=1):
            reason = ranks.reasons.get(model) or why.replace("_", " ")
            made.append(_Spot(t, model, most + 0.5 + below, None, None, f"not ranked: {reason}"))
    return made


@dataclass(frozen=True)
class _Crossing:
    x: float
    y: float
    turn: Turn


def _crossings(found: Comparison, spots: Sequence[_Spot], seen: Sequence[Turn]) -> list[_Crossing]:
    """Return where the lines of two models cross between neighbouring data sets."""
    slot = {(spot.task, spot.model): spot.slot for spot in spots if spot.rank is not None}
    made = []
    for turn in seen:
        p, q = found.tasks.index(turn.result.first), found.tasks.index(turn.result.second)
        ends = [slot.get((task, model)) for model in (turn.result.a, turn.result.b) for task in (p, q)]
        if q != p + 1 or None in ends:
            continue
        a0, a1, b0, b1 = (float(end) for end in ends if end is not None)
        if (a0 - b0) * (a1 - b1) >= 0.0:
            continue
        share = (b0 - a0) / ((a1 - a0) - (b1 - b0))
        made.append(_Crossing(p + share, a0 + share * (a1 - a0), turn))
    return made


def _panel(
    found: Comparison, series: Series, spots: Sequence[_Spot], crossings: Sequence[_Crossing], width: int
) -> Spec:
    tasks = labels(found.tasks, 24)
    last = len(found.tasks) - 1
    ranked = [spot for spot in spots if spot.rank is not None]
    lowest = max(spot.slot for spot in ranked)
    bottom = max(spot.slot for spot in spots)
    y_domain, x_domain = (bottom + 0.6, 0.4), (-0.2, last + 0.2)
    step = max(1, math.ceil(lowest / 25))
    y_axis = {"title": "rank", "values": list(range(1, int(lowest) + 1, step)), "format": "d", "grid": False,
              "domain": False, "ticks": False}  # fmt: skip
    x = quantity("x", x_domain, axis=None)
    # Names stand there where there are too many models for a legend, with the ranks behind them.
    y = quantity("y", y_domain, axis=None if series.many else y_axis)
    legend = series.legend(width + 120)
    looks = series.looks("color", legend=legend)
    data = [_datum(found, series, spot) for spot in spots]
    told_fields = [
        *series.tip,
        *tips(task="data set", rank_text="rank", bounds="rank range", why="note"),
    ]
    points: Spec = {
        "data": values([row for row in data if row["ranked"]]),
        "mark": {"type": "point", "style": "series", "filled": True, "size": 28 if series.many else 80},
        "encoding": {"x": x, "y": y, "tooltip": told_fields,
                     **series.looks("color", "shape", legend=legend), **picked()},
    }  # fmt: skip
    layers: list[Spec] = [{
        "data": values([{"x": t, "text": tasks[task]} for t, task in enumerate(found.tasks)]),
        "mark": {"type": "rule", "style": "edge", "opacity": 0.5},
        "encoding": {"x": x},
    }, {
        "data": values(_lines(found, series, spots)),
        # A legend is that of the first layer in colour, and so is what it answers to.
        "params": [series.param(legend=True)],
        "mark": {"type": "line", "style": "span", "strokeWidth": 1.2 if series.many else 2.2},
        "encoding": {"x": x, "y": y, **looks, **series.dashes(),
                     "detail": {"field": "run", "type": "nominal"}, **picked(0.5 if series.many else 0.9)},
    }, points]  # fmt: skip
    below = [row for row in data if not row["ranked"]]
    if below:
        layers += [{
            "data": values([{"y": lowest + 0.8}]),
            "mark": {"type": "rule", "style": "edge"},
            "encoding": {"y": y},
        }, {
            "data": values(below),
            "mark": {"type": "point", "style": "series", "filled": False, "fill": "transparent", "size": 60},
            "encoding": {"x": x, "y": y, "tooltip": told_fields,
                         **series.looks("color", "shape", legend=legend), **picked()},
        }]  # fmt: skip
    layers += certainty_marks([_mark(one) for one in crossings], x, y)
    if series.many:
        layers += _names(data, 0, "right", -9, x, y)
    layers += _names(data, last, "left", 9, x, y)
    level = max(map(columns, tasks.values())) * 6.6 < width / max(1, last + 0.4)
    layers.append({
        "data": values([{"x": t, "text": tasks[task]} for t, task in enumerate(found.tasks)]),
        "mark": {"type": "text", "style": "plain", "baseline": "bottom",
                 "align": "center" if level else "left",
                 "angle": 0 if level else -30},
        "encoding": {"x": x, "y": {"value": -6}, "text": {"field": "text", "type": "nominal"}},
    })  # fmt: skip
    height = round((bottom + 0.2) * (16 if bottom > 12 else 24 if bottom > 4 else 34))
    return {"width": width, "height": height, "layer": layers}


def _datum(found: Comparison, series: Series, spot: _Spot) -> dict[str, Any]:
    return {
        **series.said(spot.model),
        "task": whole(found.tasks[spot.task]),
        "x": spot.task,
        "y": spot.slot,
        "ranked": spot.rank is not None,
        "rank_text": str(spot.rank) if spot.rank is not None else "-",
        "bounds": f"{spot.bounds[0]}-{spot.bounds[1]}" if spot.bounds else "-",
        "why": spot.why or "-",
    }


def _lines(found: Comparison, series: Series, spots: Sequence[_Spot]) -> list[dict[str, Any]]:
    """Return the points of lines; a line is broken where a model has no rank."""
    slot = {(spot.task, spot.model): spot.slot for spot in spots if spot.rank is not None}
    rows = []
    for model in found.models:
        run = 0
        for t in range(len(found.tasks)):
            if (t, model) not in slot:
                run += 1
                continue
            row = {"model": series.label[model], "dash": series.dash(model), "x": t, "y": slot[t, model]}
            rows.append({**row, "run": f"{series.dash(model)}.{run}"})
    return rows


def _mark(one: _Crossing) -> dict[str, Any]:
    return {"x": number(one.x), "y": number(one.y), **one.turn.datum()}


def _names(data: Sequence[dict[str, Any]], at: int, align: str, shift: int, x: Spec, y: Spec) -> list[Spec]:
    """Return the models' names at one end of their lines, on the left with their ranks."""
    rows = [
        {"x": row["x"], "y": row["y"], "model": row["model"],
         "text": row["model"] if align == "left" else f"{row['model']}  {row['rank_text']}"}
        for row in data if row["x"] == at
    ]  # fmt: skip
    if not rows:
        return []
    return [{
        "data": values(rows),
        "mark": {"type": "text", "style": "plain", "align": align, "dx": shift, "limit": 300},
        "encoding": {"x": x, "y": y, "text": {"field": "text", "type": "nominal"}, **picked()},
    }]  # fmt: skip


def _leaders(found: Comparison, spots: Sequence[_Spot]) -> str:
    first: dict[str, list[str]] = {}
    for spot in spots:
        if spot.rank == 1:
            first.setdefault(spot.model, []).append(found.tasks[spot.task])
    parts = [f"{model} on {len(tasks)}" for model, tasks in sorted(first.items(), key=lambda p: -len(p[1]))]
    unranked = {spot.model for spot in spots if spot.rank is None}
    left = f" Not ranked on some data set: {some(sorted(unranked))}." if unranked else ""
    count = f"{len(found.models)} models on {len(found.tasks)} data sets"
    return f"First of {count}: {some(parts)}.{left}"
