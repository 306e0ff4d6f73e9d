"""A value with its interval on a small scale, for a cell of the leaderboard: drawn without a script."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

_WIDTH, _HEIGHT, _EDGE = 180, 18, 6


@dataclass(frozen=True)
class Scale:
    """A scale from ``low`` to ``high`` with round ends.

    Attributes
    ----------
    low, high : float
    ticks : tuple of float
    chance : float
        Level of chance that all values share, in the drawing of each; NaN for none.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    chance: float = math.nan

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def place(self, value: float) -> float:
        """Return where a value lies in the drawing, held to its ends."""
        share = (value - self.low) / (self.high - self.low)
        return round(_EDGE + min(1.0, max(0.0, share)) * (_WIDTH - 2 * _EDGE), 2)

    def head(self) -> Markup:
        """Return the scale itself, to stand above the column."""
        marks = Markup("").join(
            Markup('<text x="{}" y="12" text-anchor="middle">{}</text>').format(self.place(tick), f"{tick:g}")
            for tick in self.ticks
        )
        return self._drawing(marks)

    def row(self, value: float, low: float, high: float, noise: float = math.nan) -> Markup:
        """Return the drawing of one value with chance and its own noise floor.

        Parameters
        ----------
        value, low, high : float
            The grid and the levels alone for a value that is not known.
        noise : float
            NaN for none.
        """
        parts = [self._grid()]
        if math.isfinite(self.chance):
            parts.append(_upright("chance", self.place(self.chance)))
        if math.isfinite(value) and math.isfinite(low) and math.isfinite(high):
            parts.append(
                Markup('<line class="span" x1="{}" x2="{}" y1="9" y2="9"/>').format(
                    self.place(low), self.place(high)
                )
            )
        if math.isfinite(noise):
            parts.append(_upright("noise", self.place(noise)))
        if math.isfinite(value):
            parts.append(Markup('<circle cx="{}" cy="9" r="3.5"/>').format(self.place(value)))
        return self._drawing(Markup("").join(parts))

    def _grid(self) -> Markup:
        return Markup("").join(_upright("grid", self.place(tick)) for tick in self.ticks)

    def _drawing(self, inside: Markup) -> Markup:
        return Markup(
            '<svg class="whisker" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true">{}</svg>'
        ).format(_WIDTH, _HEIGHT, _WIDTH, _HEIGHT, inside)


def _upright(name: str, x: float) -> Markup:
    return Markup('<line class="{}" x1="{}" x2="{}" y1="0" y2="{}"/>').format(name, x, x, _HEIGHT)


def scale_of(values: Iterable[float], chance: float = math.nan) -> Scale:
    """Return a scale that holds all finite values and chance, with two to six round ticks.

    Examples
    --------
    >>> scale_of([0.42, 0.61, float("nan")]).ticks
    (0.4, 0.5, 0.6, 0.7)
    >>> scale_of([0.42, 0.61], chance=0.0).ticks
    (0.0, 0.5, 1.0)
    >>> str(scale_of([]))
    '0 to 1'
    """
    known = [value for value in (*values, chance) if math.isfinite(value)]
    if not known or known == [chance]:
        return Scale(0.0, 1.0, (0.0, 0.5, 1.0), chance)
    low, high = min(known), max(known)
    spread = max(high - low, 1e-3 * max(1.0, abs(high)))
    power = 10.0 ** math.floor(math.log10(spread))
    step = next(power * k for k in (0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if spread <= 3 * power * k)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    ticks = tuple(float(f"{k * step:.10g}") for k in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks, chance)
