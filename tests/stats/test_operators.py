"""Scores of single operators against the score of a data set that has no other variants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sago_harness.stats.compare import compare
from sago_harness.stats.operators import by_operator
from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import reduce_task
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.stats.made import table


def only(made: TaskTable, place: int) -> TaskTable:
    """The data set as if the recipe had nothing but one operator."""
    return made.with_variants(made.operator_of == place)


def test_an_operator_alone_is_a_data_set_of_its_variants() -> None:
    made = table(np.random.default_rng(1), models=("a", "b", "c"), mirroring=0.1)
    found = list(by_operator(made, reduce_task(made)))
    assert [(one.family, one.operator) for one in found] == list(made.operators)
    for place, one in enumerate(found):
        alone = quantities(reduce_task(only(made, place)))
        assert set(one.quantities) == set(alone)
        for name, quantity in alone.items():
            np.testing.assert_allclose(one.quantities[name].values, quantity.values, rtol=1e-12)
            np.testing.assert_allclose(one.quantities[name].stderr, quantity.stderr, rtol=1e-9)


def test_a_document_enters_with_two_scored_variants_or_the_only_one() -> None:
    made = table(np.random.default_rng(2), models=("a",), missing=0.3)
    reduced = reduce_task(made)
    for place, one in enumerate(by_operator(made, reduced)):
        of_it = made.operator_of == place
        assert one.variants == of_it.sum()
        for name in ("x_act", "x_prob"):
            # Nothing is taken from documents that do not enter for the whole recipe.
            enters = np.ones(made.shape[1], dtype=bool)
            for family in range(len(made.families)):
                inside = made.family_of[made.operator_of] == family
                enters &= np.isfinite(made.distances[name][0, :, inside]).sum(axis=0) >= 2
            scored = np.isfinite(made.distances[name][0][:, of_it]).sum(axis=1)
            assert one.quantities[name].counts[0] == (enters & (scored >= min(2, of_it.sum()))).sum()


def test_one_moved_operator_is_told_from_the_others() -> None:
    made = table(np.random.default_rng(3), models=("a",), documents=60, level=0.2)
    moved = np.array([key.operator == "typos" for key in made.variants])
    louder = np.clip(made.distances["x_act"] * np.where(moved, 3.0, 1.0), 0.0, 1.0)
    made = replace(made, distances={**made.distances, "x_act": louder})
    found = {one.operator: one.quantities["x_act"] for one in by_operator(made, reduce_task(made))}
    others = [found[name].values[0] for name in found if name != "typos"]
    assert found["typos"].values[0] > 2.0 * max(others)


def test_a_comparison_holds_them_for_every_data_set() -> None:
    rng = np.random.default_rng(4)
    made = [table(rng, task=task, documents=12) for task in ("s", "t")]
    found = compare(ScoreTable.of(made))
    assert [(one.task, one.operator) for one in found.operators] == [
        (one.task, operator) for one in made for _, operator in one.operators
    ]
