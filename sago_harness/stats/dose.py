"""Dose and response: does a stronger change of the prompt move the model further?

For each operator that comes in several strengths: the mean distance at each, the smallest that
moves the model beyond its own noise, and whether the distance grows with the strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sago_harness.stats.halves import mean_ranks
from sago_harness.stats.means import divided
from sago_harness.stats.resampling import TIE, Settings
from sago_harness.stats.table import Doubles, Flags, TaskTable


@dataclass(frozen=True)
class DoseResult:
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
    positive strengths, some under 1, are factors, and go both ways from 1.
    """
    settings = settings or Settings()
    if measures is None:
        measures = [name for name in table.measures if name in table.distances]
    found = []
    for family, operator in table.operators:
        columns = [
            v for v, key in enumerate(table.variants) if (key.family, key.operator) == (family, operator)
        ]
        for arm, at in arms([table.variants[v].strength for v in columns]):
            doses = [columns[i] for i in at]
            found += [_dose(table, name, family, operator, arm, doses, settings.level) for name in measures]
    return tuple(found)


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


def _dose(
    table: TaskTable, measure: str, family: str, operator: str, arm: str, columns: list[int], level: float
) -> DoseResult:
    block = table.distances[measure]
    models = len(table.models)
    of_column = [table.variants[v].strength for v in columns]
    # The weakest dose is the nearest to no change: -2 before -10, a half before a quarter.
    known = {s for s in of_column if s is not None}
    strengths = sorted(known, reverse=_downwards(known))
    per = [
        _means(block[:, :, [v for v, s in zip(columns, of_column, strict=True) if s == strength]], axis=2)[0]
        for strength in strengths
    ]
    at = np.stack(per, axis=2) if per else np.zeros((*block.shape[:2], 0))
    repeats = table.repeats.get(measure)
    has_repeats = repeats is not None and repeats.shape[2] > 0
    floor_of = np.zeros(block.shape[:2])
    floors, floor_reasons = np.zeros(models), ["no_repeats"] * models
    if has_repeats and repeats is not None:
        own, _ = _means(repeats, axis=2)
        mean, count = _means(own, axis=1)
        for m in range(models):
            if count[m]:
                floors[m] = mean[m]
                floor_reasons[m] = "deterministic" if mean[m] == 0.0 else ""
                floor_of[m] = own[m]
    means, low, high, counts = _interval(at, level)
    above = _interval(at - floor_of[:, :, None], level)[1]
    threshold, threshold_reasons = np.full(models, np.nan), []
    measured: Flags = np.any(np.isfinite(block[:, :, columns]), axis=(1, 2))
    steps = len(strengths)
    reasons = []
    for m in range(models):
        over = np.flatnonzero(above[m] > 0.0)
        if over.size:
            threshold[m] = strengths[over[0]]
            threshold_reasons.append("")
        elif not measured[m]:
            threshold_reasons.append("not_measured")
        elif not steps:
            threshold_reasons.append("no_strength")
        else:
            few = not np.isfinite(above[m]).any()
            threshold_reasons.append("too_few_documents" if few else "not_reached")
        reasons.append("no_strength" if not steps else "one_strength" if steps == 1 else "")
    within, documents = _spearman_within(at)
    statistic, s_low, s_high, s_count = (a[:, 0] for a in _interval(within[:, :, None], level))
    for m in range(models):
        if not reasons[m] and not measured[m]:
            reasons[m] = "not_measured"
        elif not reasons[m] and s_count[m] < 2:
            reasons[m] = "too_few_documents"
    fine: Flags = np.array([not reason for reason in reasons], dtype=bool)
    falls = np.diff(means, axis=1) < -TIE
    complete = np.isfinite(means).all(axis=1)
    keys = [table.variants[v] for v in columns]
    spread = {s: {key.position for key in keys if key.strength == s} for s in strengths}
    differ = any(places != spread[strengths[0]] for places in spread.values())
    return DoseResult(
        table.task, measure, family, operator, arm, table.models, tuple(strengths),
        means, low, high, counts, floors, tuple(floor_reasons), threshold, tuple(threshold_reasons),
        np.where(fine, statistic, np.nan),
        np.where(fine[:, None], np.stack([s_low, s_high], axis=1), np.nan),
        documents, fine & complete & ~falls.any(axis=1), tuple(reasons),
        "positions_differ" if differ else "",
    )  # fmt: skip


def _downwards(strengths: set[float]) -> bool:
    """Say whether smaller is stronger: below 0, and factors below 1."""
    return all(s < 0.0 for s in strengths) or all(0.0 < s < 1.0 for s in strengths)


def _means(values: Doubles, axis: int) -> tuple[Doubles, npt.NDArray[np.intp]]:
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return divided(total, count), count


def _interval(values: Doubles, level: float) -> tuple[Doubles, Doubles, Doubles, npt.NDArray[np.intp]]:
    """Return mean, t interval and number of documents; ``values`` of shape (M, D, S)."""
    from scipy import special

    by_document = values.transpose(1, 0, 2)
    # Whole rows are added up, not a few numbers at a time.
    values = np.ascontiguousarray(by_document) if values.shape[2] > 1 else by_document
    mean, count = _means(values, axis=0)
    known = np.isfinite(values)
    centred = np.where(known, values - mean, 0.0)
    enough = count >= 2
    freedom = np.where(enough, count - 1.0, 1.0)
    error = np.sqrt(np.square(centred).sum(axis=0) / (freedom * np.maximum(count, 1)))
    reach = np.where(enough, special.stdtrit(freedom, 1.0 - level / 2.0) * error, np.nan)
    return mean, mean - reach, mean + reach, count


def _spearman_within(at: Doubles) -> tuple[Doubles, npt.NDArray[np.intp]]:
    """Return each document's Spearman of strength (its place) and distance, of shape (M, D).

    Documents with fewer than two strengths scored are NaN; those that do not vary are 0.
    """
    models, documents, steps = at.shape
    found = np.full((models, documents), np.nan)
    known = np.isfinite(at)
    count = known.sum(axis=2)
    if steps < 2:
        return found, np.zeros(models, dtype=np.intp)
    ranks = mean_ranks(np.where(known, at, np.inf))
    doses = np.cumsum(known, axis=2).astype(np.float64)
    centre = (count + 1.0)[:, :, None] / 2.0
    x = np.where(known, doses - centre, 0.0)
    y = np.where(known, ranks - centre, 0.0)
    scale = np.sqrt(np.square(x).sum(axis=2) * np.square(y).sum(axis=2))
    values = np.divide((x * y).sum(axis=2), scale, out=np.zeros(scale.shape), where=scale > 0.0)
    enough = count >= 2
    return np.where(enough, values, np.nan), enough.sum(axis=1)
