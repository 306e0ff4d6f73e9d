"""The leaderboard as a figure: scores with intervals, rank ranges, chance and the ceiling that noise sets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.panels import arranged
from sago_harness.figures.places import Place, Value, is_own, noise_note, place_of, where
from sago_harness.figures.plain import some, span, told
from sago_harness.figures.series import Series, ordered
from sago_harness.figures.strips import Row, strip
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison

_WIDTH = 380

_KEY = (
    "Higher is more stable. Bar: {level} interval. Dashed line at 0: chance, as if every "
    "variant were another "
    "question. Right end, 1: nothing moves. {noise} Ranks: all true ranks at once, {level}."
)

_NOISE = "Dotted tick: what the noise of asking the same again leaves."


def standing(study: Study) -> list[Drawn]:
    """Return the leaderboard in each score; one model is shown with its scores, without a rank.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    place = place_of(found)
    return [_score(found, place, score) for score in found.scores if score in place.quantities]


def _score(found: Comparison, place: Place, score: str) -> Drawn:
    title = f"Leaderboard: {score}, {where(place.name)}"
    name = f"standing-{score}"
    given = place.values(score)
    if not any(math.isfinite(one.value) for one in given):
        reason = f"no model has {score}: {some(dict.fromkeys(one.reason for one in given if one.reason), 2)}"
        return NotDrawn(name, "standing", title, reason)
    higher = place.quantities[score].higher_is_better
    by = {one.model: one for one in given}
    order = ordered([one.model for one in given], [one.value for one in given], higher=higher)
    ranks = {model: _ranks(found, place.name, score, model) for model in order}
    series = Series(found.models)
    rows = [_row(by[model], ranks[model][1]) for model in order]
    own = is_own(found)
    domain = (0.0, 1.0) if own else _ends(given)
    panel = strip(
        series, rows, domain=domain, x_title=score, chance=0.0 if own else None,
        chance_text="0 = as if every variant were another question", width=_WIDTH, side="rank", first=True,
    )  # fmt: skip
    noisy = any(math.isfinite(one.noise) for one in given)
    level = found.settings.confidence
    key = _KEY.format(level=level, noise=_NOISE if noisy else "") if own else f"Bar: {level} interval."
    return Figure(
        name, "standing", title, _words(score, order, by, ranks, own),
        arranged([panel], " ".join(key.split()), columns=1, width=_WIDTH + 200),
        _table(found, score, name, title, [by[model] for model in order], ranks, own),
        noise_note(found, score, noisy),
    )  # fmt: skip


_NOT_RANKED = {
    "stock_answers": "not ranked: stock answers",
    "sampling": "not ranked: answers drawn at random",
}


def _ranks(found: Comparison, place: str, score: str, model: str) -> tuple[tuple[int, int] | None, str]:
    """Return a model's rank range, and how it is told."""
    table = found.ranks.get(place, {}).get(score)
    if table is None:
        return None, ""
    if model in table.models:
        at = table.models.index(model)
        low, high = int(table.lower[at]), int(table.upper[at])
        return (low, high), f"{low}" if low == high else f"{low}-{high}"
    why = table.excluded.get(model, "")
    return None, _NOT_RANKED.get(why, "not ranked")


def _row(one: Value, rank: str) -> Row:
    reason = f"no value: {one.reason}" if one.reason else ""
    return Row(one.model, one.value, one.low, one.high, one.noise, reason=reason, side=rank, n=one.n)


def _ends(given: list[Value]) -> tuple[float, float]:
    """Return the ends of the scale of a published scheme, whose scores have no bounds of their own."""
    known = [x for one in given for x in (one.value, one.low, one.high) if math.isfinite(x)]
    low, high = min(known), max(known)
    room = 0.08 * (high - low) or 0.1 * max(abs(high), 1e-6)
    return low - room, high + room


def _words(
    score: str, order: list[str], by: dict[str, Value],
    ranks: dict[str, tuple[tuple[int, int] | None, str]], own: bool,
) -> str:  # fmt: skip
    known = [by[model] for model in order if math.isfinite(by[model].value)]
    first, last = known[0], known[-1]
    scale = " on a scale from 0, chance, to 1, nothing moves" if own else ""
    if len(known) == 1:
        return f"{score} of {first.model}: {told(first.value)} {_interval(first)}{scale}."
    rank = ranks[first.model][1]
    ranked = f", rank {rank}" if ranks[first.model][0] else f", {rank}" if rank else ""
    return (
        f"{score} of {len(known)} models{scale}: from {told(first.value)} {_interval(first)} of {first.model}"
        f"{ranked}, to {told(last.value)} {_interval(last)} of {last.model}."
    )


def _interval(one: Value) -> str:
    return span(one.low, one.high) if math.isfinite(one.low) and math.isfinite(one.high) else "(no interval)"


def _table(
    found: Comparison, score: str, name: str, title: str, given: list[Value],
    ranks: dict[str, tuple[tuple[int, int] | None, str]], own: bool,
) -> Table:  # fmt: skip
    columns = [
        Column("model", kind="text"),
        Column(score),
        Column("interval", f"{found.settings.confidence} interval", "interval"),
        Column("ranks", kind="ranks"),
        Column("noise", "noise ceiling"),
        Column("chance"),
        Column("documents", "n", "count"),
        Column("reason", kind="text"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for one in given:
        ends, text = ranks[one.model]
        ranked: Cell = None if ends is None else (float(ends[0]), float(ends[1]))
        reason = one.reason or (text if ends is None else "")
        chance = 0.0 if own else np.nan
        rows.append((one.model, one.value, (one.low, one.high), ranked, one.noise, chance, one.n, reason))
    return Table(name, title, tuple(columns), tuple(rows))
