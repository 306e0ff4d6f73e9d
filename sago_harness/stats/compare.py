"""A study from its score table to all results, data set by data set, in one pass.

Read :func:`compare` first: it names every statistic in the order in which it is told. What needs
the variants of a data set is computed while they are in memory; what is kept of it is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.agreement import AgreementResult, agreement
from sago_harness.stats.apart import ApartResult, families_apart
from sago_harness.stats.check_table import check_values
from sago_harness.stats.dose import DoseResult, dose_response
from sago_harness.stats.epsilon import EpsilonTests, epsilon_changed, epsilon_tests
from sago_harness.stats.firmness import FirmnessResult, Variation, firmness, pack_variation, variations
from sago_harness.stats.grid import Grid
from sago_harness.stats.independence import (
    IndependenceResult,
    axis_independence,
    axis_values,
    independence_over_models,
)
from sago_harness.stats.instability import InstabilityResult, adjusted, instability
from sago_harness.stats.intervals import IntervalResult, intervals
from sago_harness.stats.operators import OperatorResult, operator_scores
from sago_harness.stats.overall import OVERALL, OverallTable, overall, overall_pairs, overall_ranks
from sago_harness.stats.pair_results import PairBlock
from sago_harness.stats.pairs import pair_block, pair_places
from sago_harness.stats.quantities import Quantity, mean_quantity
from sago_harness.stats.ranks import RankTable, task_ranks
from sago_harness.stats.resampling import Settings, document_weights, generator
from sago_harness.stats.reversal import ReversalTable, order_shares, reversals
from sago_harness.stats.schemes import SchemeResult, scheme_names, scheme_scores
from sago_harness.stats.scored import ScoredTask, score_task
from sago_harness.stats.table import Doubles, Flags, ScoreTable, TaskTable
from sago_harness.stats.variance import VarianceResult, variance_components
from sago_harness.stats.workers import Clock, each, processors
from sago_harness.stats.worst import Texts, WorstResult, with_texts, worst_cases

#: The scheme of this project, and the name of what spans all data sets.
OWN = "sago"

#: Resamples of what is told with an interval or a share alone: no p-value hangs on them.
SHARES = 999

#: What takes no more than :data:`SHARES`.
CAPPED = ("intervals", "support", "independence", "variance", "apart", "epsilon_changed")

#: Pairs of models times pairs of data sets up to which P(reversal) is worked out for every score.
MOST_PROBABLE = 200_000

Interval = Mapping[str, IntervalResult]


@dataclass(frozen=True)
class Comparison:
    """All results of a study.

    Attributes
    ----------
    settings : Settings
    models, tasks : tuple of str
    scored : dict of str to ScoredTask
        Data set -> its scores; under another scheme, that scheme's.
    intervals : dict of str to dict of str to IntervalResult
        Data set, or ``overall`` -> score -> interval.
    ranks : dict of str to dict of str to RankTable
    pairs : dict of str to PairBlock
    total : OverallTable or None
        Over data sets; None for a single one.
    unstable : list of InstabilityResult
        Adjusted over all of them.
    reversals : dict of str to ReversalTable
        Score -> reversals; empty for a single model or data set.
    agreement : dict of str to AgreementResult
    independence : list of IndependenceResult
    variance : list of VarianceResult
    dose : list of DoseResult
    worst : list of WorstResult
    firmness : list of FirmnessResult
    schemes : dict of str to SchemeResult
        The published schemes on the same records.
    apart : list of ApartResult
        Families beside the score, where there are any.
    signatures : dict of str to dict of str to mapping
        Data set -> model -> what identifies its numbers.
    sources : dict of str to dict of str to str
    reasons : dict of (str, str) to dict of str to dict of str to int
        (data set, model) -> measure -> reason -> variants that are unscored for it.
    notes : tuple of str
    canonical : dict of (str, str, str) to str
        (data set, model, document) -> canonical response of the worst documents
        (:meth:`with_texts`).
    seconds, processor : dict of str to float
        Time of each part, by the clock and of its processor, added up over data sets: several of them
        are worked on at once.
    """

    settings: Settings
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    scored: Mapping[str, ScoredTask]
    intervals: Mapping[str, Interval]
    ranks: Mapping[str, Mapping[str, RankTable]]
    pairs: Mapping[str, PairBlock]
    total: OverallTable | None
    unstable: Sequence[InstabilityResult]
    reversals: Mapping[str, ReversalTable]
    agreement: Mapping[str, AgreementResult]
    independence: Sequence[IndependenceResult]
    variance: Sequence[VarianceResult]
    dose: Sequence[DoseResult]
    worst: Sequence[WorstResult]
    firmness: Sequence[FirmnessResult]
    schemes: Mapping[str, SchemeResult]
    apart: Sequence[ApartResult] = ()
    signatures: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reasons: Mapping[tuple[str, str], Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    canonical: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    processor: Mapping[str, float] = field(default_factory=dict)

    @property
    def scores(self) -> tuple[str, ...]:
        """Return the names of the composite scores, or of the scheme's."""
        names = dict.fromkeys(name for task in self.scored.values() for name in task.quantities)
        return tuple(n for n in names if n in COMPOSITES) if self.settings.scheme == OWN else tuple(names)

    @cached_property
    def operators(self) -> list[OperatorResult]:
        """Return the scores of single operators, data set by data set; formed when they are asked for."""
        return [
            result
            for one in self.scored.values()
            for result in operator_scores(one.task, one.models, one.operators, one.reduced)
        ]

    @property
    def signature(self) -> str:
        """Return in one line what every number of the study depends on."""
        import hashlib

        from sago_harness.jsonsafe import dumps

        content = hashlib.sha256(dumps(self.signatures).encode()).hexdigest()[:16]
        parts = [f"{name}:{value}" for name, value in asdict(self.settings).items() if value != ""]
        named = f"models:{len(self.models)}|tasks:{','.join(self.tasks)}"
        return "|".join(["sago compare", named, *parts, f"version:{_version()}", f"runs:{content}"])

    def about(self) -> dict[str, Any]:
        """Return what stands beside the tables in JSON."""
        return {
            "signature": self.signature,
            "version": _version(),
            "settings": asdict(self.settings),
            # Resamples of what takes fewer than the settings say.
            "caps": dict.fromkeys(CAPPED, SHARES),
            "models": list(self.models),
            "tasks": list(self.tasks),
            "signatures": self.signatures,
            "sources": self.sources,
            "notes": list(self.notes),
        }

    def with_texts(self, texts: Texts) -> Comparison:
        """Return the study with the texts of its worst documents.

        Parameters
        ----------
        texts : callable
            ``texts(task, model, document, variant) -> (prompt, response)``.
        """
        worst = with_texts(self.worst, texts)
        named = {(one.task, case.model, case.document) for one in worst for case in one.cases}
        said = {key: texts(*key, "canonical")[1] for key in sorted(named)}
        return replace(self, worst=worst, canonical=said)

    def _repr_html_(self) -> str:
        from sago_harness.report.compared import sections
        from sago_harness.report.tables import as_html

        *first, last = sections(self)
        return "".join(map(as_html, first)) + as_html(last, self.signature)

    def __str__(self) -> str:
        return f"{len(self.models)} models on {len(self.tasks)} data sets, scheme {self.settings.scheme}"


def compare(
    table: ScoreTable,
    settings: Settings | None = None,
    *,
    worst: int = 5,
    progress: bool = False,
    workers: int | None = None,
) -> Comparison:
    """Compare models over data sets.

    Parameters
    ----------
    table : ScoreTable
        Of :func:`sago_harness.runs.read.read_table`, or made by hand.
    settings : Settings, optional
    worst : int
        Documents of each model and data set that are named as the worst ones.
    progress : bool
        Show a bar over data sets.
    workers : int, optional
        Data sets that are worked on at once, in threads; by default one for each processor, up to
        four. The results are the same for any number.

    Returns
    -------
    Comparison

    Raises
    ------
    SagoError
        If there is no data set, or the settings name what is not there.
    """
    from sago_harness.errors import SagoError, unknown

    settings = settings or Settings()
    if not table.tasks:
        raise SagoError("there is no data set to compare models on")
    if settings.control and settings.control not in table.models:
        raise unknown("control model", settings.control, table.models)
    if settings.scheme not in scheme_names():
        raise unknown("scheme", settings.scheme, scheme_names())
    clock = Clock()
    workers = processors() if workers is None else workers

    def part_of(task: str) -> _Part:
        with clock("reading"):
            loaded = table.load(task)
            check_values(loaded)
        part = _task(loaded, settings, worst, clock)
        del loaded
        for seed, pack in table.packs.items():
            if task in pack.tasks:
                with clock("reading"):
                    other = pack.load(task)
                with clock("firmness"):
                    _add_pack(part, seed, other)
        return part

    parts = list(_bar(each(part_of, table.tasks, workers), len(table.tasks), progress))
    lean = ScoreTable.of([part.lean for part in parts if part.lean is not None])
    published = [name for name in scheme_names() if name != OWN]
    of_scheme = clock.timed("schemes", partial(scheme_scores, lean))
    schemes = dict(zip(published, each(of_scheme, published, workers), strict=True))
    # Nothing else needs the variants, which take much of the space.
    del lean, of_scheme
    parts = [replace(part, lean=None) for part in parts]
    if settings.scheme != OWN:
        parts = [_under(part, schemes[settings.scheme]) for part in parts]
    scored = {part.scored.task: part.scored for part in parts}
    with clock("overall"):
        whole = overall(list(scored.values())) if len(scored) > 1 else None
    found: dict[str, Any] = {"intervals": {}, "ranks": {}, "pairs": {}}
    turned: dict[str, ReversalTable] = {}
    if all(_has_documents(one) for one in scored.values()):
        # What spans the data sets takes longest, and goes first.
        names = [*([OVERALL] if whole else []), *scored]

        def tested(name: str) -> _Tests:
            if name == OVERALL and whole:
                return _over_data_sets(whole, scored, settings, clock)
            return _on_data_set(scored[name], settings, clock)

        made = dict(zip(names, each(tested, names, workers), strict=True))
        for name in [*scored, *([OVERALL] if whole else [])]:
            block, found["ranks"][name], found["intervals"][name] = made[name]
            if block is not None:
                found["pairs"][name] = block
        if whole:
            turned = _reversals(scored, found["pairs"], table.models, settings, workers, clock)
    with clock("agreement"):
        agreed = _agreement(scored, table.models, settings)
    with clock("firmness"):
        firm = firmness(
            {part.scored.task: (part.scored.models, part.firm) for part in parts}, _in_ranking(scored, whole)
        )
        firm += epsilon_changed([part.epsilons for part in parts], settings)
        firm += _schemes_agree(schemes, whole, scored)
    spanning = (whole or next(iter(scored.values()))).quantities
    with clock("independence"):
        over_models = independence_over_models(axis_values(spanning), level=settings.level)
    return Comparison(
        settings=settings,
        models=table.models,
        tasks=table.tasks,
        scored=scored,
        **found,
        total=whole,
        unstable=adjusted([one for part in parts for one in part.unstable], settings.correction),
        reversals=turned,
        agreement=agreed,
        independence=[one for part in parts for one in part.independence] + list(over_models),
        variance=[one for part in parts for one in part.variance],
        dose=[one for part in parts for one in part.dose],
        worst=[one for part in parts for one in part.worst],
        firmness=firm,
        schemes=schemes,
        apart=[one for part in parts for one in part.apart],
        signatures={part.scored.task: part.signatures for part in parts},
        sources={part.scored.task: part.sources for part in parts},
        reasons={key: value for part in parts for key, value in part.reasons.items()},
        notes=(*table.notes, *_pack_notes(parts)),
        seconds=dict(clock.seconds),
        processor=dict(clock.processor),
    )


@dataclass(frozen=True)
class _Part:
    """What is kept of a data set."""

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
    reasons: dict[tuple[str, str], dict[str, dict[str, int]]]
    apart: list[ApartResult] = field(default_factory=list)
    #: Seeds of the variants with which the documents are others, too.
    redrawn: list[int] = field(default_factory=list)


def _task(table: TaskTable, settings: Settings, worst: int, clock: Clock) -> _Part:
    few = replace(settings, resamples=min(settings.resamples, SHARES))
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
    return _Part(
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
        reasons,
        apart,
    )


def _add_pack(part: _Part, seed: int, table: TaskTable) -> None:
    """Add what variants of another seed give, and what its numbers depend on."""
    part.firm.append(pack_variation(seed, table, part.scored.models))
    named = [f"{model} with pack seed {seed}" for model in table.models]
    part.signatures.update(zip(named, table.signatures, strict=False))
    part.sources.update(zip(named, table.sources, strict=False))
    if set(table.documents) != set(part.scored.documents):
        part.redrawn.append(seed)


def _pack_notes(parts: Sequence[_Part]) -> Iterator[str]:
    """Yield where another seed drew other documents: then its ranking differs by them, too."""
    for seed in sorted({seed for part in parts for seed in part.redrawn}):
        tasks = ", ".join(part.scored.task for part in parts if seed in part.redrawn)
        yield f"pack seed {seed}: not the same documents on {tasks}"


def _shown_score(scored: ScoredTask) -> str:
    """Return the score whose worst documents are shown: that of the most axes that any model has."""
    known = [n for n in ("sago_core", "sago_text") if n in scored.quantities]
    for name in known:
        if np.isfinite(scored.quantities[name].values).any():
            return name
    return next(iter(scored.reduced), "sago_core")


def _lean(table: TaskTable) -> TaskTable:
    """Return what the published schemes need: raw deltas, in half of the space."""
    raw: Any = {name: values.astype(np.float32) for name, values in table.raw.items()}
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


def _under(part: _Part, scheme: SchemeResult) -> _Part:
    """Put a published scheme's scores in the place of ours."""
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


def _has_documents(scored: ScoredTask) -> bool:
    """Say whether scores are made of documents: without them there is no test."""
    return not any(
        q.kind == "scheme" and np.isfinite(q.values).any() and not q.influence.any()
        for q in scored.quantities.values()
    )


def _ranked_scores(scored: ScoredTask, settings: Settings) -> tuple[str, ...]:
    return tuple(COMPOSITES) if settings.scheme == OWN else tuple(scored.quantities)


#: Pairs, if the data set has any to compare, ranks and intervals of one data set, or over all.
_Tests = tuple[PairBlock | None, Mapping[str, RankTable], Interval]


def _on_data_set(one: ScoredTask, settings: Settings, clock: Clock) -> _Tests:
    block = None
    # A data set that the control model lacks has no pair with it.
    if settings.control in ("", *one.models):
        with clock("pairs"):
            block = pair_block(one, settings)
    with clock("ranks"):
        ranks = task_ranks(one, settings, _ranked_scores(one, settings))
    with clock("intervals"):
        return block, ranks, _intervals(one.quantities, settings, one.task)


def _over_data_sets(
    whole: OverallTable, scored: Mapping[str, ScoredTask], settings: Settings, clock: Clock
) -> _Tests:
    names = _ranked_scores(next(iter(scored.values())), settings)
    with clock("overall"):
        block = overall_pairs(whole, settings)
        ranks = overall_ranks(whole, settings, names)
        return block, ranks, _intervals(whole.quantities, settings, OVERALL)


def _intervals(
    quantities: Mapping[str, Quantity], settings: Settings, task: str
) -> dict[str, IntervalResult]:
    return {
        name: intervals(
            q, settings.level, resamples=min(settings.resamples, SHARES), seed=settings.seed, task=task
        )
        for name, q in quantities.items()
    }


def _reversals(
    scored: Mapping[str, ScoredTask],
    pairs: Mapping[str, PairBlock],
    models: tuple[str, ...],
    settings: Settings,
    workers: int,
    clock: Clock,
) -> dict[str, ReversalTable]:
    """Look for reversals in every score; pairs of models the same on all data sets."""
    first, second = pair_places(models, settings.control)
    if not len(first):
        return {}
    tasks = tuple(scored)
    names = dict.fromkeys(name for one in scored.values() for name in one.quantities)
    shape = (len(tasks), len(first))
    cells = len(tasks) * (len(tasks) - 1) // 2 * len(first)
    place = {model: i for i, model in enumerate(models)}
    index = np.full((len(models), len(models)), -1)
    index[first, second] = np.arange(len(first))
    blocks: dict[str, dict[str, Doubles]] = {
        name: {key: np.full(shape, np.nan) for key in _BLOCKS} for name in names
    }

    def enter(q: int) -> None:
        task = tasks[q]
        one, block = scored[task], pairs.get(task)
        if block is None:
            return
        own = np.array([place[model] for model in one.models], dtype=np.intp)
        columns = index[own[block.first], own[block.second]]
        kept = columns >= 0
        rng = generator(settings.seed, "support", task)
        weights = document_weights(len(one.documents), min(settings.resamples, SHARES), rng)
        for name, c in block.columns.items():
            ahead, behind = order_shares(one.quantities[name], weights, (block.first, block.second))
            given = (c.p_plus, c.p_minus, c.difference, c.stderr, ahead, behind)
            for key, values in zip(_BLOCKS, given, strict=True):
                blocks[name][key][q, columns[kept]] = values[kept]

    def turned(name: str) -> ReversalTable:
        block_of = blocks[name]
        kind = next(one.quantities[name] for one in scored.values() if name in one.quantities)
        return reversals(
            block_of["p_plus"],
            block_of["p_minus"],
            block_of["difference"],
            block_of["stderr"],
            tasks=tasks,
            models=models,
            pairs=(first, second),
            quantity=name,
            higher_is_better=kind.higher_is_better,
            ahead=block_of["ahead"],
            behind=block_of["behind"],
            # Most of the time of a reversal table: in a large study for what is ranked alone.
            probability=cells <= MOST_PROBABLE or name in COMPOSITES or kind.kind == "scheme",
            why_not=_why_not(cells),
            settings=settings,
        )

    list(each(clock.timed("reversals", enter), range(len(tasks)), workers))
    # Those with P(reversal) take longest, and go first.
    order = sorted(names, key=lambda name: name not in COMPOSITES)
    made = dict(zip(order, each(clock.timed("reversals", turned), order, workers), strict=True))
    return {name: made[name] for name in names}


def _why_not(cells: int) -> str:
    return (
        f"P(reversal): worked out for {', '.join(COMPOSITES)} alone, not for axes and measures, which takes "
        f"long in a study of {cells:,} pairs of models between two data sets (over {MOST_PROBABLE:,})"
    )


_BLOCKS = ("p_plus", "p_minus", "difference", "stderr", "ahead", "behind")


def _agreement(
    scored: Mapping[str, ScoredTask], models: tuple[str, ...], settings: Settings
) -> dict[str, AgreementResult]:
    names = dict.fromkeys(name for one in scored.values() for name in one.quantities)
    found = {}
    for name in names:
        values = np.full((len(scored), len(models)), np.nan)
        higher = False
        for row, one in zip(values, scored.values(), strict=True):
            if name in one.quantities:
                higher = one.quantities[name].higher_is_better
                for model, value, fine in zip(
                    one.models, one.quantities[name].values, one.ranked, strict=True
                ):
                    row[models.index(model)] = value if fine else np.nan
        found[name] = agreement(Grid(name, tuple(scored), models, values, higher), settings.level)
    return found


def _in_ranking(scored: Mapping[str, ScoredTask], whole: OverallTable | None) -> dict[str, Flags]:
    """Return, for each data set, which of its models are in the ranking over all of them."""
    if whole is None:
        return {task: one.ranked for task, one in scored.items()}
    may = dict(zip(whole.models, whole.ranked.tolist(), strict=True))
    return {task: np.array([may[m] for m in one.models], dtype=bool) for task, one in scored.items()}


def _schemes_agree(
    schemes: Mapping[str, SchemeResult],
    whole: OverallTable | None,
    scored: Mapping[str, ScoredTask],
) -> list[FirmnessResult]:
    """Hold the order of ``sago`` against that of each published scheme's total."""
    from sago_harness.stats.firmness import against

    one = next(iter(scored.values()))
    quantities = whole.quantities if whole else one.quantities
    if OWN not in quantities:
        return []
    names, ranked = (whole.models, whole.ranked) if whole else (one.models, one.ranked)
    base = {
        m: float(v)
        for m, v, may in zip(names, quantities[OWN].values, ranked, strict=True)
        if may and np.isfinite(v)
    }
    found = []
    for scheme, result in schemes.items():
        parts = []
        for measure, higher in result.higher_is_better.items():
            total = result.totals[measure]
            if np.isfinite(total).any():
                parts.append((measure, total if higher else -total))
        for measure, total in parts:
            found.append(against("scheme", f"{scheme} {measure}", OWN, base, [(result.models, total)]))
    return found


def _bar(parts: Iterable[_Part], count: int, shown: bool) -> Iterable[_Part]:
    if not shown:
        return parts
    from tqdm import tqdm

    bar: Iterable[_Part] = tqdm(parts, total=count, desc="comparing", unit="data set")
    return bar


def _version() -> str:
    from importlib.metadata import version

    return version("sago-harness")
