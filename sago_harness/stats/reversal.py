"""Do two models swap places between data sets? Rank reversal, and how sure of it one can be.

Three things are told apart. *Confirmed*: tests against "no reversal", whose p-values are corrected
for all comparisons that the command asks for. *Resampling support*: how often a reversal shows up
when documents are drawn again; not a probability, since noise alone makes half of near-equal pairs
swap. *P(reversal)*: the probability under a law that all pairs share
(:mod:`sago_harness.stats.reversal_prior`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sago_harness.stats.counts import Marks
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.resampling import TIE, Settings, Singles
from sago_harness.stats.reversal_prior import reversal_probability
from sago_harness.stats.rich import Rich
from sago_harness.stats.table import Doubles, Flags, Places

#: Numbers of a block of bootstrap differences: few enough for a processor's cache.
_BLOCK = 2**16


@dataclass(frozen=True)
class ReversalResult(Rich):
    """Two models on two data sets.

    Attributes
    ----------
    quantity, a, b, first, second : str
        Models ``a`` and ``b``, data sets ``first`` and ``second``.
    ahead_first, ahead_second : str
        The model with the better value on each; "" for a tie.
    difference_first, difference_second : float
        value(a) - value(b).
    pvalue, pvalue_adjusted : float
        Of "no reversal between these two"; the second corrected over all candidates.
    support : float
        Share of pairs of bootstrap samples, drawn for each data set on its own, with opposite orders.
    probability : float
        P(reversal).
    confirmed : bool
    reason : str
        Why the p-values are NaN.
    support_reason, probability_reason : str
    """

    quantity: str
    a: str
    b: str
    first: str
    second: str
    ahead_first: str
    ahead_second: str
    difference_first: float
    difference_second: float
    pvalue: float
    pvalue_adjusted: float
    support: float
    probability: float
    confirmed: bool
    reason: str = ""
    support_reason: str = ""
    probability_reason: str = ""

    def __str__(self) -> str:
        head = f"{self.quantity}: {self.a}, {self.b} between {self.first} and {self.second}"
        if self.reason:
            return f"{head}: {self.reason}"
        orders = f"{self.ahead_first or 'neither'} ahead, then {self.ahead_second or 'neither'}"
        state = "confirmed" if self.confirmed else "not confirmed"
        return f"{head}: {orders}; {state}, p={self.pvalue_adjusted:.4g}"


@dataclass(frozen=True)
class SomewhereResult(Rich):
    """Two models over all data sets: does each of them lead somewhere?

    Attributes
    ----------
    quantity, a, b : str
    data_sets : int
        That both models have.
    a_ahead, b_ahead : str
        Where each is ahead most clearly; "" if nowhere.
    pvalue, pvalue_adjusted : float
        Of "one of the two is never behind"; the second corrected over all pairs of models.
    confirmed : bool
    reason : str
        Why the p-values are NaN.
    """

    quantity: str
    a: str
    b: str
    data_sets: int
    a_ahead: str
    b_ahead: str
    pvalue: float
    pvalue_adjusted: float
    confirmed: bool
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"{self.quantity}: {self.a}, {self.b}: {self.reason}"
        state = "swap places" if self.confirmed else "not shown to swap places"
        where = f"{self.a} ahead on {self.a_ahead or 'none'}, {self.b} on {self.b_ahead or 'none'}"
        return f"{self.quantity}: {self.a}, {self.b} {state} ({where}; p={self.pvalue_adjusted:.4g})"


@dataclass(frozen=True)
class ReversalTable(Rich):
    """All pairs of models on all pairs of data sets, in one score.

    Attributes
    ----------
    quantity : str
    higher_is_better : bool
    tasks, models : tuple of str
    a, b : ndarray of shape (P,)
        Places of the models of each pair.
    first, second : ndarray of shape (C,)
        Places of the data sets of each comparison, C = Q (Q - 1) / 2.
    difference : ndarray of shape (Q, P)
        value(a) - value(b).
    p_plus, p_minus : ndarray of shape (Q, P)
        One-sided p-values that a, and that b, is ahead.
    pvalue, adjusted, support, probability : ndarray of shape (C, P)
        See :class:`ReversalResult`.
    somewhere, somewhere_adjusted : ndarray of shape (P,)
        See :class:`SomewhereResult`.
    data_sets : ndarray of shape (P,)
        That both models have.
    level : float
    correction : str
    support_reason : str
    probability_reasons : tuple of str
        Of each comparison.
    """

    quantity: str
    higher_is_better: bool
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    a: Places
    b: Places
    first: Places
    second: Places
    difference: Doubles
    p_plus: Doubles
    p_minus: Doubles
    pvalue: Doubles
    adjusted: Doubles
    support: Doubles
    probability: Doubles
    somewhere: Doubles
    somewhere_adjusted: Doubles
    data_sets: Places
    level: float
    correction: str
    support_reason: str
    probability_reasons: tuple[str, ...]

    @property
    def confirmed(self) -> Flags:
        """Say which reversals between two named data sets are confirmed, of shape (C, P)."""
        return self.adjusted <= self.level

    @property
    def confirmed_somewhere(self) -> Flags:
        """Say which pairs of models are confirmed to swap places somewhere, of shape (P,)."""
        return self.somewhere_adjusted <= self.level

    @property
    def observed(self) -> Flags:
        """Say where the values alone are in opposite order, sure or not, of shape (C, P)."""
        signs = np.sign(np.where(np.isfinite(self.difference), self.difference, 0.0)).astype(np.int8)
        return signs[self.first] * signs[self.second] < 0

    @property
    def headline(self) -> str:
        """The finding in words."""
        tested = int(np.isfinite(self.somewhere).sum())
        if not tested:
            few = len(self.tasks) < 2
            why = f"{'one' if self.tasks else 'no'} data set" if few else "no two models share two data sets"
            return f"{self.quantity}: rank reversal cannot be tested ({why})"
        swapped = int(self.observed.any(axis=0).sum())
        how = f"{'Holm' if self.correction == 'holm' else 'Benjamini-Hochberg'}, level {self.level:g}"
        sure = int(self.confirmed_somewhere.sum())
        scope = f"{tested} pair{'s' * (tested > 1)} of models over {len(self.tasks)} data sets"
        seen = f"{swapped} change{'s' * (swapped == 1)} order in their values"
        if not sure and tested == 1:
            over = f"over {len(self.tasks)} data sets"
            turn = "change" if swapped else "keep"
            return (
                f"{self.quantity}: the one pair of models {over} is not confirmed to swap places ({how}); "
                f"its values {turn} their order"
            )
        if not sure:
            return f"{self.quantity}: none of {scope} is confirmed to swap places ({how}); {seen}"
        best = self.pair(int(np.nanargmin(self.somewhere)))
        named, among = int(self.confirmed.sum()), int(np.isfinite(self.pvalue).sum())
        verb = "is" if sure == 1 else "are"
        return (
            f"{self.quantity}: {sure} of {scope} {verb} confirmed to swap places ({how}), most clearly "
            f"{best.a}, ahead on {best.a_ahead}, and {best.b}, ahead on {best.b_ahead}; "
            f"{named} of {among} reversals between two named data sets are confirmed, {seen}"
        )

    def result(self, comparison: int, pair: int) -> ReversalResult:
        """Return one pair of models on one pair of data sets, by their places."""
        c, k = comparison, pair
        p, q = int(self.first[c]), int(self.second[c])
        a, b = self.models[self.a[k]], self.models[self.b[k]]
        on_p, on_q = float(self.difference[p, k]), float(self.difference[q, k])
        support, likely = float(self.support[c, k]), float(self.probability[c, k])
        reason = "" if np.isfinite(self.pvalue[c, k]) else "a model is not scored on both data sets"
        return ReversalResult(
            self.quantity, a, b, self.tasks[p], self.tasks[q],
            self._ahead(on_p, a, b), self._ahead(on_q, a, b), on_p, on_q,
            float(self.pvalue[c, k]), float(self.adjusted[c, k]), support, likely,
            bool(self.adjusted[c, k] <= self.level),
            reason,
            "" if np.isfinite(support) else self.support_reason or reason,
            "" if np.isfinite(likely) else self.probability_reasons[c] or reason,
        )  # fmt: skip

    def pair(self, place: int) -> SomewhereResult:
        """Return one pair of models over all data sets, by its place."""
        k, count = place, int(self.data_sets[place])
        tested = bool(np.isfinite(self.somewhere[k]))
        at_a, at_b = (
            self._lead(best, k, p) for best, p in zip(self._leads, (self.p_plus, self.p_minus), strict=True)
        )
        if not tested:
            at_a = at_b = ""
        return SomewhereResult(
            self.quantity, self.models[self.a[k]], self.models[self.b[k]], count, at_a, at_b,
            float(self.somewhere[k]), float(self.somewhere_adjusted[k]),
            bool(self.somewhere_adjusted[k] <= self.level),
            "" if tested else f"the two share {count} data set{'' if count == 1 else 's'}",
        )  # fmt: skip

    def rows(self, keep: Flags | None = None) -> Iterator[ReversalResult]:
        """Yield results one by one; ``keep`` of shape (C, P), the confirmed ones by default."""
        for c, k in np.argwhere(self.confirmed if keep is None else keep):
            yield self.result(int(c), int(k))

    def pairs(self) -> Iterator[SomewhereResult]:
        """Yield every pair of models over all data sets."""
        return (self.pair(k) for k in range(len(self.a)))

    @cached_property
    def _leads(self) -> tuple[Places, Places]:
        """Where a, and where b, of each pair is ahead most clearly; of no meaning where nothing is tested."""
        a, b = (np.where(np.isfinite(p), p, np.inf) for p in (self.p_plus, self.p_minus))
        return a.argmin(axis=0), b.argmin(axis=0)

    def _lead(self, best: Places, k: int, p: Doubles) -> str:
        """Return the data set of the clearest lead, "" where even that one points the other way."""
        at = int(best[k])
        return self.tasks[at] if p[at, k] < 0.5 else ""

    def _ahead(self, difference: float, a: str, b: str) -> str:
        if not np.isfinite(difference) or difference == 0.0:
            return ""
        return a if (difference > 0.0) == self.higher_is_better else b

    def __str__(self) -> str:
        return self.headline


def reversals(
    p_plus: Doubles,
    p_minus: Doubles,
    difference: Doubles,
    stderr: Doubles,
    *,
    tasks: Sequence[str],
    models: Sequence[str],
    pairs: tuple[Places, Places],
    quantity: str = "sago",
    higher_is_better: bool = True,
    ahead: Doubles | None = None,
    behind: Doubles | None = None,
    probability: bool = True,
    why_not: str = "P(reversal) was not asked for",
    settings: Settings | None = None,
) -> ReversalTable:
    """Look for rank reversals of all pairs of models between all data sets.

    On data sets p, q a reversal is either of two claims, each of which needs both of its tests:
    p = min(max(p+_p, p-_q), max(p-_p, p+_q)). Its level holds whatever the truth without a
    reversal, since the two claims exclude each other (Gail and Simon, 1985, for two groups). Over
    all Q data sets: (Q - 1) max(min_q p+, min_q p-), at most 1.

    Support: ahead_p behind_q + behind_p ahead_q, as the data sets' documents are drawn
    independently. Samples in which two models tie are no reversal.

    Parameters
    ----------
    p_plus, p_minus : ndarray of shape (Q, P)
        One-sided p-values that model a, and that model b, of each pair is ahead, in the score's
        direction; NaN where one of them is not scored. Such data sets do not enter for that pair.
    difference, stderr : ndarray of shape (Q, P)
        value(a) - value(b) and its standard error.
    tasks, models : sequence of str
        Q and M names.
    pairs : pair of ndarray of shape (P,)
        Places of a and of b.
    quantity : str
    higher_is_better : bool
    ahead, behind : ndarray of shape (Q, P), optional
        Shares of bootstrap samples with a ahead, and with b ahead (:func:`order_shares`). Without
        ``behind``: what ``ahead`` leaves.
    probability : bool
        Whether to work out P(reversal), which takes longer than all the rest.
    why_not : str
        What is said where it is not.
    settings : Settings, optional
        Level and correction. All candidates are one family, and all pairs of models another.

    Returns
    -------
    ReversalTable

    Raises
    ------
    ValueError
        If shapes do not fit.

    Examples
    --------
    >>> p = np.array([[0.001], [0.998]])
    >>> table = reversals(
    ...     p, 1 - p, np.array([[0.2], [-0.2]]), np.full((2, 1), 0.06),
    ...     tasks=("facts", "maths"), models=("m1", "m2"), pairs=(np.array([0]), np.array([1])),
    ... )
    >>> print(next(table.rows()))
    sago: m1, m2 between facts and maths: m1 ahead, then m2; confirmed, p=0.002
    """  # fmt: skip
    from sago_harness.stats.adjust import adjust

    settings = settings or Settings()
    shape = (len(tasks), len(pairs[0]))
    for name, given in (
        ("p_plus", p_plus), ("p_minus", p_minus), ("difference", difference), ("stderr", stderr),
        ("ahead", ahead), ("behind", behind),
    ):  # fmt: skip
        if given is not None and given.shape != shape:
            raise ValueError(f"{name} has shape {given.shape}, not {shape}: data sets x pairs of models")
    known = np.isfinite(p_plus) & np.isfinite(p_minus)
    plus, minus = np.where(known, p_plus, np.nan), np.where(known, p_minus, np.nan)
    first, second = np.triu_indices(len(tasks), 1)
    pvalue = np.minimum(
        np.maximum(plus[first], minus[second]), np.maximum(minus[first], plus[second])
    )  # NaN stays NaN
    data_sets = known.sum(axis=0)
    somewhere = _somewhere(plus, minus, data_sets)
    support = np.full(pvalue.shape, np.nan)
    if ahead is not None:
        other = 1.0 - ahead if behind is None else behind
        support = ahead[first] * other[second] + other[first] * ahead[second]
    likely, reasons = np.full(pvalue.shape, np.nan), (why_not,) * len(first)
    if probability:
        likely, reasons = reversal_probability(
            np.where(known, difference, np.nan), np.where(known, stderr, np.nan), pairs, (first, second)
        )
    return ReversalTable(
        quantity, higher_is_better, tuple(tasks), tuple(models), pairs[0], pairs[1], first, second,
        difference, plus, minus,
        pvalue, adjust(pvalue, settings.correction), support, likely,
        somewhere, adjust(somewhere, settings.correction), data_sets,
        settings.level, settings.correction,
        "" if ahead is not None else "no resampling was asked for", reasons,
    )  # fmt: skip


def _somewhere(plus: Doubles, minus: Doubles, data_sets: Places) -> Doubles:
    """Return the p-value of each pair of models over the data sets that both have, of shape (P,)."""
    if not plus.size:
        return np.full(plus.shape[1], np.nan)
    best = [np.where(np.isfinite(p), p, np.inf).min(axis=0) for p in (plus, minus)]
    worse = np.where(data_sets >= 2, np.maximum(*best), np.nan)
    value: Doubles = np.minimum((data_sets - 1) * worse, 1.0)
    return value


def order_shares(
    quantity: Quantity, weights: Singles, pairs: tuple[Places, Places]
) -> tuple[Doubles, Doubles]:
    """Return the shares of bootstrap samples of documents with a ahead, and with b ahead.

    A sample's value is value + sum w(i) u(i) / n: to first order what its documents would give.

    Parameters
    ----------
    quantity : Quantity
        Of one data set.
    weights : ndarray of shape (B, D)
        How often each document is drawn, the same for all models.
    pairs : pair of ndarray of shape (P,)

    Returns
    -------
    ahead, behind : ndarray of shape (P,)
        In [0, 1], together 1 less the share of ties; NaN where a model has no value.

    Examples
    --------
    >>> from sago_harness.stats.quantities import mean_quantity
    >>> q = mean_quantity("acc", np.array([[1.0, 1.0], [1.0, 0.0]]), higher=True)
    >>> w = np.array([[2, 0], [1, 1], [0, 2], [1, 1]], dtype=np.float32)
    >>> [float(share[0]) for share in order_shares(q, w, (np.array([0]), np.array([1])))]
    [0.75, 0.0]
    """
    sign = 1.0 if quantity.higher_is_better else -1.0
    values = sign * (quantity.values + weights.astype(np.float64) @ quantity.influence.T)
    # A model a row: the samples of a pair lie side by side.
    rows = np.ascontiguousarray(values.T)
    scale = TIE * np.maximum(1.0, np.abs(quantity.values))
    ahead, behind = np.empty(len(pairs[0])), np.empty(len(pairs[0]))
    size = max(1, _BLOCK // max(1, len(weights)))
    marks = Marks()
    gaps, theirs = np.empty((2, size, len(weights)))
    for start in range(0, len(ahead), size):
        a, b = (side[start : start + size] for side in pairs)
        rest, slack = slice(0, len(a)), np.zeros((size, 1))
        slack[rest, 0] = scale[a]
        np.take(rows, a, axis=0, out=gaps[rest], mode="clip")
        gaps[rest] -= np.take(rows, b, axis=0, out=theirs[rest], mode="clip")
        for found, compare, limit in ((ahead, np.greater, slack), (behind, np.less, -slack)):
            found[start : start + size] = marks.count(compare, gaps, limit)[rest] / len(weights)
    scored = np.isfinite(quantity.values)
    missing = ~(scored[pairs[0]] & scored[pairs[1]])
    ahead[missing] = behind[missing] = np.nan
    return ahead, behind
