"""All results of a study in one object, which tables, figures and reports read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.agreement import AgreementResult
from sago_harness.stats.apart import ApartResult
from sago_harness.stats.dose import DoseResult
from sago_harness.stats.firmness import FirmnessResult
from sago_harness.stats.independence import (
    IndependenceResult,
)
from sago_harness.stats.instability import InstabilityResult
from sago_harness.stats.intervals import IntervalResult
from sago_harness.stats.operators import OperatorResult, operator_scores
from sago_harness.stats.overall import OverallTable
from sago_harness.stats.pair_results import PairBlock
from sago_harness.stats.ranks import RankTable
from sago_harness.stats.resampling import Settings
from sago_harness.stats.reversal import ReversalTable
from sago_harness.stats.schemes import SchemeResult
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.seeds import SeedResult
from sago_harness.stats.variance import VarianceResult
from sago_harness.stats.worst import Texts, WorstResult, with_texts

#: The scheme of this project, and the name of what spans all data sets.
OWN = "sago"


#: Resamples of what is told with an interval or a share alone: no p-value hangs on them.
SHARES = 999


#: What takes no more than :data:`SHARES`.
CAPPED = ("intervals", "support", "independence", "variance", "apart", "epsilon_changed")


Interval = Mapping[str, IntervalResult]


@dataclass(frozen=True)
class Comparison:
    """All results of a study.

    Attributes
    ----------
    settings : Settings
    models, tasks : tuple of str
    spanning : tuple of str
        Data sets that enter what spans data sets (:attr:`sago_harness.stats.table.ScoreTable.spanning`).
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
    seeds : list of SeedResult
        Scores under other seeds of the variants, where any were run.
    apart : list of ApartResult
        Families beside the score, where there are any.
    signatures : dict of str to dict of str to mapping
        Data set -> model -> what identifies its numbers.
    sources : dict of str to dict of str to str
    reasons : dict of (str, str) to dict of str to dict of str to int
        (data set, model) -> measure -> reason -> variants that are unscored for it.
    digests : dict of str to str
        Data set -> digest of its numbers (:func:`sago_harness.stats.digest.table_digest`), those of other
        seeds beside them.
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
    spanning: tuple[str, ...]
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
    seeds: Sequence[SeedResult] = ()
    signatures: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    sources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reasons: Mapping[tuple[str, str], Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
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

        content = hashlib.sha256(dumps([self.signatures, self.digests]).encode()).hexdigest()[:16]
        parts = [f"{name}:{value}" for name, value in asdict(self.settings).items() if value != ""]
        named = f"models:{len(self.models)}|tasks:{','.join(self.tasks)}"
        line = "|".join(["sago compare", named, *parts, f"version:{_version()}", f"runs:{content}"])
        # Names come from outside, and this is one line in every format.
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)

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
            "digests": self.digests,
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


def _version() -> str:
    from importlib.metadata import version

    return version("sago-harness")
