"""What the report and the figures are made of: all statistics of some runs, and where their texts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sago_harness.runs.find import RunFile, find_runs
from sago_harness.runs.layers import layers_of_run
from sago_harness.runs.read import read_table, texts
from sago_harness.scores.profile import LayerProfile
from sago_harness.stats.compare import Comparison, compare
from sago_harness.stats.resampling import Settings


@dataclass(frozen=True)
class Study:
    """All results of some runs.

    Attributes
    ----------
    found : Comparison
    runs : dict of (str, str) to RunFile
        (data set, model) -> file that its numbers come from.
    layers : dict of (str, str) to LayerProfile
        (data set, model) -> profile over layers; lacking where the run has none.
    command : str
        The command line that made it; "" where it was made by a program.
    """

    found: Comparison
    runs: Mapping[tuple[str, str], RunFile] = field(default_factory=dict)
    layers: Mapping[tuple[str, str], LayerProfile] = field(default_factory=dict)
    command: str = ""

    def __str__(self) -> str:
        return str(self.found)


def read_study(
    paths: Sequence[str | Path],
    settings: Settings | None = None,
    *,
    models: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    every: bool = False,
    allow_mixed: bool = False,
    skip_damaged: bool = False,
    worst: int = 5,
    with_texts: bool = True,
    command: str = "",
    progress: bool = False,
) -> Study:
    """Read runs and compute everything that is told of them.

    Parameters
    ----------
    paths : sequence of str or Path
        Run folders or files, or ``NAME=PATH``.
    settings : Settings, optional
    models, tasks : sequence of str, optional
        Those alone.
    every, allow_mixed, skip_damaged : bool
        As for :func:`sago_harness.runs.find.find_runs` and :func:`sago_harness.runs.read.read_table`.
    worst : int
        Documents of each model and data set that are named as the worst ones.
    with_texts : bool
        Read the texts of those documents.
    command : str
    progress : bool
        Show a bar over data sets.

    Raises
    ------
    SagoError
        For runs that cannot be read, or that must not be compared.
    """
    settings = settings or Settings()
    runs = find_runs(paths, every=every)
    table = read_table(runs, allow_mixed=allow_mixed, skip_damaged=skip_damaged, models=models, tasks=tasks)
    found = compare(table, settings, worst=worst, progress=progress)
    # Of several seeds, the run that its numbers come from.
    of = {
        (one.task, one.model): one
        for one in runs
        if found.sources.get(one.task, {}).get(one.model) == str(one.path)
    }
    if with_texts:
        found = found.with_texts(
            lambda task, model, document, variant: texts(of[task, model], document, variant)
        )
    layers = {key: profile for key, run in of.items() if (profile := layers_of_run(run)) is not None}
    return Study(found, of, layers, command)
