"""Ranks with what can be said of them: sets that hold all true ranks at once.

The rank of a model is 1 + the number of models better than it. From tests of all differences,
each in both directions, a model's rank lies in [1 + number significantly better, M - number
significantly worse]; if no test errs, all these sets are right together (Mogstad, Romano, Shaikh
and Wilhelm, 2024). The tests share one critical value, the quantile of the largest studentised
difference, found again without the hypotheses that were rejected until nothing more falls
(Romano and Wolf, 2005). The law of the largest difference comes from random signs of the
documents' influence values, each draw studentised by its own spread.

Random signs were chosen over bootstrap weights by simulation: see ``tests/stats/test_ranks.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.counts import Floats
from sago_harness.stats.flips import ROWS, Flips
from sago_harness.stats.moments import moments, share_left
from sago_harness.stats.pair_data import PairData, of_quantity, pair_data
from sago_harness.stats.quantities import Quantity
from sago_harness.stats.resampling import TIE, Settings
from sago_harness.stats.rich import Rich
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.shared_sums import SHARED_TERMS, PairSums, SharedSums
from sago_harness.stats.table import Doubles, Flags, Places
from sago_harness.stats.ties import settled

#: With fewer documents rank sets are said to cover less than they should.
FEW_DOCUMENTS = 40

#: Rounds of rejection after which the rest is taken as not shown; each round is valid by itself.
ROUNDS = 20


@dataclass(frozen=True)
class RankResult(Rich):
    """One model in a ranking.

    Attributes
    ----------
    model : str
    value, stderr : float
    n : int
        Documents that form the value.
    rank, lower, upper : int
        1 = most stable; the true rank lies in lower to upper, for all models at once.
    """

    model: str
    value: float
    stderr: float
    n: int
    rank: int
    lower: int
    upper: int

    def __str__(self) -> str:
        span = f"{self.lower}" if self.lower == self.upper else f"{self.lower}-{self.upper}"
        # A single document has a value and no error.
        error = f" +- {self.stderr:.4f}" if np.isfinite(self.stderr) else ""
        return f"{self.rank}. {self.model}: {self.value:.4f}{error}, rank {span}"


@dataclass(frozen=True)
class RankTable(Rich):
    """A ranking of models in one score; arrays of shape (M,), the most stable model first.

    Attributes
    ----------
    task, quantity : str
    models : tuple of str
        The models that are ranked.
    value, stderr : ndarray of shape (M,)
    n : ndarray of shape (M,)
        Documents that form each value.
    rank : ndarray of shape (M,)
        1 + number of models with a better value.
    lower, upper : ndarray of shape (M,)
        Bounds of the true ranks, all right at once with probability 1 - level.
    few_documents : bool
        Some value rests on fewer than 40 documents: the bounds are narrower than they should be.
    excluded : dict of str to str
        Models that are not ranked -> ``unscored``, ``sampling`` or ``stock_answers``.
    reasons : dict of str to str
        Unscored models -> why.
    level : float
    """

    task: str
    quantity: str
    models: tuple[str, ...]
    value: Doubles
    stderr: Doubles
    n: Places
    rank: Places
    lower: Places
    upper: Places
    few_documents: bool
    excluded: Mapping[str, str]
    reasons: Mapping[str, str]
    level: float = 0.05

    def rows(self) -> Iterator[RankResult]:
        """Yield the models, the most stable one first."""
        for k, model in enumerate(self.models):
            yield RankResult(
                model, float(self.value[k]), float(self.stderr[k]), int(self.n[k]),
                int(self.rank[k]), int(self.lower[k]), int(self.upper[k]),
            )  # fmt: skip

    def __str__(self) -> str:
        shown = ", ".join(f"{r.model} {r.rank} [{r.lower}, {r.upper}]" for r in self.rows())
        left = f"; not ranked: {', '.join(f'{m} ({why})' for m, why in self.excluded.items())}"
        few = f"; under {FEW_DOCUMENTS} documents" if self.few_documents else ""
        return f"{self.quantity}: {shown or 'no model'}{left if self.excluded else ''}{few}"


def rank_sets(
    quantity: Quantity,
    settings: Settings,
    *,
    models: Sequence[str],
    task: str,
    ranked: Flags | None = None,
    samplers: Collection[str] = (),
    data: PairData | None = None,
    shared: SharedSums | None = None,
) -> RankTable:
    """Rank models in one score, with simultaneous bounds of their true ranks.

    Each model has its value over its own documents; a document that is scored in one of two models
    only counts to the error of their difference with that model's part.

    Parameters
    ----------
    quantity : Quantity
        Over M models and D documents.
    settings : Settings
    models : sequence of str
        M names.
    task : str
        Data set; with the seed it fixes the draws.
    ranked : ndarray of shape (M,), optional
        Models that may be ranked (:attr:`sago_harness.stats.scored.ScoredTask.ranked`).
    samplers : collection of str
        Of the others, those that may not because their runs sample.
    data : PairData, optional
        The measures that the score is made of, so that the roots among them are compared as in
        pairs; without it the influence values are taken as they are.
    shared : SharedSums, optional
        Random signs over the same documents, to be used for several scores.

    Returns
    -------
    RankTable
        One ranked model has rank 1 in [1, 1]. Where values rest on a single document nothing is
        ruled out: [1, M].

    Examples
    --------
    >>> from sago_harness.stats.quantities import mean_quantity
    >>> values = np.array([[0.1, 0.2] * 20, [0.8, 0.9] * 20, [0.9, 0.8] * 20])
    >>> print(rank_sets(mean_quantity("x", values), Settings(), models="abc", task="made"))
    x: a 1 [1, 1], b 2 [2, 3], c 2 [2, 3]
    """
    allowed = np.ones(len(models), dtype=bool) if ranked is None else ranked
    scored = np.isfinite(quantity.values)
    excluded = {
        model: "unscored" if not fine else "sampling" if model in samplers else "stock_answers"
        for model, fine, may in zip(models, scored, allowed, strict=True)
        if not (fine and may)
    }
    reasons = {model: quantity.reasons[m] for m, model in enumerate(models) if not scored[m]}
    goodness = quantity.values if quantity.higher_is_better else -quantity.values
    at = np.flatnonzero(scored & allowed)
    at = at[np.argsort(-goodness[at], kind="stable")]
    value, n = quantity.values[at], quantity.counts[at]
    stderr = quantity.stderr[at]
    lower, upper = np.ones(len(at), dtype=np.intp), np.full(len(at), len(at), dtype=np.intp)
    size = np.abs(quantity.influence[at]).max(axis=1, initial=0.0) * np.maximum(n, 1)
    size = np.maximum(size, np.abs(value))
    scale = np.maximum(size[:, None], size[None, :])
    gaps = goodness[at][:, None] - goodness[at][None, :]
    gaps = settled(gaps, scale)
    rank = 1 + (gaps < 0.0).sum(axis=1)
    if len(at) > 1 and n.min() >= 2:
        if shared is None:
            shared = SharedSums(Flips(quantity.influence.shape[1], settings, "ranks", task))
        if data is None:
            data = of_quantity(quantity)
        better = significant(data, at, gaps, scale, shared, settings.level)
        lower, upper = 1 + better.sum(axis=0), len(at) - better.sum(axis=1)
    return RankTable(
        task, quantity.name, tuple(models[int(m)] for m in at), value, stderr, n, rank, lower, upper,
        bool(len(at)) and bool(n.min() < FEW_DOCUMENTS), excluded, reasons, settings.level,
    )  # fmt: skip


def task_ranks(
    scored: ScoredTask, settings: Settings, names: Sequence[str] = tuple(COMPOSITES)
) -> dict[str, RankTable]:
    """Rank the models of a data set in some scores, by default the composite ones."""
    shared = SharedSums(Flips(len(scored.documents), settings, "ranks", scored.task))
    data = pair_data(scored)
    used = [data[name] for name in names if name in data and len(data[name].terms) <= SHARED_TERMS]
    shared.prepare([term for one in used for term in one.terms])
    return {
        name: rank_sets(
            scored.quantities[name],
            settings,
            models=scored.models,
            task=scored.task,
            ranked=scored.ranked,
            samplers=scored.samplers,
            data=data[name],
            shared=shared,
        )
        for name in names
        if name in scored.quantities
    }


def significant(
    data: PairData, at: Places, gaps: Doubles, scale: Doubles, shared: SharedSums, level: float
) -> Flags:
    """Return which models are significantly better than which, of shape (K, K).

    Parameters
    ----------
    data : PairData
    at : ndarray of shape (K,)
        Places of the models, from the best to the worst.
    gaps : ndarray of shape (K, K)
        How much better the model of the row is.
    scale : ndarray of shape (K, K)
        Differences and spreads below 1e-9 of it are none.
    shared : SharedSums
    level : float
        Chance of any error, step-down over all ordered pairs.
    """
    quantity = data.quantity
    documents = max(2, int(np.any(quantity.influence[at] != 0.0, axis=0).sum()))
    n = np.minimum(quantity.counts[at][:, None], quantity.counts[at][None, :]).astype(np.float64)
    spread, cubes = np.zeros((2, len(at), len(at)))
    i, j = np.triu_indices(len(at), 1)
    spread[i, j], cubes[i, j] = moments(data.terms, quantity.influence.shape[1], at[i], at[j])
    # The other way round each contribution has the other sign.
    spread, cubes = spread + spread.T, cubes - cubes.T
    none = spread <= np.square(TIE * scale) / n
    root = np.sqrt(np.where(none, 0.0, spread * n / (n - 1.0)))
    inverse = np.divide(1.0, root, out=np.zeros(root.shape), where=root > 0.0)
    kept = share_left(spread, cubes if quantity.higher_is_better else -cubes, gaps)
    statistic = np.where(none, np.where(gaps > 0.0, np.inf, 0.0), gaps * inverse * kept)
    better: Flags = np.zeros(gaps.shape, dtype=bool)
    draws = len(shared.flips)
    place = int(np.ceil((1.0 - level) * (draws + 1))) - 1
    if place >= draws:
        return better
    largest, least = _largest(data, at, shared, inverse, better)
    for _ in range(ROUNDS):
        z = float(np.partition(largest, place)[place])
        # A draw z over the fixed spread is t = z / sqrt(1 - z^2 / (n - 1)) over its own.
        left = 1.0 - z * z / (documents - 1.0)
        critical = z / float(np.sqrt(left)) if left > 0.0 else np.inf
        fresh = (statistic > critical) & ~better
        if not fresh.any():
            break
        better |= fresh
        # The opposites of what is rejected stay, so that no later critical value is under the
        # quantile of theirs alone: draws whose largest difference is not above it decide nothing.
        floor = float(np.partition(least, place)[place])
        keep = largest > floor
        place = max(0, place - int((~keep).sum()))
        if not keep.any():
            break
        shared = shared.some(keep)
        largest, _ = _largest(data, at, shared, inverse, better)
        least = least[keep]
    return better


def _largest(
    data: PairData, at: Places, shared: SharedSums, inverse: Doubles, better: Flags
) -> tuple[Floats, Floats]:
    """Return, for every draw, the largest standardised difference among the hypotheses that are left.

    Of a pair that is decided the other direction is left. The second array is the largest one in
    these directions alone, had all pairs been decided.
    """
    kind, sign = shared.flips.kind, 1.0 if data.quantity.higher_is_better else -1.0
    sums = PairSums(shared, data.terms, at)
    largest = np.zeros(len(shared.flips), dtype=kind)
    least = np.zeros(len(shared.flips), dtype=kind)
    first, second = np.triu_indices(len(at), 1)
    for start in range(0, len(first), ROWS):
        i, j = first[start : start + ROWS], second[start : start + ROWS]
        draws = sums.draws(i, j, sign * inverse[i, j])
        np.maximum(least, -draws.min(axis=0), out=least)
        decided = better[i, j]
        draws[decided] *= -1.0
        np.maximum(largest, draws.max(axis=0), out=largest)
        if not decided.all():
            left = draws if not decided.any() else draws[~decided]
            np.maximum(largest, -left.min(axis=0), out=largest)
    return largest, least
