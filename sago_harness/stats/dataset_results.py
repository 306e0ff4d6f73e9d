"""Everything that is told of one data set alone, computed while its variants are in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.stats.apart import ApartResult, families_apart
from sago_harness.stats.comparison import SHARES
from sago_harness.stats.digest import table_digest
from sago_harness.stats.dose import DoseResult, dose_response
from sago_harness.stats.epsilon import EpsilonTests, epsilon_tests
from sago_harness.stats.firmness import Variation, pack_variation, variations
from sago_harness.stats.independence import (
    IndependenceResult,
    axis_independence,
)
from sago_harness.stats.instability import InstabilityResult, instability
from sago_harness.stats.quantities import Quantity, mean_quantity
from sago_harness.stats.resampling import Settings
from sago_harness.stats.schemes import SchemeResult
from sago_harness.stats.scored import ScoredTask, score_task
from sago_harness.stats.table import TaskTable
from sago_harness.stats.variance import VarianceResult, variance_components
from sago_harness.stats.workers import Clock
from sago_harness.stats.worst import WorstResult, worst_cases


@dataclass(frozen=True)
class Part:
    """What is kept of a data set once its variants are let go."""

    scored: ScoredTask
    unstable: list[InstabilityResult]
    independence: list[IndependenceResult]
    variance: list[VarianceResult]
    dose: list[DoseResult]
    worst: list[WorstResult]
    firm: list[Variation]
    epsilons: EpsilonTests
    lean: TaskTable | None
    signatures: dict[str, Mapping[str, Any]]
    sources: dict[str, str]
    digests: dict[str, str]
    reasons: dict[tuple[str, str], dict[str, dict[str, int]]]
    apart: list[ApartResult] = field(default_factory=list)
    #: Seeds of the variants with which the documents are others, too.
    redrawn: list[int] = field(default_factory=list)


def dataset_results(table: TaskTable, settings: Settings, worst: int, clock: Clock) -> Part:
    """Return everything that is told of a data set alone.

    Parameters
    ----------
    table : TaskTable
        With its variants.
    settings : Settings
    worst : int
        Documents of each model that are named as the worst ones.
    clock : Clock
        Told how long each part takes.

    Returns
    -------
    Part
        Small: documents in the place of variants, except for the raw deltas of the published schemes.
    """
    few = replace(settings, resamples=min(settings.resamples, SHARES))
    with clock("reading"):
        digests = {table.task: table_digest(table)}
    with clock("scores"):
        scored = score_task(table)
    with clock("unstable"):
        unstable = list(instability(scored, settings, table))
    with clock("independence"):
        independent = list(axis_independence(table, few, kinds=("axis",), reduced=scored.reduced))
    with clock("variance"):
        components = list(variance_components(table, few).values())
    with clock("dose"):
        dose = list(dose_response(table, settings))
    with clock("worst"):
        cases = list(worst_cases(table, score=_shown_score(scored), k=worst, scored=scored))
    with clock("firmness"):
        firm = list(variations(table, scored, settings.seed))
        epsilons = epsilon_tests(scored, few, unstable)
    with clock("apart"):
        apart = list(families_apart(table, few))
    reasons = {
        (table.task, model): {
            measure: dict(counts[m]) for measure, counts in table.reasons.items() if counts[m]
        }
        for m, model in enumerate(table.models)
    }
    return Part(
        scored,
        unstable,
        independent,
        components,
        dose,
        cases,
        firm,
        epsilons,
        _lean(table),
        dict(zip(table.models, table.signatures, strict=False)),
        dict(zip(table.models, table.sources, strict=False)),
        digests,
        reasons,
        apart,
    )


def add_pack(part: Part, seed: int, table: TaskTable) -> None:
    """Add what variants of another seed give, and what its numbers depend on.

    Parameters
    ----------
    part : Part
        Changed in place.
    seed : int
    table : TaskTable
        The data set with these variants; it may lack some of the models.
    """
    part.firm.append(pack_variation(seed, table, part.scored.models))
    named = [f"{model} with pack seed {seed}" for model in table.models]
    part.signatures.update(zip(named, table.signatures, strict=False))
    part.sources.update(zip(named, table.sources, strict=False))
    part.digests[f"{table.task}, pack seed {seed}"] = table_digest(table)
    if set(table.documents) != set(part.scored.documents):
        part.redrawn.append(seed)


def _shown_score(scored: ScoredTask) -> str:
    """Return the score whose worst documents are shown: that of the most axes that any model has."""
    known = [n for n in ("sago_core", "sago_text") if n in scored.quantities]
    for name in known:
        if np.isfinite(scored.quantities[name].values).any():
            return name
    return next(iter(scored.reduced), "sago_core")


def _lean(table: TaskTable) -> TaskTable:
    """Return what the published schemes need: raw deltas, in half of the space.

    As everywhere, a variant enters only where every model that the document enters for was scored on it: one
    that a model lacks must not make it look steadier than the others.
    """
    raw: Any = {name: _shared(values.astype(np.float32)) for name, values in table.raw.items()}
    return replace(
        table,
        distances={},
        controls={},
        repeats={},
        first={},
        first_controls={},
        correct=None,
        raw=raw,
    )


def _shared(raw: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Blank out the variants of each document that a model with values on the document lacks."""
    known = np.isfinite(raw)
    if known.all():
        return raw
    entering = known.any(axis=2, keepdims=True)
    raw[np.broadcast_to(~(known | ~entering).all(axis=0), raw.shape)] = np.nan
    return raw


def under_scheme(part: Part, scheme: SchemeResult) -> Part:
    """Put a published scheme's scores in the place of ours.

    Parameters
    ----------
    part : Part
    scheme : SchemeResult
        Of a study that holds the data set and its models.

    Returns
    -------
    Part
        With the scheme's scores as its quantities; where a score has no value for each document, without
        influence values, and so without tests.
    """
    one = part.scored
    task = scheme.tasks.index(one.task)
    at = [scheme.models.index(model) for model in one.models]
    made: dict[str, Quantity] = {}
    for name, higher in scheme.higher_is_better.items():
        documents = scheme.document_values.get(one.task, {}).get(name)
        if documents is not None:
            rows = documents[[scheme.models.index(m) for m in one.models]]
            made[name] = mean_quantity(name, rows, "scheme", higher)
        else:
            values = scheme.values[name][at, task]
            reasons = tuple(scheme.reasons[name][m][task] for m in at)
            blank = np.zeros((len(at), len(one.documents)))
            made[name] = Quantity(
                name, "scheme", higher, values, blank, scheme.counts[name][at, task], reasons
            )
    return replace(part, scored=replace(one, quantities=made))
