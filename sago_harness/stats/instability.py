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
from sago_harness.stats.resampling import HELD, Purpose, Settings, Source, exceedance, generator
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: A test needs so many documents that moved at all.
EVENTS = 5

#: Single precision takes equal draws for different ones below this.
SLACK = 1e-5

#: The least that a document's mirroring less its floor can be.
LEAST_MIRRORING = -2.0


@dataclass(frozen=True, slots=True)
class InstabilityResult:
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
    return [r for name, v in scored.reduced.items() for r in _of_measure(scored, settings, table, name, v)]


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


def _of_measure(
    scored: ScoredTask, settings: Settings, table: TaskTable | None, measure: str, values: MeasureValues
) -> list[InstabilityResult]:
    squares = values.squares()
    if measure == MIRRORING:
        s, c = squares, np.ones(squares.shape)
        least = LEAST_MIRRORING - settings.epsilon
    else:
        s, c = np.sqrt(squares), np.sqrt(values.chances)
        least = -settings.epsilon
    member = np.isfinite(s) & np.isfinite(c)
    n = member.sum(axis=1)
    events = (member & (np.where(member, s, 0.0) > 0.0)).sum(axis=1)
    quantity = scored.quantities[measure]
    reasons = np.select(
        [~np.isfinite(quantity.values), n == 1, events < EVENTS],
        [np.array(quantity.reasons, dtype=object), "one_document", "too_few_events"],
        default="",
    ).astype(object)
    source = Purpose(settings.seed, "instability", scored.task)
    x = np.where(member, s - settings.epsilon * c, np.nan)
    statistic, p_chance, flat = above_zero(x, reasons == "", least, settings.resamples, source)
    reasons[flat] = "no_spread"
    noise, noise_reasons = _against_repeats(scored, settings, table, measure, reasons)
    p = np.where(np.isfinite(noise), np.fmax(p_chance, noise), p_chance)
    p = np.where(np.isfinite(p_chance), p, np.nan)
    mean_s, mean_c, floor = known_mean(s, member), known_mean(c, member), known_mean(values.floors)
    return [
        InstabilityResult(
            model,
            scored.task,
            measure,
            int(n[i]),
            int(events[i]),
            float(mean_s[i]),
            float(mean_c[i]),
            float(quantity.values[i]),
            float(np.sqrt(floor[i])),
            float("nan") if measure == MIRRORING else excess(squares[i], values.floors[i]),
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
    x: Doubles, test: Flags, least: float, resamples: int, source: Source
) -> tuple[Doubles, Doubles, Flags]:
    """Test whether the mean over documents is above 0, one-sided, by a bootstrap-t.

    The draws of the studentised mean, centred at the observed one, stand for its law at a mean
    of 0; p is the share of them that reach the observed t. A law with a long lower tail, which
    only mirroring can have, is rejected more often than the level says under 40 documents.

    Parameters
    ----------
    x : ndarray of shape (M, D)
        NaN for documents that are not part.
    test : ndarray of shape (M,)
        Rows to be tested, of at least 2 documents.
    least : float
        The least value that x can have, for rows without spread.
    resamples : int
    source : Source

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
    for i in np.flatnonzero(flat):
        share = -least / (mean[i] - least) if mean[i] > least else 1.0
        pvalue[i] = min(1.0, share ** int(n[i])) if mean[i] > 0.0 else 1.0
    go = np.flatnonzero(test & ~flat)
    if go.size:
        statistic[go] = mean[go] / (sd[go] / np.sqrt(n[go]))
        size = n[go].astype(np.float64)
        drawn = studentised(centred[go] / sd[go][:, None], size, resamples, source, member[go])
        observed = statistic[go] - SLACK * np.maximum(1.0, np.abs(statistic[go]))
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
    variants = np.square(table.distances[measure][:, :, table.operator_of >= 0])
    repeats = np.square(table.repeats[measure])
    rng = generator(settings.seed, "repeats", scored.task, measure)
    pvalue = relabelled(variants, repeats, settings.resamples, rng)
    for i, reason in enumerate(reasons):
        if reason and reason != "no_spread":
            why[i], pvalue[i] = str(reason), np.nan
        else:
            why[i] = "" if np.isfinite(pvalue[i]) else "no_repeats"
    return pvalue, why


def relabelled(variants: Doubles, repeats: Doubles, resamples: int, rng: np.random.Generator) -> Doubles:
    """Test whether variants lie farther off than repeats, by exchanging their labels within documents.

    The statistic is the mean over documents of (mean of the variants - mean of the repeats). Its
    law under the null hypothesis, that both are exchangeable within a document, is drawn by
    giving the label "repeat" to any of the document's cells, all documents at once.

    Parameters
    ----------
    variants : ndarray of shape (M, D, V)
        Squared distances; NaN where unscored.
    repeats : ndarray of shape (M, D, R)
    resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (M,)
        One-sided p-values; 1 where all cells of each document agree, NaN for a model none of whose
        documents has both.

    Examples
    --------
    >>> moved = np.random.default_rng(0).random((1, 20, 4))
    >>> p = relabelled(moved, np.zeros((1, 20, 2)), 999, np.random.default_rng(0))
    >>> bool(p[0] < 0.001), relabelled(moved * 0, np.zeros((1, 20, 2)), 999, np.random.default_rng(0))
    (True, array([1.]))
    """
    from scipy import special

    cells = np.concatenate([variants, repeats], axis=2)
    known = np.isfinite(cells)
    v = known[:, :, : variants.shape[2]].sum(axis=2)
    r = known[:, :, variants.shape[2] :].sum(axis=2)
    both = (v > 0) & (r > 0)
    known &= both[:, :, None]
    n = np.where(both, v + r, 2)
    centred = np.where(known, cells, 0.0)
    centred = np.where(known, centred - (centred.sum(axis=2) / n)[:, :, None], 0.0)
    # Rounding leaves about 1e-17 where all cells of a document agree.
    centred[np.abs(centred) < 1e-14] = 0.0
    # A sum over the cells called repeats is all that a relabelling changes.
    share = np.where(both, 1.0 / np.maximum(v, 1) + 1.0 / np.maximum(r, 1), 0.0)
    spread = np.square(centred).sum(axis=2) * r * v / (n * (n - 1.0))
    sd = np.sqrt((np.square(share) * spread).sum(axis=1))
    go = np.flatnonzero(sd > 0.0)
    pvalue = np.where(both.any(axis=1), 1.0, np.nan)
    if not go.size:
        return pvalue
    x = centred[go] * (share[go] / sd[go][:, None])[:, :, None]
    observed = -x[:, :, variants.shape[2] :].sum(axis=(1, 2))
    drawn = -_sums_of_picks(x, known[go], r[go], resamples, rng)
    df = np.maximum(both[go].sum(axis=1) - 1.0, 1.0)
    p = exceedance(observed - SLACK * np.maximum(1.0, np.abs(observed)), drawn, exact=False, df=df)
    # No relabelling is rarer than one among all of them.
    ways = [special.gammaln(np.where(both, count, 0) + 1.0).sum(axis=1)[go] for count in (v + r, v, r)]
    pvalue[go] = np.maximum(p, np.exp(ways[1] + ways[2] - ways[0]))
    return pvalue


def _sums_of_picks(
    x: Doubles, known: Flags, sizes: npt.NDArray[np.intp], resamples: int, rng: np.random.Generator
) -> Doubles:
    """Return the sums of x over cells drawn without replacement, ``sizes`` from each document: (B, M)."""
    models, documents, columns = x.shape
    # Models that lack the same cells of a document share its draws: one matrix product for all.
    pattern = known.any(axis=0)
    like = np.all(known == pattern, axis=2)
    shared = np.where(like, sizes, 0).max(axis=0)
    like &= sizes == shared
    held = np.where(like[:, :, None], x, 0.0).astype(np.float32).reshape(models, -1).T
    order = np.argsort(~pattern, axis=1, kind="stable")
    size = max(1, HELD // max(1, documents * columns, models))
    blocks = []
    for start in range(0, resamples, size):
        b = min(size, resamples - start)
        marks = np.zeros((b, documents, columns), dtype=np.float32)
        at = np.arange(documents)
        for j, pick in enumerate(picks(pattern.sum(axis=1), int(shared.max(initial=0)), b, rng)):
            marks[np.arange(b)[:, None], at, order[at, pick]] += (j < shared).astype(np.float32)
        blocks.append((marks.reshape(b, -1) @ held).astype(np.float64))
    total: Doubles = np.concatenate(blocks)
    step = max(1, HELD // (8 * max(1, resamples)))
    for m in range(models):
        rest = ~like[m] & (sizes[m] > 0) & known[m].any(axis=1)
        n = known[m].sum(axis=1)
        for cells, r in sorted({(int(n[i]), int(sizes[m, i])) for i in np.flatnonzero(rest)}):
            at = np.flatnonzero(rest & (n == cells) & (sizes[m] == r))
            flat = x[m, at][known[m, at]]
            for part in np.split(np.arange(len(at)), range(step, len(at), step)):
                pick = picks(np.full(len(part), cells), r, resamples, rng)
                total[:, m] += flat[pick + part * cells].sum(axis=(0, 2))
    return total


def picks(
    sizes: npt.NDArray[np.intp], count: int, resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Draw ``count`` places without replacement from each of D ranges.

    Returns
    -------
    ndarray of shape (count, resamples, D)
        Places from 0 to ``sizes`` - 1; all different as far as a range has so many.

    Examples
    --------
    >>> sorted(picks(np.array([3]), 3, 1, np.random.default_rng(0)).ravel().tolist())
    [0, 1, 2]
    """
    drawn = np.zeros((count, resamples, len(sizes)), dtype=np.intp)
    for j in range(count):
        left = np.maximum(sizes - j, 1)
        place = np.minimum((rng.random((resamples, len(sizes))) * left).astype(np.intp), left - 1)
        for before in np.sort(drawn[:j], axis=0):
            place += place >= before
        drawn[j] = np.minimum(place, np.maximum(sizes, 1) - 1)
    return drawn
