"""Dose and response: does a stronger change of the prompt move the model further?

For each operator that comes in several strengths: the mean distance at each, the smallest that
moves the model beyond its own noise, and whether the distance grows with the strength.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sago_harness.stats.means import divided, known_mean
from sago_harness.stats.resampling import NEAR, TIE, Settings
from sago_harness.stats.rich import Rich
from sago_harness.stats.skewed import skewed_reach
from sago_harness.stats.table import Doubles, Flags, Places, TaskTable


@dataclass(frozen=True)
class DoseResult(Rich):
    """Dose and response of one operator on one measure, for M models.

    Attributes
    ----------
    task, measure, family, operator : str
    arm : str
        "+" or "-" where strengths go both ways from no change; else "".
    models : tuple of str
    strengths : tuple of float
        S strengths, weakest first.
    means, low, high : ndarray of shape (M, S)
        Mean distance over documents and its t interval; NaN where ``counts`` is 0, or under 2.
    counts : ndarray of shape (M, S)
        Documents scored at each strength.
    floors : ndarray of shape (M,)
        Mean distance of the canonical prompt sent again.
    floor_reasons : tuple of str
        ``no_repeats`` or ``deterministic`` where the floor is 0, else "".
    threshold : ndarray of shape (M,)
        Smallest strength from which the distance, less the floor, has an interval above 0.
    threshold_reasons : tuple of str
        Why there is none: ``not_reached``, ``too_few_documents``, ``not_measured``.
    statistic : ndarray of shape (M,)
        Mean over documents of Spearman's correlation of strength and distance within the document.
    confidence_interval : ndarray of shape (M, 2)
        t interval of that mean.
    documents : ndarray of shape (M,)
        Documents scored at two strengths or more.
    monotone : ndarray of shape (M,) of bool
        The mean never falls from one strength to the next; False where ``reasons`` is not "".
    reasons : tuple of str
        Why ``statistic`` is NaN: ``no_strength``, ``one_strength`` (of the operator),
        ``not_measured``, ``too_few_documents``.
    note : str
        ``positions_differ`` where strength and position of the variants go together.
    """

    task: str
    measure: str
    family: str
    operator: str
    arm: str
    models: tuple[str, ...]
    strengths: tuple[float, ...]
    means: Doubles
    low: Doubles
    high: Doubles
    counts: npt.NDArray[np.intp]
    floors: Doubles
    floor_reasons: tuple[str, ...]
    threshold: Doubles
    threshold_reasons: tuple[str, ...]
    statistic: Doubles
    confidence_interval: Doubles
    documents: npt.NDArray[np.intp]
    monotone: Flags
    reasons: tuple[str, ...]
    note: str = ""

    @property
    def graded(self) -> bool:
        """Say whether the operator has more than one strength."""
        return len(self.strengths) > 1

    def __str__(self) -> str:
        steps = ", ".join(f"{strength:g}" for strength in self.strengths) or "none"
        return f"{self.operator}{self.arm} on {self.measure}: strengths {steps}"


def dose_response(
    table: TaskTable, settings: Settings | None = None, *, measures: Sequence[str] | None = None
) -> tuple[DoseResult, ...]:
    """Return dose and response of every operator of the scored families on every measure.

    Parameters
    ----------
    table : TaskTable
    settings : Settings, optional
        ``level``.
    measures : sequence of str, optional
        Default: all of the table's.

    Returns
    -------
    tuple of DoseResult
        By operator, then measure. Operators with one strength or none are among them, with
        the reason.

    Notes
    -----
    A document's distance at a strength is the mean over its variants of that strength (positions).
    Each strength has its own documents. The threshold takes the floor document by document
    where there are repeats, so that its noise counts too; with a floor of 0 it is the smallest strength
    that measurably moves anything, which says little for distances that cannot be negative. A
    document whose distances are all equal has correlation 0. Strengths of both signs are two arms;
    positive strengths, some under 1, are factors, and go both ways from 1. Intervals are Student's t
    with Hall's transformation (:func:`sago_harness.stats.skewed.skewed_reach`), as many distances are 0.
    """
    settings = settings or Settings()
    if measures is None:
        measures = [name for name in table.measures if name in table.distances]
    ladders = list(_ladders(table))
    found = {name: _measured(table, name, ladders, settings.level) for name in measures}
    return tuple(found[name][place] for place in range(len(ladders)) for name in measures)


def arms(strengths: Sequence[float | None]) -> list[tuple[str, list[int]]]:
    """Return the ways that strengths go from no change, each with the places of its variants.

    Examples
    --------
    >>> arms([2.0, -4.0, 6.0])
    [('-', [1]), ('+', [0, 2])]
    >>> arms([0.5, 1.5, 2.0])
    [('-', [0]), ('+', [1, 2])]
    >>> arms([None, None])
    [('', [0, 1])]
    """
    given = [(i, s) for i, s in enumerate(strengths) if s is not None]
    none = any(s < 0.0 for _, s in given)
    neutral = 1.0 if not none and any(0.0 < s < 1.0 for _, s in given) else 0.0
    weaker = [i for i, s in given if s < neutral]
    if not weaker or len(weaker) == len(strengths):
        return [("", list(range(len(strengths))))]
    return [("-", weaker), ("+", [i for i in range(len(strengths)) if i not in weaker])]


@dataclass(frozen=True)
class _Ladder:
    """The strengths of one operator, one way from no change, weakest first.

    ``columns`` are the places of all its variants, ``steps`` those of each strength.
    """

    family: str
    operator: str
    arm: str
    strengths: tuple[float, ...]
    columns: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]
    note: str


def _ladders(table: TaskTable) -> Iterator[_Ladder]:
    for family, operator in table.operators:
        own = [v for v, key in enumerate(table.variants) if (key.family, key.operator) == (family, operator)]
        for arm, at in arms([table.variants[v].strength for v in own]):
            columns = tuple(own[i] for i in at)
            keys = [table.variants[v] for v in columns]
            # The weakest dose is the nearest to no change: -2 before -10, a half before a quarter.
            known = {key.strength for key in keys if key.strength is not None}
            strengths = tuple(sorted(known, reverse=_downwards(known)))
            steps = tuple(tuple(v for v in columns if table.variants[v].strength == s) for s in strengths)
            places = [{table.variants[v].position for v in step} for step in steps]
            note = "positions_differ" if any(one != places[0] for one in places) else ""
            yield _Ladder(family, operator, arm, strengths, columns, steps, note)


def _downwards(strengths: set[float]) -> bool:
    """Say whether smaller is stronger: below 0, and factors below 1."""
    return all(s < 0.0 for s in strengths) or all(0.0 < s < 1.0 for s in strengths)


@dataclass(frozen=True)
class _Interval:
    """Means over documents, their intervals and the documents of each; all of one shape."""

    mean: Doubles
    low: Doubles
    high: Doubles
    count: Places

    @classmethod
    def of(cls, values: Doubles, level: float) -> _Interval:
        """Take the mean of what is known over the last axis."""
        from scipy import special

        known = np.isfinite(values)
        complete = bool(known.all())
        count = np.full(values.shape[:-1], values.shape[-1]) if complete else known.sum(axis=-1)
        filled = values if complete else np.where(known, values, 0.0)
        mean = divided(filled.sum(axis=-1), count)
        centred = filled - mean[..., None]
        centred = centred if complete else np.where(known, centred, 0.0)
        enough = count >= 2
        freedom = np.where(enough, count - 1.0, 1.0)
        squares = np.square(centred)
        total, least = squares.sum(axis=-1), np.maximum(count, 1)
        error = np.where(enough, np.sqrt(total / (freedom * least)), np.nan)
        # One quantile takes as long as a thousand sums, and few numbers of documents differ.
        sizes, place = np.unique(freedom, return_inverse=True)
        factor = special.stdtrit(sizes, 1.0 - level / 2.0)[place.reshape(count.shape)]
        # Many distances are 0 and a few are large: plain t intervals would cover too little.
        spread = np.sqrt(total / least)
        third = np.einsum("...d,...d->...", squares, centred) / least
        skewness = np.divide(third, spread**3, out=np.zeros(spread.shape), where=spread > TIE * np.abs(mean))
        below, above = skewed_reach(skewness, count, factor)
        return cls(mean, mean - below * error, mean + above * error, count)

    @classmethod
    def joined(cls, parts: Sequence[_Interval]) -> _Interval:
        """Put models side by side, the last axis."""
        names = [one.name for one in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names))

    def __getitem__(self, place: int | slice) -> _Interval:
        return _Interval(self.mean[place], self.low[place], self.high[place], self.count[place])


@dataclass(frozen=True)
class _Floors:
    """Mean distance of the canonical prompt sent again: per document (M, D), per model, and why it is 0.

    ``documents`` is None where nothing was sent again.
    """

    documents: Doubles | None
    means: Doubles
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, table: TaskTable, measure: str) -> _Floors:
        models, repeats = len(table.models), table.repeats.get(measure)
        if repeats is None or not repeats.shape[2]:
            return cls(None, np.zeros(models), ("no_repeats",) * models)
        documents = known_mean(repeats)
        means = known_mean(documents)
        given = np.isfinite(means)
        reasons = np.where(given, np.where(means == 0.0, "deterministic", ""), "no_repeats").tolist()
        return cls(np.where(given[:, None], documents, 0.0), np.where(given, means, 0.0), tuple(reasons))


def _measured(table: TaskTable, measure: str, ladders: Sequence[_Ladder], level: float) -> list[DoseResult]:
    """Return dose and response of every operator on one measure."""
    if not ladders:
        return []
    block, floors = table.distances[measure], _Floors.of(table, measure)
    steps = [step for ladder in ladders for step in ladder.steps]
    ends = np.cumsum([len(ladder.steps) for ladder in ladders])
    scored, plain, net, rises = [], [], [], []
    # A few models at once, documents last: what is worked on stays in the processor's cache.
    many = max(1, 2 * NEAR // max(1, block.shape[1] * block.shape[2]))
    for start in range(0, max(1, len(block)), many):
        columns = np.ascontiguousarray(block[start : start + many].transpose(2, 0, 1))
        scored.append(np.isfinite(columns).any(axis=2))
        at = _at_steps(columns, steps)
        plain.append(_Interval.of(at, level))
        if floors.documents is not None:
            net.append(_Interval.of(at - floors.documents[start : start + many], level))
        within = [_spearman_within(part) for part in np.split(at, ends[:-1])]
        rises.append(_Interval.of(np.stack(within), level))
    means, rise, known = _Interval.joined(plain), _Interval.joined(rises), np.concatenate(scored, axis=1)
    # Less a floor of 0 it is the distance itself.
    above = _Interval.joined(net) if net else means
    found = []
    for place, (ladder, end) in enumerate(zip(ladders, ends.tolist(), strict=True)):
        own = slice(end - len(ladder.steps), end)
        measured: Flags = np.any(known[list(ladder.columns)], axis=0)
        found.append(_result(table, measure, ladder, floors, measured, means[own], above[own], rise[place]))
    return found


def _at_steps(columns: Doubles, steps: Sequence[tuple[int, ...]]) -> Doubles:
    """Return each document's mean distance over the variants of each strength, (S, M, D) of (V, M, D)."""
    at = np.empty((len(steps), *columns.shape[1:]))
    for place, step in enumerate(steps):
        at[place] = columns[step[0]] if len(step) == 1 else known_mean(columns[list(step)].transpose(1, 2, 0))
    return at


def _spearman_within(at: Doubles) -> Doubles:
    """Return each document's Spearman of strength (its place) and distance, (M, D) of (S, M, D).

    Documents with fewer than two strengths scored are NaN; those that do not vary are 0.
    """
    steps = len(at)
    if steps < 2:
        return np.full(at.shape[1:], np.nan)
    known = np.isfinite(at)
    # Twice a rank's distance from the mean rank: how many lie below, less how many above. Ties share theirs.
    x, y = np.zeros((2, *at.shape), dtype=np.int8 if steps < 128 else np.int32)
    for i, j in combinations(range(steps), 2):
        both = (known[i] & known[j]).view(np.int8)
        rise = (at[j] > at[i]).view(np.int8) - (at[j] < at[i]).view(np.int8)
        for ranks, up in ((x, both), (y, rise)):
            ranks[j] += up
            ranks[i] -= up
    x, y = x.astype(np.float64), y.astype(np.float64)
    scale = np.sqrt(np.square(x).sum(axis=0) * np.square(y).sum(axis=0))
    values = np.divide((x * y).sum(axis=0), scale, out=np.zeros(scale.shape), where=scale > 0.0)
    return np.where(known.sum(axis=0) >= 2, values, np.nan)


def _result(
    table: TaskTable, measure: str, ladder: _Ladder, floors: _Floors, measured: Flags,
    means: _Interval, above: _Interval, rise: _Interval,
) -> DoseResult:  # fmt: skip
    """Form one result; ``measured`` and ``rise`` of shape (M,), ``means`` and ``above`` (S, M)."""
    steps, models = len(ladder.strengths), len(measured)
    over = above.low > 0.0
    reached = over.any(axis=0)
    first = over.argmax(axis=0) if steps else np.zeros(models, dtype=np.intp)
    threshold = np.where(reached, np.array([*ladder.strengths, np.nan])[first], np.nan)
    none, few = np.full(models, steps == 0), ~np.isfinite(above.low).any(axis=0)
    why = np.select(
        [reached, ~measured, none, few],
        ["", "not_measured", "no_strength", "too_few_documents"],
        default="not_reached",
    )
    reasons = np.select([~measured, rise.count < 2], ["not_measured", "too_few_documents"], default="")
    if steps < 2:
        reasons = np.full(models, "one_strength" if steps else "no_strength")
    fine: Flags = reasons == ""
    falls = (np.diff(means.mean, axis=0) < -TIE).any(axis=0)
    monotone = fine & np.isfinite(means.mean).all(axis=0) & ~falls
    return DoseResult(
        table.task, measure, ladder.family, ladder.operator, ladder.arm, table.models, ladder.strengths,
        np.ascontiguousarray(means.mean.T), np.ascontiguousarray(means.low.T),
        np.ascontiguousarray(means.high.T), np.ascontiguousarray(means.count.T),
        floors.means, floors.reasons, threshold, tuple(why.tolist()),
        np.where(fine, rise.mean, np.nan),
        np.where(fine[:, None], np.stack([rise.low, rise.high], axis=1), np.nan),
        rise.count, monotone, tuple(reasons.tolist()), ladder.note,
    )  # fmt: skip
