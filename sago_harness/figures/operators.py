"""Heat map of operators and models: by which way of saying the same is a model moved?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.heat import Cell, heat, instability_colours
from sago_harness.figures.names import labels, slug, whole
from sago_harness.figures.panels import arranged
from sago_harness.figures.places import AXIS_NAMES, Place, is_own, noise_note, place_of
from sago_harness.figures.plain import told
from sago_harness.figures.series import Series
from sago_harness.figures.theme import MOST
from sago_harness.report.tables import Cell as TableCell
from sago_harness.report.tables import Column, Table
from sago_harness.scores.composite import COMPOSITES

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison
    from sago_harness.stats.operators import OperatorResult

#: What the operators are held against, set apart from them.
AGAIN = "asked again (noise floor)"
ANOTHER, TAKEN_OVER = "another question (chance)", "taken over whole (chance)"

#: The label of nothing: parts operators and what they are held against.
_GAP = " "


def operators(study: Study) -> list[Drawn]:
    """Return the mean over data sets in each score and axis, then the first score on each data set.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    title = "Operators and models"
    if not found.operators:
        return [NotDrawn("operators", "operators", title, "no family that forms a score has an operator")]
    names = dict.fromkeys(name for one in found.operators for name in one.quantities)
    # Operators that declare no feature have no mirroring: the score that most operators have comes first.
    composites = sorted(
        (name for name in names if name in COMPOSITES), key=lambda n: -_known(found.operators, n)
    )
    shown = composites + [name for name in names if name in AXIS_NAMES]
    order = place_of(found).order() if is_own(found) else sorted(found.models)
    made = [_map(found, found.operators, name, order, "") for name in shown]
    first = next((name for name in shown if _known(found.operators, name)), None)
    if first is not None and len(found.tasks) > 1:
        for task in found.tasks:
            own = [one for one in found.operators if one.task == task]
            made.append(_map(found, own, first, order, task))
    return made


def _known(results: Sequence[OperatorResult], name: str) -> int:
    """Count the values of a score over operators, data sets and models."""
    return sum(
        int(np.isfinite(one.quantities[name].values).sum()) for one in results if name in one.quantities
    )


@dataclass(frozen=True)
class _Mean:
    """A model under an operator, over data sets."""

    value: float
    data_sets: int
    of: int
    reason: str


def _map(
    found: Comparison, results: Sequence[OperatorResult], score: str, order: Sequence[str], task: str
) -> Drawn:
    told_as = AXIS_NAMES.get(score, score)
    name = f"operators-{told_as}" + (f"-{slug(task)}" if task else "")
    many = len(found.tasks) > 1 and not task
    title = f"Operators: {told_as}" + (", mean over data sets" if many else f" on {task or found.tasks[0]}")
    keys = list(dict.fromkeys((one.family, one.operator) for one in results))
    means = {
        (key, model): _mean([one for one in results if (one.family, one.operator) == key], score, model)
        for key in keys
        for model in order
    }
    known = {place: mean for place, mean in means.items() if math.isfinite(mean.value)}
    if not known:
        why = next((mean.reason for mean in means.values() if mean.reason), "nothing is scored")
        return NotDrawn(name, "operators", title, f"no operator has {told_as}: {why}")
    higher = score in COMPOSITES
    chance = 0.0 if higher else 1.0
    noise = _noise(place_of(found, task), score)
    series = Series(found.models)
    beside: dict[str, dict[str, float]] = {AGAIN: noise} if noise else {}
    beside[TAKEN_OVER if score == "sago_mirroring" else ANOTHER] = dict.fromkeys(order, chance)
    operator_label = labels([*(f"{family}/{operator}" for family, operator in keys), *beside])
    turned = len(order) > max(MOST, len(keys))

    def cell(operator: str, model: str, value: float, detail: str) -> Cell:
        label = operator_label[operator]
        row, column = (series.label[model], label) if turned else (label, series.label[model])
        return Cell(row, column, value, told(value, 2), whole(model) if turned else label, detail)

    cells = []
    for (key, model), mean in means.items():
        detail = f"mean over {mean.data_sets} of {mean.of} data sets" if many else ""
        why = detail if math.isfinite(mean.value) else mean.reason
        cells.append(cell(f"{key[0]}/{key[1]}", model, mean.value, why))
    for reference, levels in beside.items():
        for model in order:
            level = levels.get(model, math.nan)
            why = "" if math.isfinite(level) else "not every run of it repeats its prompts"
            cells.append(cell(reference, model, level, why))
    rows = [series.label[model] for model in order]
    columns = [operator_label[f"{family}/{operator}"] for family, operator in keys]
    columns += [_GAP, *(operator_label[reference] for reference in beside)]
    if not turned:
        rows, columns = columns, rows
    size = (44, 22) if len(columns) <= MOST else (36, 20)
    colours = instability_colours(told_as, higher=higher)
    panel = heat(cells, rows, columns, colours, size=size,
                 row_title="model" if turned else "operator",
                 column_title="operator" if turned else "model", value_title=told_as)  # fmt: skip
    end = "1 = nothing moves, 0 = chance" if higher else "0 = nothing moves, 1 = chance"
    key_text = (
        f"Score of each operator's variants alone; darker is less stable; {end}. Set apart: "
        f"{'noise floor and chance' if noise else 'chance'}. Hatched: no value."
    )
    spec = arranged([panel], key_text, columns=1, width=max(420, size[0] * len(columns) + 160))
    notes = _notes(found, score, bool(noise))
    table_rows: list[tuple[TableCell, ...]] = [
        (
            key[0],
            key[1],
            model,
            mean.value,
            noise.get(model, math.nan),
            chance,
            mean.data_sets,
            mean.of,
            mean.reason,
        )
        for (key, model), mean in means.items()
    ]
    table = Table(
        name, title,
        (Column("family", kind="text"), Column("operator", kind="text"), Column("model", kind="text"),
         Column(score), Column("noise", "noise floor"), Column("chance"),
         Column("data_sets", "data sets", "count"), Column("of", kind="count"),
         Column("reason", kind="text")),
        tuple(table_rows), notes,
    )  # fmt: skip
    return Figure(name, "operators", title, _words(told_as, known, higher), spec, table, notes)


def _notes(found: Comparison, score: str, noisy: bool) -> tuple[str, ...]:
    if not is_own(found) and not noisy:
        return ("no noise floor: it is not formed under a published scheme",)
    return noise_note(found, score, noisy)


def _noise(place: Place, score: str) -> dict[str, float]:
    """Return the noise floor of each model on the scale of a score; empty where no model has one."""
    levels = place.noise.get(score)
    if levels is None or not np.isfinite(levels).any():
        return {}
    return dict(zip(place.models, levels.tolist(), strict=True))


def _mean(results: Sequence[OperatorResult], score: str, model: str) -> _Mean:
    """Return the unweighted mean over the data sets on which the model has it under this operator."""
    values, why = [], ""
    of = 0
    for one in results:
        if score not in one.quantities or model not in one.models:
            continue
        of += 1
        m = one.models.index(model)
        value = float(one.quantities[score].values[m])
        if math.isfinite(value):
            values.append(value)
        else:
            why = why or whole(f"{one.task}: {one.quantities[score].reasons[m]}")
    mean = float(np.mean(values)) if values else math.nan
    return _Mean(mean, len(values), of, "" if values else why or "not run")


def _words(score: str, known: dict[tuple[tuple[str, str], str], _Mean], higher: bool) -> str:
    by_value = sorted(known, key=lambda place: known[place].value, reverse=not higher)
    worst, best = by_value[0], by_value[-1]
    return (
        f"{score} under {len({key for key, _ in known})} operators: least stable {worst[1]} under "
        f"{'/'.join(worst[0])} ({told(known[worst].value)}), most stable {best[1]} under "
        f"{'/'.join(best[0])} ({told(known[best].value)})."
    )
