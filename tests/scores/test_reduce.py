"""From variants to a document's value: balance, coverage, chance, mirroring; hand-computed."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sago_harness.scores.document import document_metrics
from sago_harness.scores.reduce import (
    document_value,
    mirroring_value,
    required_counts,
    scored_families,
)

FAMILIES = {"register": 2, "noise": 2, "structure": 1}


def record(role: str, family: str, distance: float | None, **more: Any) -> dict[str, Any]:
    reasons = {} if distance is not None else {"x_bleu": more.pop("reason", "noop_tokens")}
    return {
        "role": role,
        "family": family,
        "distances": {"x_bleu": distance, **more.pop("distances", {})},
        "reasons": reasons,
        "response_hash": more.pop("response_hash", "h"),
        **more,
    }


def document(distances: dict[str, list[float | None]]) -> list[dict[str, Any]]:
    rows = [record("canonical", "canonical", 0.0)]
    return rows + [record("variant", family, d) for family, ds in distances.items() for d in ds]


FULL: dict[str, list[float | None]] = {"register": [0.6, 0.2], "noise": [1.0, 0.0], "structure": [0.5]}


def test_value_by_hand() -> None:
    """Families: (.36 + .04)/2 = .2, (1 + 0)/2 = .5, .25; mean .316667; root .562731."""
    found = document_value(document(FULL), "x_bleu", FAMILIES)
    assert found.square == pytest.approx((0.2 + 0.5 + 0.25) / 3)
    assert found.value == pytest.approx(math.sqrt((0.2 + 0.5 + 0.25) / 3))
    assert found.reason == ""


def test_more_variants_do_not_give_a_family_more_weight() -> None:
    many = {**FULL, "noise": [1.0, 0.0] * 10}
    one, other = (document_value(document(d), "x_bleu", FAMILIES) for d in (FULL, many))
    assert one.value == pytest.approx(other.value)


def test_coverage() -> None:
    short = {**FULL, "noise": [1.0, None]}
    found = document_value(document(short), "x_bleu", FAMILIES)
    assert math.isnan(found.value)
    assert found.reason == "noop_tokens"
    none_made = {"register": [0.6, 0.2], "noise": [1.0, 0.0]}
    assert document_value(document(none_made), "x_bleu", FAMILIES).reason == "family_coverage"
    assert required_counts(FAMILIES) == {"register": 2, "noise": 2, "structure": 1}


def test_other_families_never_join_the_score() -> None:
    rows = document({**FULL, "human": [1.0, 1.0], "language": [1.0]})
    assert document_value(rows, "x_bleu", FAMILIES).value == pytest.approx(
        document_value(document(FULL), "x_bleu", FAMILIES).value
    )
    assert document_value(rows, "x_bleu", {"human": 1}).value == 1.0
    assert math.isnan(document_value(rows, "x_bleu", {"control": 1}).value)
    assert scored_families({"human": 3, "noise": 1}) == {"noise": 1}


def test_chance_and_floor_are_mean_squares() -> None:
    rows = document(FULL)
    rows += [record("control", "control", 0.8), record("control", "control", 1.0)]
    rows += [record("repeat", "repeat", 0.1), record("repeat", "repeat", 0.3)]
    found = document_value(rows, "x_bleu", FAMILIES)
    assert found.chance == pytest.approx((0.64 + 1.0) / 2)
    assert found.floor == pytest.approx((0.01 + 0.09) / 2)
    assert document_value(document(FULL), "x_bleu", FAMILIES).chance_reason == "no_partner"


def test_mirroring_value() -> None:
    def share(value: float | None, floor: float | None) -> dict[str, Any]:
        return record("variant", "register", 0.1, distances={"x_mr": value, "x_mr_floor": floor})

    rows = [record("canonical", "canonical", 0.0), share(0.5, 0.1), share(-0.2, 0.0), share(None, None)]
    rows[-1]["reasons"] = {"x_mr": "no_feature"}
    assert mirroring_value(rows, FAMILIES)[0] == pytest.approx((0.4 - 0.2) / 2)
    value, reason = mirroring_value([rows[0], rows[-1]], FAMILIES)
    assert math.isnan(value)
    assert reason == "no_feature"


@given(st.randoms(use_true_random=False), st.lists(st.floats(0, 1), min_size=6, max_size=6))
def test_order_of_variants_changes_nothing(rng: random.Random, d: list[float]) -> None:
    rows = document({"register": d[:2], "noise": d[2:4], "structure": d[4:]})
    shuffled = rows[1:]
    rng.shuffle(shuffled)
    first = document_value(rows, "x_bleu", FAMILIES).value
    assert document_value([rows[0], *shuffled], "x_bleu", FAMILIES).value == pytest.approx(first)
    assert 0.0 <= first <= 1.0


def test_accuracy_and_flips() -> None:
    rows = [record("canonical", "canonical", 0.0, correct=1)]
    rows += [
        record("variant", family, 0.1, correct=correct, distances={"flip": flip})
        for family, correct, flip in (("noise", 1, 0.0), ("noise", 0, 1.0), ("register", 1, None))
    ]
    rows.append(record("variant", "noise", None, correct=0, text_reason="noop_tokens"))
    found = document_metrics(rows, {"x_bleu": "generation"}, FAMILIES)
    assert found["acc"] == 1.0
    assert found["acc_mean"] == pytest.approx(2 / 3)
    assert found["acc_worst"] == 0.0
    assert found["flip"] == pytest.approx(0.5)
    assert found["n_scored"] == 0
    assert found["x_bleu"] is None


def test_a_document_that_was_never_sent() -> None:
    rows = [record("canonical", "canonical", None, reason="empty_prompt", document_reason="empty_prompt")]
    assert document_value(rows, "x_bleu", FAMILIES).reason == "empty_prompt"
    found = document_metrics(rows, {"x_bleu": "generation"}, FAMILIES)
    assert found["stock_share"] is None
    assert found["sago"]["x_bleu"] == [None, None, None]
