"""Runs and baselines for the gate, as score tables: one model each, with what identifies them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sago_harness.gate.policy import Policy
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.runs.made_runs import described, signature
from tests.stats import made


def task_table(
    task: str = "p",
    *,
    model: str = "new",
    documents: int = 60,
    level: float = 0.4,
    seed: int = 0,
    flip: float = 0.2,
    said: dict[str, Any] | None = None,
    changes: dict[str, Any] | None = None,
    **made_with: Any,
) -> TaskTable:
    """One model on one data set."""
    rng = np.random.default_rng(seed)
    table = made.table(rng, task=task, models=[model], documents=documents, level=level, **made_with)
    shape = table.distances["x_act"].shape
    flips = (rng.random(shape) < flip).astype(float)
    full = {
        **signature("p", documents, shape[2]),
        "task": task,
        "model": said or described(),
        **(changes or {}),
    }
    return replace(
        table, distances={**table.distances, "flip": flips}, signatures=(full,), sources=(f"{task}.parquet",)
    )


def run(*tables: TaskTable, notes: Sequence[str] = ()) -> ScoreTable:
    return ScoreTable.of(list(tables) or [task_table()], notes)


def policy(*rules: dict[str, Any], **top: Any) -> Policy:
    return Policy.of({"rules": list(rules), **top})
