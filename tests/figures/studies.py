"""Small studies made at random for the tests of figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from sago_harness.report.study import Study
from sago_harness.scores.profile import LayerLevel, LayerProfile
from sago_harness.stats.compare import compare
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.stats.made import table

#: Names that would break out of markup, expressions, templates and lines.
HOSTILE = (
    "<script>alert('EVIL')</script>",
    "EVIL'\"];alert(1);//{{7*7}}${7*7}",
    "datum.EVIL\\'+toString()+[0].x",
    "EVIL\u202egnp.exe\u2066\ud800\x00\x1b[2J\n",
    "__proto__",
    "constructor",
    "模型-EVIL-" + "长" * 200,
    "EVIL" + "x" * 100_000,
)

SHAPES = ("one", "two", "missing", "many")


def profile_of(model: int, layers: int = 5) -> LayerProfile:
    """A profile whose r grows by layer, with noise at a tenth of chance."""
    levels = [LayerLevel(k, 0.1 * k + 0.05 * model, 0.02, 0.1 * k, 0.5, 0.05, 12, "") for k in range(layers)]
    return LayerProfile(levels, {})


def study_of(tables: Sequence[TaskTable], **settings: Any) -> Study:
    found = compare(ScoreTable.of(tables), Settings(resamples=99, **settings), workers=1)
    layers = {(one.task, model): profile_of(m) for one in tables for m, model in enumerate(one.models)}
    return Study(found, {}, layers, "sago report runs")


def made(task: str, seed: int, models: Sequence[str], **more: Any) -> TaskTable:
    return table(np.random.default_rng(seed), task=task, models=models, **{"documents": 14, **more})


@cache
def study(shape: str) -> Study:
    """A study by its shape: models x data sets."""
    if shape == "one":
        return study_of([made("facts", 0, ["alone"])])
    if shape == "two":
        levels = {"facts": (0.2, 0.6), "maths": (0.6, 0.2)}
        return study_of(
            [made(t, k, ["first", "second"], level=level, documents=44, repeats=2)
             for k, (t, level) in enumerate(levels.items())]
        )  # fmt: skip
    if shape == "missing":
        names = ["a", "b", "c"]
        tables = [made("p", 1, names, missing=0.1), made("q", 2, names[:2]), made("r", 3, names)]
        # One model gives no hidden states on one data set.
        blank = tables[2].distances["x_act"].copy()
        blank[0] = np.nan
        tables[2] = replace(tables[2], distances={**tables[2].distances, "x_act": blank})
        return study_of(tables)
    if shape == "many":
        names = [f"organisation/model-{k:02d}-instruct" for k in range(20)]
        levels = np.linspace(0.2, 0.8, 20)
        return study_of([made(t, k, names, level=levels[:: 1 - 2 * k]) for k, t in enumerate("pq")])
    assert shape == "hostile"
    tasks = ("EVIL<img src=x onerror=alert(1)>", "EVIL']['x")
    return study_of([made(t, k, HOSTILE[:6] + HOSTILE[6:]) for k, t in enumerate(tasks)])


def rows_in(spec: Any) -> Iterator[dict[str, Any]]:
    """All rows of data that stand in a specification."""
    if isinstance(spec, dict):
        data = spec.get("data")
        if isinstance(data, dict):
            yield from data.get("values", ())
        for key, value in spec.items():
            if key != "data":
                yield from rows_in(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from rows_in(value)


def points(spec: Any, field: str) -> set[tuple[str, float]]:
    """Model and number of every row that has a field of this name."""
    return {
        (row["model"], row[field]) for row in rows_in(spec) if row.get(field) is not None and "model" in row
    }
