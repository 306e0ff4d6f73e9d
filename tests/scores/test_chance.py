"""Shared chance controls: the formula against plain loops, and the error against repeated studies."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from sago_harness.scores.chance import chance_influence
from sago_harness.scores.composite import relative_instability, task_scores
from sago_harness.stats.quantities import relative_quantity


def by_loops(controls: np.ndarray, partners: np.ndarray, both: np.ndarray) -> np.ndarray:
    """One model, as the definition reads: controls (D, K), partners (D, K), both (D,)."""
    members = [i for i in range(len(both)) if both[i]]
    scored = {i: [k for k in range(controls.shape[1]) if math.isfinite(controls[i, k])] for i in members}
    n = len(members)
    mean = sum(sum(controls[i, k] for k in scored[i]) / len(scored[i]) for i in members) / n
    v = dict.fromkeys(members, 0.0)
    pairs: dict[frozenset[int], float] = {}
    for i in members:
        for k in scored[i]:
            x = (controls[i, k] - mean) / len(scored[i])
            v[i] += x
            other = int(partners[i, k])
            if other in v:
                v[other] += x
                pairs[frozenset((i, other))] = pairs.get(frozenset((i, other)), 0.0) + x
    middle = sum(v.values()) / n
    v = {i: value - middle for i, value in v.items()}
    total = sum(value**2 for value in v.values())
    kappa = 1.0
    if pairs:
        share = sum(value**2 for value in pairs.values()) / total if total else 0.0
        kappa = math.sqrt(min(1.0, max(0.5, 1.0 - share)) * (1.0 + 3.0 / n))
    return np.array([kappa * v.get(i, 0.0) for i in range(len(both))])


def drawn(rng: np.random.Generator, documents: int, missing: float) -> tuple[np.ndarray, ...]:
    """Return controls, partners and documents of 5 models; partners at random, some of them no document."""
    shape = (5, documents, 3)
    places = np.array(
        [[rng.permutation([j for j in range(-1, documents) if j != i])[:3] for i in range(documents)]] * 5
    )
    controls = np.where(rng.random(shape) < missing, np.nan, rng.gamma(2.0, size=shape))
    both = np.isfinite(controls).any(axis=2) & (rng.random(shape[:2]) >= missing)
    return controls, places, both


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("documents", [3, 4, 9, 40])
def test_the_formula_is_that_of_plain_loops(documents: int, missing: float) -> None:
    rng = np.random.default_rng([documents, int(10 * missing)])
    controls, partners, both = drawn(rng, documents, missing)
    both[:, 0] |= np.isfinite(controls[:, 0]).any(axis=1)
    found = chance_influence(controls, partners, both)
    for m in np.flatnonzero(both.any(axis=1)):
        np.testing.assert_allclose(found[m], by_loops(controls[m], partners[m], both[m]), atol=1e-12)
        assert found[m].sum() == pytest.approx(0.0, abs=1e-10)
        assert (found[m][~both[m]] == 0.0).all()


def test_combinations_of_documents_have_the_dyadic_variance() -> None:
    """Where kappa is not held at an end: sum c^2 / (1 + 3 / n) is the sum over pairs with a common end."""
    rng = np.random.default_rng(3)
    n = 12
    ring = (np.arange(n)[:, None] + [1, 2]) % n
    node = rng.normal(size=n)
    controls = 5.0 + node[:, None] + node[ring] + 0.7 * rng.normal(size=(n, 2))
    c = chance_influence(controls[None], ring[None], np.ones((1, n), dtype=bool))[0]
    x = {(i, int(ring[i, k])): (controls[i, k] - controls.mean()) / 2 for i in range(n) for k in range(2)}
    expected = sum(value**2 for value in x.values())
    expected += 2 * sum(x[a] * x[b] for a, b in combinations(x, 2) if set(a) & set(b))
    assert np.square(c).sum() / (1 + 3 / n) == pytest.approx(expected, rel=1e-12)


def test_without_partners_it_is_the_deviation_of_each_documents_mean() -> None:
    controls = np.array([[[0.2, 0.4], [0.5, np.nan], [np.nan, np.nan]]])
    both = np.array([[True, True, False]])
    expected = pytest.approx([-0.1, 0.1, 0.0])
    assert chance_influence(controls, None, both)[0].tolist() == expected
    assert chance_influence(controls, np.full((1, 3, 2), -1), both)[0].tolist() == expected


def test_one_model_and_many_agree_and_the_value_stays() -> None:
    rng = np.random.default_rng(5)
    controls, partners, both = drawn(rng, 20, 0.2)
    squares = np.where(both, rng.gamma(2.0, size=both.shape), np.nan)
    known = np.isfinite(controls)
    chances = np.where(known.any(axis=2), np.where(known, controls, 0.0).sum(axis=2), np.nan)
    chances = chances / np.maximum(known.sum(axis=2), 1)
    none = np.full(both.shape, np.nan)
    many = relative_quantity("x", squares, chances, none, 0.0, controls, partners)
    plain = relative_quantity("x", squares, chances, none)
    np.testing.assert_array_equal(many.values, plain.values)
    for m in range(5):
        one = relative_instability(squares[m], chances[m], None, 0.0, controls[m], partners[m])
        assert many.values[m] == pytest.approx(one.value, rel=1e-12)
        np.testing.assert_allclose(many.influence[m], one.influence, atol=1e-15)
        assert many.stderr[m] == pytest.approx(one.stderr, rel=1e-12)


@pytest.mark.parametrize("documents", [40, 120])
@pytest.mark.parametrize("law", ["true spread", "chance rules", "independent"])
def test_the_error_is_the_spread_of_repeated_studies(law: str, documents: int) -> None:
    """3,000 studies on a ring of controls: variances of document parts and of distances, spread of q_s."""
    node, own, spread = {
        "true spread": (0.02, 0.04, 0.126),
        "chance rules": (0.04, 0.01, 0.0),
        "independent": (0.0, 0.08, 0.08),
    }[law]
    rng = np.random.default_rng([documents, len(law)])
    shape = (3000, documents)
    ring = (np.arange(documents)[:, None] + [1, 2]) % documents
    a = math.sqrt(node) * rng.normal(size=shape)
    controls = 1.0 + a[:, :, None] + a[:, ring] + math.sqrt(own) * rng.normal(size=(*shape, 2))
    squares = 0.4 + spread * rng.normal(size=shape)
    partners = np.broadcast_to(ring, controls.shape)
    none = np.full(shape, np.nan)
    found = relative_quantity("x", squares, controls.mean(axis=2), none, 0.0, controls, partners)
    stated = math.sqrt(float(np.mean(np.square(found.stderr))))
    assert np.std(found.values, ddof=1) / stated == pytest.approx(1.0, abs=0.1)


def test_the_order_of_documents_changes_no_bit() -> None:
    """Several processes hand documents over in another order than one does."""
    rng = np.random.default_rng(8)
    names = [f"d{i:02d}" for i in range(30)]
    payloads = []
    for i, name in enumerate(names):
        squares = rng.gamma(4.0, 0.2, size=2).tolist()
        payloads.append(
            {
                "x_act": [float(rng.gamma(4.0, 0.1)), float(np.mean(squares)), None],
                "controls": {
                    "document": name,
                    "partners": [names[(i + 1) % 30], names[(i + 2) % 30]],
                    "squares": {"x_act": squares},
                },
            }
        )
    axes = {"x_act": "activation"}
    first = task_scores(payloads, axes).relative["x_act"]
    again = task_scores([payloads[i] for i in rng.permutation(30)], axes).relative["x_act"]
    assert first.stderr == again.stderr
    np.testing.assert_array_equal(first.influence, again.influence)
    bare = [{"x_act": payload["x_act"]} for payload in payloads]
    assert task_scores(bare, axes).relative["x_act"].value == first.value
    assert task_scores(bare, axes).relative["x_act"].stderr != first.stderr
