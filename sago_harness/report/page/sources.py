"""Where every number comes from: the files, and what identifies the runs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sago_harness.jsonsafe import dumps
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study


def sources_table(study: Study) -> Table:
    """Return the runs of a study, one row a data set and model."""
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("recipe", kind="text"),
        Column("variants", kind="text"),
        Column("pack", kind="text"),
        Column("seed", kind="text"),
        Column("documents", kind="count"),
        Column("encoder", kind="text"),
        Column("version", "sago-harness", "text"),
        Column("signature", "signature (SHA-256)", "text"),
        Column("written", kind="text"),
        Column("file", kind="text"),
    )
    rows: list[tuple[Cell, ...]] = []
    for task, of in study.found.sources.items():
        for model, path in of.items():
            full = study.found.signatures.get(task, {}).get(model, {})
            run = study.runs.get((task, model))
            versions = full.get("versions")
            known = versions.get("sago-harness") if isinstance(versions, dict) else None
            documents = full.get("documents")
            rows.append(
                (
                    task,
                    model,
                    _text(full.get("recipe")),
                    _text(full.get("variants")),
                    _text(full.get("pack"))[:16],
                    _text(full.get("seed")),
                    documents if isinstance(documents, int) else None,
                    _text(full.get("encoder")),
                    _text(known),
                    hashlib.sha256(dumps(full).encode()).hexdigest()[:16] if full else None,
                    run.time if run else None,
                    path,
                )
            )
    return Table("sources", "Runs that the numbers come from", columns, tuple(rows))


def _text(value: object) -> str:
    return "" if value is None else str(value)
