"""What the report and the figures are made of: all statistics of some runs, and where their texts are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sago_harness.runs.find import RunFile, find_runs
from sago_harness.runs.layers import layers_of_runs
from sago_harness.runs.read import read_table
from sago_harness.runs.texts import texts_of
from sago_harness.scores.profile import LayerProfile
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.resampling import Settings
from sago_harness.stats.workers import each, processors


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

    def told(self, most: int | None = None) -> Study:
        """Return the study with the texts of its worst documents.

        Parameters
        ----------
        most : int, optional
            Of so many alone, in the order of the table of worst documents; others stay without a word.

        Raises
        ------
        SagoError
            If a file cannot be read, or lacks what it had.
        """
        cases = [
            (one.task, case.model, case.document, case.variant)
            for one in self.found.worst
            if one.model or most is None
            for case in one.cases
        ]
        wanted: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
        for task, model, document, variant in cases[:most]:
            of_run = wanted.setdefault((task, model), {})
            of_run |= dict.fromkeys((document, name) for name in (variant, "canonical") if name)

        def read(key: tuple[str, str]) -> dict[tuple[str, str], tuple[str, str]]:
            return texts_of(self.runs[key], wanted[key])

        said = dict(zip(wanted, each(read, list(wanted), processors()), strict=True))

        def texts(task: str, model: str, document: str, variant: str) -> tuple[str, str]:
            return said.get((task, model), {}).get((document, variant), ("", ""))

        return replace(self, found=self.found.with_texts(texts))

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
    profiles = zip(of, layers_of_runs(of.values()), strict=True)
    layers = {key: profile for key, profile in profiles if profile is not None}
    study = Study(found, of, layers, command)
    return study.told() if with_texts else study
