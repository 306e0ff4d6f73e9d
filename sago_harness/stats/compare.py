"""A study from its score table to all results, data set by data set, in one pass.

Read :func:`compare` first: it names every statistic in the order in which it is told. What needs
the variants of a data set is computed while they are in memory (:mod:`~sago_harness.stats.dataset_results`);
what is kept of it is small, and is tested score by score (:mod:`~sago_harness.stats.score_tests`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sago_harness.stats.agreement import AgreementResult, agreement
from sago_harness.stats.check_table import check_values
from sago_harness.stats.comparison import OWN, Comparison
from sago_harness.stats.dataset_results import Part, add_pack, dataset_results, under_scheme
from sago_harness.stats.epsilon import epsilon_changed
from sago_harness.stats.firmness import FirmnessResult, firmness
from sago_harness.stats.grid import Grid
from sago_harness.stats.independence import (
    axis_values,
    independence_over_models,
)
from sago_harness.stats.instability import adjusted
from sago_harness.stats.overall import OVERALL, OverallTable, overall
from sago_harness.stats.resampling import Settings
from sago_harness.stats.reversal import ReversalTable
from sago_harness.stats.schemes import SchemeResult, scheme_names, scheme_scores
from sago_harness.stats.score_reversals import reversal_tables
from sago_harness.stats.score_tests import Tests, has_documents, tests_on_data_set, tests_over_data_sets
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.seeds import seed_results
from sago_harness.stats.table import Flags, ScoreTable
from sago_harness.stats.workers import Clock, each, processors


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

    def part_of(task: str) -> Part:
        with clock("reading"):
            loaded = table.load(task)
            check_values(loaded)
        part = dataset_results(loaded, settings, worst, clock)
        del loaded
        for seed, pack in table.packs.items():
            if task in pack.tasks:
                with clock("reading"):
                    other = pack.load(task)
                    check_values(other)
                with clock("firmness"):
                    add_pack(part, seed, other)
        return part

    parts = list(_bar(each(part_of, table.tasks, workers), len(table.tasks), progress))
    lean = ScoreTable.of([part.lean for part in parts if part.lean is not None], repeated=table.repeated)
    published = [name for name in scheme_names() if name != OWN]
    of_scheme = clock.timed("schemes", partial(scheme_scores, lean))
    schemes = dict(zip(published, each(of_scheme, published, workers), strict=True))
    # Nothing else needs the variants, which take much of the space.
    del lean, of_scheme
    parts = [replace(part, lean=None) for part in parts]
    with clock("firmness"):
        seeds = seed_results(
            {part.scored.task: part.scored for part in parts},
            {part.scored.task: part.firm for part in parts},
            table.spanning,
        )
    if settings.scheme != OWN:
        parts = [under_scheme(part, schemes[settings.scheme]) for part in parts]
    scored = {part.scored.task: part.scored for part in parts}
    # What spans data sets counts no response twice.
    spanning = {task: scored[task] for task in table.spanning}
    with clock("overall"):
        by_documents = settings.scheme != OWN and schemes[settings.scheme].by_documents
        whole = overall(list(spanning.values()), by_documents=by_documents) if len(spanning) > 1 else None
    found: dict[str, Any] = {"intervals": {}, "ranks": {}, "pairs": {}}
    turned: dict[str, ReversalTable] = {}
    if all(has_documents(one) for one in scored.values()):
        # What spans the data sets takes longest, and goes first.
        names = [*([OVERALL] if whole else []), *scored]

        def tested(name: str) -> Tests:
            if name == OVERALL and whole:
                return tests_over_data_sets(whole, spanning, settings, clock)
            return tests_on_data_set(scored[name], settings, clock)

        made = dict(zip(names, each(tested, names, workers), strict=True))
        for name in [*scored, *([OVERALL] if whole else [])]:
            block, found["ranks"][name], found["intervals"][name] = made[name]
            if block is not None:
                found["pairs"][name] = block
        if whole:
            turned = reversal_tables(spanning, found["pairs"], table.models, settings, workers, clock)
    with clock("agreement"):
        agreed = _agreement(spanning, table.models, settings)
    with clock("firmness"):
        firm = firmness(
            {
                part.scored.task: (part.scored.models, part.firm)
                for part in parts
                if part.scored.task in spanning
            },
            _in_ranking(spanning, whole),
        )
        firm += epsilon_changed([part.epsilons for part in parts], settings)
        firm += _schemes_agree(schemes, whole, spanning)
    with clock("independence"):
        over_models = independence_over_models(
            axis_values((whole or next(iter(spanning.values()))).quantities), level=settings.level
        )
    return Comparison(
        settings=settings,
        models=table.models,
        tasks=table.tasks,
        spanning=table.spanning,
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
        seeds=seeds,
        schemes=schemes,
        apart=[one for part in parts for one in part.apart],
        signatures={part.scored.task: part.signatures for part in parts},
        sources={part.scored.task: part.sources for part in parts},
        reasons={key: value for part in parts for key, value in part.reasons.items()},
        digests=dict(sorted(item for part in parts for item in part.digests.items())),
        notes=(*table.notes, *_pack_notes(parts)),
        seconds=dict(clock.seconds),
        processor=dict(clock.processor),
    )


def _pack_notes(parts: Sequence[Part]) -> Iterator[str]:
    """Yield where another seed drew other documents: then its ranking differs by them, too."""
    for seed in sorted({seed for part in parts for seed in part.redrawn}):
        tasks = ", ".join(part.scored.task for part in parts if seed in part.redrawn)
        yield f"pack seed {seed}: not the same documents on {tasks}"


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
            used = len(result.used[measure])
            view = [(result.models, total)]
            found.append(against("scheme", f"{scheme} {measure}", OWN, base, view, tasks=used))
    return found


def _bar(parts: Iterable[Part], count: int, shown: bool) -> Iterable[Part]:
    if not shown:
        return parts
    from tqdm import tqdm

    bar: Iterable[Part] = tqdm(parts, total=count, desc="comparing", unit="data set")
    return bar
