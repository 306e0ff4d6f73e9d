"""One document's records -> the values of the table's columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sago_harness.scores.columns import AXIS_COLUMNS
from sago_harness.scores.composite import COMPOSITES
from sago_harness.scores.reduce import (
    Record,
    distance_of,
    document_value,
    family_value,
    mirroring_value,
    scored_families,
)

#: Reasons that lie with the model's interface, not with a document.
NOT_GIVEN = ("no_logprobs", "no_hidden_states")


#: Flags of a canonical response that health counts.
HEALTH_FLAGS = ("empty", "short", "truncated", "refused")


def document_metrics(
    records: Sequence[Record],
    measures: Mapping[str, str],
    families: Mapping[str, int],
    own_families: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the document's value of every column, None where unscored.

    Parameters
    ----------
    records : sequence of mapping
        The document's records, as in the samples file.
    measures : mapping of str to str
        Measure -> axis.
    families : mapping of str to int
        Family -> number of variants in the recipe.
    own_families : sequence of str
        Families with values of their own.

    Returns
    -------
    dict
        A number for columns that are means over documents; for axes and composites the
        mean squares that they are formed from (``[square, chance, floor]`` a measure).
    """
    scored = scored_families(families)
    values: dict[str, Any] = {}
    payload: dict[str, Any] = {}
    complete = True
    for name, axis in measures.items():
        if not axis:
            continue
        found = document_value(records, name, scored)
        values[name] = _null(found.value)
        payload[name] = [_null(found.square), _null(found.chance), _null(found.floor)]
        # What this model can never give (an API has no hidden states) does not count against it.
        if found.reason not in NOT_GIVEN:
            complete = complete and math.isfinite(found.value)
        for family in own_families:
            values[f"{family}_{name}"] = _null(family_value(records, name, family))
    mirrored, _ = mirroring_value(records, scored)
    values["x_mr"] = payload["x_mr"] = _null(mirrored)
    canonical = next(record for record in records if record["role"] == "canonical")
    # What was never sent, or does not count, is no stock answer either.
    counts = not (canonical.get("document_reason") or canonical.get("text_reason"))
    payload["response"] = canonical["response_hash"] if counts else None
    payload["flags"] = [flag for flag in canonical.get("flags") or () if flag in HEALTH_FLAGS]
    values.update(_accuracy(records, scored))
    for column, axis in AXIS_COLUMNS.items():
        members = {name for name, a in measures.items() if a == axis} | (
            {"x_mr"} if axis == "mirroring" else set()
        )
        values[column] = {name: payload[name] for name in payload if name in members}
    for column in COMPOSITES:
        values[column] = payload
    values["n_scored"] = int(complete)
    values["stock_share"] = payload["response"]
    values["response_tokens"] = canonical.get("tokens", {}).get("response") if counts else None
    return values


def _accuracy(records: Sequence[Record], families: Mapping[str, int]) -> dict[str, float | None]:
    """Accuracy on the canonical prompt, mean and worst over the variants, and the flip rate."""
    canonical = next((r.get("correct") for r in records if r["role"] == "canonical"), None)
    variants = [r for r in records if r["role"] == "variant" and r["family"] in families]
    # A variant that did not reach the model says nothing about it.
    variants = [r for r in variants if not r.get("text_reason")]
    correct = [r["correct"] for r in variants if r.get("correct") is not None]
    flips = [f for r in variants if math.isfinite(f := distance_of(r, "flip"))]
    return {
        "acc": None if canonical is None else float(canonical),
        "acc_mean": float(np.mean(correct)) if correct else None,
        "acc_worst": float(min(correct)) if correct else None,
        "flip": float(np.mean(flips)) if flips else None,
    }


def _null(value: float) -> float | None:
    return value if math.isfinite(value) else None
