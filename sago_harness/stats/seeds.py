"""Scores of the same models under several seeds of the variants: how much hangs on which ones were drawn.

Models that are in no ranking (stock answers, sampling) have their rows, too: the order of models over
seeds is in :mod:`sago_harness.stats.firmness`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.firmness import PACK_SEED, Variation
from sago_harness.stats.overall import OVERALL, overall
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.rich import Rich
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles


@dataclass(frozen=True)
class SeedResult(Rich):
    """One score of M models under each of S + 1 seeds of the variants.

    Attributes
    ----------
    task : str
        Data set; :data:`~sago_harness.stats.overall.OVERALL` for the unweighted mean over all of them.
    score : str
    models : tuple of str
    seeds : tuple of str
        Beside the one that ranks.
    values : ndarray of shape (M, S + 1)
        Higher = more stable; the first column is the seed that ranks. NaN where a model was not run with
        a seed, or is unscored.
    standard_error : ndarray of shape (M,)
        Over documents, of the first column.
    """

    task: str
    score: str
    models: tuple[str, ...]
    seeds: tuple[str, ...]
    values: Doubles
    standard_error: Doubles

    @property
    def standard_deviation(self) -> Doubles:
        """Standard deviation over the seeds that a model has, of shape (M,); NaN under two."""
        known = np.isfinite(self.values)
        found = np.full(len(self.models), np.nan)
        for m in np.flatnonzero(known.sum(axis=1) >= 2):
            found[m] = self.values[m, known[m]].std(ddof=1)
        return found

    def __str__(self) -> str:
        return f"{self.score} on {self.task}: {len(self.models)} models under {len(self.seeds) + 1} seeds"


def seed_results(
    scored: Mapping[str, ScoredTask],
    found: Mapping[str, Sequence[Variation]],
    spanning: Sequence[str],
) -> list[SeedResult]:
    """Return the composite scores under every seed, over all data sets and then on each one.

    Parameters
    ----------
    scored : dict of str to ScoredTask
        Data set -> its scores with the seed that ranks.
    found : dict of str to sequence of Variation
        Data set -> its variations, of which those of other seeds are taken
        (:func:`sago_harness.stats.firmness.pack_variation`).
    spanning : sequence of str
        Data sets of the mean over them (:attr:`sago_harness.stats.table.ScoreTable.spanning`).

    Returns
    -------
    list of SeedResult
        Empty where there is a single seed. Over data sets there are the seeds that each of them has.
    """
    packs = {
        task: {one.detail: one.values for one in of_task if one.kind == PACK_SEED and not one.reason}
        for task, of_task in found.items()
    }
    if not any(packs.values()):
        return []
    whole = overall([scored[task] for task in spanning]) if len(spanning) > 1 else None
    results = []
    for score in COMPOSITES:
        single = [
            _under_seeds(task, one.models, one.quantities[score], {s: v[score] for s, v in of_task.items()})
            for (task, one), of_task in zip(scored.items(), packs.values(), strict=True)
            if of_task and score in one.quantities
        ]
        over = [one for one in single if one.task in spanning]
        shared = [seed for seed in over[0].seeds if all(seed in packs[t] for t in spanning)] if over else []
        if whole and shared and len(over) == len(spanning):
            means = {seed: _means(whole.models, over, seed) for seed in shared}
            results.append(_under_seeds(OVERALL, whole.models, whole.quantities[score], means))
        results += single
    return results


def _under_seeds(
    task: str, models: tuple[str, ...], ranked: Quantity, others: Mapping[str, Doubles]
) -> SeedResult:
    values = np.column_stack([ranked.values, *others.values()])
    return SeedResult(task, ranked.name, models, tuple(others), values, ranked.stderr)


def _means(models: Sequence[str], results: Sequence[SeedResult], seed: str) -> Doubles:
    """Return the means over data sets under a seed, of models that have it on each of them; (M,)."""
    found = np.full((len(results), len(models)), np.nan)
    for row, one in zip(found, results, strict=True):
        row[[models.index(model) for model in one.models]] = one.values[:, 1 + one.seeds.index(seed)]
    means: Doubles = found.mean(axis=0)
    return means
