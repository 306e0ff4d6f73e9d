"""The layer profile: in which layers do variants move the representation?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sago_harness.figures.curves import Curve, curves, room
from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.names import fitting, labels
from sago_harness.figures.panels import Spec, across, arranged
from sago_harness.figures.places import NO_NOISE
from sago_harness.figures.plain import some, told
from sago_harness.figures.series import Series
from sago_harness.report.tables import Cell, Column, Table

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.scores.profile import LayerLevel, LayerProfile

_KEY = (
    "Relative instability r of the hidden states, layer by layer (0 = embedding). Bar: standard "
    "error. Dashed line at "
    "1: chance, as far as for another question."
)


def layers(study: Study) -> list[Drawn]:
    """Return r by layer: a panel a data set, a line a model.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    title = "Layer profile"
    given = {
        key: profile
        for key, profile in study.layers.items()
        if any(math.isfinite(level.r) for level in profile.layers)
    }
    if not given:
        why = "no run has hidden states by layer (a backend that gives them, and --output_path, are needed)"
        return [NotDrawn("layers", "layers", title, why)]
    tasks = [task for task in found.tasks if any(key[0] == task for key in given)]
    lacking = [f"{model} on {task}" for task in found.tasks for model in found.models
               if (task, model) not in given and model in found.scored[task].models]  # fmt: skip
    series = Series(found.models)
    columns_of = across(len(tasks), 3)
    size = {1: (420, 220), 2: (270, 160)}.get(columns_of, (190, 130))
    task_label = labels(tasks, fitting(size[0]))
    levels = [level for profile in given.values() for level in profile.layers]
    deepest = max(level.layer for level in levels)
    y_domain = room([x for level in levels for x in (level.r, level.r + _error(level))] + [1.0])
    legend = series.legend(columns_of * (size[0] + 30))
    panels: list[Spec] = []
    for number, task in enumerate(tasks):
        drawn = [_curve(model, given[task, model]) for model in found.models if (task, model) in given]
        panels.append(
            curves(
                series,
                drawn,
                x_domain=(0.0, float(max(deepest, 1))),
                y_domain=y_domain,
                title=task_label[task],
                x_title="layer" if number >= len(tasks) - columns_of else None,
                y_title="r" if number % columns_of == 0 else None,
                x_name="layer",
                y_name="r",
                chance=1.0,
                chance_text="1 = as far as for another question",
                size=size,
                legend=legend,
                first=number == 0,
                y_labels=number % columns_of == 0,
            )
        )
    noisy = any(math.isfinite(_noise(level)) for level in levels)
    spec = arranged(
        panels, _KEY + (" Dotted line: noise floor." if noisy else ""), columns=columns_of,
        width=columns_of * (size[0] + 30), spacing=14,
    )  # fmt: skip
    notes = [] if noisy else [NO_NOISE]
    if lacking:
        notes.append(f"without a profile: {some(lacking, 6)}")
    rows: list[tuple[Cell, ...]] = [
        (task, model, level.layer, level.r, level.stderr, level.variants, level.controls, level.noise,
         _noise(level), 1.0, level.n, level.reason)
        for (task, model), profile in given.items() for level in profile.layers
    ]  # fmt: skip
    columns = (
        Column("task", "data set", "text"),
        Column("model", kind="text"),
        Column("layer", kind="count"),
        Column("r"),
        Column("stderr", "±"),
        Column("variants", digits=4),
        Column("controls", digits=4),
        Column("repeats", digits=4),
        Column("noise", "noise floor of r"),
        Column("chance"),
        Column("documents", "n", "count"),
        Column("reason", kind="text"),
    )
    table = Table("layers", title, columns, tuple(rows))
    return [Figure("layers", "layers", title, _words(given), spec, table, tuple(notes))]


def _curve(model: str, profile: LayerProfile) -> Curve:
    levels = profile.layers
    return Curve(
        model,
        [float(level.layer) for level in levels],
        [level.r for level in levels],
        [level.r - _error(level) for level in levels],
        [level.r + _error(level) for level in levels],
        noise=[_noise(level) for level in levels],
        n=[level.n for level in levels],
    )


def _error(level: LayerLevel) -> float:
    return level.stderr if math.isfinite(level.stderr) else math.nan


def _noise(level: LayerLevel) -> float:
    """Return the noise floor on the scale of r."""
    return level.noise / level.controls if level.controls > 0.0 else math.nan


def _words(given: dict[tuple[str, str], LayerProfile]) -> str:
    parts = []
    for (task, model), profile in given.items():
        known = [level for level in profile.layers if math.isfinite(level.r)]
        top = max(known, key=lambda level: level.r)
        parts.append(f"{model} on {task} {told(top.r)} in layer {top.layer} of {profile.layers[-1].layer}")
    more = f"; and {len(parts) - 6} more" if len(parts) > 6 else ""
    return f"Relative instability by layer, where it is largest: {'; '.join(parts[:6])}{more}."
