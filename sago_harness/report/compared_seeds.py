"""Table of the scores under several seeds of the variants."""

from __future__ import annotations

import numpy as np

from sago_harness.report.cells import Cell
from sago_harness.report.tables import Column, Table
from sago_harness.stats.comparison import Comparison


def seeds(found: Comparison) -> Table:
    """Return each model's scores under every seed, with their spread beside the standard error."""
    others = sorted({seed for one in found.seeds for seed in one.seeds}, key=lambda seed: (len(seed), seed))
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("score", kind="text"),
        Column("ranked", "as ranked"),
        *(Column(f"seed_{seed}", f"seed {seed}") for seed in others),
        Column("seeds", kind="count"),
        Column("sd", "sd over seeds"),
        Column("stderr", "±"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in found.seeds:
        spread = one.standard_deviation
        for m, model in enumerate(one.models):
            of_seed = dict(zip(one.seeds, one.values[m, 1:].tolist(), strict=True))
            rows.append(
                (
                    one.task,
                    model,
                    one.score,
                    float(one.values[m, 0]),
                    *(of_seed.get(seed) for seed in others),
                    int(np.isfinite(one.values[m]).sum()),
                    float(spread[m]),
                    float(one.standard_error[m]),
                )
            )
    notes = ("±: standard error over documents; it holds the draw of the variants of each document already",)
    if not rows:
        notes = ("all runs have the same variants: run the models again with another variant_seed",)
    return Table("seeds", "Other seeds of the variants", columns, tuple(rows), notes)
