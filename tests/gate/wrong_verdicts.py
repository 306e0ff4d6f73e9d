"""How often bounds miss a known truth, over many studies at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sago_harness.gate.bounds import SPARE, BootstrapT, Bounds, Unseen
from sago_harness.gate.metrics import metric_of
from sago_harness.gate.strata import Stratum, degrees_of_freedom, studentised_within
from sago_harness.stats.intervals import studentised
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.resampling import TIE, Purpose

SOURCE = Purpose(0, "gate", "t")
LEVEL = 0.05

#: Studies of a case in the long version; the errors of docs/gate.md were found with so many.
LONG = 2000

#: Shares of studies in which the truth lies above the upper bound, and below the lower one.
Pair = tuple[float, float]


def allowed(count: int, level: float = LEVEL) -> float:
    """The level, and three standard errors of a share of so many studies."""
    return level + 3.0 * math.sqrt(level * (1.0 - level) / count)


def parts(count: int) -> int:
    """Many studies see an error of the truth that few do not."""
    return 3 if count >= 1000 else 1


def wrong(found: Bounds, true: float, level: float = LEVEL) -> tuple[bool, bool]:
    """Is the truth above the upper bound, below the lower one? Each is a wrong verdict at the margin."""
    return found.upper(level) < true, found.lower(level) > true


def shares(bounds: Sequence[Bounds], true: float, fine: np.ndarray | None = None) -> Pair:
    """Return both shares; studies that are not ``fine`` are undecided, and so not wrong."""
    sides = np.array([wrong(one, true) for one in bounds])
    if fine is not None:
        sides &= fine[:, None]
    above, below = sides.mean(axis=0)
    return float(above), float(below)


def bounds_of_runs(
    quantity: Quantity,
    resamples: int,
    slants: np.ndarray,
    strata: Sequence[Stratum] = (),
    unseen: Sequence[Unseen | None] | None = None,
    spare: float = SPARE,
) -> list[Bounds]:
    """Return the gate's bounds of every run of a table, each a study of its own."""
    metric = metric_of(quantity)
    span = (metric.low, metric.high)
    return _bounds(
        quantity.values, quantity.influence, quantity.counts, span, resamples, slants, strata, unseen, spare
    )


def bounds_of_pairs(
    quantity: Quantity,
    resamples: int,
    slants: np.ndarray,
    strata: Sequence[Stratum] = (),
    span: float = 2.0,
    spare: float = SPARE,
) -> list[Bounds]:
    """Return the gate's bounds of differences: the first half of the runs less the second."""
    half = len(quantity.values) // 2
    values, influence, slant = (of[:half] - of[half:] for of in (quantity.values, quantity.influence, slants))
    counts = quantity.counts[:half]
    return _bounds(values, influence, counts, (-span, span), resamples, slant, strata, None, spare)


def _bounds(
    values: np.ndarray,
    influence: np.ndarray,
    counts: np.ndarray,
    span: tuple[float, float],
    resamples: int,
    slants: np.ndarray,
    strata: Sequence[Stratum],
    unseen: Sequence[Unseen | None] | None,
    spare: float,
) -> list[Bounds]:
    """As :func:`sago_harness.gate.bounds.bootstrap_bounds`, of many studies in one product."""
    n = counts.astype(float)
    stderr = np.sqrt(n / (n - 1.0) * np.square(influence).sum(axis=1))
    flat = stderr <= TIE
    scaled = influence / np.where(flat, 1.0, stderr)[:, None]
    if len(strata) > 1:
        drawn = studentised_within(scaled, strata, resamples)
        df = np.array(
            [1.0 if f else degrees_of_freedom(row, strata) for row, f in zip(influence, flat, strict=True)]
        )
    else:
        drawn, df = studentised(scaled, n, resamples, SOURCE), n - 1.0
    drawn = np.sort(drawn, axis=0)
    found: list[Bounds] = []
    for m, value in enumerate(map(float, values)):
        rare = None if unseen is None else unseen[m]
        if flat[m] and rare is None:
            found.append(Bounds(value, *span, 0.0))
        else:
            slant = float(slants[m])
            found.append(
                BootstrapT(value, *span, float(stderr[m]), float(df[m]), drawn[:, m], rare, slant, spare)
            )
    return found
