"""How firm is a ranking: the same records looked at in other ways that a reader might have chosen.

Each variation gives every model another value of the scores; what is reported is whether the
order stays. Nothing here is a test: variations are not draws from anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.covariates import at_equal_covariates
from sago_harness.stats.quantities import combined_values, composite_values, measure_values
from sago_harness.stats.reduce import MIRRORING, by_variant, reduce_task, reduce_variants
from sago_harness.stats.resampling import generator
from sago_harness.stats.rich import Rich
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags, TaskTable
from sago_harness.stats.ties import order, scale_of

#: Times that documents, and variants, are cut into halves; both halves are looked at.
SPLITS = 2

#: Documents that a model needs on either side where right and wrong answers are looked at apart.
LEAST_ANSWERS = 10

#: Kind of the variations that were made with other seeds of the variants.
PACK_SEED = "pack seed"

#: How much more a family counts where weights are changed.
HEAVIER = 2.0


@dataclass(frozen=True, slots=True)
class Variation:
    """Scores of one data set, looked at in one other way.

    Attributes
    ----------
    kind : str
        ``without operator``, ``family weight``, ``half of the documents`` ...
    detail : str
        Which operator, which family ...
    values : dict of str to ndarray of shape (M,)
        Composite -> value of each model, NaN where unscored.
    reason : str
        Why there are none.
    """

    kind: str
    detail: str
    values: Mapping[str, Doubles]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FirmnessResult(Rich):
    """One variation over all data sets that have it, against the ranking as it is.

    Attributes
    ----------
    kind, detail, score : str
    models : tuple of str
        Those that have a value in both.
    values : tuple of float
        Of the variation, unweighted mean over data sets.
    tau : float
        Kendall tau-b of the two orders; NaN under two models, or where all are tied.
    moved : int
        Largest change of a model's rank.
    best_kept : bool
        The same model is the most stable one, or the same ones tie for it.
    tasks : int
        Data sets that have the variation.
    reason : str
    """

    kind: str
    detail: str
    score: str
    models: tuple[str, ...]
    values: tuple[float, ...]
    tau: float
    moved: int
    best_kept: bool
    tasks: int
    reason: str = ""

    def __str__(self) -> str:
        what = f"{self.kind} {self.detail}".strip()
        return f"{what}: {self.reason}" if self.reason else f"{what}: tau {self.tau:.2f} ({self.score})"


def variations(table: TaskTable, scored: ScoredTask, seed: int) -> Iterator[Variation]:
    """Yield the variations of one data set.

    Parameters
    ----------
    table : TaskTable
    scored : ScoredTask
        The same data set, reduced.
    seed : int
        Of the random halves.
    """
    reduced = scored.reduced
    as_it_is = {name: scored.quantities[name].values for name in COMPOSITES if name in scored.quantities}
    yield Variation("as it is", "", as_it_is)
    for place, (family, operator) in enumerate(table.operators):
        less = {name: values.without_operator(place).squares() for name, values in reduced.items()}
        yield Variation("without operator", f"{family}/{operator}", composite_values(reduced, less))
    for place, family in enumerate(table.families):
        weights = np.ones(len(table.families))
        weights[place] = HEAVIER
        heavier = {
            name: values.squares(None if name == MIRRORING else weights) for name, values in reduced.items()
        }
        yield Variation("family weight", f"{family} x {HEAVIER:g}", composite_values(reduced, heavier))
    yield from _halves(table, scored, seed)
    yield from _first_tokens(table, scored)
    yield from _answers(table, scored)
    yield _adjusted(table, scored)


def pack_variation(seed: int, table: TaskTable, models: Sequence[str]) -> Variation:
    """Return the scores on variants that were made with another seed.

    Parameters
    ----------
    seed : int
    table : TaskTable
        The data set with these variants; it may lack some of the models.
    models : sequence of str
        M models of the ranking.

    Returns
    -------
    Variation
        NaN for models that were not run with this seed.
    """
    own = [model for model in table.models if model in models]
    if not own:
        return Variation(PACK_SEED, str(seed), {}, "no model of the ranking was run with it")
    places = [list(models).index(model) for model in own]
    found = {}
    for name, values in composite_values(reduce_task(table.with_models(own))).items():
        found[name] = np.full(len(models), np.nan)
        found[name][places] = values
    return Variation(PACK_SEED, str(seed), found)


def _halves(table: TaskTable, scored: ScoredTask, seed: int) -> Iterator[Variation]:
    rng = generator(seed, "halves", table.task)
    _, documents, columns = table.shape
    for split in range(SPLITS):
        for name, keep in _both(np.zeros(documents, dtype=np.intp), rng):
            found = composite_values(scored.reduced, keep=keep)
            yield Variation("half of the documents", f"{split + 1}{name}", found)
    family = {name: i for i, name in enumerate(table.families)}
    places = np.array([family.get(v.family, -1) for v in table.variants], dtype=np.intp)
    # Half of the variants: a family of two is scored on the one that is left.
    cuts = [
        (f"{split + 1}{name}", keep)
        for split in range(SPLITS if columns else 0)
        for name, keep in _both(places, rng)
    ]
    measured: list[dict[str, Doubles]] = [{} for _ in cuts]
    # Measure by measure, so that one alone is held variant by variant.
    for name, values in scored.reduced.items() if cuts else ():
        single = by_variant(table, name)
        for known, (_, keep) in zip(measured, cuts, strict=True):
            squares = reduce_variants(table, values, single, keep).squares()
            known[name] = measure_values(values, squares)
    for known, (detail, _) in zip(measured, cuts, strict=True):
        yield Variation("half of the variants", detail, _composites(known, table))


def _both(strata: npt.NDArray[np.intp], rng: np.random.Generator) -> tuple[tuple[str, Flags], ...]:
    """Cut the members of every stratum into halves a and b."""
    chosen = _half(strata, rng)
    return ("a", chosen), ("b", ~chosen)


def _half(strata: npt.NDArray[np.intp], rng: np.random.Generator) -> Flags:
    """Choose half of the members of every stratum."""
    chosen = np.zeros(len(strata), dtype=bool)
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        # Which half of an odd number is the larger one is drawn too.
        cut = (len(members) + int(rng.integers(2))) // 2
        chosen[members[:cut]] = True
    return chosen


def _first_tokens(table: TaskTable, scored: ScoredTask) -> Iterator[Variation]:
    """Look at the first tokens alone, in all measures that have such values.

    Where some models lack a few of them (older records), once more in those that most models have.
    """
    kind = "first 16 tokens"
    having = {
        name: _known(values) & _known(table.first_controls[name])
        for name, values in table.first.items()
        if name in table.first_controls
    }
    having = {name: models for name, models in having.items() if models.any()}
    if not having:
        yield Variation(kind, "", {}, "the records hold no distances over the first tokens")
        return
    most = max(models.sum() for models in having.values())
    shorter = replace(
        table,
        measures={name: axis for name, axis in table.measures.items() if name in having},
        distances={name: table.first[name] for name in having},
        controls={name: table.first_controls[name] for name in having},
        partners=None,
    )
    short = {name: measure_values(values, values.squares()) for name, values in reduce_task(shorter).items()}
    whole = {name: scored.quantities[name].values for name in scored.reduced}
    for names in dict.fromkeys((tuple(having), tuple(n for n, m in having.items() if m.sum() == most))):
        measured = whole | {name: values for name, values in short.items() if name in names}
        yield Variation(kind, ", ".join(names), _composites(measured, table))


def _known(values: Doubles) -> Flags:
    """Say which models have any value, of shape (M,)."""
    known: Flags = np.any(np.isfinite(values), axis=(1, 2))
    return known


def _answers(table: TaskTable, scored: ScoredTask) -> Iterator[Variation]:
    for name, wanted in (("right", 1.0), ("wrong", 0.0)):
        kind = f"{name} canonical answers"
        if table.correct is None or not np.isfinite(table.correct[:, :, 0]).any():
            yield Variation(kind, "", {}, "the data set has no gold answers")
            continue
        keep = table.correct[:, :, 0] == wanted
        found = composite_values(scored.reduced, keep=keep)
        few = keep.sum(axis=1) < LEAST_ANSWERS
        yield Variation(kind, "", {n: np.where(few, np.nan, v) for n, v in found.items()})


def _adjusted(table: TaskTable, scored: ScoredTask) -> Variation:
    """Values at equal response length and accuracy: models and both covariates in one regression.

    A document's pseudo-value is the model's score and n times the document's influence on it.
    """
    kind = "equal length and accuracy"
    if table.tokens is None:
        return Variation(kind, "", {}, "response lengths are unknown")
    columns = [np.log1p(table.tokens)]
    if table.correct is not None and np.isfinite(table.correct[:, :, 0]).any():
        columns.append(table.correct[:, :, 0])
    found = {}
    for name in COMPOSITES:
        if name in scored.quantities:
            one = scored.quantities[name]
            pseudo = one.values[:, None] + one.influence * np.maximum(one.counts, 1)[:, None]
            # Documents that are not part have no influence.
            found[name] = at_equal_covariates(np.where(one.influence != 0.0, pseudo, np.nan), columns)
    return Variation(kind, "", found)


def _composites(measured: Mapping[str, Doubles], table: TaskTable) -> dict[str, Doubles]:
    """Return the composites of the values of measures."""
    formed = combined_values(measured, {**table.measures, MIRRORING: "mirroring"})
    return {name: formed[name] for name in COMPOSITES}


def firmness(
    found: Mapping[str, tuple[Sequence[str], Sequence[Variation]]],
    ranked: Mapping[str, Flags] | None = None,
) -> list[FirmnessResult]:
    """Compare every variation's ranking, over data sets, with the ranking as it is.

    It is the ranking again: models that it leaves out (stock answers, sampling) are in no variation.

    Parameters
    ----------
    found : dict of str to (models, variations)
        Data set -> what :func:`variations` gave for its models.
    ranked : dict of str to ndarray of shape (M,), optional
        Data set -> which of its models are in the ranking; all, without it. Over several data sets
        that is :attr:`sago_harness.stats.overall.OverallTable.ranked`, on a single one
        :attr:`sago_harness.stats.scored.ScoredTask.ranked`.

    Returns
    -------
    list of FirmnessResult
        Beside the variations of the data sets, the ranking without each data set.
    """
    if ranked is not None:
        found = {
            task: (models, [_of_ranked(one, ranked[task]) for one in given])
            for task, (models, given) in found.items()
        }
    base = {task: (models, given[0].values) for task, (models, given) in found.items() if given}
    named: dict[tuple[str, str], dict[str, list[Variation]]] = {}
    for task, (_, given) in found.items():
        for one in given[1:]:
            named.setdefault((one.kind, one.detail), {}).setdefault(task, []).append(one)
    results: list[FirmnessResult] = []
    for score in COMPOSITES:
        as_it_is = {task: (models, values.get(score)) for task, (models, values) in base.items()}
        whole = _overall(list(as_it_is.values()))
        for task in base if len(base) > 1 else ():
            rest = [part for name, part in as_it_is.items() if name != task]
            results.append(against("without data set", task, score, whole, rest))
        for (kind, detail), of in named.items():
            parts = [(found[task][0], one.values.get(score)) for task, given in of.items() for one in given]
            reasons = [one.reason for given in of.values() for one in given]
            reason = reasons[0] if all(reasons) else ""
            # Where some data sets lack a variation, it is held against the same data sets as they are.
            have = [as_it_is[task] for task, given in of.items() if not all(one.reason for one in given)]
            results.append(against(kind, detail, score, _overall(have), parts, reason))
    return results


def _of_ranked(one: Variation, ranked: Flags) -> Variation:
    return replace(one, values={name: np.where(ranked, v, np.nan) for name, v in one.values.items()})


Part = tuple[Sequence[str], Doubles | None]
Signs = npt.NDArray[np.int8]


def _overall(parts: Sequence[Part]) -> dict[str, float]:
    """Return the mean over data sets of the models that have a value in each."""
    known = [(models, values) for models, values in parts if values is not None]
    places = {model: i for i, model in enumerate(dict.fromkeys(m for models, _ in known for m in models))}
    values = np.full((len(places), len(known)), np.nan)
    for column, (models, own) in enumerate(known):
        values[[places[model] for model in models], column] = own
    means = values.mean(axis=1) if known else np.zeros(0)
    return {model: float(mean) for model, mean in zip(places, means, strict=True) if np.isfinite(mean)}


def against(
    kind: str,
    detail: str,
    score: str,
    whole: Mapping[str, float],
    parts: Sequence[Part],
    reason: str = "",
    tasks: int | None = None,
) -> FirmnessResult:
    """Hold a variation's order of models against that of the ranking as it is.

    Parameters
    ----------
    kind, detail, score : str
        Of the result.
    whole : dict of str to float
        Ranked model -> value as it is; higher = more stable.
    parts : sequence of (models, values)
        The variation on each data set, in the same direction.
    reason : str
        Why there is none.
    tasks : int, optional
        Data sets, where a part is of several.
    """
    tasks = len(parts) if tasks is None else tasks
    other = _overall(parts)
    models = tuple(model for model in whole if model in other)
    nan = float("nan")
    if reason or len(models) < 2:
        lacking = "are ranked" if len(whole) < 2 else "have a value"
        why = reason or f"fewer than two models {lacking}"
        return FirmnessResult(kind, detail, score, models, (), nan, 0, False, tasks, why)
    first, second = (_ahead(np.array([held[m] for m in models])) for held in (whole, other))
    tied = not (first.any() and second.any())
    tau = nan if tied else _tau(first, second)
    behind = [(signs < 0).sum(axis=1) for signs in (first, second)]
    moved = int(np.max(np.abs(behind[0] - behind[1])))
    # Of several that tie for the first place all must stay there, and no other one come.
    best = not tied and bool(np.array_equal(behind[0] == 0, behind[1] == 0))
    return FirmnessResult(
        kind,
        detail,
        score,
        models,
        tuple(float(other[m]) for m in models),
        tau,
        moved,
        best,
        tasks,
        "all values are equal" if tied else "",
    )


def _ahead(values: Doubles) -> Signs:
    """Return 1 where a model is ahead of another one, -1 where it is behind, 0 in a tie; (M, M)."""
    return order(values[:, None] - values, scale_of(values)).astype(np.int8)


def _tau(first: Signs, second: Signs) -> float:
    """Return Kendall's tau-b of two orders: pairs in the same order less others, over untied ones."""
    concordant = int(np.sum(first * second, dtype=np.int64))
    untied = float(np.count_nonzero(first)) * float(np.count_nonzero(second))
    return concordant / math.sqrt(untied)
