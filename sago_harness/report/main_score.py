"""The score by which a study is ordered, and the scores over all data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sago_harness.stats.comparison import Comparison
from sago_harness.stats.overall import OVERALL
from sago_harness.stats.quantities import Quantity


def main_score(found: Comparison) -> str:
    """Return the score by which the study is ordered: the first that any model has; "" for none."""
    quantities, _, _ = over_all(found)
    for name in found.scores:
        if name in quantities and np.isfinite(quantities[name].values).any():
            return name
    return ""


def over_all(found: Comparison) -> tuple[Mapping[str, Quantity], Sequence[str], str]:
    """Return the scores over all data sets, their models, and where their intervals are."""
    if found.total is not None:
        return found.total.quantities, found.total.models, OVERALL
    task = found.spanning[0]
    return found.scored[task].quantities, found.scored[task].models, task
