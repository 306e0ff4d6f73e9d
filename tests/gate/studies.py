"""Studies with a known truth: many runs of one law, and pairs of runs that share their documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from sago_harness.gate.rates import answers
from sago_harness.gate.slant import slant
from sago_harness.stats.pair_data import pair_data
from sago_harness.stats.quantities import Quantity, quantities
from sago_harness.stats.reduce import MeasureValues, reduce_task
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import TaskTable
from tests.stats import made

MEASURES = {"x_bleu": "generation", "x_act": "activation", "x_prob": "confidence"}

#: Law -> spread of documents, share of documents that are never moved, do distances tie at 0 and 1?
LAWS: dict[str, tuple[float, float, bool]] = {
    "plain": (0.5, 0.0, False),
    "skewed": (1.2, 0.0, False),
    "zeros": (0.8, 0.6, False),
    "rare": (0.8, 0.85, False),
    "ties": (0.5, 0.0, True),
}

SCORES = ("x_bleu", "x_mr", "sago_generation", "sago_core", "sago")

#: Without what is the same number: `x_bleu` is all of generation here.
NAMES = ("x_bleu", "x_mr", "sago_core", "sago")


def studies(law: str, seed: int, count: int, documents: int, level: float = 0.4) -> TaskTable:
    """Return so many runs, each the model of a study of its own."""
    rng = np.random.default_rng([seed, documents, len(law), round(1000 * level)])
    spread, still, ties = LAWS[law]
    names = [f"m{i:05d}" for i in range(count)]
    table = made.table(
        rng, models=names, documents=documents, measures=MEASURES, spread=spread, level=level, mirroring=0.05
    )
    changed = dict(table.distances)
    if still:
        kept = rng.random((count, documents, 1)) >= still
        changed |= {name: np.where(kept, changed[name], 0.0) for name in MEASURES}
    if ties:
        share = rng.beta(0.3, 1.5, size=(count, documents, 1))
        changed |= {name: (rng.random(changed[name].shape) < share).astype(float) for name in MEASURES}
    return replace(table, distances=changed)


def pairs(law: str, seed: int, count: int, documents: int, levels: tuple[float, float]) -> TaskTable:
    """Return 2 x count runs, the first half against the second: documents that are hard are so for both."""
    rng = np.random.default_rng([seed, documents, len(law), 77])
    spread, still, ties = LAWS[law]
    names = [f"{side}{i:05d}" for side in "ab" for i in range(count)]
    table = made.table(rng, models=names, documents=documents, measures=MEASURES, mirroring=0.05)
    level = np.repeat(levels, count)[:, None, None]
    changed = dict(table.distances)
    for name in MEASURES:
        shape = changed[name].shape
        shared = np.tile(rng.gamma(1.0 / spread**2, spread**2, size=(count, documents, 1)), (2, 1, 1))
        own = rng.gamma(4.0, 0.25, size=(2 * count, documents, 1))
        values = np.clip(0.6 * level * shared * own * rng.gamma(2.0, 0.5, size=shape), 0.0, 1.0)
        if still:
            values *= np.tile(rng.random((count, documents, 1)) >= still, (2, 1, 1))
        if ties:
            share = np.clip(level * np.tile(rng.beta(0.6, 1.0, size=(count, documents, 1)), (2, 1, 1)), 0, 1)
            values = (rng.random(shape) < share).astype(float)
        changed[name] = values
    return replace(table, distances=changed)


@cache
def truth(law: str, parts: int = 1) -> dict[str, float]:
    """Return the true scores of a law, from 200,000 documents, or so many times as many."""
    found = [scores(studies(law, 1000 + part, 1, 200_000)) for part in range(parts)]
    return {name: float(np.mean([one[name].values[0] for one in found])) for name in SCORES}


@cache
def true_differences(law: str, levels: tuple[float, float], parts: int = 1) -> dict[str, float]:
    """Return the true differences of a pair."""
    found = [scores(pairs(law, 1000 + part, 1, 200_000, levels)) for part in range(parts)]
    return {
        name: float(np.mean([one[name].values[0] - one[name].values[1] for one in found])) for name in SCORES
    }


def scores(table: TaskTable) -> dict[str, Quantity]:
    return quantities(reduce_task(table))


def scored_of(task: str, table: TaskTable, reduced: Mapping[str, MeasureValues]) -> ScoredTask:
    """Without what stands beside the scores, which bounds do not look at."""
    stock = np.zeros(len(table.models))
    return ScoredTask(task, table.models, table.documents, reduced, quantities(reduced), stock=stock)


def scored(table: TaskTable, task: str = "t") -> ScoredTask:
    return scored_of(task, table, reduce_task(table))


def slants(one: ScoredTask) -> dict[str, np.ndarray]:
    """How far every run's scores lie too low on average."""
    return {name: slant(data) for name, data in pair_data(one).items()}


def flips(rng: np.random.Generator, law: str, count: int, documents: int) -> tuple[np.ndarray, float]:
    """Return document flip shares of many studies, (K, N), and their true mean: 8 variants each."""
    if law == "one":
        return (rng.random((count, documents)) < 0.25).astype(float), 0.25
    if law == "dependent":
        # Documents are all flipped, or hardly: most of the variance lies between them.
        share = rng.beta(0.1, 0.4, size=(count, documents))
        return rng.binomial(8, share) / 8.0, 0.2
    share = rng.beta(2.0, 8.0, size=(count, documents))
    return rng.binomial(8, share) / 8.0, 0.2


def flip_shares(table: TaskTable) -> np.ndarray:
    return answers(table)["flip"]
