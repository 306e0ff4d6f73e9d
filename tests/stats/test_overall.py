from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.stats.overall import joined, overall, overall_pairs, overall_ranks
from sago_harness.stats.pairs import pair_block
from sago_harness.stats.quantities import mean_quantity
from sago_harness.stats.ranks import task_ranks
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import ScoredTask, score_task
from tests.stats import made

NAMES = tuple("abcdef")


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def study(
    sizes: tuple[int, ...] = (30, 60, 120), models: int = 3, level: float | list[float] = 0.4, seed: int = 1
) -> list[ScoredTask]:
    return [
        score_task(
            made.table(
                np.random.default_rng(100 * seed + k),
                task=f"t{k}",
                models=NAMES[:models],
                documents=size,
                level=level,
                mirroring=0.2,
            )
        )
        for k, size in enumerate(sizes)
    ]


def test_means_over_data_sets_and_their_errors():
    tasks = study()
    table = overall(tasks)
    assert str(table) == "3 models over 3 data sets, 210 documents"
    sizes = np.array([30.0, 60.0, 120.0])
    for name, q in table.quantities.items():
        values = np.array([task.quantities[name].values for task in tasks])
        errors = np.array([task.quantities[name].stderr for task in tasks])
        assert q.values == pytest.approx(values.mean(axis=0))
        assert q.stderr == pytest.approx(np.sqrt(np.square(errors).sum(axis=0)) / 3)
        assert q.counts.tolist() == [210] * 3
        assert table.weighted[name] == pytest.approx(sizes @ values / 210)
        assert table.weighted_stderr[name] == pytest.approx(
            np.sqrt(np.square(sizes) @ np.square(errors)) / 210
        )
        assert table.left_out[name] == {}
        assert table.tasks_of[name] == ("t0", "t1", "t2")


def test_one_data_set_is_itself():
    tasks = study((50,))
    table, settings = overall(tasks), Settings(resamples=999)
    whole, alone = overall_pairs(table, settings), pair_block(tasks[0], settings)
    assert whole.task == "overall"
    for name, c in alone.columns.items():
        ours = whole.columns[name]
        for field in ("difference", "stderr", "statistic", "low", "high", "effect_size"):
            assert getattr(ours, field) == pytest.approx(getattr(c, field), rel=1e-9, abs=1e-12)
        assert ours.pvalue == pytest.approx(c.pvalue, abs=0.06)
    ranks, one = overall_ranks(table, settings)["sago"], task_ranks(tasks[0], settings)["sago"]
    assert (ranks.models, ranks.rank.tolist()) == (one.models, one.rank.tolist())


def test_pairs_over_data_sets_have_the_joint_error():
    """Data sets are independent: the variance of the mean difference is the sum of theirs over Q^2."""
    level = [0.3, 0.35, 0.5]
    large, settings = study((120, 150), level=level), Settings(resamples=199)
    found = overall_pairs(overall(large), settings)
    for name, c in found.columns.items():
        variance = np.zeros(3)
        for task in large:
            q = task.quantities[name]
            apart = q.influence[found.first] - q.influence[found.second]
            n = len(task.documents)
            variance += n / (n - 1) * np.square(apart).sum(axis=1) / 4
        assert c.stderr == pytest.approx(np.sqrt(variance), rel=1e-9)
        assert c.n.tolist() == [270] * 3
    small = study((40, 50), level=level)
    found = overall_pairs(overall(small), settings)
    each = [pair_block(task, settings).columns for task in small]
    for name, c in found.columns.items():
        assert c.difference == pytest.approx(np.mean([b[name].difference for b in each], axis=0))
        # The spread that the test rests on is the difference over the statistic.
        spread = [b[name].difference / b[name].statistic for b in each]
        assert c.difference / c.statistic == pytest.approx(np.hypot(*spread) / 2, rel=1e-6)


def test_opposite_data_sets_cancel():
    """A model ahead on one data set and as far behind on another is not ahead."""
    rng = np.random.default_rng(5)
    tasks = []
    for k, level in enumerate(([0.3, 0.5], [0.5, 0.3])):
        table = made.table(rng, task=f"t{k}", models=NAMES[:2], documents=80, level=level)
        tasks.append(score_task(table))
    settings = Settings(resamples=999)
    assert all(pair_block(task, settings).columns["sago"].pvalue[0] < 0.001 for task in tasks)
    assert overall_pairs(overall(tasks), settings).columns["sago"].pvalue[0] > 0.001
    same = [tasks[0], replace(tasks[0], task="again")]
    assert overall_pairs(overall(same), settings).columns["sago"].pvalue[0] < 0.001


def test_models_that_lack_a_data_set_are_named():
    tasks = study((30, 40))
    rng = np.random.default_rng(6)
    fewer = made.table(rng, task="t2", models=NAMES[:2], documents=30)
    for name in ("x_act", "x_prob", "x_ent"):
        fewer.distances[name][1] = np.nan
    table = overall([*tasks, score_task(fewer)])
    assert table.left_out["sago"] == {"b": ("t2",), "c": ("t2",)}
    assert table.left_out["sago_text"] == {"c": ("t2",)}
    assert table.quantities["sago"].reasons[2] == "t2: not_run"
    assert table.quantities["sago"].reasons[1].startswith("t2: activation: ")
    assert np.isnan(table.weighted["sago"]).tolist() == [False, True, True]
    ranks = overall_ranks(table, Settings(resamples=199))
    assert ranks["sago"].excluded == {"b": "unscored", "c": "unscored"}
    assert ranks["sago_text"].models in {("a", "b"), ("b", "a")}
    c = overall_pairs(table, Settings(resamples=199)).columns["sago_text"]
    assert c.reasons == ("", "unscored: c (t2: not_run)", "unscored: c (t2: not_run)")


def test_a_score_that_a_data_set_cannot_give_is_the_mean_over_the_others():
    tasks = study((30, 40))
    table = made.table(np.random.default_rng(7), task="t2", models=NAMES[:3], documents=30)
    del table.distances["x_mr"]
    third = score_task(table)
    found = overall([*tasks, third])
    assert found.tasks_of["sago"] == ("t0", "t1")
    assert found.tasks_of["sago_core"] == ("t0", "t1", "t2")
    assert found.quantities["sago"].influence.shape == (3, 70)
    assert found.quantities["sago"].values == pytest.approx(overall(tasks).quantities["sago"].values)
    block = overall_pairs(found, Settings(resamples=199))
    assert block.columns["sago"].n.tolist() == [70] * 3
    assert block.columns["sago_core"].n.tolist() == [100] * 3


@pytest.mark.parametrize("size", [30, 120])
def test_only_common_documents_enter_pairs(size):
    rng = np.random.default_rng(8)
    holes = np.arange(size) % 4 == 1
    tables = [made.table(rng, task=f"t{k}", models=NAMES[:2], documents=size) for k in range(2)]
    cut = [table.with_documents(~holes) for table in tables]
    for table in tables:
        for values in table.distances.values():
            values[0, holes] = np.nan
    settings = Settings(resamples=999)
    ours = overall_pairs(overall([score_task(t) for t in tables]), settings)
    less = overall_pairs(overall([score_task(t) for t in cut]), settings)
    for name, c in less.columns.items():
        assert ours.columns[name].n.tolist() == c.n.tolist() == [2 * int((~holes).sum())]
        assert ours.columns[name].difference == pytest.approx(c.difference)
        # The restricted data sets may fall under the size from which influence values are used.
        assert ours.columns[name].stderr == pytest.approx(c.stderr, rel=0.05 if size == 120 else 1e-9)


def test_single_documents_and_stock_answers():
    lone = joined(
        [mean_quantity("x", np.array([[0.5]])), mean_quantity("x", np.array([[0.1, 0.2]]))], ["p", "q"]
    )
    assert np.isnan(lone.values[0])
    assert lone.reasons == ("p: one_document",)
    tasks = study((30, 30))
    stocked = [replace(t, stock=np.array([0.0, s, 0.12])) for t, s in zip(tasks, (0.05, 0.14), strict=True)]
    found = overall(stocked)
    assert found.ranked.tolist() == [True, True, False]
    assert overall_ranks(found, Settings(resamples=99))["sago"].excluded == {"c": "stock_answers"}


def test_control_and_errors():
    table = overall(study((20, 20)))
    block = overall_pairs(table, Settings(resamples=99, control="c"))
    assert [(r.a, r.b) for r in block.rows({"sago": np.ones(2)})] == [("a", "c"), ("b", "c")]
    with pytest.raises(SagoError, match="unknown control model"):
        overall_pairs(table, Settings(control="z"))
    with pytest.raises(ValueError, match="no data sets"):
        overall([])


def false_positives(studies: int, sizes: tuple[int, ...]) -> float:
    hits = []
    for k in range(studies):
        block = overall_pairs(
            overall(study(sizes, models=2, level=0.3, seed=k)), Settings(resamples=299, seed=k)
        )
        hits.append(block.columns["sago"].pvalue[0] <= 0.05)
    return float(np.mean(hits))


@pytest.mark.parametrize("sizes", [(12, 12, 12), (20, 110)])
def test_false_positives_over_data_sets(sizes):
    assert false_positives(30, sizes) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 30)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(8, 8), (12, 12, 12), (20, 110)])
def test_false_positives_over_data_sets_long(sizes):
    assert false_positives(1000, sizes) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 1000)
