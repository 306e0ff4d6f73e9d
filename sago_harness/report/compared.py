"""The tables of ``sago compare``, in the order in which a reader needs them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sago_harness.report.answers import answers
from sago_harness.report.compared_apart import apart
from sago_harness.report.compared_mixed import marked
from sago_harness.report.compared_origins import dose, firmness, independence, schemes, variance, worst
from sago_harness.report.compared_seeds import seeds
from sago_harness.report.compared_standing import leaderboard, measures, ranking, weighted
from sago_harness.report.compared_tests import agreement, pairs, reversals, tau, unstable, where_reversed
from sago_harness.report.tables import Table
from sago_harness.stats.comparison import Comparison


def sections(found: Comparison, names: Collection[str] | None = None) -> list[Table]:
    """Return the tables of a study.

    Parameters
    ----------
    found : Comparison
    names : collection of str, optional
        Those alone; a table takes time to make.

    Returns
    -------
    list of Table
        In the order of :data:`TABLES`.
    """
    return [make(found) for name, make in TABLES.items() if names is None or name in names]


#: Printed unasked only where they have rows: most studies have nothing of it.
RARE = ("apart", "seeds")

#: Name -> function that makes the table, in the order in which they are shown.
TABLES: dict[str, Callable[[Comparison], Table]] = {
    # Says itself which models are mixed; its last column is prose.
    "answers": answers,
    "leaderboard": marked(leaderboard),
    "weighted": marked(weighted),
    "ranking": marked(ranking),
    "measures": marked(measures),
    "apart": marked(apart),
    "unstable": marked(unstable),
    "pairs": marked(pairs),
    "reversals": marked(reversals),
    "where-reversed": marked(where_reversed),
    "agreement": marked(agreement),
    "tau": marked(tau),
    "independence": marked(independence),
    "variance": marked(variance),
    "dose": marked(dose),
    "worst": marked(worst),
    "firmness": marked(firmness),
    "seeds": marked(seeds),
    "schemes": marked(schemes),
}
