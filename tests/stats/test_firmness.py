"""The ranking looked at otherwise: each variation is the score of a table that was changed by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sago_harness.stats.firmness import Variation, firmness, variations
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import TaskTable
from tests.stats.made import table

SHORT = ("x_bleu", "x_bert", "x_prob", "x_ent")
NAMES = ("a", "b", "c")


def made(seed: int = 0, **changes: object) -> TaskTable:
    return table(np.random.default_rng(seed), models=NAMES, level=(0.2, 0.4, 0.6), **changes)  # type: ignore[arg-type]


def with_first(lacking: dict[str, tuple[str, ...]] | None = None) -> tuple[TaskTable, TaskTable]:
    """A table with values of the first tokens, and the table whose values they are.

    ``lacking``: model -> measures that it has no such values of.
    """
    one, other = made(0), made(1)
    first = {name: other.distances[name].copy() for name in SHORT}
    controls = {name: other.controls[name].copy() for name in SHORT}
    for model, names in (lacking or {}).items():
        for name in names:
            first[name][NAMES.index(model)] = np.nan
            controls[name][NAMES.index(model)] = np.nan
    return replace(one, first=first, first_controls=controls), other


def first_tokens(one: TaskTable) -> list[Variation]:
    return [v for v in variations(one, score_task(one), 0) if v.kind == "first 16 tokens"]


def cut(one: TaskTable, other: TaskTable, names: tuple[str, ...]) -> TaskTable:
    """The table with some measures of another one."""
    return replace(
        one,
        distances={**one.distances, **{name: other.distances[name] for name in names}},
        controls={**one.controls, **{name: other.controls[name] for name in names}},
    )


def same(found: Variation, expected: TaskTable, models: tuple[str, ...] = NAMES) -> None:
    quantities = score_task(expected.with_models(models)).quantities
    at = [NAMES.index(model) for model in models]
    for name, values in found.values.items():
        np.testing.assert_allclose(values[at], quantities[name].values, atol=1e-12)
        assert np.isnan(np.delete(values, at)).all()


def test_the_first_tokens_are_a_table_of_their_own() -> None:
    one, other = with_first()
    (found,) = first_tokens(one)
    assert found.detail == "x_bleu, x_bert, x_prob, x_ent"
    same(found, cut(one, other, SHORT))
    assert set(found.values) == {"sago", "sago_core", "sago_text"}


def test_older_records_among_new_ones() -> None:
    """A model without the texts' part is left out of one row and in the other."""
    one, other = with_first({"b": ("x_bleu", "x_bert")})
    both, forced = first_tokens(one)
    assert (both.detail, forced.detail) == ("x_bleu, x_bert, x_prob, x_ent", "x_prob, x_ent")
    same(both, cut(one, other, SHORT), ("a", "c"))
    same(forced, cut(one, other, ("x_prob", "x_ent")))


def test_older_records_alone() -> None:
    one, other = with_first(dict.fromkeys(NAMES, ("x_bleu", "x_bert")))
    (found,) = first_tokens(one)
    assert found.detail == "x_prob, x_ent"
    same(found, cut(one, other, ("x_prob", "x_ent")))
    (none,) = first_tokens(with_first(dict.fromkeys(NAMES, SHORT))[0])
    assert (none.values, none.reason) == ({}, "the records hold no distances over the first tokens")


def test_a_model_of_text_alone_is_not_in_the_row() -> None:
    one, _ = with_first({"c": SHORT})
    text = {name: one.distances[name].copy() for name in ("x_act", "x_prob", "x_ent")}
    for values in text.values():
        values[2] = np.nan
    one = replace(one, distances={**one.distances, **text})
    (found,) = first_tokens(one)
    results = firmness({"p": (NAMES, list(variations(one, score_task(one), 0)))})
    (row,) = [r for r in results if r.kind == "first 16 tokens" and r.score == "sago_text"]
    assert row.models == ("a", "b")
    assert row.values == pytest.approx(found.values["sago_text"][:2], abs=1e-12)
