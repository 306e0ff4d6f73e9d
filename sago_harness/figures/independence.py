"""Do the axes catch different failures? Their correlations over documents as small matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.figures.heat import Cell, Colours, heat
from sago_harness.figures.names import labels, slug
from sago_harness.figures.panels import Spec, arranged
from sago_harness.figures.plain import some, span, told
from sago_harness.figures.theme import MOST
from sago_harness.report.compared_origins import independence_table
from sago_harness.stats.independence import MARGIN
from sago_harness.stats.quantities import AXES

if TYPE_CHECKING:
    from sago_harness.report.study import Study
    from sago_harness.stats.comparison import Comparison
    from sago_harness.stats.independence import IndependenceResult

#: ColorBrewer's PuOr in five steps; which sign a cell has is written in it.
_COLOURS = Colours(
    (-0.7, -MARGIN, MARGIN, 0.7),
    ("#5e3c99", "#b2abd2", "#f0f0f0", "#fdb863", "#e66101"),
    "correlation",
    "+.1f",
)

_SIZE = (84, 36)

_KEY = (
    "Correlation of documents' instability on two axes, each read from another half of the "
    "variants, without what "
    "noise takes away; 0 = each axis catches documents of its own. Verdict: independent = whole "
    "{level} interval "
    "within {margin:g} of 0; related = interval excludes 0. Blank cells name the reason."
)


def independence(study: Study) -> list[Drawn]:
    """Return the correlations on each data set: over all models, then of each model, then over models.

    Parameters
    ----------
    study : Study
    """
    found = study.found
    title = "Correlation of the axes"
    over = [one for one in found.independence if one.kind == "axis"]
    if not over:
        return [NotDrawn("independence", "independence", title, "there are no two axes to correlate")]
    several = len(found.models) > 1
    head = f"{title}, mean over models" if several else title
    made = [_figure(found, "independence", head, [one for one in over if not one.model], "task")]
    if several and len(found.models) <= MOST:
        for model in found.models:
            own = [one for one in over if one.model == model]
            made.append(_figure(found, f"independence-{slug(model)}", f"{title}: {model}", own, "task"))
    models = [one for one in found.independence if one.kind == "models"]
    if models:
        made.append(_figure(found, "independence-models", f"{title} over models", models, "kind"))
    return made


def _figure(found: Comparison, name: str, title: str, given: Sequence[IndependenceResult], by: str) -> Drawn:
    known = [one for one in given if math.isfinite(one.statistic)]
    if not known:
        why = some(dict.fromkeys(one.reason.replace("_", " ") for one in given if one.reason), 3)
        return NotDrawn(name, "independence", title, f"every pair of axes is blank: {why or 'not measured'}")
    places: dict[str, list[IndependenceResult]] = {}
    for one in given:
        places.setdefault(one.task if by == "task" else one.task or "all data sets", []).append(one)
    task_label = labels(places)
    across = min(2, len(places))
    panels = [
        _matrix(found, of, task_label[place] if by == "task" else "", number % across == 0)
        for number, (place, of) in enumerate(places.items())
    ]
    key = _KEY.format(level=found.settings.confidence, margin=MARGIN)
    if by != "task":
        key = "Spearman's correlation of the models' values on two axes, with its verdict."
    spec = arranged(panels, key, columns=across, width=max(420, across * 290), spacing=26)
    table = independence_table(name, title, given, found).without("kind")
    return Figure(name, "independence", title, _words(known, len(given)), spec, table)


def _matrix(found: Comparison, given: Sequence[IndependenceResult], title: str, named: bool) -> Spec:
    axes = [axis for axis in AXES if any(axis in (one.first, one.second) for one in given)]
    by: Mapping[tuple[str, str], IndependenceResult] = {(one.second, one.first): one for one in given}
    cells = []
    for i, row in enumerate(axes):
        for column in axes[:i]:
            one = by.get((row, column))
            if one is None:
                continue
            low, high = one.confidence_interval
            count = one.documents or one.models
            interval = f"{found.settings.confidence} interval {span(low, high, 2)}, n {count}"
            reason = "not reliable" if one.reason == "reliability" else one.reason.replace("_", " ")
            cells.append(
                Cell(
                    row,
                    column,
                    one.statistic,
                    told(one.statistic, 2, "signed"),
                    row,
                    reason or interval,
                    reason or one.verdict,
                )
            )
    return heat(cells, axes[1:], axes[:-1], _COLOURS, title=title, size=_SIZE, named=named,
                row_title="axis", column_title="with", value_title="correlation")  # fmt: skip


def _words(known: Sequence[IndependenceResult], count: int) -> str:
    verdicts = [one.verdict for one in known]
    most = max(known, key=lambda one: abs(one.statistic))
    where = f" on {most.task}" if most.task else ""
    low, high = most.confidence_interval
    return (
        f"{verdicts.count('independent')} of {count} pairs of axes are shown to be independent, "
        f"{verdicts.count('related')} to be related, {verdicts.count('not shown')} neither, "
        f"{count - len(known)} are blank; strongest {most.first} and {most.second}{where}, "
        f"{told(most.statistic, 2, 'signed')} {span(low, high, 2)}."
    )
