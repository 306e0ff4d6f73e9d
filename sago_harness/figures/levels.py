"""The noise floor on the scale of the scores: where a model would stand that noise alone moves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.comparison import OWN, Comparison
from sago_harness.stats.means import divided, known_mean
from sago_harness.stats.quantities import AXES
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles


def noise_of_task(one: ScoredTask) -> dict[str, Doubles]:
    """Return the noise floor of every measure, axis and composite score of one data set.

    Parameters
    ----------
    one : ScoredTask

    Returns
    -------
    dict of str to ndarray of shape (M,)
        Measures: root mean square distance of the canonical repeats over that of the chance controls.
        Axes and composites are formed of it by the rules of the score; mirroring has its floor taken
        off already, so that it adds 0. NaN without repeats; mirroring itself is not among them.
    """
    found: dict[str, Doubles] = {}
    for name, values in one.reduced.items():
        if name != MIRRORING:
            floors, chances = known_mean(values.floors), known_mean(values.chances)
            found[name] = np.sqrt(divided(floors, np.where(np.isfinite(chances), chances, 0.0)))
    axes: dict[str, Doubles] = {}
    for axis in AXES:
        names = [name for name, values in one.reduced.items() if values.axis == axis]
        if names and MIRRORING not in names:
            axes[axis] = np.mean([np.clip(found[name], 0.0, 1.0) for name in names], axis=0)
        elif names:
            axes[axis] = np.zeros(len(one.models))
    for name, needed in COMPOSITES.items():
        if name in one.quantities and all(axis in axes for axis in needed):
            found[name] = 1.0 - np.mean([axes[axis] for axis in needed], axis=0)
    return found | {f"sago_{axis}": level for axis, level in axes.items() if axis != "mirroring"}


def noise_levels(found: Comparison, place: str) -> Mapping[str, Doubles]:
    """Return the noise floor of every score of a data set, or over all of them.

    Parameters
    ----------
    found : Comparison
    place : str
        Data set, or ``overall``: the unweighted mean, NaN for models that lack one.

    Returns
    -------
    dict of str to ndarray
        Of the models of that data set, or of the study; empty under a published scheme.
    """
    if found.settings.scheme != OWN:
        return {}
    if place in found.scored:
        return noise_of_task(found.scored[place])
    each = []
    for one in (found.scored[task] for task in found.spanning):
        own = noise_of_task(one)
        at = [one.models.index(model) if model in one.models else -1 for model in found.models]
        each.append({name: np.append(level, np.nan)[at] for name, level in own.items()})
    names = dict.fromkeys(name for levels in each for name in levels)
    return {name: np.mean([levels[name] for levels in each if name in levels], axis=0) for name in names}
