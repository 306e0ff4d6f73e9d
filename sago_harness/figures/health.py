"""Health: how many responses are empty, short, cut off, refused, stock or unscored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.heat import Cell, Colours, heat
from sago_harness.figures.names import labels, whole
from sago_harness.figures.panels import arranged
from sago_harness.figures.places import place_of
from sago_harness.figures.plain import told
from sago_harness.figures.series import Series
from sago_harness.figures.theme import HEAT
from sago_harness.report.compared_standing import COVERAGE_LIMIT, HEALTH_LIMIT
from sago_harness.report.tables import Cell as TableCell
from sago_harness.report.tables import Column, Table
from sago_harness.stats.scored import STOCK_LIMIT, ScoredTask

if TYPE_CHECKING:
    from sago_harness.report.study import Study

#: What is counted, and what it is.
SHARES = {
    "empty": "canonical responses without text",
    "short": "canonical responses under 4 tokens",
    "truncated": "canonical responses that ran into the token limit",
    "refused": "canonical responses that refuse",
    "stock": "canonical responses that are empty or equal to another document's",
    "unscored": "documents of which some measure is unscored",
}

_COLOURS = Colours(
    (0.005, 0.05, 0.1, 0.2, 0.5), (HEAT[0], HEAT[1], HEAT[2], HEAT[4], HEAT[7], HEAT[10]),
    "share of documents", ".0%",
)  # fmt: skip


def health(study: Study) -> list[Drawn]:
    """Return the shares: a panel a data set, a row a model.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    title = "Health of the responses"
    order = place_of(found).order()
    series = Series(found.models)
    task_label = labels(found.scored)
    across = min(2, len(found.scored))
    panels, rows = [], []
    for number, (task, one) in enumerate(found.scored.items()):
        cells = []
        for model in order:
            shares = _shares(one, model)
            table_row: list[TableCell] = [task, model]
            for name in SHARES:
                value, reason = shares[name]
                table_row.append(value)
                cells.append(
                    Cell(
                        series.label[model],
                        name,
                        value,
                        told(value, kind="share"),
                        whole(model),
                        reason or SHARES[name],
                    )
                )
            count = len(one.documents) if model in one.models else None
            rows.append((*table_row, count, shares["empty"][1] if model not in one.models else ""))
        panels.append(
            heat(
                cells,
                [series.label[model] for model in order],
                list(SHARES),
                _COLOURS,
                title=task_label[task],
                size=(60, 20),
                named=number % across == 0,
                row_title="model",
                column_title="share",
                value_title="documents",
            )
        )
    if not any(isinstance(cell, float) and math.isfinite(cell) for row in rows for cell in row[2:8]):
        return [NotDrawn("health", "health", title, "no run tells anything of its responses")]
    key = (
        "Share of documents whose canonical response is empty, under 4 tokens, cut off at the "
        "token limit, a refusal, "
        f"or stock (empty, or equal to another document's); unscored: a measure is missing. From "
        f"{HEALTH_LIMIT:.0%} on "
        f"(stock {STOCK_LIMIT:.0%}, unscored {1 - COVERAGE_LIMIT:.0%}) the leaderboard has a "
        f"flag. Hatched: not known."
    )
    spec = arranged(panels, key, columns=across, width=max(420, across * 380), spacing=22)
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        *(Column(name, kind="share") for name in SHARES),
        Column("documents", "n", "count"),
        Column("reason", kind="text"),
    )
    table = Table("health", title, columns, tuple(rows))
    return [Figure("health", "health", title, _words(rows), spec, table)]


def _shares(one: ScoredTask, model: str) -> dict[str, tuple[float, str]]:
    """Return each share with the reason why it is missing."""
    if model not in one.models:
        return dict.fromkeys(SHARES, (math.nan, "not run"))
    m = one.models.index(model)
    found = {name: float(one.health[name][m]) if name in one.health else math.nan for name in SHARES}
    found["stock"] = float(one.stock[m]) if len(one.stock) else math.nan
    found["unscored"] = 1.0 - one.scored[m] / len(one.documents) if len(one.documents) else math.nan
    return {name: (value, "" if np.isfinite(value) else "not known") for name, value in found.items()}


def _words(rows: list[tuple[TableCell, ...]]) -> str:
    parts = []
    for place, name in enumerate(SHARES, start=2):
        known = [(cell, row) for row in rows if isinstance(cell := row[place], float) and cell == cell]
        if known:
            most, row = max(known, key=lambda pair: pair[0])
            where = f" ({row[1]} on {row[0]})" if most > 0.0 else ""
            parts.append(f"{name} {told(most, kind='share')}{where}")
    return f"Largest share of documents of each kind: {', '.join(parts)}."
