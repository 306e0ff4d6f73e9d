"""The layer profile, against its definition written out."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from sago_harness.scores.composite import relative_instability
from sago_harness.scores.profile import document_layers, layer_profile, profiles_of
from sago_harness.scores.table import read_parquet, write_parquet

FAMILIES = {"register": 2, "noise": 1}
LAYERS = 4


def row(
    document: str, role: str, family: str, layers: list[float | None] | None, **more: Any
) -> dict[str, Any]:
    """A record as the samples file keeps it."""
    known = [angle for angle in (layers or [])[1:] if angle is not None]
    scored = layers is not None and len(known) == len(layers) - 1
    reason = {} if scored else {"x_act": "nan_hidden" if layers else "no_hidden_states"}
    return {
        "document": document,
        "variant": f"{family}{more.get('number', 0)}",
        "role": role,
        "family": family,
        "distances": {"x_act": sum(known) / len(known) if scored else None},
        "reasons": reason,
        "layers": layers,
        "families": FAMILIES if role == "canonical" else None,
        **more,
    }


def document(name: str, rng: random.Random, *, controls: int = 2, repeats: int = 1) -> list[dict[str, Any]]:
    def angles(most: float) -> list[float | None]:
        return [0.0, *(most * rng.random() for _ in range(LAYERS))]

    return [
        row(name, "canonical", "canonical", [0.0] * (LAYERS + 1)),
        *(row(name, "variant", "register", angles(0.5), number=k) for k in range(2)),
        row(name, "variant", "noise", angles(0.3)),
        *(row(name, "control", "control", angles(1.0), number=k) for k in range(controls)),
        *(row(name, "repeat", "repeat", angles(0.01), number=k) for k in range(repeats)),
    ]


@pytest.fixture
def documents() -> dict[str, list[dict[str, Any]]]:
    rng = random.Random(1)
    return {f"d{k}": document(f"d{k}", rng) for k in range(12)}


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def squares(rows: list[dict[str, Any]], role: str, family: str, layer: int) -> list[float]:
    return [r["layers"][layer] ** 2 for r in rows if (r["role"], r["family"]) == (role, family)]


def test_every_layer_is_the_definition(documents: dict[str, list[dict[str, Any]]]) -> None:
    found = layer_profile([document_layers(rows, FAMILIES) for rows in documents.values()])
    assert [level.layer for level in found.layers] == list(range(LAYERS + 1))
    assert found.unscored == {}
    for layer, level in enumerate(found.layers[1:], start=1):
        q_s, q_c, q_r = [], [], []
        for rows in documents.values():
            families = [squares(rows, "variant", family, layer) for family in FAMILIES]
            q_s.append(mean([mean(values) for values in families]))
            q_c.append(mean(squares(rows, "control", "control", layer)))
            q_r.append(mean(squares(rows, "repeat", "repeat", layer)))
        r = math.sqrt(mean(q_s) / mean(q_c))
        assert level.r == pytest.approx(r, abs=1e-12)
        # Delta method, written out: variance of the ratio of two means.
        u = [(s - r * r * c) / (2.0 * r * mean(q_c)) for s, c in zip(q_s, q_c, strict=True)]
        assert level.stderr == pytest.approx(math.sqrt(sum(x * x for x in u) / 11 / 12), abs=1e-12)
        assert level.variants == pytest.approx(math.sqrt(mean(q_s)), abs=1e-12)
        assert level.controls == pytest.approx(math.sqrt(mean(q_c)), abs=1e-12)
        assert level.noise == pytest.approx(math.sqrt(mean(q_r)), abs=1e-12)
        assert level.r == pytest.approx(level.variants / level.controls, abs=1e-12)
        assert (level.n, level.reason) == (12, "")


def test_one_block_is_x_act_itself() -> None:
    """With a single block the mean over layers is that layer."""
    rng = random.Random(2)
    rows = [
        [
            row(f"d{k}", "canonical", "canonical", [0.0, 0.0]),
            row(f"d{k}", "variant", "noise", [0.0, rng.random() / 2]),
            row(f"d{k}", "control", "control", [0.0, rng.random()]),
        ]
        for k in range(9)
    ]
    level = layer_profile([document_layers(of, {"noise": 1}) for of in rows]).layers[1]
    expected = relative_instability(
        *([of[k]["distances"]["x_act"] ** 2 for of in rows] for k in (1, 2))  # type: ignore[arg-type]
    )
    assert (level.r, level.stderr, level.n) == (expected.value, expected.stderr, 9)


def test_a_layer_that_nothing_moves_has_no_r(documents: dict[str, list[dict[str, Any]]]) -> None:
    level = profiles_of([r for rows in documents.values() for r in rows])[""].layers[0]
    assert (level.variants, level.controls, level.n, level.reason) == (0.0, 0.0, 0, "unmoved")
    assert math.isnan(level.r)


def test_the_order_of_documents_changes_no_digit(documents: dict[str, list[dict[str, Any]]]) -> None:
    payloads = [document_layers(rows, FAMILIES) for rows in documents.values()]
    once = layer_profile(payloads)
    for seed in range(20):
        random.Random(seed).shuffle(payloads)
        again = layer_profile(payloads)
        assert json.dumps(again.as_dict()) == json.dumps(once.as_dict())


def test_documents_that_x_act_leaves_out_are_left_out_and_counted(
    documents: dict[str, list[dict[str, Any]]],
) -> None:
    kept = {name: rows for name, rows in documents.items() if name not in ("d0", "d1", "d2")}
    # A register variant did not reach the model; all noise is unscored; nothing was made at all.
    documents["d0"][1] |= {"distances": {"x_act": None}, "reasons": {"x_act": "noop_tokens"}}
    documents["d1"][3] = row("d1", "variant", "noise", [0.0, None, 0.1, 0.1, 0.1])
    documents["d2"] = documents["d2"][:1]
    found = layer_profile([document_layers(rows, FAMILIES) for rows in documents.values()])
    assert found.unscored == {"family_coverage": 1, "nan_hidden": 1, "noop_tokens": 1}
    rest = layer_profile([document_layers(rows, FAMILIES) for rows in kept.values()])
    for level, expected in zip(found.layers, rest.layers, strict=True):
        assert level.n in (0, 9)
        for name in ("r", "stderr", "variants", "controls"):
            assert getattr(level, name) == pytest.approx(getattr(expected, name), abs=1e-15, nan_ok=True)


def test_without_hidden_states_there_is_no_layer_but_the_reason() -> None:
    rows = [
        [
            row(f"d{k}", "canonical", "canonical", None),
            row(f"d{k}", "variant", "noise", None),
            row(f"d{k}", "control", "control", None),
        ]
        for k in range(5)
    ]
    found = layer_profile([document_layers(of, {"noise": 1}) for of in rows])
    assert found.as_dict() == {"profile": [], "unscored": {"no_hidden_states": 5}}
    assert layer_profile([]).as_dict() == {"profile": [], "unscored": {}}


def test_without_controls_the_level_stands_alone() -> None:
    rng = random.Random(3)
    rows = [document(f"d{k}", rng, controls=0, repeats=0) for k in range(5)]
    level = layer_profile([document_layers(of, FAMILIES) for of in rows]).layers[2]
    assert (level.n, level.reason) == (0, "no_document_with_chance")
    assert level.variants > 0.0
    assert math.isnan(level.r)
    assert math.isnan(level.controls)
    assert math.isnan(level.noise)


def test_noise_near_chance_unscores_the_layer(documents: dict[str, list[dict[str, Any]]]) -> None:
    for rows in documents.values():
        for of in rows:
            if of["role"] == "repeat":
                of["layers"][3] = 0.4
    found = layer_profile([document_layers(rows, FAMILIES) for rows in documents.values()])
    assert [level.reason for level in found.layers] == ["unmoved", "", "", "chance_near_noise", ""]


def test_families_beside_the_score_have_profiles_of_their_own(
    documents: dict[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    rng = random.Random(4)
    for name, rows in documents.items():
        rows.append(row(name, "variant", "human", [0.0, *(rng.random() for _ in range(LAYERS))]))
    flat = [r for rows in documents.values() for r in rows]
    found = profiles_of(flat)
    assert list(found) == ["", "human"]
    assert found[""] == profiles_of([r for r in flat if r["family"] != "human"])[""] or math.isnan(
        found[""].layers[0].r
    )
    q_h = [rows[-1]["layers"][1] ** 2 for rows in documents.values()]
    assert found["human"].layers[1].variants == pytest.approx(math.sqrt(mean(q_h)), abs=1e-12)
    # Parquet keeps the angles: the same numbers come from it.
    whole = [{"raw": {}, "tokens": {}, "record": 1, **r} for r in flat]
    write_parquet(whole, tmp_path / "r.parquet")
    again = profiles_of(read_parquet(tmp_path / "r.parquet"))
    assert {k: json.dumps(v.as_dict()) for k, v in again.items()} == {
        k: json.dumps(v.as_dict()) for k, v in found.items()
    }
