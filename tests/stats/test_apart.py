"""Families beside the score: against the values of the runs' own tables, computed from records."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.report.compared import TABLES, sections
from sago_harness.report.tables import as_text
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.scores.table import read_parquet, rescore
from sago_harness.stats.apart import ApartResult, families_apart
from sago_harness.stats.compare import compare
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import ScoreTable, TaskTable, VariantKey
from tests.hooks.hosts import evaluate
from tests.runs.made_runs import host_files
from tests.stats.made import table

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

QUICK = Settings(resamples=199)

AXES = ("sago_generation", "sago_activation", "sago_confidence")


def with_people(seed: int = 0, family: str = "human", **changes: Any) -> tuple[TaskTable, TaskTable]:
    """A table, and the same one to which two variants of a family beside the score were added."""
    one = table(np.random.default_rng(seed), models=("a", "b"), level=(0.2, 0.5), **changes)
    other = table(np.random.default_rng(seed + 1), models=("a", "b"), level=(0.3, 0.6), **changes)
    keys = (VariantKey("typed1", family, "typed"), VariantKey("spoken1", family, "spoken"))
    distances = {
        name: np.concatenate([one.distances[name], other.distances[name][:, :, :2]], axis=2)
        for name in one.distances
    }
    assert one.correct is not None
    assert other.correct is not None
    correct = np.concatenate([one.correct, other.correct[:, :, 1:3]], axis=2)
    return one, replace(one, variants=(*one.variants, *keys), distances=distances, correct=correct)


def found(one: TaskTable, **settings: Any) -> list[ApartResult]:
    return list(families_apart(one, replace(QUICK, **settings)))


def test_it_is_the_root_of_the_mean_square_over_that_of_chance() -> None:
    _, one = with_people()
    (result,) = found(one)
    assert (result.family, result.operators, result.variants) == ("human", ("typed", "spoken"), 2.0)
    assert set(result.intervals) == {*AXES, "sago_core"}
    for m in range(2):
        r = {}
        for name in ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent"):
            moved = np.square(one.distances[name][m, :, -2:]).mean(axis=1).mean()
            chance = np.square(one.controls[name][m]).mean(axis=1).mean()
            r[name] = min(1.0, math.sqrt(moved / chance))
        axes = [(r["x_bleu"] + r["x_bert"]) / 2, r["x_act"], (r["x_prob"] + r["x_ent"]) / 2]
        for name, value in zip(AXES, axes, strict=True):
            assert result.intervals[name].statistic[m] == pytest.approx(value, abs=1e-12)
        assert result.intervals["sago_core"].statistic[m] == pytest.approx(1 - np.mean(axes), abs=1e-12)
        assert result.documents[m] == 40


def test_it_is_in_no_score() -> None:
    without, one = with_people()
    for name, quantity in score_task(without).quantities.items():
        np.testing.assert_array_equal(score_task(one).quantities[name].values, quantity.values)
    assert found(without) == []


def test_a_document_needs_one_variant_scored_for_all_models() -> None:
    _, one = with_people()
    blocks = {name: values.copy() for name, values in one.distances.items()}
    for values in blocks.values():
        values[:, 0, -2:] = np.nan  # nobody wrote one
        values[0, 1, -2] = np.nan  # the first model was not scored on one of two
        values[1, 2, -2:] = np.nan  # the second one on none
    (result,) = found(replace(one, distances=blocks))
    assert result.documents == (39, 38)
    core = result.intervals["sago_core"].statistic
    # Document 1 counts by its second variant for both.
    blocks = {name: values.copy() for name, values in blocks.items()}
    for values in blocks.values():
        values[1, 1, -2] = np.nan
    (again,) = found(replace(one, distances=blocks))
    np.testing.assert_array_equal(again.intervals["sago_core"].statistic, core)


def test_a_model_that_gives_text_alone() -> None:
    _, one = with_people()
    blocks = {name: values.copy() for name, values in one.distances.items()}
    for name in ("x_act", "x_prob", "x_ent"):
        blocks[name][1] = np.nan
    (result,) = found(replace(one, distances=blocks))
    assert np.isfinite(result.intervals["sago_generation"].statistic).all()
    assert np.isfinite(result.intervals["sago_activation"].statistic).tolist() == [True, False]
    assert np.isfinite(result.intervals["sago_core"].low).tolist() == [True, False]
    assert result.documents == (40, 40)


@pytest.mark.parametrize("documents", [1, 2, 12])
def test_a_study_shows_them(documents: int) -> None:
    _, one = with_people(documents=documents)
    _, other = with_people(5, "control", documents=documents)
    study = compare(ScoreTable.of([one, replace(other, task="negative")]), QUICK)
    shown = TABLES["apart"](study)
    names = [column.key for column in shown.columns]
    rows = [dict(zip(names, row, strict=True)) for row in shown.rows]
    assert [(row["task"], row["family"], row["model"], row["documents"]) for row in rows] == [
        ("made", "human", "a", documents),
        ("made", "human", "b", documents),
        ("negative", "control", "a", documents),
        ("negative", "control", "b", documents),
    ]
    assert all("few_documents" in str(row["reason"]) for row in rows)
    assert any("should move a model" in note for note in shown.notes)
    assert "Families apart" in as_text(shown)
    plain = compare(ScoreTable.of([with_people(documents=documents)[0]]), QUICK)
    assert TABLES["apart"](plain).rows == ()
    assert [section.name for section in sections(plain)] == list(TABLES)


def test_a_data_set_of_peoples_variants_alone() -> None:
    """Nothing forms a score there; what people wrote still has its values."""
    _, one = with_people()
    keep = np.array([key.family == "human" for key in one.variants])
    alone = replace(one.with_variants(keep), families={})
    study = compare(ScoreTable.of([alone]), QUICK)
    assert sections(study)
    (result,) = study.apart
    (among,) = found(one)
    for name, interval in among.intervals.items():
        np.testing.assert_array_equal(result.intervals[name].statistic, interval.statistic)


def test_values_are_those_of_the_runs_own_table(tiny_lm: Any, tmp_path: Path) -> None:
    """Edits that change the meaning, through the host: per model as the run itself says it."""
    rows = tmp_path / "p.jsonl"
    animals = ("cat", "dog", "cow", "pig", "hen")
    rows.write_text(
        "".join(
            f'{{"id": "{animal}", "prompt": "How many legs have 4 of the {animal}s over there?", '
            '"target": "16"}\n'
            for animal in animals
        )
    )
    options = {"file": str(rows), "negatives": True}
    results = evaluate(tiny_lm, "local_sago", options, gen_kwargs={"max_gen_toks": 8})
    folder = host_files(results, tmp_path / "runs", "tiny")
    (path,) = folder.glob("records_*.parquet")
    own = rescore(read_parquet(path)).own["control"]
    (one,) = list(read_table(find_runs([folder])))
    (result,) = found(one)
    assert (result.family, result.task) == ("control", "local_sago")
    for name in AXES:
        estimate, interval = own.axes[name.removeprefix("sago_")], result.intervals[name]
        np.testing.assert_allclose(interval.statistic[0], estimate.value, atol=1e-12)
        np.testing.assert_allclose(interval.standard_error[0], estimate.stderr, atol=1e-12)
        assert interval.counts[0] == (estimate.n if math.isfinite(estimate.value) else 0)
    assert math.isfinite(own.axes["activation"].value)
    np.testing.assert_allclose(result.intervals["sago_core"].statistic[0], own.sago_core.value, atol=1e-12)
