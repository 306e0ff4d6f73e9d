"""The reduction of all models at once against loops over documents and variants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sago_harness.stats.reduce import by_variant, reduce_task, reduce_variants
from sago_harness.stats.table import TaskTable, VariantKey
from tests.stats.made import table

NAMES = ("a", "b", "c")
AXES = ("x_bleu", "x_act", "x_ent")

#: Model, document -> family -> variants that count.
Used = dict[tuple[int, int], dict[str, list[int]]]


def made(missing: float, seed: int = 0) -> TaskTable:
    """A data set with one variant beside the score in the midst, and mirroring as rarely scored as it is."""
    rng = np.random.default_rng(seed)
    one = table(rng, models=NAMES, documents=30, missing=missing, repeats=2, mirroring=0.1)
    if missing:
        one.distances["x_mr"][rng.random(one.shape) < 0.5] = np.nan
        one.controls["x_act"][1, 3:6] = np.nan
        one.distances["x_act"][2, 5] = np.nan
    assert one.correct is not None
    beside = VariantKey("said", "human", "typed")
    variants = (*one.variants[:3], beside, *one.variants[3:])
    return replace(
        one,
        variants=variants,
        distances={name: np.insert(v, 3, 0.9, axis=2) for name, v in one.distances.items()},
        correct=np.insert(one.correct, 4, 1.0, axis=2),
    )


def needs(families: dict[str, int]) -> dict[str, int]:
    return {family: 2 if count > 1 else 1 for family, count in families.items() if count}


def values_of(one: TaskTable, name: str) -> np.ndarray:
    if name == "x_mr":
        return one.distances["x_mr"] - one.distances["x_mr_floor"]
    return one.distances[name] ** 2


def used_of(one: TaskTable, name: str) -> tuple[Used, list[int]]:
    """What counts, and how many variants of each model are left out as another model lacks them."""
    values, needed = values_of(one, name), needs(dict(one.families))
    models, documents, _ = one.shape
    used: Used = {}
    left_out = [0] * models
    for d in range(documents):
        scored = [
            {v for v, key in enumerate(one.variants) if key.family in needed and np.isfinite(values[m, d, v])}
            for m in range(models)
        ]

        def fine(mine: set[int]) -> bool:
            if name == "x_mr":
                return bool(mine)
            counts = [sum(one.variants[v].family == family for v in mine) for family in needed]
            return all(count >= least for count, least in zip(counts, needed.values(), strict=True))

        entering = [mine for mine in scored if fine(mine)]
        common = set.intersection(*entering) if entering else set()
        for m, mine in enumerate(scored):
            taken = mine & common if fine(mine) else set()
            left_out[m] += len(mine - taken) if fine(mine) else 0
            used[m, d] = {
                family: [v for v in sorted(taken) if one.variants[v].family == family]
                for family in one.families
            }
    return used, left_out


def squares_of(
    values: np.ndarray, used: Used, needed: dict[str, int], weights: dict[str, float] | None = None
) -> np.ndarray:
    """Weighted mean over families of the mean within each."""
    found = np.full(values.shape[:2], np.nan)
    for at, families in used.items():
        if needed and all(len(families[family]) >= least for family, least in needed.items()):
            share = [1.0 if weights is None else weights[family] for family in needed]
            found[at] = np.average([values[at][families[family]].mean() for family in needed], weights=share)
    return found


def mean_of(values: np.ndarray, used: Used) -> np.ndarray:
    """Mean over variants, as mirroring has it."""
    found = np.full(values.shape[:2], np.nan)
    for at, families in used.items():
        every = [v for own in families.values() for v in own]
        found[at] = values[at][every].mean() if every else np.nan
    return found


def expected_of(one: TaskTable, name: str, weights: dict[str, float] | None = None) -> np.ndarray:
    values, (used, _) = values_of(one, name), used_of(one, name)
    if name == "x_mr":
        return mean_of(values, used)
    return squares_of(values, used, needs(dict(one.families)), weights)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_mean_squares_are_those_of_loops(missing: float) -> None:
    one = made(missing)
    reduced = reduce_task(one)
    assert list(reduced)[-1] == "x_mr"
    for name in (*AXES, "x_mr"):
        expected, (_, left_out) = expected_of(one, name), used_of(one, name)
        assert np.isfinite(expected).any()
        assert bool(missing) == np.isnan(expected).any()
        np.testing.assert_allclose(reduced[name].squares(), expected, rtol=1e-12)
        assert reduced[name].left_out.tolist() == left_out
        assert bool(missing) == any(left_out)
        for place, pair in enumerate(one.operators):
            inside = [v for v, key in enumerate(one.variants) if (key.family, key.operator) == pair]
            if not missing:
                sums = values_of(one, name)[:, :, inside].sum(axis=2)
                np.testing.assert_allclose(reduced[name].sums[:, :, place], sums, rtol=1e-12)
                assert (reduced[name].counts[:, :, place] == len(inside)).all()


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_chance_and_floor_are_means_of_what_is_scored(missing: float) -> None:
    one = made(missing)
    for name, values in reduce_task(one).items():
        for block, found in (
            (one.controls.get(name), values.chances),
            (one.repeats.get(name), values.floors),
        ):
            for at in np.ndindex(*one.shape[:2]):
                known = [] if block is None else [float(v) ** 2 for v in block[at] if np.isfinite(v)]
                assert found[at] == pytest.approx(np.mean(known) if known else np.nan, nan_ok=True)
        floors = [np.sqrt(np.nanmean(own)) if np.isfinite(own).any() else np.nan for own in values.floors]
        np.testing.assert_allclose(values.noise, floors)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_some_of_the_variants_are_a_data_set_of_their_own(missing: float, seed: int) -> None:
    one = made(missing)
    keep = np.random.default_rng(seed).random(one.shape[2]) < 0.5
    if seed == 3:
        # No variant of one family, one of another.
        keep = np.array([key.id in ("typos1", "wrap", "fronting") for key in one.variants])
    whole, alone = reduce_task(one), reduce_task(one.with_variants(keep))
    for name, values in whole.items():
        less = reduce_variants(one, values, by_variant(one, name), keep)
        np.testing.assert_allclose(less.squares(), alone[name].squares(), rtol=1e-12)
        np.testing.assert_array_equal(less.left_out, alone[name].left_out)
        np.testing.assert_array_equal(less.chances, alone[name].chances)


def test_no_document_has_what_is_required_and_no_variant_is_there() -> None:
    one = made(0.0)
    short = replace(one, families={**one.families, "syntax": 2})
    assert np.isnan(reduce_task(short)["x_act"].squares()).all()
    none = one.with_variants(np.zeros(one.shape[2], dtype=bool))
    for values in reduce_task(none).values():
        assert np.isnan(values.squares()).all()
        assert values.squares().shape == one.shape[:2]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_an_operator_less(missing: float) -> None:
    """Its variants are gone; where the others never reach what a family needs, less is needed."""
    one = made(missing, 1)
    reduced = reduce_task(one)
    for place, (family, operator) in enumerate(one.operators):
        gone = [v for v, key in enumerate(one.variants) if (key.family, key.operator) == (family, operator)]
        left = {key.family for v, key in enumerate(one.variants) if v not in gone}
        for name in (*AXES, "x_mr"):
            values, (used, _) = values_of(one, name), used_of(one, name)
            for families in used.values():
                families[family] = [v for v in families[family] if v not in gone]
            needed = {
                other: min(least, max(len(own[other]) for own in used.values()))
                for other, least in needs(dict(one.families)).items()
                if other in left
            }
            if not missing:
                assert needed == {"register": 2, "noise": 2, "structure": 1 + (family != "structure")}
            expected = mean_of(values, used) if name == "x_mr" else squares_of(values, used, needed)
            np.testing.assert_allclose(reduced[name].without_operator(place).squares(), expected, rtol=1e-12)


def test_a_family_counts_as_much_as_its_weight() -> None:
    one = made(0.2)
    reduced = reduce_task(one)
    weights = {"register": 1.0, "noise": 2.0, "structure": 0.5}
    for name in AXES:
        found = reduced[name].squares(np.array([weights[family] for family in one.families]))
        np.testing.assert_allclose(found, expected_of(one, name, weights), rtol=1e-12)
    # Mirroring has no families.
    np.testing.assert_array_equal(
        reduced["x_mr"].squares(np.array([1.0, 2.0, 0.5])), reduced["x_mr"].squares()
    )
