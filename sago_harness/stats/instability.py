"""Is a model unstable? One test per model, data set and measure.

Two questions, and both must be answered with yes: do the variants move the model by more than
a small share of what an unrelated question does, and by more than asking the same again does?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sago_harness.scores.composite import excess
from sago_harness.stats.adjust import adjust
from sago_harness.stats.intervals import studentised
from sago_harness.stats.means import known_mean
from sago_harness.stats.reduce import MIRRORING, MeasureValues
from sago_harness.stats.relabelling import relabelled
from sago_harness.stats.resampling import HELD, SLACK, Purpose, Settings, Source, exceedance, generator
from sago_harness.stats.rich import Rich
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: A test needs so many documents that moved at all.
EVENTS = 5

#: By how many n-ths the t of mirroring is taken smaller. It alone can have a long lower tail, where samples
#: that lack the tail look surely positive: at a skewness of -2 draws alone reject 6.0 % at 40 documents.
MIRRORING_SPARE = 4.0

#: The least that a document's mirroring less its floor can be.
LEAST_MIRRORING = -2.0


@dataclass(frozen=True, slots=True)
class InstabilityResult(Rich):
    """How far one model's answers move on one data set by one measure, and whether that is more than chance.

    Attributes
    ----------
    model, task, measure : str
    documents, events : int
        Documents with a value and a chance level, and those of them with a value above 0.
    s : float
        Mean document value: mean of sqrt(q_s); for ``x_mr`` mean document mirroring.
    chance : float
        Mean of sqrt(q_c), the same for another question; 1 for ``x_mr``, whose scale has its own end.
    r : float
        Relative instability, as in the scores.
    floor : float
        Noise floor: root mean square distance of canonical repeats.
    excess : float
        sqrt(max(0, mean d^2 of variants - mean d^2 of repeats)).
    statistic : float
        Student's t of s - epsilon chance.
    pvalue_chance : float
        One-sided, null hypothesis: s is at most epsilon times chance.
    pvalue_noise : float
        One-sided, null hypothesis: variants and repeats are exchangeable within documents.
    pvalue : float
        The larger of the two; of the first alone without repeats.
    adjusted : float
        Filled by :func:`adjusted`.
    reason : str
        Why there is no p-value: what makes r unscored, ``one_document``, ``too_few_events``, or
        why it is only a bound: ``no_spread``.
    noise_reason : str
        Why there is no comparison with repeats: ``no_repeats``, ``not_for_mirroring``.
    """

    model: str
    task: str
    measure: str
    documents: int
    events: int
    s: float
    chance: float
    r: float
    floor: float
    excess: float
    statistic: float
    pvalue_chance: float
    pvalue_noise: float
    pvalue: float
    adjusted: float = float("nan")
    reason: str = ""
    noise_reason: str = ""

    def __str__(self) -> str:
        head = f"{self.model} on {self.task}, {self.measure}:"
        if not math.isfinite(self.pvalue):
            return f"{head} no test ({self.reason})"
        tail = f", adjusted {self.adjusted:.3g}" if math.isfinite(self.adjusted) else ""
        return f"{head} s={self.s:.3f}, chance={self.chance:.3f}, p={self.pvalue:.3g}{tail}"


def instability(
    scored: ScoredTask, settings: Settings, table: TaskTable | None = None
) -> list[InstabilityResult]:
    """Test every model of a data set on every measure that is part of a score.

    Parameters
    ----------
    scored : ScoredTask
    settings : Settings
        ``epsilon``, ``resamples`` and ``seed`` are used; ``epsilon`` is at least 0.
    table : TaskTable, optional
        Of the same data set, for the comparison with canonical repeats.

    Returns
    -------
    list of InstabilityResult
        One for each measure and model, not yet adjusted. p-values of the first question are of a
        bootstrap-t over documents on x(i) = sqrt(q_s(i)) - epsilon sqrt(q_c(i)), for ``x_mr`` on the
        document's mirroring - epsilon. Where all x(i) are one positive number x, it is the bound
        (1 + x / b)^-n with -b the least possible value, which holds for any law of x.

    Raises
    ------
    ValueError
        If ``table`` is of another data set, other models or other documents.
    """
    names = (scored.task, scored.models, scored.documents)
    if table is not None and (table.task, table.models, table.documents) != names:
        raise ValueError(f"the table is not the one that {scored.task} was scored from")
    moved = [_Moved.of(scored, name, settings.epsilon) for name in scored.reduced]
    # Measures share the draws, as far as they fit into memory side by side.
    many = max(1, HELD // max(1, settings.resamples * len(scored.models)))
    found = []
    for start in range(0, len(moved), many):
        some = moved[start : start + many]
        x, test = np.concatenate([one.x for one in some]), np.concatenate([one.reasons == "" for one in some])
        least, spare = (
            np.repeat([getattr(one, name) for one in some], len(scored.models)) for name in ("least", "spare")
        )
        source = Purpose(settings.seed, "instability", scored.task)
        tested = above_zero(x, test, least, settings.resamples, source, spare)
        for one, *parts in zip(some, *(np.split(part, len(some)) for part in tested), strict=True):
            found += _results(scored, settings, table, one, *parts)
    return found


def adjusted(results: Sequence[InstabilityResult], correction: str) -> list[InstabilityResult]:
    """Return the results of a whole study with adjusted p-values, all of them one family.

    Parameters
    ----------
    results : sequence of InstabilityResult
        Over all models, data sets and measures; those without a p-value do not count as tests.
    correction : {"holm", "bh"}

    Raises
    ------
    SagoError
        For another correction.
    """
    values = adjust([result.pvalue for result in results], correction)
    return [replace(result, adjusted=float(p)) for result, p in zip(results, values, strict=True)]


@dataclass(frozen=True)
class _Moved:
    """How far one measure moved each model on each document, (M, D), and what the test is made of.

    ``x`` is the distance less epsilon times that of another question, NaN where one of both is missing;
    ``least`` the least it can be; ``spare`` as in :func:`above_zero`; ``reasons`` (M,) say why a model is
    not tested.
    """

    measure: str
    values: MeasureValues
    s: Doubles
    c: Doubles
    x: Doubles
    least: float
    spare: float
    n: npt.NDArray[np.intp]
    events: npt.NDArray[np.intp]
    reasons: npt.NDArray[np.object_]

    @classmethod
    def of(cls, scored: ScoredTask, measure: str, epsilon: float) -> _Moved:
        values = scored.reduced[measure]
        squares = values.squares()
        if measure == MIRRORING:
            s, c, least, spare = squares, np.ones(squares.shape), LEAST_MIRRORING - epsilon, MIRRORING_SPARE
        else:
            s, c, least, spare = np.sqrt(squares), np.sqrt(values.chances), -epsilon, 0.0
        x = s - epsilon * c
        member = np.isfinite(x)
        n, events = member.sum(axis=1), (member & (s > 0.0)).sum(axis=1)
        quantity = scored.quantities[measure]
        reasons = np.select(
            [~np.isfinite(quantity.values), n == 1, events < EVENTS],
            [np.array(quantity.reasons, dtype=object), "one_document", "too_few_events"],
            default="",
        ).astype(object)
        return cls(measure, values, s, c, x, least, spare, n, events, reasons)


def _results(
    scored: ScoredTask,
    settings: Settings,
    table: TaskTable | None,
    one: _Moved,
    statistic: Doubles,
    p_chance: Doubles,
    flat: Flags,
) -> list[InstabilityResult]:
    measure, reasons, floors = one.measure, one.reasons, one.values.floors
    quantity, squares = scored.quantities[measure], one.values.squares()
    reasons[flat] = "no_spread"
    noise, noise_reasons = _against_repeats(scored, settings, table, measure, reasons)
    p = np.where(np.isfinite(noise), np.fmax(p_chance, noise), p_chance)
    p = np.where(np.isfinite(p_chance), p, np.nan)
    member = np.isfinite(one.x)
    mean_s, mean_c, floor = known_mean(one.s, member), known_mean(one.c, member), known_mean(floors)
    return [
        InstabilityResult(
            model,
            scored.task,
            measure,
            int(one.n[i]),
            int(one.events[i]),
            float(mean_s[i]),
            float(mean_c[i]),
            float(quantity.values[i]),
            float(np.sqrt(floor[i])),
            float("nan") if measure == MIRRORING else excess(squares[i], floors[i]),
            float(statistic[i]),
            float(p_chance[i]),
            float(noise[i]),
            float(p[i]),
            reason=str(reasons[i]),
            noise_reason=str(noise_reasons[i]),
        )
        for i, model in enumerate(scored.models)
    ]


def above_zero(
    x: Doubles,
    test: Flags,
    least: float | Doubles,
    resamples: int,
    source: Source,
    spare: float | Doubles = 0.0,
) -> tuple[Doubles, Doubles, Flags]:
    """Test whether the mean over documents is above 0, one-sided, by a bootstrap-t.

    The draws of the studentised mean, centred at the observed one, stand for its law at a mean
    of 0; p is the share of them that reach the observed t, which is taken ``spare`` n-ths smaller
    for laws with a long lower tail.

    Parameters
    ----------
    x : ndarray of shape (M, D)
        NaN for documents that are not part.
    test : ndarray of shape (M,)
        Rows to be tested, of at least 2 documents.
    least : float, or ndarray of shape (M,)
        The least value that x can have, for rows without spread.
    resamples : int
    source : Source
    spare : float, or ndarray of shape (M,)
        0 keeps the level where x has no long lower tail; :data:`MIRRORING_SPARE` down to a skewness of -2.

    Returns
    -------
    statistic, pvalue, flat : ndarray of shape (M,)
        Student's t and p, NaN where nothing was tested; rows where all documents agree, which have
        no statistic, and p = 1 unless they lie above 0.

    Examples
    --------
    >>> x = np.array([[0.3, 0.4, 0.5, 0.3, 0.2, 0.6], [0.1] * 6, [-0.1] * 6])
    >>> t, p, flat = above_zero(x, np.array([True, True, True]), -0.1, 999, np.random.default_rng(0))
    >>> bool(p[0] < 0.01), float(p[1]), float(p[2]), flat.tolist()
    (True, 0.015625, 1.0, [False, True, True])
    """
    member = np.isfinite(x)
    n = member.sum(axis=1)
    mean = known_mean(x)
    statistic, pvalue = np.full(len(x), np.nan), np.full(len(x), np.nan)
    centred = np.where(member & test[:, None], x - np.where(test, mean, 0.0)[:, None], 0.0)
    sd = np.sqrt(np.square(centred).sum(axis=1) / np.maximum(n - 1, 1))
    # Rounding leaves a spread of about 1e-17 where all documents agree.
    flat = test & (sd <= 1e-12)
    lowest = np.broadcast_to(least, n.shape)
    for i in np.flatnonzero(flat):
        share = -lowest[i] / (mean[i] - lowest[i]) if mean[i] > lowest[i] else 1.0
        pvalue[i] = min(1.0, share ** int(n[i])) if mean[i] > 0.0 else 1.0
    go = np.flatnonzero(test & ~flat)
    if go.size:
        statistic[go] = mean[go] / (sd[go] / np.sqrt(n[go]))
        size = n[go].astype(np.float64)
        drawn = studentised(centred[go] / sd[go][:, None], size, resamples, source, member[go])
        shrunk = statistic[go] / (1.0 + np.broadcast_to(spare, n.shape)[go] / size)
        observed = shrunk - SLACK * np.maximum(1.0, np.abs(shrunk))
        pvalue[go] = exceedance(observed, drawn, exact=False, df=size - 1.0)
    return statistic, pvalue, flat


def _against_repeats(
    scored: ScoredTask,
    settings: Settings,
    table: TaskTable | None,
    measure: str,
    reasons: npt.NDArray[np.object_],
) -> tuple[Doubles, list[str]]:
    """Return p-values against canonical repeats, and why there is none."""
    pvalue = np.full(len(scored.models), np.nan)
    why = ["not_for_mirroring" if measure == MIRRORING else "no_repeats"] * len(pvalue)
    if measure == MIRRORING or table is None or measure not in table.repeats:
        return pvalue, why
    repeats = np.square(table.repeats[measure])
    if repeats.size:
        variants = np.square(table.distances[measure][:, :, table.operator_of >= 0])
        rng = generator(settings.seed, "repeats", scored.task, measure)
        pvalue = relabelled(variants, repeats, settings.resamples, rng)
    for i, reason in enumerate(reasons):
        if reason and reason != "no_spread":
            why[i], pvalue[i] = str(reason), np.nan
        else:
            why[i] = "" if np.isfinite(pvalue[i]) else "no_repeats"
    return pvalue, why
