"""Schemes: ways to turn the distances of variants into a score, so that rankings can be compared.

``sago`` is ours, ``paper-rms`` and ``paper-std-*`` are those of arXiv 2610.01428. Each is one line
of :data:`SCHEMES`: a function of a score table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sago_harness.registry import Table
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.rich import Rich
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import Doubles, Flags, ScoreTable


@dataclass(frozen=True)
class ThresholdResult:
    """One-sided one-sample t-tests: is the mean over documents above a threshold? Uncorrected.

    Attributes
    ----------
    thresholds : tuple of float
        K values.
    statistic, pvalue : ndarray of shape (M, T, K)
        Per model and data set; NaN where the value of :class:`SchemeResult` is, under two documents
        and where all documents have one value.
    total_statistic, total_pvalue : ndarray of shape (M, K)
        Over the documents of all data sets.
    reasons : tuple of tuple of str
        M x (T + 1), why there is no p-value; the total last.
    """

    thresholds: tuple[float, ...]
    statistic: Doubles
    pvalue: Doubles
    total_statistic: Doubles
    total_pvalue: Doubles
    reasons: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        known = np.isfinite(self.total_pvalue)
        shares = ", ".join(
            f"{int((self.total_pvalue[:, k] < 0.05).sum())} above {value:g}"
            for k, value in enumerate(self.thresholds)
        )
        return f"of {int(known.any(axis=1).sum())} models {shares} (p < .05, uncorrected)"


@dataclass(frozen=True)
class SchemeResult(Rich):
    """What a scheme makes of a study.

    Attributes
    ----------
    scheme : str
    models, tasks : tuple of str
        M models and T data sets.
    higher_is_better : dict of str to bool
        Names of the scores, in table order, with their direction.
    values : dict of str to ndarray of shape (M, T)
        NaN where a model has no value.
    counts : dict of str to ndarray of shape (M, T)
        Documents that form a value.
    totals : dict of str to ndarray of shape (M,)
        Over all data sets on which any model has a value, but those that are another one's responses
        again (:attr:`~sago_harness.stats.table.ScoreTable.repeated`); NaN for a model that lacks one.
    documents : dict of str to tuple of str
        Data set -> ids.
    document_values : dict of str to dict of str to ndarray of shape (M, D)
        Data set -> score -> the values of its documents, where the scheme has such.
    reasons : dict of str to tuple of tuple of str
        M x (T + 1), why a value is NaN, "" where it is not; the total last.
    tests : dict of str to ThresholdResult
        Of schemes that come with a test.
    notes : tuple of str
        What was left out.
    used : dict of str to tuple of str
        Score -> the data sets that its totals are over.
    by_documents : bool
        Totals are flat means over the documents of all data sets, so that a large one weighs more; else
        every data set counts the same.
    """

    scheme: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    higher_is_better: Mapping[str, bool]
    values: Mapping[str, Doubles]
    counts: Mapping[str, npt.NDArray[np.intp]]
    totals: Mapping[str, Doubles]
    documents: Mapping[str, tuple[str, ...]]
    document_values: Mapping[str, Mapping[str, Doubles]]
    reasons: Mapping[str, tuple[tuple[str, ...], ...]]
    tests: Mapping[str, ThresholdResult] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    used: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_documents: bool = False

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the scores, in table order."""
        return tuple(self.higher_is_better)

    def __str__(self) -> str:
        return (
            f"{self.scheme}: {len(self.models)} models on {len(self.tasks)} data sets, "
            f"{', '.join(self.measures)}"
        )


Scheme = Callable[[ScoreTable], SchemeResult]

_PAPER = "sago_harness.stats.schemes_paper"

#: Name -> function of a score table.
SCHEMES: Table[Scheme] = Table(
    "schemes",
    "scheme",
    {
        "sago": "sago_harness.stats.schemes:sago",
        "paper-rms": f"{_PAPER}:paper_rms",
        "paper-std-minmax": f"{_PAPER}:paper_std_minmax",
        "paper-std-meanabs": f"{_PAPER}:paper_std_meanabs",
    },
)


def scheme_names() -> tuple[str, ...]:
    """Return the names of the schemes, ours first.

    Examples
    --------
    >>> scheme_names()[:2]
    ('sago', 'paper-rms')
    """
    return tuple(SCHEMES)


def scheme_scores(table: ScoreTable, scheme: str) -> SchemeResult:
    """Return the scores of all models under a scheme.

    Data sets are read one at a time, each once.

    Parameters
    ----------
    table : ScoreTable
    scheme : str
        A name of :func:`scheme_names`.

    Returns
    -------
    SchemeResult

    Raises
    ------
    SagoError
        For an unknown scheme.
    """
    return SCHEMES.load(scheme)(table)


def sago(table: ScoreTable) -> SchemeResult:
    """Return the project's own scores: r of each measure, the axes, the composites.

    Totals are unweighted means over data sets. Documents have values for measures alone: s(i), the
    root of the mean square, and mirroring.
    """
    rows = Rows(table)
    higher: dict[str, bool] = {}
    for data in table:
        scored = score_task(data)
        own: dict[str, Doubles] = {}
        for name, reduced in scored.reduced.items():
            squares = reduced.squares()
            own[name] = squares if name == MIRRORING else np.sqrt(squares)
        rows.open(data.task, data.models, data.documents, own)
        for name, quantity in scored.quantities.items():
            higher.setdefault(name, quantity.higher_is_better)
            rows.put(name, quantity.values, quantity.counts, quantity.reasons)
    return rows.result("sago", higher)


class Rows:
    """Collects the values of data sets, each with some of the models, into blocks over all models."""

    def __init__(self, table: ScoreTable) -> None:
        self.models = table.models
        self.tasks = table.tasks
        spanning = table.spanning
        #: Which of them enter what spans data sets.
        self.spanning = np.array([task in spanning for task in table.tasks], dtype=bool)
        self.documents: dict[str, tuple[str, ...]] = {}
        self.document_values: dict[str, dict[str, Doubles]] = {}
        self.values: dict[str, Doubles] = {}
        self.counts: dict[str, npt.NDArray[np.intp]] = {}
        self.reasons: dict[str, list[list[str]]] = {}
        self._at: list[int] = []
        self._place = 0

    def open(
        self, task: str, models: Sequence[str], documents: tuple[str, ...], own: Mapping[str, Doubles]
    ) -> None:
        """Begin a data set; ``own`` holds the values of its documents, of shape (its models, D)."""
        self._at = [self.models.index(model) for model in models]
        self._place = self.tasks.index(task)
        self.documents[task] = documents
        self.document_values[task] = {name: self._spread(values) for name, values in own.items()}

    def put(self, name: str, values: Doubles, counts: npt.NDArray[np.intp], reasons: Sequence[str]) -> None:
        """Enter the values of the data set's models, of shape (its models,)."""
        shape = (len(self.models), len(self.tasks))
        if name not in self.values:
            self.values[name] = np.full(shape, np.nan)
            self.counts[name] = np.zeros(shape, dtype=np.intp)
            self.reasons[name] = [["not_run"] * shape[1] for _ in self.models]
        self.values[name][self._at, self._place] = values
        self.counts[name][self._at, self._place] = counts
        for model, reason in zip(self._at, reasons, strict=True):
            self.reasons[name][model][self._place] = reason

    def lacks(self, name: str) -> list[str]:
        """Return for each model a data set that others have a value on and it has not, or ""."""
        known, used = np.isfinite(self.values[name]), self.used(name)
        return [next((self.tasks[t] for t in np.flatnonzero(used & ~row)), "") for row in known]

    def used(self, name: str) -> Flags:
        """Say which data sets a total is over: those on which any model has a value, of shape (T,)."""
        used: Flags = np.isfinite(self.values[name]).any(axis=0) & self.spanning
        return used

    def result(
        self,
        scheme: str,
        higher: Mapping[str, bool],
        *,
        totals: Mapping[str, Doubles] | None = None,
        tests: Mapping[str, ThresholdResult] | None = None,
        notes: Sequence[str] = (),
        by_documents: bool = False,
    ) -> SchemeResult:
        """Form the totals, by default unweighted means over data sets, and close."""
        made, reasons, over = {}, {}, {}
        for name in higher:
            values = self.values[name]
            used = self.used(name)
            over[name] = tuple(self.tasks[t] for t in np.flatnonzero(used))
            lacks = self.lacks(name)
            fine = np.array([not lack and bool(used.any()) for lack in lacks], dtype=bool)
            if totals is None:
                given = np.where(used, np.where(np.isfinite(values), values, 0.0), 0.0).sum(axis=1)
                total = given / max(1, int(used.sum()))
            else:
                total = totals[name]
            made[name] = np.where(fine, total, np.nan)
            last = [
                "" if ok else f"no_value_on {lack}" if lack else _common(row)
                for ok, lack, row in zip(fine, lacks, self.reasons[name], strict=True)
            ]
            reasons[name] = tuple((*row, end) for row, end in zip(self.reasons[name], last, strict=True))
        return SchemeResult(
            scheme, self.models, self.tasks, dict(higher),
            {name: self.values[name] for name in higher}, {name: self.counts[name] for name in higher},
            made, self.documents, self.document_values, reasons, dict(tests or {}), tuple(notes),
            over, by_documents,
        )  # fmt: skip

    def _spread(self, values: Doubles) -> Doubles:
        block = np.full((len(self.models), values.shape[1]), np.nan)
        block[self._at] = values
        return block


def _common(reasons: Sequence[str]) -> str:
    return next((reason for reason in reasons if reason), "no_data_set")
