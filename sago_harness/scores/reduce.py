"""From the distances of one document's variants to the document's values.

Input are the variants' records as they stand in the samples file; nothing here needs a
model, so every score can be computed again from saved records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sago_harness.variants.base import SCORED_FAMILIES

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentValue:
    """One measure of one document.

    Attributes
    ----------
    value : float
        s = sqrt(square), NaN where unscored.
    square : float
        Mean over families of the mean squared distance of the family's variants.
    chance : float
        Mean squared distance of the chance controls; NaN without any.
    floor : float
        Mean squared distance of the canonical repeats; NaN without any.
    reason : str
        Why ``value`` is NaN.
    chance_reason : str
        Why ``chance`` is NaN.
    """

    value: float
    square: float
    chance: float
    floor: float
    reason: str = ""
    chance_reason: str = ""


def distance_of(record: Record, measure: str) -> float:
    """Return a variant's distance, NaN where it is null."""
    value = record["distances"].get(measure)
    return float("nan") if value is None else float(value)


def mean_square(distances: Mapping[str, Sequence[float]]) -> float:
    """Return the mean over families of the mean squared distance within each.

    Balanced, so that no family wins by having more variants.

    Parameters
    ----------
    distances : mapping of str to sequence of float
        Family -> scored distances, none empty.

    Returns
    -------
    float
        In [0, 1] for distances in [0, 1].

    Examples
    --------
    >>> mean_square({"noise": [1.0, 0.0], "register": [0.5]})
    0.375
    """
    return float(np.mean([np.mean(np.square(values)) for values in distances.values()]))


def required_counts(families: Mapping[str, int]) -> dict[str, int]:
    """Return how many scored variants a document needs in each family.

    One, or two where the recipe has two or more.

    Examples
    --------
    >>> required_counts({"register": 4, "noise": 1})
    {'register': 2, 'noise': 1}
    """
    return {family: min(2, count) for family, count in families.items() if count > 0}


def document_value(records: Sequence[Record], measure: str, families: Mapping[str, int]) -> DocumentValue:
    """Reduce one document's records to the value of one measure.

    Parameters
    ----------
    records : sequence of mapping
        All variants of the document: canonical, variants, controls, repeats.
    measure : str
    families : mapping of str to int
        Family -> number of variants in the recipe; only these form the score.

    Returns
    -------
    DocumentValue
        Unscored with the most frequent reason of the missing distances, or
        ``family_coverage`` when too few variants were made in the first place.
    """
    nan = float("nan")
    by_family: dict[str, list[float]] = {family: [] for family in families}
    reasons: Counter[str] = Counter()
    for record in records:
        if record["role"] == "variant" and record["family"] in by_family:
            value = distance_of(record, measure)
            if math.isfinite(value):
                by_family[record["family"]].append(value)
            else:
                reasons[_reason(record, measure)] += 1
    chance, chance_reason = _others(records, "control", measure)
    floor, _ = _others(records, "repeat", measure)
    needed = required_counts(families)
    if not needed or any(len(by_family[family]) < count for family, count in needed.items()):
        document_reason = next((r["document_reason"] for r in records if r.get("document_reason")), "")
        common = reasons.most_common(1)
        reason = document_reason or (common[0][0] if common else "family_coverage")
        return DocumentValue(nan, nan, chance, floor, reason, chance_reason)
    square = mean_square({family: values for family, values in by_family.items() if values})
    return DocumentValue(math.sqrt(square), square, chance, floor, "", chance_reason)


def _others(records: Sequence[Record], role: str, measure: str) -> tuple[float, str]:
    """Mean squared distance of the controls or of the repeats."""
    chosen = [record for record in records if record["role"] == role]
    values = [distance_of(record, measure) for record in chosen]
    scored = [value for value in values if math.isfinite(value)]
    if scored:
        return float(np.mean(np.square(scored))), ""
    if not chosen:
        return float("nan"), "no_partner" if role == "control" else "no_repeats"
    return float("nan"), _reason(chosen[0], measure)


def _reason(record: Record, measure: str) -> str:
    return str(record["reasons"].get(measure) or "unknown")


def mirroring_value(records: Sequence[Record], families: Mapping[str, int]) -> tuple[float, str]:
    """Return the document's mirroring: mean of m minus mean floor, not clipped.

    Returns
    -------
    value, reason
        NaN with the most frequent reason where no variant has both.
    """
    nets = []
    reasons: Counter[str] = Counter()
    for record in records:
        if record["role"] != "variant" or record["family"] not in families:
            continue
        share, floor = distance_of(record, "x_mr"), distance_of(record, "x_mr_floor")
        if math.isfinite(share) and math.isfinite(floor):
            nets.append(share - floor)
        else:
            reasons[_reason(record, "x_mr")] += 1
    if nets:
        return float(np.mean(nets)), ""
    document_reason = next((r["document_reason"] for r in records if r.get("document_reason")), "")
    common = reasons.most_common(1)
    return float("nan"), document_reason or (common[0][0] if common else "family_coverage")


def scored_families(families: Mapping[str, int]) -> dict[str, int]:
    """Return the families that form a score, in table order."""
    return {family: families[family] for family in SCORED_FAMILIES if families.get(family)}
