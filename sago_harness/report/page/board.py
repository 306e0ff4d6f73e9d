"""The leaderboard in front: one row a model, its interval drawn beside chance and noise, and its file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from sago_harness.figures.places import is_own, noise_note, place_of
from sago_harness.report.main_score import main_score
from sago_harness.report.page.standing import Standing
from sago_harness.report.page.whisker import Scale, scale_of
from sago_harness.report.tables import Cell, Column, Table
from sago_harness.stats.comparison import Comparison

_AXES = ("sago_generation", "sago_activation", "sago_confidence", "sago_mirroring")

_BESIDE = ("acc", "acc_mean", "acc_worst", "flip")


@dataclass(frozen=True)
class Board:
    """What the leaderboard shows.

    Attributes
    ----------
    rows : tuple of Standing
    score : str
        By which they are ordered.
    axes, beside : tuple of str
        Columns that any model has.
    scale : Scale
        Of the drawn intervals.
    noise : dict of str to float
        Model -> what noise alone would leave of its score; those without it are not there.
    notes : tuple of str
        Why no noise floor is drawn.
    table : Table
        The same, with all digits.
    """

    rows: tuple[Standing, ...]
    score: str
    axes: tuple[str, ...]
    beside: tuple[str, ...]
    scale: Scale
    noise: Mapping[str, float]
    notes: tuple[str, ...]
    table: Table = field(repr=False)

    @property
    def ranked(self) -> bool:
        """Say whether any model has a rank."""
        return any(one.ranks for one in self.rows)

    @property
    def key(self) -> str:
        """Say how the drawn intervals are read."""
        parts = ["Drawn: point and bar, the score and its interval"]
        if math.isfinite(self.scale.chance):
            parts.append(f"dashed line at {self.scale.chance:g}, chance")
        if self.noise:
            parts.append("dotted line, noise: the score that asking the very same again would leave")
        return f"{'; '.join(parts)}."

    def drawn(self, one: Standing) -> Markup:
        """Return the drawing of a model's score."""
        noise = self.noise.get(one.model, math.nan)
        return self.scale.row(one.score.value, one.score.low, one.score.high, noise)

    def __str__(self) -> str:
        return f"{len(self.rows)} models by {self.score}"


def board_of(rows: Sequence[Standing], found: Comparison) -> Board:
    """Return the leaderboard.

    Parameters
    ----------
    rows : sequence of Standing
        Of :func:`sago_harness.report.page.standing.standings`.
    found : Comparison
    """
    score = main_score(found) or (found.scores[0] if found.scores else "score")
    names = dict.fromkeys(axis.name for one in rows for axis in one.axes)
    axes = tuple(sorted(names, key=lambda name: _AXES.index(name) if name in _AXES else len(_AXES)))
    beside = tuple(key for key in _BESIDE if any(one.row.get(key) is not None for one in rows))
    noise = _noise(rows, found)
    chance = 0.0 if is_own(found) else math.nan
    bounds = [bound for one in rows for bound in (one.score.value, one.score.low, one.score.high)]
    return Board(
        tuple(rows), score, axes, beside, scale_of([*bounds, *noise.values()], chance), noise,
        noise_note(found, score, bool(noise)), _table(rows, found, score, (*axes, *beside), noise, chance),
    )  # fmt: skip


def _noise(rows: Sequence[Standing], found: Comparison) -> dict[str, float]:
    place = place_of(found)
    made = {}
    for one in rows:
        levels = place.noise.get(one.score.name)
        if levels is not None and one.model in place.models:
            made[one.model] = float(levels[place.models.index(one.model)])
    return {model: level for model, level in made.items() if math.isfinite(level)}


def _table(
    rows: Sequence[Standing], found: Comparison, score: str, names: Sequence[str],
    noise: Mapping[str, float], chance: float,
) -> Table:  # fmt: skip
    columns = (
        Column("model", kind="text"),
        Column("ranks", kind="ranks"),
        Column("score", kind="text"),
        Column("value"),
        Column("interval", f"{found.settings.confidence} interval", "interval"),
        Column("noise", "noise alone"),
        Column("chance"),
        *(Column(name) for name in names),
        Column("documents", "n", "count"),
        Column("flags", kind="text"),
        Column("reason", kind="text"),
    )
    cells: list[tuple[Cell, ...]] = [
        (
            one.model,
            None if one.ranks is None else (float(one.ranks[0]), float(one.ranks[1])),
            one.score.name,
            one.score.value,
            (one.score.low, one.score.high),
            noise.get(one.model, math.nan),
            chance,
            *(_number(one.row.get(name)) for name in names),
            _number(one.row.get("documents")),
            ", ".join(one.flags),
            "; ".join(dict.fromkeys(why for why in (one.reason, one.unranked) if why)),
        )
        for one in rows
    ]
    return Table("board", f"Models by {score}", columns, tuple(cells))


def _number(cell: object) -> float | int | None:
    return cell if isinstance(cell, int | float) else None
