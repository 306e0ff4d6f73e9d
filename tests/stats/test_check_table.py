"""Bad blocks and settings are refused in one line that says where."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.scores.composite import relative_instability
from sago_harness.stats.compare import compare
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.stats.made import table


@pytest.fixture
def made() -> TaskTable:
    return table(np.random.default_rng(0), documents=6)


@pytest.mark.parametrize(
    ("block", "shape", "said"),
    [
        ("distances", (2, 6, 9), r"distances\['x_act'\] has shape \(2, 6, 9\), and \(2, 6, 10\)"),
        ("distances", (3, 6, 10), r"distances\['x_act'\] has shape \(3, 6, 10\)"),
        ("controls", (2, 5, 2), r"controls\['x_act'\] has shape \(2, 5, 2\), and \(2, 6, any\)"),
        ("repeats", (2, 6), r"repeats\['x_act'\] has shape \(2, 6\), and \(2, 6, any\)"),
    ],
)
def test_shapes(made: TaskTable, block: str, shape: tuple[int, ...], said: str) -> None:
    with pytest.raises(SagoError, match=said):
        replace(made, **{block: {**getattr(made, block), "x_act": np.zeros(shape)}})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"models": ("a", "a")}, "model a comes twice"),
        ({"documents": ("d",) * 6}, "document d comes twice"),
        ({"correct": np.zeros((2, 6, 10))}, r"correct has shape \(2, 6, 10\), and \(2, 6, 11\)"),
        ({"tokens": np.zeros((6, 2))}, r"tokens has shape \(6, 2\)"),
        ({"mixed": (True,)}, "mixed has 1 entries for 2 models"),
        ({"reasons": {"x_act": []}}, r"reasons\['x_act'\] has 0 entries for 2 models"),
        ({"tokens": np.full((2, 6), "7")}, "tokens is an array of <U1, and an array of numbers is needed"),
        ({"tokens": [[1.0] * 6] * 2}, "tokens is list, and an array of numbers is needed"),
        ({"correct": np.zeros((2, 6, 11), dtype=object)}, "correct is an array of object"),
        ({"made": np.ones((2, 6, 10))}, "made is an array of float64, and an array of truth values"),
        ({"partners": np.zeros((2, 6, 2))}, "partners is an array of float64, and an array of whole numbers"),
        (
            {"partners": np.zeros((2, 6, 3), dtype=int)},
            r"partners has shape \(2, 6, 3\), and controls\['x_bleu'\]",
        ),
        ({"partners": np.full((2, 6, 2), 6)}, "model a on document d0000: 6 is the place of no document"),
        (
            {"partners": np.full((2, 6, 2), -2)},
            r"-2 is the place of no document \(from 0 to 5, -1 for none\)",
        ),
    ],
)
def test_names_and_single_blocks(made: TaskTable, change: dict[str, Any], said: str) -> None:
    with pytest.raises(SagoError, match=said):
        replace(made, **change)


def test_a_variant_that_comes_twice(made: TaskTable) -> None:
    with pytest.raises(SagoError, match=f"variant {made.variants[0].id} comes twice"):
        replace(made, variants=(made.variants[0], *made.variants[:-1]))


@pytest.mark.parametrize("value", [-0.25, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("kind", ["distances", "controls"])
def test_what_is_no_distance(made: TaskTable, kind: str, value: float) -> None:
    block = getattr(made, kind)["x_act"].copy()
    block[1, 2, 1] = value
    bad = replace(made, **{kind: {**getattr(made, kind), "x_act": block}})
    with pytest.raises(SagoError, match=re.escape(f"x_act of model b on document d0002 is {value:g}")):
        compare(ScoreTable.of([bad]))


@pytest.mark.parametrize("value", [1e308, -1e308, float("inf"), 2e6])
def test_what_is_no_share_of_a_change(made: TaskTable, value: float) -> None:
    block = made.distances["x_mr"].copy()
    block[1, 2, 1] = value
    bad = replace(made, distances={**made.distances, "x_mr": block})
    with pytest.raises(
        SagoError, match=r"x_mr of model b on document d0002 is .*: .* from -1e\+06 to 1e\+06"
    ):
        compare(ScoreTable.of([bad]))


def test_missing_and_negative_mirroring_are_fine(made: TaskTable) -> None:
    block = made.distances["x_act"].copy()
    block[0, 0] = np.nan
    assert (made.distances["x_mr"] < 0.0).any()
    compare(ScoreTable.of([replace(made, distances={**made.distances, "x_act": block})]))


@pytest.mark.parametrize(
    "bad",
    [
        {"level": 0.0}, {"level": 0.5}, {"level": float("nan")}, {"correction": "bonferroni"},
        {"resamples": 0}, {"resamples": 10.5}, {"epsilon": -0.1}, {"epsilon": 1.0}, {"epsilon": float("nan")},
        {"level": "x"}, {"level": True}, {"epsilon": None}, {"seed": 0.5}, {"seed": "a"},
    ],
)  # fmt: skip
def test_settings(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises(SagoError, match=name):
        Settings(**bad)


def test_settings_take_numpy_integers() -> None:
    assert Settings(resamples=np.int64(99)).resamples == 99


@pytest.mark.parametrize("strength", [float("inf"), float("nan"), "2"])
def test_a_strength_is_a_number(made: TaskTable, strength: Any) -> None:
    first, *others = made.variants
    with pytest.raises(SagoError, match=f"the strength of variant {first.id} is {strength!r}, and no number"):
        replace(made, variants=(replace(first, strength=strength), *others))


@pytest.mark.parametrize(
    ("block", "value", "said"),
    [
        ("correct", 7.0, "correct of model b on document d0002 is 7: right or wrong is a number from 0 to 1"),
        (
            "tokens",
            -3.0,
            "tokens of model b on document d0002 is -3: a length in tokens is a number from 0 on",
        ),
        ("tokens", np.inf, "tokens of model b on document d0002 is inf: "),
        (
            "raw",
            1e200,
            r"x_act of model b on document d0002 is 1e\+200: a raw delta is a number from -1e\+06",
        ),
        ("raw", np.inf, "x_act of model b on document d0002 is inf: a raw delta"),
        ("first", -0.5, "x_bleu of model b on document d0002 is -0.5: a distance is a number from 0"),
        (
            "distances",
            1e5,
            "flip of model b on document d0002 is 100000: a distance is a number from 0 to 1,",
        ),
    ],
)
def test_what_no_number_can_be(made: TaskTable, block: str, value: float, said: str) -> None:
    models, documents, variants = made.shape
    name = {"raw": "x_act", "first": "x_bleu", "distances": "flip"}.get(block, "")
    shape = {"correct": (models, documents, variants + 1), "tokens": (models, documents)}
    values = np.zeros(shape.get(block, made.shape))
    values[1, 2] = value
    bad = replace(made, **{block: {**getattr(made, block), name: values} if name else values})
    with pytest.raises(SagoError, match=said):
        compare(ScoreTable.of([bad]))


def test_nothing_to_compare(made: TaskTable) -> None:
    with pytest.raises(SagoError, match="made: there is no model to compare"):
        compare(ScoreTable.of([made.with_models([])]))
    with pytest.raises(SagoError, match="made: there is no measure to compare"):
        compare(ScoreTable.of([replace(made, measures={}, distances={}, controls={}, partners=None)]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("chance", [0.0, 5e-324, 1e-160, 1e-20])
def test_a_chance_level_of_nothing_is_no_scale(made: TaskTable, chance: float) -> None:
    controls = {**made.controls, "x_act": np.full_like(made.controls["x_act"], chance)}
    found = compare(ScoreTable.of([replace(made, controls=controls)]), Settings(resamples=99))
    quantity = found.scored["made"].quantities["x_act"]
    assert np.isnan(quantity.values).all()
    assert quantity.reasons == ("rigid", "rigid")
    one = relative_instability(np.full(6, 0.1), np.full(6, chance**2))
    assert (np.isnan(one.value), one.reason) == (True, "rigid")
