"""Where a score stands: on one data set, or over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sago_harness.figures.levels import noise_levels
from sago_harness.figures.names import whole
from sago_harness.figures.series import ordered
from sago_harness.stats.comparison import OWN, Comparison
from sago_harness.stats.overall import OVERALL
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags

#: Axis scores -> name for people.
AXIS_NAMES = {
    "sago_generation": "generation",
    "sago_activation": "activation",
    "sago_confidence": "confidence",
    "sago_mirroring": "mirroring",
}

#: What is told where no run has a noise floor.
NO_NOISE = "no noise floor: no run repeats its canonical prompts"


@dataclass(frozen=True)
class Value:
    """One model's value of one score.

    Attributes
    ----------
    model : str
    value, low, high, noise : float
        Score, its interval, and its noise floor; NaN where there is none.
    n : int
        Documents.
    reason : str
        Why there is no value.
    """

    model: str
    value: float
    low: float
    high: float
    noise: float
    n: int
    reason: str


@dataclass(frozen=True)
class Place:
    """All scores of a data set, or over all of them.

    Attributes
    ----------
    found : Comparison
    name : str
        Data set, or ``overall``.
    models : tuple of str
    quantities : dict of str to Quantity
    noise : dict of str to ndarray
        Of :func:`sago_harness.figures.levels.noise_levels`.
    """

    found: Comparison
    name: str
    models: tuple[str, ...]
    quantities: Mapping[str, Quantity]
    noise: Mapping[str, Doubles]

    def values(self, score: str) -> list[Value]:
        """Return the values of all models of the study, in its order."""
        q = self.quantities[score]
        interval = self.found.intervals.get(self.name, {}).get(score)
        noise = self.noise.get(score)
        made = []
        for model in self.found.models:
            if model not in self.models:
                made.append(Value(model, np.nan, np.nan, np.nan, np.nan, 0, "not run"))
                continue
            m = self.models.index(model)
            low, high = (np.nan, np.nan) if interval is None else (interval.low[m], interval.high[m])
            level = np.nan if noise is None else float(noise[m])
            # Over data sets a reason names them.
            reason = _words(q.reasons[m]) if not np.isfinite(q.values[m]) else ""
            made.append(
                Value(model, float(q.values[m]), float(low), float(high), level, int(q.counts[m]), reason)
            )
        return made

    def order(self) -> list[str]:
        """Return all models, the most stable first by the first score that any has."""
        for score in (*self.found.scores, *axes_of(self.quantities)):
            if score in self.quantities and np.isfinite(self.quantities[score].values).any():
                given = self.values(score)
                higher = self.quantities[score].higher_is_better
                return ordered([one.model for one in given], [one.value for one in given], higher=higher)
        return sorted(self.found.models)


def place_of(found: Comparison, name: str = "") -> Place:
    """Return a data set, or by default what the leaderboard is of."""
    if not name and found.total is not None:
        return Place(found, OVERALL, found.total.models, found.total.quantities, noise_levels(found, OVERALL))
    task = name or found.spanning[0]
    one = found.scored[task]
    return Place(found, task, one.models, one.quantities, noise_levels(found, task))


def _words(reasons: str) -> str:
    """Return reasons in words; what stands before their colons are names, and stays."""
    parts = []
    for one in reasons.split("; "):
        head, colon, tail = one.rpartition(": ")
        parts.append(f"{head}{colon}{tail.replace('_', ' ')}")
    return whole("; ".join(parts))


def axes_of(quantities: Mapping[str, Quantity]) -> list[str]:
    """Return the axes among scores, in their order."""
    return [name for name in AXIS_NAMES if name in quantities]


def is_own(found: Comparison) -> bool:
    """Say whether the scores are this project's, which have axes, chance and noise."""
    return found.settings.scheme == OWN


def where(place: str) -> str:
    """Return a place in words."""
    return "over all data sets" if place == OVERALL else f"on {place}"


def noise_note(found: Comparison, score: str, noisy: bool) -> tuple[str, ...]:
    """Return the note of a figure that says why no noise floor is drawn; none where one is.

    Parameters
    ----------
    found : Comparison
    score : str
        Score or axis of the figure; "" for several.
    noisy : bool
        Whether any model has a floor there.
    """
    if noisy:
        return ()
    if not is_own(found):
        return (f"no chance level, no noise floor: the published scheme {found.settings.scheme} has none",)
    if score == "sago_mirroring":
        return ("no noise floor of its own: mirroring has it taken off already",)
    repeated = [bool(known) for one in found.scored.values() for known in _repeated(one)]
    if not any(repeated):
        return (NO_NOISE,)
    if not all(repeated):
        lacking = f"{repeated.count(False)} of {len(repeated)} runs do not repeat their canonical prompts"
        return (f"no noise floor: {lacking}",)
    return ("no noise floor: a chance level, which it is a share of, is missing",)


def _repeated(one: ScoredTask) -> Flags:
    """Say which models of a data set have repeats of canonical prompts, of shape (M,)."""
    known: Flags = np.zeros(len(one.models), dtype=bool)
    for name, values in one.reduced.items():
        if name != MIRRORING:
            known |= np.isfinite(values.floors).any(axis=1)
    return known
