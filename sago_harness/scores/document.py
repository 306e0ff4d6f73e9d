"""One document's records -> the values of the table's columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sago_harness.scores.columns import AXIS_COLUMNS, PEOPLES
from sago_harness.scores.composite import COMPOSITES, CONTROLS
from sago_harness.scores.profile import document_layers
from sago_harness.scores.reduce import (
    Record,
    distance_of,
    document_value,
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
        Families with values of their own, never a part of the score.

    Returns
    -------
    dict
        A number for columns that are means over documents; for axes and composites the
        mean squares that they are formed from (``[square, chance, floor]`` a measure), and under
        ``controls`` whose prompts the controls are, with their squares a measure. Beside the
        columns ``layers``, and ``<family>_layers``: what the layer profile is formed from.
    """
    scored = scored_families(families)
    canonical = next(record for record in records if record["role"] == "canonical")
    # What was never sent, or does not count, is no stock answer either.
    counts = not (canonical.get("document_reason") or canonical.get("text_reason"))
    health = {
        "response": canonical["response_hash"] if counts else None,
        "flags": [flag for flag in canonical.get("flags") or () if flag in HEALTH_FLAGS],
    }
    values, payload, complete = _values(records, measures, scored)
    mirrored, _ = mirroring_value(records, scored)
    values["x_mr"] = payload["x_mr"] = _null(mirrored)
    values.update(_composed({**payload, **health}, measures))
    people: list[bool] = []
    for family in own_families:
        own, payload, whole = _values(records, measures, {family: 1})
        own.update(_composed({**payload, **health}, measures))
        values.update({f"{family}_{name}": value for name, value in own.items()})
        if family in PEOPLES:
            people.append(whole)
    if not scored:
        # Where nothing forms a score, what people brought is what is measured.
        complete = bool(people) and all(people)
    values["acc"] = None if canonical.get("correct") is None else float(canonical["correct"])
    values["n_scored"] = int(complete)
    values["stock_share"] = health["response"]
    values["response_tokens"] = canonical.get("tokens", {}).get("response") if counts else None
    return values


def _values(
    records: Sequence[Record], measures: Mapping[str, str], families: Mapping[str, int]
) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """Return the families' values, their mean squares, and whether every measure is scored."""
    values: dict[str, Any] = {}
    payload: dict[str, Any] = {}
    complete = True
    for name, axis in measures.items():
        if not axis:
            continue
        found = document_value(records, name, families)
        values[name] = _null(found.value)
        payload[name] = [_null(found.square), _null(found.chance), _null(found.floor)]
        # What this model can never give (an API has no hidden states) does not count against it.
        if found.reason not in NOT_GIVEN:
            complete = complete and math.isfinite(found.value)
    values["layers"] = document_layers(records, families)
    payload[CONTROLS] = _controls(records, list(payload))
    return values | _answers(records, families), payload, complete


def _controls(records: Sequence[Record], measures: Sequence[str]) -> dict[str, Any]:
    """Return the document's id, the documents that its controls are, and their squared distances."""
    controls = [record for record in records if record["role"] == "control"]
    return {
        "document": records[0].get("document", ""),
        "partners": [record.get("partner") for record in controls],
        "squares": {
            name: [_null(float(np.square(distance_of(record, name)))) for record in controls]
            for name in measures
        },
    }


def _composed(payload: Mapping[str, Any], measures: Mapping[str, str]) -> dict[str, Any]:
    """Return what axes and composites are formed from."""
    values: dict[str, Any] = {}
    for column, axis in AXIS_COLUMNS.items():
        members = {name for name, a in measures.items() if a == axis} | (
            {"x_mr"} if axis == "mirroring" else set()
        )
        values[column] = {name: payload[name] for name in payload if name in members}
        if values[column] and axis != "mirroring":
            values[column][CONTROLS] = payload[CONTROLS]
    return values | dict.fromkeys(COMPOSITES, payload)


def _answers(records: Sequence[Record], families: Mapping[str, int]) -> dict[str, float | None]:
    """Accuracy, mean and worst over the families' variants, and the flip rate."""
    variants = [r for r in records if r["role"] == "variant" and r["family"] in families]
    # A variant that did not reach the model says nothing about it.
    variants = [r for r in variants if not r.get("text_reason")]
    correct = [r["correct"] for r in variants if r.get("correct") is not None]
    flips = [f for r in variants if math.isfinite(f := distance_of(r, "flip"))]
    return {
        "acc_mean": float(np.mean(correct)) if correct else None,
        "acc_worst": float(min(correct)) if correct else None,
        "flip": float(np.mean(flips)) if flips else None,
    }


def _null(value: float) -> float | None:
    return value if math.isfinite(value) else None
