"""The published scheme, by name: scores from raw deltas (arXiv 2610.01428).

Raw deltas are variant minus baseline, as the records keep them: mean cosine - 1 over all hidden
states (``x_act``), corpus BLEU points (``x_bleu``), token F1 - 1 (``x_bert``), summed forced
log-probability (``x_prob``), mean forced entropy (``x_ent``), 1 where the response mirrors
(``mirroring``). F1 is that of the task's own encoder; the publication has roberta-large.

All variants of the scored families enter; variants that people wrote, other languages and edits
that change the meaning do not.

*Variation types.* ``paper-std-*`` average over six types of variation. Operators map onto them so:

=========== ==============================================================================
politeness  politeness, zh_address, zh_request
spaces      spaces
marks       punctuation
capitals    case
length      rewrite_length, lengthen, shorten
form        imperative, interrogative, declarative, request, rewrite_form, zh_imperative,
            zh_shifou, zh_a_not_a, zh_ma
=========== ==============================================================================

Operators outside of the table (typing errors, synonyms, labels ...) have no counterpart there. They
are left out of ``paper-std-*`` and named in the notes: a type of its own for each would weigh them
as much as the whole ladder of politeness, and the score would no longer be the published one. A type
of which a data set has no scored variant is left out of its mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sago_harness.stats.means import known_mean
from sago_harness.stats.resampling import TIE
from sago_harness.stats.schemes import Rows, SchemeResult, ThresholdResult
from sago_harness.stats.table import Doubles, Flags, ScoreTable, TaskTable

#: Raw delta -> the range R by which it is divided.
RANGES: Mapping[str, float] = {
    "x_act": 2.0, "x_bleu": 100.0, "x_bert": 1.0, "x_prob": 250.0, "x_ent": 10.0, "mirroring": 1.0,
}  # fmt: skip

#: What the published test compares the mean of s with.
THRESHOLDS: tuple[float, ...] = (0.01, 0.05, 0.10)

#: Variation type -> operators.
TYPES: Mapping[str, tuple[str, ...]] = {
    "politeness": ("politeness", "zh_address", "zh_request"),
    "spaces": ("spaces",),
    "marks": ("punctuation",),
    "capitals": ("case",),
    "length": ("rewrite_length", "lengthen", "shorten"),
    "form": (
        "imperative", "interrogative", "declarative", "request", "rewrite_form",
        "zh_imperative", "zh_shifou", "zh_a_not_a", "zh_ma",
    ),
}  # fmt: skip

_TYPE_OF = {operator: kind for kind, operators in TYPES.items() for operator in operators}


def paper_rms(table: ScoreTable) -> SchemeResult:
    """Return s(i) = sqrt(mean over variants of (delta / R)^2), its means and the published test.

    A data set's value is the mean over its documents; the total is the flat mean over the prompts
    of all data sets, so that a large one weighs more. The test is of the mean of s, against each of
    :data:`THRESHOLDS`.
    """
    rows = Rows(table)
    for data in table:
        inside = data.operator_of >= 0
        own = {}
        for name, reach in RANGES.items():
            raw = data.raw.get(name)
            if raw is not None:
                own[name] = np.sqrt(known_mean(np.square(_wide(raw[:, :, inside]) / reach)))
        rows.open(data.task, data.models, data.documents, own)
        for name in RANGES:
            if name in own:
                known = np.isfinite(own[name]).sum(axis=1)
                reasons = ["" if n else "no_scored_document" for n in known]
                rows.put(name, known_mean(own[name]), known, reasons)
            else:
                _absent(rows, name, len(data.models))
    totals, tests = {}, {}
    for name in rows.values:
        blocks = [
            values[name]
            for task, values in rows.document_values.items()
            if name in values and task in table.spanning
        ]
        everything = np.concatenate(blocks, axis=1) if blocks else np.zeros((len(table.models), 0))
        totals[name] = known_mean(everything)
        tests[name] = _tests(rows, name, everything)
    return rows.result(
        "paper-rms", dict.fromkeys(rows.values, False), totals=totals, tests=tests, by_documents=True
    )


def paper_std_minmax(table: ScoreTable) -> SchemeResult:
    """Return standard deviations within variation types of deltas scaled by their global range.

    Each delta becomes (delta - min) / (max - min) over the deltas of all models, data sets, documents
    and variants; see :func:`paper_std_meanabs` for the rest. A model more can move every value.
    """
    return _paper_std(table, "paper-std-minmax")


def paper_std_meanabs(table: ScoreTable) -> SchemeResult:
    """Return standard deviations within variation types of deltas over their global mean size.

    Within each type of a document's variants the sample standard deviation is taken (ddof 1), the
    baseline with its delta of 0 among them. A data set's value is the equal mean over types of the
    mean over documents, the total the equal mean over data sets. A document's own value is the mean
    over its types.

    Notes
    -----
    A standard deviation shifts and scales with its data, so the global scale can be applied
    afterwards and each data set is read once.
    """
    return _paper_std(table, "paper-std-meanabs")


def rms_test(values: Doubles, thresholds: Sequence[float] = THRESHOLDS) -> tuple[Doubles, Doubles, list[str]]:
    """Test with Student's t whether means are above thresholds, one-sided and uncorrected.

    Parameters
    ----------
    values : ndarray of shape (M, D)
        s(i); NaN = unscored.
    thresholds : sequence of float
        K values.

    Returns
    -------
    statistic, pvalue : ndarray of shape (M, K)
    reasons : list of str
        ``too_few_documents`` under two, ``no_spread`` where all values are the same.

    Examples
    --------
    >>> statistic, p, _ = rms_test(np.array([[0.1, 0.2, 0.3]]), [0.2, 0.0])
    >>> statistic.round(3).tolist(), p.round(3).tolist()
    ([[0.0, 3.464]], [[0.5, 0.037]])
    """
    from scipy import special

    known = np.isfinite(values)
    n = known.sum(axis=1)
    mean = known_mean(values)
    off = np.where(known, values - np.where(n > 0, mean, 0.0)[:, None], 0.0)
    spread = np.sqrt(np.square(off).sum(axis=1) / np.maximum(n - 1, 1))
    flat = spread <= TIE * np.abs(np.where(n > 0, mean, 0.0))
    fine = (n >= 2) & ~flat
    error = spread / np.sqrt(np.maximum(n, 1))
    statistic = np.full((len(values), len(thresholds)), np.nan)
    above = mean[:, None] - np.asarray(thresholds, dtype=np.float64)[None, :]
    np.divide(above, error[:, None], out=statistic, where=fine[:, None])
    pvalue = np.full(statistic.shape, np.nan)
    # The upper tail as a lower one: no loss of digits for tiny p.
    pvalue[fine] = special.stdtr(n[fine, None] - 1.0, -statistic[fine])
    reasons = [
        "too_few_documents" if k < 2 else "" if ok else "no_spread" for k, ok in zip(n, fine, strict=True)
    ]
    return statistic, pvalue, reasons


def _tests(rows: Rows, name: str, everything: Doubles) -> ThresholdResult:
    shape = (len(rows.models), len(rows.tasks), len(THRESHOLDS))
    statistic, pvalue = np.full(shape, np.nan), np.full(shape, np.nan)
    reasons = [["not_recorded"] * shape[1] for _ in rows.models]
    for t, task in enumerate(rows.tasks):
        if name in rows.document_values[task]:
            statistic[:, t], pvalue[:, t], why = rms_test(rows.document_values[task][name])
            for row, reason in zip(reasons, why, strict=True):
                row[t] = reason
    total_statistic, total_pvalue, why = rms_test(everything)
    for m, lack in enumerate(rows.lacks(name)):
        if lack:
            total_statistic[m], total_pvalue[m], why[m] = np.nan, np.nan, f"no_value_on {lack}"
    known = tuple((*row, end) for row, end in zip(reasons, why, strict=True))
    return ThresholdResult(THRESHOLDS, statistic, pvalue, total_statistic, total_pvalue, known)


def _paper_std(table: ScoreTable, scheme: str) -> SchemeResult:
    rows = Rows(table)
    scales = {name: _Scale() for name in RANGES}
    outside: dict[str, None] = {}
    for data in table:
        columns, enters = _columns(data), data.task in table.spanning
        outside |= dict.fromkeys(operator for _, operator in data.operators if operator not in _TYPE_OF)
        spreads: dict[str, list[Doubles]] = {}
        for name, scale in scales.items():
            raw = data.raw.get(name)
            if raw is not None:
                spreads[name] = []
                for keep in columns.values():
                    block = _wide(raw[:, :, keep])
                    if enters:
                        scale.see(block)
                    spreads[name].append(_spread(block))
        shape = data.shape[:2]
        own = {name: _over_types(parts, shape) for name, parts in spreads.items()}
        rows.open(data.task, data.models, data.documents, own)
        for name in RANGES:
            if name in spreads:
                rows.put(name, *_task_values(spreads[name], own[name], tuple(columns)))
            else:
                _absent(rows, name, len(data.models))
    for name in rows.values:
        _rescale(rows, name, scales[name].of(scheme))
    left = ", ".join(outside)
    notes = [f"operators of no published variation type, left out: {left}"] if left else []
    return rows.result(scheme, dict.fromkeys(rows.values, False), notes=notes)


class _Scale:
    """Global range and mean size of a raw delta, seen block by block; the baseline is not among them."""

    def __init__(self) -> None:
        self.low, self.high = math.inf, -math.inf
        self.size, self.count = 0.0, 0

    def see(self, block: Doubles) -> None:
        known = block[np.isfinite(block)]
        if known.size:
            self.low, self.high = min(self.low, float(known.min())), max(self.high, float(known.max()))
            self.size += float(np.abs(known).sum())
            self.count += known.size

    def of(self, scheme: str) -> float:
        """Return what deltas are divided by; NaN without any."""
        if not self.count:
            return math.nan
        return self.high - self.low if scheme == "paper-std-minmax" else self.size / self.count


def _columns(data: TaskTable) -> dict[str, Flags]:
    """Return the columns of each variation type that the data set has."""
    inside = data.operator_of >= 0
    kinds = [_TYPE_OF.get(v.operator, "") if ok else "" for v, ok in zip(data.variants, inside, strict=True)]
    return {kind: np.array([k == kind for k in kinds], dtype=bool) for kind in TYPES if kind in kinds}


def _spread(block: Doubles) -> Doubles:
    """Return the sample standard deviation over the last axis with one 0 more; NaN for nothing."""
    known = np.isfinite(block)
    n = known.sum(axis=2)
    filled = np.where(known, block, 0.0)
    mean = filled.sum(axis=2) / (n + 1.0)
    squares = np.where(known, np.square(filled - mean[:, :, None]), 0.0).sum(axis=2) + np.square(mean)
    variance = np.divide(squares, n, out=np.full(n.shape, np.nan), where=n > 0)
    root: Doubles = np.sqrt(variance)
    return root


def _over_types(parts: Sequence[Doubles], shape: tuple[int, int]) -> Doubles:
    return known_mean(np.stack(parts, axis=2)) if parts else np.full(shape, np.nan)


def _task_values(
    parts: Sequence[Doubles], own: Doubles, kinds: Sequence[str]
) -> tuple[Doubles, np.ndarray, list[str]]:
    """Return value, count and reason of each model: the equal mean over types."""
    counts = np.isfinite(own).sum(axis=1)
    if not parts:
        return np.full(len(own), np.nan), counts, ["no_published_variation_type"] * len(own)
    means = np.stack([known_mean(part) for part in parts], axis=1)
    used: Flags = np.any(np.isfinite(means), axis=0)
    lacks = [
        next(
            (
                kind
                for kind, on, value in zip(kinds, used, row, strict=True)
                if on and not math.isfinite(value)
            ),
            "",
        )
        for row in means
    ]
    reasons = [
        "no_scored_document" if not n else f"no_{lack}" if lack else ""
        for n, lack in zip(counts, lacks, strict=True)
    ]
    fine = np.array([not reason for reason in reasons], dtype=bool)
    return np.where(fine, known_mean(means), np.nan), np.where(fine, counts, 0), reasons


def _rescale(rows: Rows, name: str, scale: float) -> None:
    """Divide by the global scale; deltas that are all the same have none."""
    fine = scale > 0.0
    blocks = [
        rows.values[name],
        *(values[name] for values in rows.document_values.values() if name in values),
    ]
    for block in blocks:
        block[:] = block / scale if fine else np.nan
    if not fine:
        rows.counts[name][:] = 0
        for row in rows.reasons[name]:
            row[:] = [reason or "all_deltas_equal" for reason in row]


def _absent(rows: Rows, name: str, models: int) -> None:
    """Enter a measure that the data set's records do not hold."""
    rows.put(name, np.full(models, np.nan), np.zeros(models, dtype=np.intp), ["not_recorded"] * models)


def _wide(block: Doubles) -> Doubles:
    """Return a block in double precision: tables may hold deltas in single."""
    wide: Doubles = block.astype(np.float64)
    return wide
