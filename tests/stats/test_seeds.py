"""Scores under several seeds of the variants, against studies of each seed's records alone."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest

from sago_harness.report.compared import RARE, TABLES
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.firmness import PACK_SEED
from sago_harness.stats.overall import OVERALL
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.stats.made import table

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

QUICK = Settings(resamples=99)
NAMES = ("a", "b", "c")


def made(task: str, seed: int) -> TaskTable:
    return table(np.random.default_rng(seed), task=task, models=NAMES, documents=12, level=(0.2, 0.4, 0.6))


@pytest.fixture(scope="module")
def tables() -> dict[str, ScoreTable]:
    """Seeds 1 and 2 beside the one that ranks; on q seed 2 is lacking, and seed 1 lacks model c."""
    return {
        "ranked": ScoreTable.of([made("p", 0), made("q", 1)]),
        "1": ScoreTable.of([made("p", 2), made("q", 3).with_models(["a", "b"])]),
        "2": ScoreTable.of([made("p", 4)]),
    }


@pytest.fixture(scope="module")
def study(tables: dict[str, ScoreTable]) -> Comparison:
    return compare(replace(tables["ranked"], packs={1: tables["1"], 2: tables["2"]}), QUICK)


def test_values_are_those_of_each_seed_alone(tables: dict[str, ScoreTable], study: Comparison) -> None:
    alone = {name: compare(one, QUICK) for name, one in tables.items()}
    found = {(one.task, one.score): one for one in study.seeds}
    assert set(found) == {(t, s) for t in ("p", "q", OVERALL) for s in ("sago", "sago_core", "sago_text")}
    for (task, score), one in found.items():
        assert (one.models, one.seeds) == (NAMES, ("1", "2") if task == "p" else ("1",))
        for column, seed in enumerate(("ranked", *one.seeds)):
            total = alone[seed].total
            source = total.quantities if task == OVERALL and total else alone[seed].scored[task].quantities
            models = alone[seed].models if task == OVERALL else alone[seed].scored[task].models
            for m, model in enumerate(NAMES):
                if model in models:
                    expected = source[score].values[models.index(model)]
                    np.testing.assert_allclose(one.values[m, column], expected, atol=1e-12)
                else:
                    assert math.isnan(one.values[m, column])
    # Model c was run with seed 1 on p alone.
    assert np.isnan(found[OVERALL, "sago"].values[2, 1])
    assert np.isfinite(found["p", "sago"].values).all()


def test_spread_and_standard_error(study: Comparison) -> None:
    for one in study.seeds:
        for m, spread in enumerate(one.standard_deviation.tolist()):
            known = [v for v in one.values[m].tolist() if math.isfinite(v)]
            if len(known) < 2:
                assert math.isnan(spread)
            else:
                assert spread == pytest.approx(statistics.stdev(known))
        assert study.total is not None
        quantities = study.total.quantities if one.task == OVERALL else study.scored[one.task].quantities
        np.testing.assert_allclose(one.standard_error, quantities[one.score].stderr, rtol=1e-12)


def test_rows_of_the_table(study: Comparison) -> None:
    shown = TABLES["seeds"](study)
    assert [column.key for column in shown.columns][3:] == [
        "ranked",
        "seed_1",
        "seed_2",
        "seeds",
        "sd",
        "stderr",
    ]
    rows = {(row["task"], row["model"], row["score"]): row for row in shown.records()}
    assert len(rows) == 3 * 3 * 3
    assert [rows["p", "c", "sago"][key] is None for key in ("seed_1", "seed_2", "sd")] == [False] * 3
    assert [rows["q", "c", "sago"][key] is None for key in ("seed_1", "seed_2", "sd")] == [True] * 3
    assert [rows[task, "c", "sago"]["seeds"] for task in ("p", "q", OVERALL)] == [3, 1, 1]


def test_models_outside_of_the_ranking_have_rows(tables: dict[str, ScoreTable]) -> None:
    """Where fewer than two models are ranked, there is no order to hold against, but there are values."""
    stock = [replace(one, responses=np.full((3, 12), "none", dtype=object)) for one in tables["ranked"]]
    found = compare(replace(ScoreTable.of(stock), packs={1: tables["1"]}), QUICK)
    assert not any(found.scored[task].ranked.any() for task in "pq")
    of_order = {one.reason for one in found.firmness if one.kind == PACK_SEED}
    assert of_order == {"fewer than two models are ranked"}
    rows = {(row["task"], row["model"]): row for row in TABLES["seeds"](found).records()}
    assert all(rows["p", model]["seed_1"] > 0.0 and rows["p", model]["seeds"] == 2 for model in NAMES)


def test_one_seed_has_no_rows(tables: dict[str, ScoreTable]) -> None:
    found = compare(tables["ranked"], QUICK)
    assert found.seeds == []
    assert "seeds" in RARE
    shown = TABLES["seeds"](found)
    assert not shown.rows
    assert "run the models again with another variant_seed" in shown.notes[0]


def test_under_a_published_scheme_the_scores_are_our_own(
    tables: dict[str, ScoreTable], study: Comparison
) -> None:
    settings = replace(QUICK, scheme="paper-rms")
    found = compare(replace(tables["ranked"], packs={1: tables["1"], 2: tables["2"]}), settings)
    for one, other in zip(found.seeds, study.seeds, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.standard_error, other.standard_error)


def test_spread_over_seeds_is_part_of_the_standard_error() -> None:
    """Variants drawn anew for the same documents: a share of the error's square that is known.

    d^2 = document x draw, of mean 1 and variances a = 1/2 and b = 1, so that the mean over the variants of a
    document has the variance a + (1 + a) b / 9, of which the first term is the document's: families count
    alike, and have 4, 4 and 2 variants. Controls are all alike.
    """
    rng = np.random.default_rng(0)
    spreads, errors = [], []
    for _ in range(150):
        first = table(rng, models=("a",), documents=40)
        first = replace(first, controls={name: np.full_like(c, 0.1) for name, c in first.controls.items()})
        document = {name: rng.gamma(2.0, 0.5, size=(1, 40, 1)) for name in first.distances}
        packs = [
            replace(
                first,
                distances={
                    name: 0.05 * np.sqrt(document[name] * rng.exponential(size=values.shape))
                    for name, values in first.distances.items()
                },
            )
            for _ in range(4)
        ]
        others = {seed: ScoreTable.of([one]) for seed, one in enumerate(packs[1:])}
        found = compare(replace(ScoreTable.of(packs[:1]), packs=others), Settings(resamples=19))
        (one,) = [one for one in found.seeds if one.score == "sago_core"]
        spreads.append(one.standard_deviation[0] ** 2)
        errors.append(one.standard_error[0] ** 2)
    assert np.mean(spreads) / np.mean(errors) == pytest.approx((1.5 / 9.0) / (0.5 + 1.5 / 9.0), abs=0.04)
