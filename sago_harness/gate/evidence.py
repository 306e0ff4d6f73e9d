"""The number that a rule looks at, with its bounds: of a run alone, or against its baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sago_harness.gate import unseen
from sago_harness.gate.bounds import SPARE, SPARE_OF_SINGLES, Bounds, Unseen, bootstrap_bounds, bounded_mean
from sago_harness.gate.metrics import Measured, Metric
from sago_harness.gate.slant import mean_slant
from sago_harness.gate.strata import Stratum
from sago_harness.stats.overall import OVERALL, overall
from sago_harness.stats.pair_data import PairData, pair_data
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.resampling import TIE, Purpose
from sago_harness.stats.table import Doubles


@dataclass(frozen=True)
class Part:
    """What one data set brings.

    Attributes
    ----------
    task : str
    documents, total : int
        Documents that count, and those that could.
    moved : int or None
        Of a score against a baseline, or of a single variant of each document: documents that either run was
        moved on, by the measure that moved fewest of those that moved any; None where that does not matter.
    """

    task: str
    documents: int
    total: int
    moved: int | None = None

    @property
    def unscored(self) -> float:
        """Return the share of documents that do not count; 1 where there are none at all."""
        return 1.0 - self.documents / self.total if self.total else 1.0


@dataclass(frozen=True)
class Evidence:
    """What the data say of one rule on one data set.

    Attributes
    ----------
    bounds : Bounds
        Of the value, or of run less baseline.
    run, baseline : float
        Values of both over the documents that count; ``baseline`` is NaN without one.
    documents, total : int
        Documents that count, and those that could.
    reason : str
        Why there is no value.
    parts : tuple of Part
        For each data set that the value is the mean of.
    """

    bounds: Bounds
    run: float
    baseline: float
    documents: int
    total: int
    reason: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def each(self) -> tuple[Part, ...]:
        """Return its data sets; of a value that knows of none itself as one."""
        return self.parts or (Part("", self.documents, self.total),)


@dataclass(frozen=True)
class Draws:
    """How many draws, and from which seed.

    Attributes
    ----------
    resamples, seed : int
    """

    resamples: int
    seed: int

    def purpose(self, task: str) -> Purpose:
        """Return what the draws of a data set are for: the same for all rules."""
        return Purpose(self.seed, "gate", task)


def of_run(one: Measured, metric: Metric, draws: Draws) -> Evidence:
    """Return the evidence of a run alone; ``one`` of a single model."""
    task = one.table.task
    if metric.rate:
        values = one.rates[metric.name][0][one.made]
        known = values[np.isfinite(values)]
        found = bounded_mean(known, metric.low, metric.high, draws.resamples, draws.purpose(task))
        return Evidence(found, found.value, math.nan, len(known), one.documents)
    data = pair_data(one.scored)[metric.name]
    return _of_run(data.quantity, [(one, data)], metric, draws, task)


def of_pair(one: Measured, metric: Metric, draws: Draws) -> Evidence:
    """Return the evidence of a run against its baseline; ``one`` of both, the run first."""
    task = one.table.task
    if metric.rate:
        known = one.rates.get(metric.name, np.full(one.table.shape[:2], np.nan))
        values = known[:, one.made]
        both = np.isfinite(values).all(axis=0)
        run, base = values[:, both]
        span = metric.high - metric.low
        found = bounded_mean(run - base, -span, span, draws.resamples, draws.purpose(task))
        run_mean, base_mean = (float(side.mean()) if len(side) else math.nan for side in (run, base))
        return Evidence(found, run_mean, base_mean, int(both.sum()), one.documents)
    data = pair_data(one.scored)[metric.name]
    return _of_pair(data, [(one, data)], metric, draws, task)


def over_data_sets(many: Sequence[Measured], metric: Metric, draws: Draws, *, pair: bool) -> Evidence:
    """Return the evidence of the unweighted mean over data sets, for scores, axes and measures."""
    whole = overall([one.scored for one in many])
    name = metric.name
    used = [one for one in many if one.table.task in whole.tasks_of[name]]
    parts = [(one, pair_data(one.scored)[name]) for one in used]
    if pair:
        return _of_pair(whole.data[name], parts, metric, draws, OVERALL)
    return _of_run(whole.quantities[name], parts, metric, draws, OVERALL)


def _of_run(
    quantity: Quantity,
    parts: Sequence[tuple[Measured, PairData]],
    metric: Metric,
    draws: Draws,
    task: str,
) -> Evidence:
    value, count = float(quantity.values[0]), int(quantity.counts[0])
    span = (metric.low, metric.high)
    total = sum(one.documents for one, _ in parts)
    if not math.isfinite(value):
        return Evidence(Bounds(value, *span), value, math.nan, 0, total, quantity.reasons[0] or "not scored")
    flat = _flat(quantity.influence[0], count, value)
    rare = unseen.mean_of([unseen.of_run(one.scored, data, 0, flat=flat) for one, data in parts])
    each = tuple(_part_of_run(one, own) for one, own in parts)
    found = bootstrap_bounds(
        value, quantity.influence[0], count, span, draws.resamples, draws.purpose(task), rare,
        _strata(parts, each, draws), float(mean_slant([data for _, data in parts])[0]), _spare(parts),
    )  # fmt: skip
    return Evidence(found, value, math.nan, count, total, "", each)


def _of_pair(
    data: PairData,
    parts: Sequence[tuple[Measured, PairData]],
    metric: Metric,
    draws: Draws,
    task: str,
) -> Evidence:
    span = metric.high - metric.low
    total = sum(one.documents for one, _ in parts)
    quantity = data.quantity
    if not np.isfinite(quantity.values).all():
        reason = next(
            f"{side}: {why or 'not scored'}"
            for side, why, value in zip(("run", "baseline"), quantity.reasons, quantity.values, strict=True)
            if not math.isfinite(value)
        )
        run, base = (float(value) for value in quantity.values)
        return Evidence(Bounds(math.nan, -span, span), run, base, 0, total, reason)
    keep = data.masks[:, 0] & data.masks[:, 1]
    if not np.array_equal(data.masks[:, 0], data.masks[:, 1]):
        # Documents of one side alone do not enter: both values are formed again without them.
        quantity, _ = data.restrict(np.arange(2), np.repeat(keep[:, None], 2, axis=1))
    run, base = (float(value) for value in quantity.values)
    count = int(quantity.counts.min())
    if not (math.isfinite(run) and math.isfinite(base)):
        return Evidence(Bounds(math.nan, -span, span), run, base, 0, total, "no_common_document")
    difference = quantity.influence[0] - quantity.influence[1]
    flat = _flat(difference, count, max(abs(run), abs(base)))
    rare: Unseen | None = unseen.mean_of([unseen.of_pair(one.scored, own, flat=flat) for one, own in parts])
    each = tuple(_part(one, own) for one, own in parts)
    slants = mean_slant([own for _, own in parts])
    found = bootstrap_bounds(
        run - base, difference, count, (-span, span), draws.resamples, draws.purpose(task), rare,
        _strata(parts, each, draws), float(slants[0] - slants[1]), _spare(parts),
    )  # fmt: skip
    return Evidence(found, run, base, count, total, "", each)


def _part_of_run(one: Measured, data: PairData) -> Part:
    """Return what a data set brings to a value of the run alone."""
    moved = None
    if _single(one):
        # Squares of single distances are skewed: few moved documents give no bound that keeps its level.
        moved = unseen.moved_by_any(one.scored, data)
    return Part(one.table.task, int(data.quantity.counts[0]), one.documents, moved)


def _single(one: Measured) -> bool:
    """Say whether each document has one variant alone."""
    return len(one.table.variants) == 1


def _spare(parts: Sequence[tuple[Measured, PairData]]) -> float:
    return SPARE_OF_SINGLES if any(_single(one) for one, _ in parts) else SPARE


def _part(one: Measured, data: PairData) -> Part:
    """Return what a data set brings to a difference: only documents of both count."""
    # Each measure has documents of its own, and a score no more than the one that has fewest.
    both = int((data.masks[:, 0] & data.masks[:, 1]).sum(axis=1).min(initial=data.masks.shape[2]))
    documents = min(both, int(data.quantity.counts.min()))
    return Part(one.table.task, documents, one.documents, unseen.moved_by_any(one.scored, data))


def _strata(
    parts: Sequence[tuple[Measured, PairData]], each: Sequence[Part], draws: Draws
) -> tuple[Stratum, ...]:
    """Return the data sets of a mean, each with the draws that its own rules have."""
    return tuple(
        Stratum(one.table.shape[1], part.documents, draws.purpose(part.task))
        for (one, _), part in zip(parts, each, strict=True)
    )


def _flat(contributions: Doubles, count: int, size: float) -> bool:
    """Say whether no document deviates; rounding leaves about 1e-17."""
    return bool(np.abs(contributions).max(initial=0.0) * max(1, count) <= TIE * max(1.0, size))
