"""Measures of single responses that are in no score, such as ``x_jsd``: a rule names them like any other."""

from __future__ import annotations

from dataclasses import replace

from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import reduce_task
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import TaskTable

#: In the place of an axis: no score has one of this name.
BESIDE = "beside"


def with_unscored_measures(scored: ScoredTask, table: TaskTable) -> ScoredTask:
    """Return the scores of a data set with the measures that are in none of them.

    Parameters
    ----------
    scored : ScoredTask
    table : TaskTable
        That the scores were formed from.

    Returns
    -------
    ScoredTask
        With a relative instability r = sqrt(mean q_s / mean q_c) of each such measure, formed as that of the
        others; scores, axes and what counts as scored are as they were.

    Examples
    --------
    >>> import numpy as np
    >>> from sago_harness.stats.scored import score_task
    >>> from sago_harness.stats.table import VariantKey
    >>> keys = (VariantKey("v", "noise", "case"),)
    >>> moved, chance = np.array([[[0.1], [0.1]]]), np.full((1, 2, 2), 0.4)
    >>> made = TaskTable("t", ("a",), ("d", "e"), keys, {"x_jsd": ""}, {"noise": 1},
    ...                  {"x_jsd": moved}, {"x_jsd": chance})
    >>> with_unscored_measures(score_task(made), made).quantities["x_jsd"].values.round(6).tolist()
    [0.25]
    """
    names = [name for name, axis in table.measures.items() if not axis and name in table.distances]
    if not names:
        return scored
    alone = {name: table.distances[name] for name in names}
    own = reduce_task(replace(table, measures=dict.fromkeys(names, BESIDE), distances=alone))
    found = quantities(own)
    return replace(
        scored,
        reduced={**scored.reduced, **own},
        quantities={**scored.quantities, **{name: found[name] for name in own}},
    )
