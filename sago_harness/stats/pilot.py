"""Variance components of paired differences, from a pilot run (for :mod:`sago_harness.stats.power`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sago_harness.errors import SagoError, unknown
from sago_harness.scores.composite import COMPOSITES
from sago_harness.stats.components import VarianceComponents
from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import MIRRORING, MeasureValues
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import Doubles, Flags, TaskTable


def pilot_components(table: TaskTable, score: str = "sago_core") -> VarianceComponents:
    r"""Split the variance of paired differences into documents and variants, over all pairs of models.

    Every document's influence is a sum over its variants. Within a family of a document, variants
    differ by what each does everywhere (taken out: the recipe is the same for all documents) and by
    what it does to this document; the latter, averaged, is the part that more variants lessen.
    The rest of the variance between documents, chance controls included, is the other part; where it
    would come out negative it is 0 and all of the variance is that of variants.

    Parameters
    ----------
    table : TaskTable
        Of one model or more. With one model, twice its own variance is taken, as if the documents
        of two models were unrelated.
    score : str
        A composite, an axis or a measure's r.

    Returns
    -------
    VarianceComponents
        Means over all pairs.

    Raises
    ------
    SagoError
        If the score is unknown, no model has it, or fewer than 3 documents are scored for all models.

    Notes
    -----
    The mean over pairs of a squared difference is twice the variance over models, so that no loop
    over pairs is needed.
    """
    scored = score_task(table)
    if score not in scored.quantities:
        raise unknown("score", score, scored.quantities, f"pilot {table.task!r}")
    whole = scored.quantities[score]
    has = np.isfinite(whole.values)
    if not has.any():
        raise SagoError(f"pilot {table.task!r} has no value of {score}: {whole.reasons[0]}")
    at = [int(m) for m in np.flatnonzero(has)]
    reduced = {name: values.of_models(at) for name, values in scored.reduced.items()}
    shares = shares_of(score, {name: values.axis for name, values in reduced.items()})
    keep = _documents(reduced, shares)
    n = int(keep.sum())
    if n < 3:
        raise SagoError(f"pilot {table.task!r} has {n} documents scored for all models, it needs 3 or more")
    influence = n * quantities(reduced, keep)[score].influence[:, keep]
    total = float(_over_pairs(influence).sum()) / (n - 1)
    if not total > 0.0:
        raise SagoError(
            f"pilot {table.task!r}: its {len(at)} models do not differ on any document in {score}, "
            "and nothing can be planned from that: are they the same run, or does nothing move?"
        )
    part, variants = _variants_part(table, at, reduced, shares, keep)
    split = math.isfinite(part)
    part = min(part, total) if split else part
    low, high = _extremes(influence, n)
    tokens = scored.tokens[at]
    known = tokens[np.isfinite(tokens)]
    return VarianceComponents(
        score,
        total - part if split else total,
        part * variants if split else math.nan,
        variants,
        n,
        len(at),
        f"pilot {table.task}: {len(at)} models, {n} documents, {variants:.3g} variants",
        low,
        high,
        float(known.mean()) if known.size else math.nan,
    )


def pooled(found: Sequence[VarianceComponents]) -> VarianceComponents:
    """Return the mean of the components of several data sets, each with the same weight.

    Raises
    ------
    ValueError
        For none.
    """
    if not found:
        raise ValueError("components of no data set")
    if len(found) == 1:
        return found[0]
    split = all(one.splits for one in found)
    variance = float(np.mean([one.per_document(one.variants) for one in found]))
    tokens = [one.tokens for one in found if math.isfinite(one.tokens)]
    return VarianceComponents(
        found[0].score,
        float(np.mean([one.document for one in found])) if split else variance,
        float(np.mean([one.variant for one in found])) if split else math.nan,
        float(np.mean([one.variants for one in found])),
        min(one.documents for one in found),
        max(one.models for one in found),
        f"pilot: {len(found)} data sets of {min(one.documents for one in found)} or more documents",
        min(one.smallest for one in found),
        max(one.largest for one in found),
        float(np.mean(tokens)) if tokens else math.nan,
    )


def shares_of(score: str, axis_of: Mapping[str, str]) -> dict[str, float]:
    """Return with which weight each measure enters a score.

    Examples
    --------
    >>> shares_of("sago_generation", {"x_bleu": "generation", "x_bert": "generation", "x_act": "activation"})
    {'x_bleu': 0.5, 'x_bert': 0.5}
    """
    if score in axis_of:
        return {score: 1.0}
    if score in COMPOSITES:
        found: dict[str, float] = {}
        for axis in COMPOSITES[score]:
            for name, share in shares_of(f"sago_{axis}", axis_of).items():
                found[name] = -share / len(COMPOSITES[score])
        return found
    parts = [name for name, axis in axis_of.items() if f"sago_{axis}" == score]
    return {name: 1.0 / len(parts) for name in parts}


def _documents(reduced: Mapping[str, MeasureValues], shares: Mapping[str, float]) -> Flags:
    """Return the documents that form the score of every model."""
    scored = []
    for name in shares:
        values = np.isfinite(reduced[name].squares())
        scored.append(values if name == MIRRORING else values & np.isfinite(reduced[name].chances))
    keep: Flags = np.all(scored, axis=(0, 1))
    return keep


def _over_pairs(values: Doubles) -> Doubles:
    """Return the mean over pairs of models (first axis) of the squared difference."""
    if len(values) == 1:
        own: Doubles = 2.0 * np.square(values[0])
        return own
    pairs: Doubles = 2.0 * values.var(axis=0, ddof=1)
    return pairs


def _extremes(influence: Doubles, n: int) -> tuple[float, float]:
    """Return the smallest and the largest standard deviation over pairs of models."""
    if len(influence) == 1:
        sd = math.sqrt(2.0 * float(np.square(influence).sum()) / (n - 1))
        return sd, sd
    inner = influence @ influence.T
    own = np.diag(inner)
    squared = (own[:, None] + own[None, :] - 2.0 * inner)[np.triu_indices(len(own), 1)]
    low, high = (math.sqrt(max(0.0, float(value)) / (n - 1)) for value in (squared.min(), squared.max()))
    return low, high


def _variants_part(
    table: TaskTable,
    at: Sequence[int],
    reduced: Mapping[str, MeasureValues],
    shares: Mapping[str, float],
    keep: Flags,
) -> tuple[float, float]:
    """Return what the choice of variants adds to a document's variance, and the mean number of variants.

    NaN where no family has two variants in any document.
    """
    place = table.operator_of
    families = len(table.families)  # all of them are needed for a score
    family = (
        np.where(place >= 0, table.family_of[np.maximum(place, 0)], -1) if len(table.family_of) else place
    )
    member = family[:, None] == np.arange(families)[None, :]
    rest = np.zeros((len(at), int(keep.sum()), len(family)))
    counts = np.zeros((int(keep.sum()), families))
    for name, share in shares.items():
        values, scale = _values(table, at, name, keep, reduced[name])
        used = np.all(np.isfinite(values), axis=0) & (family >= 0)
        of = used.astype(np.float64) @ member
        # What a variant does to all documents alike is the recipe's, not this document's; out first, so
        # that it is no noise where variants are missing.
        seen = np.maximum(used.sum(axis=0), 1)
        held = np.where(used, values, 0.0)
        held = np.where(used, held - (held.sum(axis=1) / seen)[:, None, :], 0.0)
        mean = (held @ member) / np.maximum(of, 1.0)
        off = np.where(used, held - mean @ member.T, 0.0)
        shared = of.sum(axis=1, keepdims=True) if name == MIRRORING else families * (of @ member.T)
        rest += share * scale[:, None, None] * off / np.maximum(shared, 1.0)
        counts = np.maximum(counts, of)
    several = counts >= 2
    lift = np.where(several, counts / np.maximum(counts - 1.0, 1.0), 0.0)
    found = (_over_pairs(rest) @ member) * lift
    usable = several.any(axis=0)
    # Those made, scored here or not: what a plan pays for. Mirroring is scored on some of them only.
    blocks = [np.isfinite(values[at][:, keep]).any(axis=0) for values in table.distances.values()]
    variants = float((np.any(blocks, axis=0) & (family >= 0)).sum(axis=1).mean())
    if not usable.any():
        return math.nan, variants
    n = len(counts)
    by_family = found.sum(axis=0) / np.maximum(several.sum(axis=0), 1)
    # Families with one scored variant are taken to be like the others; those with none add nothing.
    present = int(counts.any(axis=0).sum())
    part = float(by_family[usable].sum()) * present / int(usable.sum()) * n / (n - 1)
    return part, variants


def _values(
    table: TaskTable, at: Sequence[int], name: str, keep: Flags, reduced: MeasureValues
) -> tuple[Doubles, Doubles]:
    """Return what a variant contributes, (M, D, V), and by how much it moves the score, (M,)."""
    given = table.distances[name][at][:, keep]
    if name == MIRRORING:
        return given - table.distances["x_mr_floor"][at][:, keep], np.ones(len(at))
    chance = reduced.chances[:, keep].mean(axis=1)
    r = np.sqrt(reduced.squares()[:, keep].mean(axis=1) / np.where(chance > 0.0, chance, 1.0))
    fine = (r > 0.0) & (chance > 0.0)
    scale: Doubles = np.divide(1.0, 2.0 * r * chance, out=np.zeros(len(at)), where=fine)
    return np.square(given), scale
