"""Score tables made at random, for tests: known truth, no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sago_harness.stats.table import TaskTable, VariantKey

MEASURES = {"x_bleu": "generation", "x_bert": "generation", "x_act": "activation",
            "x_prob": "confidence", "x_ent": "confidence", "x_jsd": ""}  # fmt: skip

OPERATORS = (
    ("register", "politeness", (2.0, 6.0)),
    ("register", "casual", (1.0, 2.0)),
    ("noise", "spaces", (5.0, 20.0)),
    ("noise", "typos", (1.0, 3.0)),
    ("structure", "wrap", (None,)),
    ("structure", "fronting", (None,)),
)


def variants(
    operators: Sequence[tuple[str, str, Sequence[float | None]]] = OPERATORS,
) -> tuple[VariantKey, ...]:
    return tuple(
        VariantKey(f"{name}{'' if s is None else f'{s:g}'}", family, name, s)
        for family, name, strengths in operators
        for s in strengths
    )


def table(
    rng: np.random.Generator,
    *,
    task: str = "made",
    models: Sequence[str] = ("a", "b"),
    documents: int = 40,
    level: Sequence[float] | float = 0.4,
    spread: float = 0.5,
    controls: int = 2,
    repeats: int = 0,
    missing: float = 0.0,
    mirroring: float = 0.0,
    measures: dict[str, str] = MEASURES,
) -> TaskTable:
    """Distances between 0 and 1: document effects shared by all variants, beta-like noise on top.

    ``level`` is each model's mean distance as a share of chance; equal levels = no true difference,
    but every model has document effects of its own and an equal law.
    """
    keys = variants()
    m, d, v = len(models), documents, len(keys)
    levels = np.broadcast_to(np.asarray(level, dtype=float), (m,))
    families = {f: sum(k.family == f for k in keys) for f in ("register", "noise", "structure")}
    distances, chance, repeated = {}, {}, {}
    for name in measures:
        document = rng.gamma(1.0 / spread**2, spread**2, size=(m, d, 1))
        noise = rng.gamma(2.0, 0.5, size=(m, d, v))
        distances[name] = np.clip(0.6 * levels[:, None, None] * document * noise, 0.0, 1.0)
        chance[name] = np.clip(0.6 * rng.gamma(8.0, 1 / 8.0, size=(m, d, controls)), 0.0, 1.0)
        if repeats:
            repeated[name] = np.zeros((m, d, repeats))
        if missing:
            distances[name][rng.random((m, d, v)) < missing] = np.nan
    distances["x_mr"] = np.clip(mirroring + rng.normal(0.0, 0.2, size=(m, d, v)), -1.0, 1.0)
    distances["x_mr_floor"] = np.clip(rng.normal(0.0, 0.1, size=(m, d, v)), -1.0, 1.0)
    correct = (rng.random((m, d, v + 1)) < 0.5).astype(float)
    responses = np.array([[f"{i}-{j}" for j in range(d)] for i in range(m)], dtype=object)
    return TaskTable(
        task,
        tuple(models),
        tuple(f"d{i:04d}" for i in range(d)),
        keys,
        dict(measures),
        families,
        distances,
        chance,
        repeated,
        correct=correct,
        responses=responses,
        tokens=rng.integers(5, 60, size=(m, d)).astype(float),
        flags={name: np.zeros((m, d), dtype=bool) for name in ("empty", "short", "truncated", "refused")},
        mixed=(False,) * m,
    )


def shared_controls(rng: np.random.Generator, *, models: Sequence[str], documents: int) -> TaskTable:
    """Models of one law whose controls are the two next documents, as activations behave in real runs.

    r^2 is .64: mean chance 1, of which documents have a variance of .027 (both ends of a distance) and
    distances one of .018; q_s has a standard deviation of .087 and goes with the document's part (.3).
    Distances are not held to [0, 1], so that the law is known.
    """
    keys = (VariantKey("one", "noise", "one"),)
    ring = (np.arange(documents)[:, None] + [1, 2]) % documents
    node = rng.normal(size=(len(models), documents))
    own = 0.087 * np.sqrt(1.0 - 0.3**2)
    shape = (own / 0.64) ** -2
    squares = rng.gamma(shape, 0.64 / shape, size=node.shape) + 0.087 * 0.3 * node
    parts = np.sqrt(0.027) * (node[:, :, None] + node[:, ring])
    chance = 1.0 + parts + np.sqrt(0.018) * rng.normal(size=parts.shape)
    return TaskTable(
        "shared",
        tuple(models),
        tuple(f"d{i:04d}" for i in range(documents)),
        keys,
        {"x_act": "activation"},
        {"noise": 1},
        {"x_act": np.sqrt(np.maximum(squares, 0.0))[:, :, None]},
        {"x_act": np.sqrt(np.maximum(chance, 0.0))},
        partners=np.broadcast_to(ring, chance.shape),
    )


def without_partners(table: TaskTable) -> TaskTable:
    """Return the table as if nobody knew whose prompts the controls are."""
    return replace(table, partners=None)
