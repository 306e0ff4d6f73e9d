"""What the comparison of two models says, one pair or all pairs of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sago_harness.stats.rich import Rich
from sago_harness.stats.table import Doubles, Places

Adjust = Callable[[Doubles, str], Doubles]


@dataclass(frozen=True)
class PairResult(Rich):
    """One pair of models, compared in one score.

    Attributes
    ----------
    task, quantity, a, b : str
    n : int
        Documents that are scored in both models.
    difference : float
        value(a) - value(b) over these documents; NaN with ``reason``.
    stderr : float
        Standard error of the difference.
    statistic : float
        Student's t of the test. The difference over ``stderr`` for plain means, for roots of ratios
        over the spread under the null hypothesis, which is larger where two models are far apart: the
        interval may exclude 0 where the test, a little slower, does not reject.
    pvalue, pvalue_adjusted : float
        Two-sided; the second after the correction within its family.
    p_plus, p_minus : float
        One-sided: that a is more stable than b, that b is more stable than a.
    confidence_interval : tuple of float
        Of the difference alone, Student's t.
    simultaneous_interval : tuple of float
        Of all pairs in this score at once, Bonferroni.
    effect_size : float
        Mean over standard deviation of the documents' differences; NaN where these are all equal.
    detectable : float
        Difference that would be found with probability .8 in as many such documents.
    smallest_pvalue : float or None
        Where so few documents can give no significant result: the smallest p they could give.
    too_close : bool
        The adjusted p-value is above the level.
    reason : str
        Why the numbers are NaN.
    """

    task: str
    quantity: str
    a: str
    b: str
    n: int
    difference: float
    stderr: float
    statistic: float
    pvalue: float
    pvalue_adjusted: float
    p_plus: float
    p_minus: float
    confidence_interval: tuple[float, float]
    simultaneous_interval: tuple[float, float]
    effect_size: float
    detectable: float
    smallest_pvalue: float | None
    too_close: bool
    reason: str = ""

    def __str__(self) -> str:
        head = f"{self.quantity} {self.a} - {self.b}"
        if self.reason:
            return f"{head}: {self.reason}"
        low, high = self.confidence_interval
        end = ", too close to call" if self.too_close else ""
        if self.smallest_pvalue is not None:
            end += f" (no p under {self.smallest_pvalue:.2g} with {self.n} documents)"
        shown = f"{self.difference:+.4f} [{low:+.4f}, {high:+.4f}], p={self.pvalue_adjusted:.4g}"
        return f"{head}: {shown}, n={self.n}{end}"


@dataclass(frozen=True)
class PairColumns:
    """All pairs in one score; every array of shape (P,), as in :class:`PairResult`.

    ``low`` and ``high`` bound a difference alone, ``low_all`` and ``high_all`` all at once.
    ``smallest`` is the smallest two-sided p-value that the documents of a pair could give.
    """

    difference: Doubles
    stderr: Doubles
    statistic: Doubles
    pvalue: Doubles
    p_plus: Doubles
    p_minus: Doubles
    low: Doubles
    high: Doubles
    low_all: Doubles
    high_all: Doubles
    effect_size: Doubles
    detectable: Doubles
    smallest: Doubles
    n: Places
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class PairBlock(Rich):
    """All pairs of models of a data set in all scores.

    Attributes
    ----------
    task : str
    models : tuple of str
    first, second : ndarray of shape (P,)
        Places of the models of each pair: every pair once, or each model against the control.
    columns : dict of str to PairColumns
    level : float
    correction : str
    """

    task: str
    models: tuple[str, ...]
    first: Places
    second: Places
    columns: Mapping[str, PairColumns]
    level: float = 0.05
    correction: str = "holm"

    def __len__(self) -> int:
        return len(self.first)

    def adjusted(self, adjust: Adjust | None = None) -> dict[str, Doubles]:
        """Return the adjusted two-sided p-values; the pairs of one score are one family."""
        return {
            name: adjust_family({name: c.pvalue}, self.correction, adjust)[name]
            for name, c in self.columns.items()
        }

    def rows(self, adjusted: Mapping[str, Doubles] | None = None) -> Iterator[PairResult]:
        """Yield the results one by one, score by score.

        Parameters
        ----------
        adjusted : dict of str to ndarray of shape (P,), optional
            Adjusted p-values of a wider family (:func:`adjust_family`), for the scores to be shown.
        """
        for name, p in (self.adjusted() if adjusted is None else adjusted).items():
            yield from _results(self, name, self.columns[name], p, self.needed(name))

    def needed(self, name: str) -> float:
        """Return the p-value that documents must be able to give, for a score's pairs to be told apart."""
        family = max(1, int(np.isfinite(self.columns[name].pvalue).sum()))
        # Holm's first step is the hardest to pass, that of Benjamini-Hochberg may be the last.
        return self.level / (family if self.correction == "holm" else 1)

    def __str__(self) -> str:
        return f"{self.task}: {len(self)} pairs of {len(self.models)} models in {len(self.columns)} scores"


def _results(
    block: PairBlock, name: str, c: PairColumns, adjusted: Doubles, needed: float
) -> Iterator[PairResult]:
    numbers = (
        c.n, c.difference, c.stderr, c.statistic, c.pvalue, adjusted, c.p_plus, c.p_minus,
        c.low, c.high, c.low_all, c.high_all, c.effect_size, c.detectable, c.smallest,
    )  # fmt: skip
    # Plain numbers at once: taken from arrays one by one they would take most of the time.
    rows = zip(
        block.first.tolist(), block.second.tolist(), c.reasons, *(a.tolist() for a in numbers), strict=True
    )
    for (
        i, j, reason, n, difference, stderr, statistic, pvalue, p, p_plus, p_minus,
        low, high, low_all, high_all, effect, detectable, smallest,
    ) in rows:  # fmt: skip
        yield PairResult(
            block.task, name, block.models[i], block.models[j], n, difference, stderr, statistic,
            pvalue, p, p_plus, p_minus, (low, high), (low_all, high_all), effect, detectable,
            smallest if smallest > needed else None,
            p > block.level,
            reason,
        )  # fmt: skip


def adjust_family(
    pvalues: Mapping[str, Doubles], method: str, adjust: Adjust | None = None
) -> dict[str, Doubles]:
    """Adjust p-values that stand in several arrays as one family.

    Parameters
    ----------
    pvalues : dict of str to ndarray of shape (P,)
        NaN where there was no test.
    method : {"holm", "bh"}
    adjust : callable, optional
        ``adjust(pvalues, method)`` in place of :func:`sago_harness.stats.adjust.adjust`.

    Examples
    --------
    >>> double = lambda p, method: p * len(p)
    >>> adjust_family({"x": np.array([0.25]), "y": np.array([0.5])}, "holm", double)["x"].tolist()
    [0.5]
    """
    if adjust is None:
        from sago_harness.stats.adjust import adjust as standard

        adjust = standard
    if not pvalues:
        return {}
    ends = np.cumsum([len(p) for p in pvalues.values()])[:-1]
    together = adjust(np.concatenate(list(pvalues.values())), method)
    return dict(zip(pvalues, np.split(together, ends), strict=True))
