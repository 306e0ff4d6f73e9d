"""Would another epsilon have found other models unstable? The tests of instability once more.

How much a document moves does not depend on epsilon, and neither does the comparison with canonical
repeats: only the bootstrap-t is done again, on the same draws of documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sago_harness.stats.adjust import adjust
from sago_harness.stats.firmness import FirmnessResult
from sago_harness.stats.instability import InstabilityResult, instability
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles

#: What a reader might have chosen in the place of the usual .05.
EPSILONS = (0.025, 0.05, 0.1)


@dataclass(frozen=True)
class EpsilonTests:
    """The tests of one data set at several epsilons.

    Attributes
    ----------
    task : str
    models : tuple of str
        Those of which any test has a p-value.
    pvalues : dict of float to ndarray of shape (K,)
        Epsilon -> p of each test, the one in use first; NaN where there is none.
    """

    task: str
    models: tuple[str, ...]
    pvalues: Mapping[float, Doubles]


def epsilon_tests(
    scored: ScoredTask, settings: Settings, results: Sequence[InstabilityResult]
) -> EpsilonTests:
    """Test the models of a data set at other epsilons.

    Parameters
    ----------
    scored : ScoredTask
    settings : Settings
        ``epsilon`` is the one in use. All epsilons, this one too, share ``resamples`` draws, so that
        what changes is not the draws.
    results : sequence of InstabilityResult
        Of the same data set, for what does not depend on epsilon.

    Returns
    -------
    EpsilonTests
    """
    noise = np.array([result.pvalue_noise for result in results], dtype=np.float64)
    found: dict[float, Doubles] = {}
    for epsilon in (settings.epsilon, *(e for e in EPSILONS if e != settings.epsilon)):
        again = instability(scored, replace(settings, epsilon=epsilon))
        chance = np.array([one.pvalue_chance for one in again], dtype=np.float64)
        # Both questions must be answered with yes; without repeats there is one.
        found[epsilon] = np.where(np.isfinite(chance), np.fmax(chance, noise), np.nan)
    tested = dict.fromkeys(result.model for result in results if np.isfinite(result.pvalue))
    return EpsilonTests(scored.task, tuple(tested), found)


def epsilon_changed(parts: Sequence[EpsilonTests], settings: Settings) -> list[FirmnessResult]:
    """Count the verdicts of a whole study at each epsilon, and those that change.

    Parameters
    ----------
    parts : sequence of EpsilonTests
        Of all data sets: one family of tests.
    settings : Settings
        Level and correction.

    Returns
    -------
    list of FirmnessResult
        One for each other epsilon; ``reason`` tells the counts, as there is no order of models.

    Examples
    --------
    >>> p = {0.05: np.array([0.001, 0.03, np.nan]), 0.1: np.array([0.002, 0.2, np.nan])}
    >>> for row in epsilon_changed([EpsilonTests("facts", ("a", "b"), p)], Settings()):
    ...     print(row)
    epsilon changed 0.1: 1 of 2 tests find instability, 2 of 2 at 0.05; 1 verdict changes
    """
    if not parts:
        return []
    verdicts, tested = {}, 0
    for epsilon in parts[0].pvalues:
        values = np.concatenate([part.pvalues[epsilon] for part in parts])
        tested = int(np.isfinite(values).sum())
        verdicts[epsilon] = adjust(values, settings.correction) <= settings.level
    models = tuple(dict.fromkeys(model for part in parts for model in part.models))
    usual = verdicts.pop(settings.epsilon)
    rows = []
    for epsilon, verdict in sorted(verdicts.items()):
        turned = int((verdict != usual).sum())
        told = (
            f"{int(verdict.sum())} of {tested} tests find instability, {int(usual.sum())} of {tested} at "
            f"{settings.epsilon:g}; {turned} verdict{' changes' if turned == 1 else 's change'}"
        )
        if not tested:
            told = "no test of instability has a p-value"
        row = FirmnessResult(
            kind="epsilon changed",
            detail=f"{epsilon:g}",
            score="unstable",
            models=models,
            values=(),
            tau=float("nan"),
            moved=0,
            best_kept=False,
            tasks=sum(bool(part.models) for part in parts),
            reason=told,
        )
        rows.append(row)
    return rows
