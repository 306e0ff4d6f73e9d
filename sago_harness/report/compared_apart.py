"""Table of families beside the score: what people wrote, other languages, edits that change the meaning."""

from __future__ import annotations

from sago_harness.report.cells import Cell
from sago_harness.report.tables import Column, Table
from sago_harness.stats.apart import CORE
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.intervals import FEW_DOCUMENTS

#: What must be read with a family.
_NOTES = {
    "human": "human: variants that people wrote",
    "language": "language: the same questions in other languages",
    "control": "control: edits that change the meaning, and should move a model",
}


def apart(found: Comparison) -> Table:
    """Return relative instability of every family beside the score, per data set and model."""
    seen = dict.fromkeys(name for one in found.apart for name in one.intervals)
    names = sorted(seen, key=lambda name: name == CORE)
    columns = [
        Column("task", "data set", "text"),
        Column("family", kind="text"),
        Column("operators", kind="text"),
        Column("variants", "variants a document", digits=1),
        Column("model", kind="text"),
        Column("documents", "n", "count"),
    ]
    for name in names:
        columns.append(Column(name, name if name == CORE else name.removeprefix("sago_")))
        columns.append(Column(f"{name}_interval", f"{found.settings.confidence} interval", "interval"))
    columns.append(Column("reason", kind="text"))
    rows: list[tuple[Cell, ...]] = []
    for one in found.apart:
        for m, model in enumerate(one.models):
            cells: list[Cell] = [one.task, one.family, ", ".join(one.operators), one.variants, model]
            cells.append(one.documents[m])
            why = []
            for name in names:
                interval = one.intervals.get(name)
                if interval is None:
                    cells += [None, None]
                    continue
                cells += [float(interval.statistic[m]), (float(interval.low[m]), float(interval.high[m]))]
                if interval.reasons[m]:
                    why.append(interval.reasons[m])
            if 0 < one.documents[m] < FEW_DOCUMENTS:
                why.append("few_documents")
            rows.append((*cells, "; ".join(dict.fromkeys(why))))
    notes = [note for family, note in _NOTES.items() if any(one.family == family for one in found.apart)]
    if rows:
        notes.append(
            "axes: 0 = nothing moves, 1 = as far as for an unrelated question; in no score and no rank"
        )
    else:
        notes.append("no run has variants of families beside the score")
    return Table("apart", "Families apart", tuple(columns), tuple(rows), tuple(notes))
