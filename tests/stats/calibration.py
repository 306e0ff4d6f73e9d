"""Made tables for calibration: documents that models share, unlike laws, and the true values of scores."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import reduce_task
from sago_harness.stats.table import Doubles, TaskTable
from tests.stats import made

MEASURES = {"x_bleu": "generation", "x_act": "activation", "x_prob": "confidence"}

#: Long upper tail; half of the documents unmoved; distances of six values only.
LAWS = ("skewed", "zeros", "ties")

#: Standard deviation of a document's log effect on the distances of one model.
SPREAD = {"even": 0.2, "skewed": 0.8, "zeros": 0.6, "ties": 0.6}


def table(
    rng: np.random.Generator,
    law: str,
    levels: Sequence[float] | Doubles,
    documents: int,
    *,
    studies: int = 1,
    task: str = "made",
    measures: dict[str, str] | None = None,
) -> TaskTable:
    """Studies side by side, model after model; two models of a study share half of the log effects' variance.

    ``levels`` are the models of one study. Variants share their document's effect, and distances lie
    in [0, 1]. Studies are independent. A document that law "zeros" leaves unmoved is unmoved in all
    measures, for one model.
    """
    measures = MEASURES if measures is None else measures
    keys = made.variants()
    each = len(levels)
    shape = (studies, each, documents)
    still = rng.random((*shape, 1)) < 0.5
    level = np.asarray(levels, dtype=float)[:, None, None]
    distances, controls = {}, {}
    for name in measures:
        common = rng.normal(size=(studies, 1, documents, 1))
        effect = np.exp(SPREAD[law] * np.sqrt(0.5) * (common + rng.normal(size=(*shape, 1))))
        moved = np.clip(0.4 * level * effect * rng.gamma(2.0, 0.5, size=(*shape, len(keys))), 0.0, 1.0)
        if law == "zeros":
            moved = np.where(still, 0.0, moved)
        if law == "ties":
            moved = np.round(5.0 * moved) / 5.0
        distances[name] = moved.reshape(-1, documents, len(keys))
        controls[name] = rng.beta(8.0, 4.0, size=(studies * each, documents, 2))
    return TaskTable(
        task,
        tuple(f"m{i:05d}" for i in range(studies * each)),
        tuple(f"d{i:06d}" for i in range(documents)),
        keys,
        dict(measures),
        {f: sum(k.family == f for k in keys) for f in ("register", "noise", "structure")},
        distances,
        controls,
    )


@functools.cache
def truth(law: str, level: float, score: str = "sago_core") -> float:
    """Return a score's true value: that of 100,000 documents, whose own error is a fiftieth of 40's."""
    one = table(np.random.default_rng(99), law, [level], 100_000)
    return float(quantities(reduce_task(one))[score].values[0])


def error(studies: int, level: float = 0.05) -> float:
    """Return the standard error of a share of studies."""
    return float(np.sqrt(level * (1.0 - level) / studies))
