"""Runs of a model on a task with several seeds of its variants: which one ranks, and the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sago_harness.runs.find import RunFile, seed_of


def by_pack(runs: Sequence[RunFile]) -> tuple[list[RunFile], dict[int, list[RunFile]], list[str]]:
    """Part the runs that form the ranking from those of other seeds.

    Of each task the seed that most models have ranks; of equally frequent ones the one that is more
    frequent over all tasks, then the newest. A model without it stays where it is, to be refused or
    marked as one that differs.

    Parameters
    ----------
    runs : sequence of RunFile
        The newest of each model, task and seed.

    Returns
    -------
    ranked : list of RunFile
    others : dict of int to list of RunFile
        Seed -> its runs, by seed.
    notes : list of str
        What was found and how it was chosen; none for a single seed.
    """
    tasks: dict[str, list[RunFile]] = {}
    for run in runs:
        tasks.setdefault(run.task, []).append(run)
    everywhere = Counter(seed_of(run) for run in runs)
    newest: dict[int | None, str] = {}
    for run in runs:
        newest[seed_of(run)] = max(run.time, newest.get(seed_of(run), ""))
    ranked: list[RunFile] = []
    others: dict[int, list[RunFile]] = {}
    told: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for task, these in tasks.items():
        seeds = _of_models(these)
        if all(len(of_model) < 2 for of_model in seeds.values()):
            ranked += these
            continue
        counts = Counter(seed for of_model in seeds.values() for seed in of_model)
        main = max(counts, key=lambda seed: (counts[seed], everywhere[seed], newest[seed], seed))
        for run in these:
            seed = seed_of(run)
            of_model = seeds[run.model]
            if seed is None or seed == main or (main not in of_model and seed == _newest(these, run.model)):
                ranked.append(run)
            else:
                others.setdefault(seed, []).append(run)
        told.setdefault((main, tuple(sorted(counts))), []).append(task)
    notes = []
    for (main, known), of in told.items():
        where = "" if len(of) == len(tasks) else f"{', '.join(of)}: "
        listed = ", ".join(map(str, known))
        notes.append(
            f"{where}pack seeds {listed} found: ranked by {main}, the others are in 'How firm is this?' "
            "and 'Other seeds of the variants'"
        )
    return ranked, dict(sorted(others.items())), notes


def _of_models(runs: Sequence[RunFile]) -> Mapping[str, set[int]]:
    """Return each model's seeds, as far as its runs state any."""
    found: dict[str, set[int]] = {}
    for run in runs:
        seed = seed_of(run)
        found.setdefault(run.model, set()).update(() if seed is None else (seed,))
    return found


def _newest(runs: Sequence[RunFile], model: str) -> int | None:
    return seed_of(max((run for run in runs if run.model == model), key=lambda run: run.time))
