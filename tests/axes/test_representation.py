"""Measures over a data set, against their definitions and against simulated states."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.spatial

from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.axes.representation.base import Side, distance, jackknife_stderr
from sago_harness.axes.representation.dataset import compare_documents, kept_states
from sago_harness.axes.vectors import VectorFile, pack, unpack

NAMES = list(REPRESENTATIONS)
SHAPES = [(16, 5), (40, 12), (24, 60)]


def measure(name: str) -> Any:
    return REPRESENTATIONS.load(name)()


def pair(n: int, d: int, seed: int, noise: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Related states with a spread that differs by direction."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * np.linspace(2.0, 0.3, d)
    return x, x + noise * rng.normal(size=(n, d))


def value(name: str, x: np.ndarray, y: np.ndarray) -> float:
    found, reason = distance(measure(name), x, y)
    assert reason == ""
    return found


# ---------------------------------------------------------------- definitions


def hsic_1(k: np.ndarray, m: np.ndarray) -> float:
    """Song et al. 2012, eq. 4: sums over all different i, j, q, r, written out."""
    n = len(k)
    first = second = third = 0.0
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            first += k[i, j] * m[i, j]
            for q in range(n):
                if q in (i, j):
                    continue
                second += k[i, j] * m[i, q]
                for r in range(n):
                    if r not in (i, j, q):
                        third += k[i, j] * m[q, r]
    three, four = n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3)
    return first / (n * (n - 1)) + third / four - 2.0 * second / three


@pytest.mark.parametrize(("n", "d"), [(16, 4), (17, 30)])
def test_cka_is_its_definition(n: int, d: int) -> None:
    x, y = pair(n, d, seed=1)
    k, m = x @ x.T, y @ y.T
    expected = 1.0 - hsic_1(k, m) / math.sqrt(hsic_1(k, k) * hsic_1(m, m))
    assert value("x_cka", x, y) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_procrustes_is_what_scipy_finds(n: int, d: int) -> None:
    x, y = pair(n, d, seed=2)
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    rotation, nuclear = scipy.linalg.orthogonal_procrustes(b, a)
    found = value("x_procrustes", x, y)
    assert found == pytest.approx(np.linalg.norm(a - b @ rotation) / math.sqrt(2), abs=1e-10)
    # SciPy's disparity lets the scale free as well: 1 - (sum of singular values)^2.
    _, _, disparity = scipy.spatial.procrustes(x, y)
    assert 1.0 - (1.0 - found**2) ** 2 == pytest.approx(disparity, abs=1e-10)
    assert found**2 == pytest.approx(1.0 - nuclear, abs=1e-10)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_pwcca_is_its_definition(n: int, d: int) -> None:
    x, y = pair(n, d, seed=3)
    kept = min(n // 5, d)

    def components(states: np.ndarray) -> np.ndarray:
        centred = states - states.mean(axis=0)
        return centred @ np.linalg.svd(centred, full_matrices=False)[2][:kept].T

    zx, zy = components(x), components(y)
    whiten_x, whiten_y = (scipy.linalg.inv(scipy.linalg.sqrtm(z.T @ z).real) for z in (zx, zy))
    u, rho, _ = np.linalg.svd(whiten_x @ zx.T @ zy @ whiten_y)
    variates = zx @ whiten_x @ u
    alpha = np.abs(variates.T @ zx).sum(axis=1)
    assert value("x_pwcca", x, y) == pytest.approx(1.0 - (alpha * rho).sum() / alpha.sum(), abs=1e-8)


# ---------------------------------------------------------------- claims


def rotation(d: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_rotation_scale_shift_and_order_change_nothing(name: str, n: int, d: int) -> None:
    x, y = pair(n, d, seed=4)
    base = value(name, x, y)
    rng = np.random.default_rng(5)
    columns, rows = rng.permutation(d), rng.permutation(n)
    for changed in (
        (x @ rotation(d, 6), y),
        (x, y @ rotation(d, 7)),
        (1e6 * x, 1e-6 * y),
        (x + 50.0 * rng.normal(size=d), y - 80.0),
        (x[:, columns], y),
        (x[rows], y[rows]),
    ):
        assert value(name, *changed) == pytest.approx(base, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_what_each_measure_claims(name: str, n: int, d: int) -> None:
    claims = measure(name)
    x, y = pair(n, d, seed=8)
    there, back = value(name, x, y), value(name, y, x)
    if claims.symmetric:
        assert there == pytest.approx(back, abs=1e-12)
    else:
        assert abs(there - back) > 1e-6
    unrelated = np.random.default_rng(9).normal(size=(n, d))
    assert value(name, x, x) == pytest.approx(0.0, abs=1e-7)
    assert value(name, x, x @ rotation(d, 10) * 3.0 + 1.0) == pytest.approx(0.0, abs=1e-7)
    assert 0.0 < there < value(name, x, unrelated)
    if claims.bounded:
        assert value(name, x, unrelated) <= 1.0


@pytest.mark.parametrize("name", NAMES)
def test_the_distance_grows_with_the_noise(name: str) -> None:
    found = [value(name, *pair(60, 20, seed=11, noise=noise)) for noise in (0.05, 0.3, 1.0, 3.0)]
    assert found == sorted(found)


@pytest.mark.parametrize("name", NAMES)
def test_fewer_than_sixteen_whole_documents_are_unscored(name: str) -> None:
    x, y = pair(16, 4, seed=12)
    assert math.isfinite(value(name, x, y))
    assert distance(measure(name), x[:15], y[:15])[1] == "few_documents"
    y[3, 1] = np.nan
    found, reason = distance(measure(name), x, y)
    assert math.isnan(found)
    assert reason == "few_documents"
    x, y = pair(20, 4, seed=13)
    whole = value(name, x[4:], y[4:])
    x[0, 0], y[1, 2], x[2, 3], y[3, 0] = np.nan, np.inf, -np.inf, np.nan
    assert value(name, x, y) == whole


@pytest.mark.parametrize("name", NAMES)
def test_states_without_spread_are_unscored(name: str) -> None:
    x, _ = pair(20, 4, seed=14)
    same = np.full((20, 4), 0.1) * np.array([1.0, 1e5, -3.0, 7.0])
    for sides in ((x, same), (same, x), (same, same)):
        found, reason = distance(measure(name), *sides)
        assert math.isnan(found)
        assert reason == "no_spread"


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="shapes"):
        distance(measure("x_cka"), np.ones((20, 3)), np.ones((20, 4)))


# ---------------------------------------------------------------- bias and intervals


def usual_cka(x: np.ndarray, y: np.ndarray) -> float:
    """Kornblith et al. 2019, linear, biased."""
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    both = np.linalg.norm(a.T @ b) ** 2
    return float(both / (np.linalg.norm(a.T @ a) * np.linalg.norm(b.T @ b)))


def independent(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=(n, d))


def with_error(name: str, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    left, right = Side(x), Side(y)
    found = measure(name).compare(left, right)
    return found, jackknife_stderr(found - measure(name).left_out(left, right, np.arange(len(x)), len(x)))


def test_the_usual_estimate_calls_independent_states_alike_and_ours_does_not() -> None:
    x, y = independent(40, 4000, seed=15)
    assert usual_cka(x, y) > 0.95
    assert abs(1.0 - value("x_cka", x, y)) < 0.15


@pytest.mark.parametrize(("n", "d"), [(16, 8), (40, 10), (40, 400), (128, 64), (128, 2000)])
def test_independent_states_have_cka_zero_within_their_interval(n: int, d: int) -> None:
    found = [with_error("x_cka", *independent(n, d, seed)) for seed in range(40)]
    similarities = np.array([1.0 - value for value, _ in found])
    errors = np.array([error for _, error in found])
    # 95 % intervals, of which at most 2 in 40 should miss; 6 would happen once in 70.
    assert (np.abs(similarities) > 1.96 * errors).sum() < 6
    # Without bias: the mean lies within its own standard error's reach.
    assert abs(similarities.mean()) < 4.0 * similarities.std(ddof=1) / math.sqrt(40)


def test_the_jackknife_tells_the_scatter_of_related_states() -> None:
    found = [with_error("x_cka", *pair(80, 10, seed)) for seed in range(60)]
    scatter = np.std([value for value, _ in found], ddof=1)
    assert np.mean([error for _, error in found]) == pytest.approx(scatter, rel=0.3)


@pytest.mark.parametrize("name", NAMES)
def test_leaving_out_in_closed_form_is_leaving_out(name: str) -> None:
    x, y = pair(24, 30, seed=16)
    groups, count = (np.arange(24), 24) if measure(name).one_by_one else (np.arange(24) % 8, 9)
    found = measure(name).left_out(Side(x), Side(y), groups, count)
    assert found.shape == (count,)
    for group in range(count):
        rest = groups != group
        expected = measure(name).compare(Side(x[rest], 24), Side(y[rest], 24))
        assert found[group] == pytest.approx(expected, abs=1e-9)


# ---------------------------------------------------------------- over a data set


def record(variant: str, role: str, family: str, reason: str = "") -> dict[str, Any]:
    reasons = {"x_act": reason} if reason else {}
    return {"variant": variant, "role": role, "family": family, "reasons": reasons}


#: Variant id -> role, family.
ASKED = {
    "canonical": ("canonical", "canonical"),
    "hint": ("variant", "register"),
    "case": ("variant", "noise"),
    "typo": ("variant", "noise"),
    "control1": ("control", "control"),
    "repeat1": ("repeat", "repeat"),
}


def items_of(states: np.ndarray, missing: dict[tuple[int, str], str] | None = None) -> list[dict[str, Any]]:
    """Documents' items from states of shape (documents, variants, L + 1, D)."""
    file = VectorFile()
    items = []
    for place, document in enumerate(states):
        records, refs = [], []
        for variant, (role, family), of in zip(ASKED, ASKED.values(), document, strict=True):
            records.append(record(variant, role, family, (missing or {}).get((place, variant), "")))
            refs.append(file.put(pack(of)))
        items.append(kept_states(f"d{place * 37 % 101:03}", records, refs, ["register", "noise"]))
    return items


def simulated(n: int, seed: int, layers: int = 3, width: int = 24) -> np.ndarray:
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, 1, layers + 1, width))
    moved = base + 0.5 * rng.normal(size=(n, 3, layers + 1, width))
    return np.concatenate([base, moved, np.roll(base, 1, axis=0), base], axis=1).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_means_over_variants_families_and_layers(name: str) -> None:
    states = simulated(30, seed=17)
    found = compare_documents(items_of(states), NAMES)[name]
    # What the file gives back: half precision.
    kept = np.array([[unpack(pack(of)) for of in document] for document in states])

    def at(variant: str, layer: int) -> float:
        order = np.argsort([place * 37 % 101 for place in range(30)])
        return value(name, kept[order, 0, layer], kept[order, list(ASKED).index(variant), layer])

    for layer in range(4):
        register, noise = at("hint", layer), (at("case", layer) + at("typo", layer)) / 2
        assert found.layers[layer].value == pytest.approx((register + noise) / 2, abs=1e-12)
        assert found.family_layers["noise"][layer].value == pytest.approx(noise, abs=1e-12)
        assert found.family_layers["chance"][layer].value == pytest.approx(at("control1", layer), abs=1e-12)
        assert found.family_layers["repeats"][layer].value == pytest.approx(0.0, abs=1e-7)
    blocks = [found.layers[layer].value for layer in (1, 2, 3)]
    assert found.value.value == pytest.approx(np.mean(blocks), abs=1e-12)
    assert found.value.n == 30
    assert found.value.stderr > 0.0
    assert found.variants == {"chance": 1, "noise": 2, "register": 1, "repeats": 1}
    assert found.value.value < found.families["chance"].value


def test_the_stderr_of_the_mean_is_that_of_leaving_out_documents() -> None:
    states = simulated(20, seed=18)
    found = compare_documents(items_of(states), ["x_cka"])["x_cka"].value
    without = []
    for place in range(20):
        items = [item for k, item in enumerate(items_of(states)) if k != place]
        without.append(compare_documents(items, ["x_cka"])["x_cka"].value.value)
    spread = np.square(np.array(without) - np.mean(without)).sum()
    assert found.stderr == pytest.approx(math.sqrt(19 / 20 * spread), abs=1e-9)


def test_the_order_of_documents_changes_no_digit() -> None:
    """They are put in the order of their ids before anything is summed."""
    items = items_of(simulated(25, seed=19))
    once = compare_documents(items, NAMES)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(25)
        assert compare_documents([items[k] for k in order], NAMES) == once


def test_a_variant_under_sixteen_documents_is_left_out_and_counted() -> None:
    states = simulated(24, seed=20)
    whole = compare_documents(items_of(states), ["x_cka"])["x_cka"]
    gone = {(place, "typo"): "noop_tokens" for place in range(9)}
    items = items_of(states, gone)
    found = compare_documents(items, ["x_cka"])["x_cka"]
    assert sum(item["missing"].get("noop_tokens", 0) for item in items) == 9
    assert found.too_few == {"noise": 1}
    assert found.variants["noise"] == 1
    assert found.families["register"] == whole.families["register"]
    assert found.families["noise"].value != whole.families["noise"].value
    # One document fewer is missing: 16 are left.
    del gone[0, "typo"]
    assert compare_documents(items_of(states, gone), ["x_cka"])["x_cka"].too_few == {}
    # Without a single variant of a family there is no value, as for every other score.
    gone = {(place, name): "nan_hidden" for place in range(9) for name in ("typo", "case")}
    lost = compare_documents(items_of(states, gone), ["x_cka"])["x_cka"]
    assert math.isnan(lost.value.value)
    assert lost.value.reason == "few_documents"
    assert lost.families["register"] == whole.families["register"]


def test_under_sixteen_documents_there_is_no_value_and_the_count() -> None:
    found = compare_documents(items_of(simulated(15, seed=21)), NAMES)
    for name in NAMES:
        assert math.isnan(found[name].value.value)
        assert (found[name].value.n, found[name].value.reason) == (15, "few_documents")


def test_without_states_the_reason_is_theirs() -> None:
    rows = [record(variant, *asked, "no_hidden_states") for variant, asked in ASKED.items()]
    items = [kept_states(f"d{k}", rows, [None] * len(rows), ["register"]) for k in range(20)]
    found = compare_documents([*items, None], NAMES)
    for name in NAMES:
        assert (found[name].value.n, found[name].value.reason) == (0, "no_hidden_states")
    assert compare_documents([None, None], ["x_cka"])["x_cka"].value.reason == "no_documents"


def test_a_layer_of_equal_states_is_unscored_and_the_blocks_are_not() -> None:
    """Under a chat template the last token's embedding is the same for every prompt."""
    states = simulated(20, seed=22)
    states[:, :, 0] = 0.37
    found = compare_documents(items_of(states), NAMES)
    for name in NAMES:
        assert (found[name].layers[0].reason, found[name].value.reason) == ("no_spread", "")
        assert math.isfinite(found[name].value.value)


def test_states_that_are_not_finite_in_one_layer_leave_their_document_out_there() -> None:
    states = simulated(20, seed=23)
    states[4, 1, 2, 0] = np.nan
    found = compare_documents(items_of(states), ["x_cka"])["x_cka"]
    rest = compare_documents([item for k, item in enumerate(items_of(states)) if k != 4], ["x_cka"])["x_cka"]
    register = found.family_layers["register"]
    assert register[2].value == rest.family_layers["register"][2].value
    assert register[1].value != rest.family_layers["register"][1].value
    states[:5, 1, 2, 0] = np.nan
    lost = compare_documents(items_of(states), ["x_cka"])["x_cka"]
    assert lost.family_layers["register"][2].reason == "nan_hidden"
    assert lost.value.reason == "nan_hidden"
