"""Bad blocks and settings are refused in one line that says where."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sago_harness.errors import SagoError
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
    ],
)  # fmt: skip
def test_settings(bad: dict[str, Any]) -> None:
    (name,) = bad
    with pytest.raises(SagoError, match=name):
        Settings(**bad)


def test_settings_take_numpy_integers() -> None:
    assert Settings(resamples=np.int64(99)).resamples == 99
