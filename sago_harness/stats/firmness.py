"""How firm is a ranking: the same records looked at in other ways that a reader might have chosen.

Each variation gives every model another value of the scores; what is reported is whether the
order stays. Nothing here is a test: variations are not draws from anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.quantities import Quantity, quantities
from sago_harness.stats.reduce import MIRRORING, MeasureValues, reduce_task
from sago_harness.stats.resampling import TIE, generator
from sago_harness.stats.scored import ScoredTask, score_task
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: Times that documents, and variants, are cut into halves; both halves are looked at.
SPLITS = 2

#: Documents that a model needs on either side where right and wrong answers are looked at apart.
LEAST_ANSWERS = 10

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
class FirmnessResult:
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
        The same model is the most stable one.
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
    yield Variation("as it is", "", _values(scored.quantities))
    for place, (family, operator) in enumerate(table.operators):
        less = {n: v.without_operator(place) for n, v in scored.reduced.items()}
        yield Variation("without operator", f"{family}/{operator}", _values(quantities(less)))
    for place, family in enumerate(table.families):
        yield Variation("family weight", f"{family} x {HEAVIER:g}", _weighted(scored.reduced, place))
    yield from _halves(table, scored, seed)
    yield from _first_tokens(table)
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
        return Variation("pack seed", str(seed), {}, "no model of the ranking was run with it")
    places = [list(models).index(model) for model in own]
    found = {}
    for name, values in _values(score_task(table.with_models(own)).quantities).items():
        found[name] = np.full(len(models), np.nan)
        found[name][places] = values
    return Variation("pack seed", str(seed), found)


def _halves(table: TaskTable, scored: ScoredTask, seed: int) -> Iterator[Variation]:
    rng = generator(seed, "halves", table.task)
    _, documents, columns = table.shape
    for split in range(SPLITS):
        chosen = _half(np.zeros(documents, dtype=np.intp), rng)
        for name, keep in (("a", chosen), ("b", ~chosen)):
            yield Variation("half of the documents", f"{split + 1}{name}", _values(scored.of(keep)))
    family = {name: i for i, name in enumerate(table.families)}
    places = np.array([family.get(v.family, -1) for v in table.variants], dtype=np.intp)
    for split in range(SPLITS if columns else 0):
        chosen = _half(places, rng)
        for name, keep in (("a", chosen), ("b", ~chosen)):
            # Half of the variants: a family of two is scored on the one that is left.
            made = quantities(reduce_task(table.with_variants(keep)))
            yield Variation("half of the variants", f"{split + 1}{name}", _values(made))


def _half(strata: npt.NDArray[np.intp], rng: np.random.Generator) -> Flags:
    """Choose half of the members of every stratum."""
    chosen = np.zeros(len(strata), dtype=bool)
    for stratum in np.unique(strata):
        members = rng.permutation(np.flatnonzero(strata == stratum))
        # Which half of an odd number is the larger one is drawn too.
        cut = (len(members) + int(rng.integers(2))) // 2
        chosen[members[:cut]] = True
    return chosen


def _weighted(reduced: Mapping[str, MeasureValues], place: int) -> dict[str, Doubles]:
    changed = {}
    for name, values in reduced.items():
        if name == MIRRORING or place >= len(values.needed):
            changed[name] = values
            continue
        weights = np.ones(len(values.needed))
        weights[place] = HEAVIER
        changed[name] = _fixed(values, values.squares(weights))
    return _values(quantities(changed))


def _fixed(values: MeasureValues, squares: Doubles) -> MeasureValues:
    """Return values whose mean squares are given: one operator, one family."""
    known = np.isfinite(squares)
    return replace(
        values,
        sums=np.where(known, squares, 0.0)[:, :, None],
        counts=known.astype(np.float64)[:, :, None],
        family_of=np.zeros(1, dtype=np.intp),
        needed=np.ones(1, dtype=np.intp),
    )


def _first_tokens(table: TaskTable) -> Iterator[Variation]:
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
    for names in dict.fromkeys((tuple(having), tuple(n for n, m in having.items() if m.sum() == most))):
        shorter = replace(
            table,
            distances={**table.distances, **{name: table.first[name] for name in names}},
            controls={**table.controls, **{name: table.first_controls[name] for name in names}},
        )
        yield Variation(kind, ", ".join(names), _values(quantities(reduce_task(shorter))))


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
        found = _values(scored.of(keep))
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
    return Variation(
        kind, "", {name: _regressed(scored.quantities[name], columns) for name in _named(scored.quantities)}
    )


def _regressed(quantity: Quantity, columns: Sequence[Doubles]) -> Doubles:
    pseudo = quantity.values[:, None] + quantity.influence * np.maximum(quantity.counts, 1)[:, None]
    used = np.isfinite(pseudo) & (quantity.influence != 0.0)
    for column in columns:
        used &= np.isfinite(column)
    models, rows = np.nonzero(used)
    found = np.full(len(quantity.values), np.nan)
    present = np.unique(models)
    if len(models) <= len(present) + len(columns):
        return found
    x = np.stack([column[models, rows] for column in columns], axis=1)
    dummies = (models[:, None] == present[None, :]).astype(np.float64)
    design = np.concatenate([dummies, x - x.mean(axis=0)], axis=1)
    solved = np.linalg.lstsq(design, pseudo[models, rows], rcond=None)[0]
    found[present] = solved[: len(present)]
    return found


def _named(found: Mapping[str, Quantity]) -> list[str]:
    return [name for name in COMPOSITES if name in found]


def _values(found: Mapping[str, Quantity]) -> dict[str, Doubles]:
    return {name: found[name].values for name in _named(found)}


def firmness(found: Mapping[str, tuple[Sequence[str], Sequence[Variation]]]) -> list[FirmnessResult]:
    """Compare every variation's ranking, over data sets, with the ranking as it is.

    Parameters
    ----------
    found : dict of str to (models, variations)
        Data set -> what :func:`variations` gave for its models.

    Returns
    -------
    list of FirmnessResult
        Beside the variations of the data sets, the ranking without each data set.
    """
    base = {task: (models, given[0].values) for task, (models, given) in found.items() if given}
    results: list[FirmnessResult] = []
    for score in COMPOSITES:
        whole = _overall([(models, values.get(score)) for models, values in base.values()])
        for task in base if len(base) > 1 else ():
            rest = [(m, v.get(score)) for name, (m, v) in base.items() if name != task]
            results.append(against("without data set", task, score, whole, rest))
        kinds = dict.fromkeys((v.kind, v.detail) for _, given in found.values() for v in given[1:])
        for kind, detail in kinds:
            parts, reasons = [], []
            for models, given in found.values():
                for one in given[1:]:
                    if (one.kind, one.detail) == (kind, detail):
                        parts.append((models, one.values.get(score)))
                        reasons.append(one.reason)
            reason = next((r for r in reasons if r), "") if all(reasons) else ""
            # Where some data sets lack a variation, it is held against the same data sets as they are.
            have = [
                (models, given[0].values.get(score))
                for models, given in found.values()
                if any((v.kind, v.detail) == (kind, detail) and not v.reason for v in given[1:])
            ]
            results.append(against(kind, detail, score, _overall(have), parts, reason))
    return results


Part = tuple[Sequence[str], Doubles | None]


def _overall(parts: Sequence[Part]) -> dict[str, float]:
    """Return the mean over data sets of the models that have a value in each."""
    known = [(m, v) for m, v in parts if v is not None]
    models = dict.fromkeys(model for m, _ in known for model in m)
    found = {}
    for model in models:
        values = [v[list(m).index(model)] if model in m else np.nan for m, v in known]
        if values and np.all(np.isfinite(values)):
            found[model] = float(np.mean(values))
    return found


def against(
    kind: str, detail: str, score: str, whole: Mapping[str, float], parts: Sequence[Part], reason: str = ""
) -> FirmnessResult:
    """Hold a variation's order of models against that of the ranking as it is.

    Parameters
    ----------
    kind, detail, score : str
        Of the result.
    whole : dict of str to float
        Model -> value as it is; higher = more stable.
    parts : sequence of (models, values)
        The variation on each data set, in the same direction.
    reason : str
        Why there is none.
    """
    from scipy.stats import kendalltau, rankdata

    other = _overall(parts)
    models = tuple(model for model in whole if model in other)
    nan = float("nan")
    if reason or len(models) < 2:
        why = reason or "fewer than two models have a value"
        return FirmnessResult(kind, detail, score, models, (), nan, 0, False, len(parts), why)
    # Differences that are rounding alone are ties.
    a = np.round(np.array([whole[m] for m in models]) / TIE) * TIE
    b = np.round(np.array([other[m] for m in models]) / TIE) * TIE
    tied = np.ptp(a) == 0.0 or np.ptp(b) == 0.0
    tau = nan if tied else float(kendalltau(a, b).statistic)
    moved = int(np.max(np.abs(rankdata(-a, "min") - rankdata(-b, "min"))))
    best = bool(np.argmax(a) == np.argmax(b)) if not tied else False
    return FirmnessResult(
        kind,
        detail,
        score,
        models,
        tuple(float(other[m]) for m in models),
        tau,
        moved,
        best,
        len(parts),
        "all values are equal" if tied else "",
    )
