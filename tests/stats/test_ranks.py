"""Rank sets.

Chosen by simulation (200 studies each, 2 to 12 models, 12 to 200 documents, level 5 %): for means,
random signs cover all true ranks in 92 to 100 %, skewed or with many zeros; bootstrap weights
without their own spread in 75 to 100 %, under ties the fewer the more models; bootstrap weights with
it in 94 to 100 %, but with sets up to a third wider. Hence random signs.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import sago_harness.stats.ranks as ranks_module
from sago_harness.stats.flips import Flips
from sago_harness.stats.overall import overall, overall_ranks
from sago_harness.stats.quantities import Quantity, mean_quantity
from sago_harness.stats.ranks import RankTable, rank_sets, task_ranks
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from tests.stats import made

NAMES = tuple("abcdefghijkl")


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def ranking(quantity: Quantity, settings: Settings | None = None, **options: object) -> RankTable:
    models = NAMES[: len(quantity.values)]
    return rank_sets(quantity, settings or Settings(), models=models, task="made", **options)  # type: ignore[arg-type]


def bounds(table: RankTable) -> dict[str, tuple[int, int, int]]:
    return {row.model: (row.rank, row.lower, row.upper) for row in table.rows()}


def plain_sets(values: np.ndarray, settings: Settings) -> tuple[list[int], list[int]]:
    """Step-down by the book: every hypothesis "i is no better than j" and all draws in one matrix."""
    models, n = values.shape
    pairs = [(i, j) for i in range(models) for j in range(models) if i != j]
    d = np.array([values[j] - values[i] for i, j in pairs])
    signs = Flips(n, settings, "ranks", "made").patterns.astype(float)
    centred = d - d.mean(axis=1, keepdims=True)
    sums = signs @ centred.T / n
    left = np.square(centred).sum(axis=1) / n**2 - np.square(sums) / n
    draws = sums / np.sqrt(n / (n - 1) * left)
    t = d.mean(axis=1) / (d.std(axis=1, ddof=1) / np.sqrt(n))
    rejected = np.zeros(len(pairs), dtype=bool)
    while True:
        largest = np.sort(draws[:, ~rejected].max(axis=1))
        critical = largest[int(np.ceil((1 - settings.level) * (len(draws) + 1))) - 1]
        more = rejected | (t > critical)
        if (more == rejected).all():
            break
        rejected = more
    lower, upper = [1] * models, [models] * models
    for (i, j), bad in zip(pairs, rejected, strict=True):
        if bad:
            upper[i] -= 1
            lower[j] += 1
    return lower, upper


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_the_plain_procedure(seed):
    rng = np.random.default_rng(seed)
    models, n = 8, 30
    levels = np.repeat([0.5, 1.0, 1.6, 2.2], 2)
    values = levels[:, None] + rng.gamma(1.0, 0.5, size=(models, n))
    settings = Settings(resamples=999)
    table = ranking(mean_quantity("x", values), settings)
    lower, upper = plain_sets(values, settings)
    assert {m: (lo, up) for m, (_, lo, up) in bounds(table).items()} == {
        NAMES[m]: (lower[m], upper[m]) for m in range(models)
    }
    assert np.any(table.lower > 1)


def test_step_down_finds_more_than_one_step(monkeypatch):
    """Only with the clear differences out of the way are two close models told apart."""
    settings = Settings(resamples=999)
    quantities = []
    for seed in range(40):
        noise = np.random.default_rng(seed).normal(size=(6, 60))
        levels = np.array([0.0, 0.45, 6.0, 12.0, 18.0, 24.0])
        quantities.append(mean_quantity("x", levels[:, None] + noise))
    all_steps = [bounds(ranking(q, settings))["a"][2] for q in quantities]
    monkeypatch.setattr(ranks_module, "ROUNDS", 1)
    one_step = [bounds(ranking(q, settings))["a"][2] for q in quantities]
    assert all(few <= many for few, many in zip(all_steps, one_step, strict=True))
    assert sum(all_steps) < sum(one_step)


def test_clear_order_and_direction():
    values = np.array([3.0, 1.0, 2.0])[:, None] + np.random.default_rng(1).normal(0.0, 0.1, (3, 50))
    assert bounds(ranking(mean_quantity("x", values))) == {"b": (1, 1, 1), "c": (2, 2, 2), "a": (3, 3, 3)}
    best_first = ranking(mean_quantity("x", values, higher=True))
    assert best_first.models == ("a", "c", "b")
    assert best_first.value.tolist() == sorted(best_first.value, reverse=True)


def test_one_model_and_none():
    one = ranking(mean_quantity("x", np.random.default_rng(2).random((1, 50))))
    assert bounds(one) == {"a": (1, 1, 1)}
    none = ranking(mean_quantity("x", np.full((2, 50), np.nan)))
    assert (none.models, none.excluded) == ((), {"a": "unscored", "b": "unscored"})
    assert none.reasons == {"a": "no_scored_document", "b": "no_scored_document"}
    assert not none.few_documents
    assert "not ranked: a (unscored)" in str(none)


def test_two_models():
    rng = np.random.default_rng(3)
    near = ranking(mean_quantity("x", rng.random((2, 50))))
    assert {(row.lower, row.upper) for row in near.rows()} == {(1, 2)}
    far = ranking(mean_quantity("x", rng.random((2, 50)) + np.array([[0.0], [2.0]])))
    assert bounds(far) == {"a": (1, 1, 1), "b": (2, 2, 2)}


def test_equal_values_share_the_first_rank():
    same = np.tile(np.random.default_rng(4).random(50), (4, 1))
    assert set(bounds(ranking(mean_quantity("x", same))).values()) == {(1, 1, 4)}
    constant = np.full((4, 50), 0.3)
    assert set(bounds(ranking(mean_quantity("x", constant))).values()) == {(1, 1, 4)}


def test_models_that_differ_by_the_same_amount_everywhere():
    base = np.random.default_rng(5).random(50)
    table = ranking(mean_quantity("x", np.array([base, base + 0.1])))
    assert bounds(table) == {"a": (1, 1, 1), "b": (2, 2, 2)}


def test_few_documents_are_flagged_and_one_says_nothing():
    rng = np.random.default_rng(6)
    assert ranking(mean_quantity("x", rng.random((3, 39)))).few_documents
    assert not ranking(mean_quantity("x", rng.random((3, 40)))).few_documents
    one = ranking(mean_quantity("x", np.array([[0.1], [0.9]])))
    assert {(row.lower, row.upper) for row in one.rows()} == {(1, 2)}


def test_two_documents_cannot_rule_anything_out():
    table = ranking(mean_quantity("x", np.array([[0.1, 0.2], [0.8, 0.95], [0.5, 0.7]])))
    assert {(row.lower, row.upper) for row in table.rows()} == {(1, 3)}


def test_stock_answers_and_unscored_models_are_left_out():
    table = made.table(np.random.default_rng(7), models=NAMES[:4], documents=30)
    table.responses[1, :10] = "I cannot help with that."
    for name in ("x_act", "x_prob", "x_ent"):
        table.distances[name][3] = np.nan
    ranks = task_ranks(score_task(table), Settings(resamples=199))
    assert list(ranks) == ["sago", "sago_core", "sago_text"]
    assert ranks["sago"].excluded == {"b": "stock_answers", "d": "unscored"}
    assert ranks["sago"].reasons["d"].startswith("activation: ")
    assert ranks["sago_text"].excluded == {"b": "stock_answers"}
    assert sorted(ranks["sago_text"].models) == ["a", "c", "d"]
    assert ranks["sago_text"].upper.max() <= 3


def test_a_task_is_ranked_as_its_scores_are():
    """Roots among the measures change the sets little with many documents."""
    level = [0.2, 0.2, 0.3, 0.3, 0.5]
    scored = score_task(made.table(np.random.default_rng(8), models=NAMES[:5], documents=300, level=level))
    settings = Settings(resamples=1999)
    task = bounds(task_ranks(scored, settings)["sago"])
    assert task == bounds(ranking(scored.quantities["sago"], settings))
    assert task["e"] == (5, 5, 5)


# Do the sets hold all true ranks at once?


def covered(table: RankTable, levels: np.ndarray) -> bool:
    truth = {NAMES[m]: 1 + int(np.sum(levels < levels[m])) for m in range(len(levels))}
    return all(lo <= truth[m] <= up for m, (_, lo, up) in bounds(table).items())


LEVELS = {
    "ties": lambda models: np.repeat([0.5, 1.0], [models // 2, models - models // 2]),
    "all equal": lambda models: np.ones(models),
    "one far": lambda models: np.where(np.arange(models) == 0, 0.3, 1.0),
}


def coverage(levels: Sequence[float], documents: int, studies: int, kind: str) -> float:
    found = []
    levels = np.asarray(levels, dtype=float)
    for k in range(studies):
        rng = np.random.default_rng(1000 * documents + k)
        settings = Settings(resamples=399, seed=k)
        if kind == "relative":
            names = NAMES[: len(levels)]
            table = made.table(rng, models=names, documents=documents, level=0.3 * levels, spread=0.8)
            scored = score_task(replace(table, measures={"x_bleu": "generation"}))
            ranks = task_ranks(scored, settings, ["x_bleu"])["x_bleu"]
        else:
            values = rng.gamma(0.7, size=(len(levels), documents))
            if kind == "zeros":
                values = values * (rng.random(values.shape) < 0.3)
            ranks = ranking(mean_quantity("x", levels[:, None] * values), settings)
        found.append(covered(ranks, levels))
    return float(np.mean(found))


def bound(studies: int) -> float:
    return 0.95 - 3.0 * float(np.sqrt(0.05 * 0.95 / studies))


@pytest.mark.parametrize("kind", ["skewed", "zeros", "relative"])
@pytest.mark.parametrize(("models", "documents"), [(2, 40), (6, 200), (12, 40)])
def test_all_true_ranks_are_covered(models, documents, kind):
    studies = 25 if kind == "relative" else 60
    for name, levels in LEVELS.items():
        assert coverage(levels(models), documents, studies, kind) >= bound(studies), name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["skewed", "zeros", "relative"])
@pytest.mark.parametrize("documents", [40, 200])
@pytest.mark.parametrize("models", [2, 5, 12])
@pytest.mark.parametrize("levels", sorted(LEVELS))
def test_all_true_ranks_are_covered_long(models, documents, kind, levels):
    assert coverage(LEVELS[levels](models), documents, 1000, kind) >= bound(1000)


@pytest.mark.parametrize(
    ("generation", "drawn"),
    [
        ({"do_sample": True, "temperature": 0.7}, True),
        ({"do_sample": True}, True),
        ({"do_sample": True, "temperature": 0}, False),
        ({"do_sample": False, "temperature": 0.7}, False),
        ({"max_gen_toks": 32}, False),
        (None, False),
    ],
)
def test_a_run_that_samples_is_not_ranked(generation, drawn):
    table = made.table(np.random.default_rng(7), models=NAMES[:3], documents=30)
    greedy = {"generation": {"do_sample": False}}
    odd = {} if generation is None else {"generation": generation}
    scored = score_task(replace(table, signatures=(greedy, odd, greedy)))
    for ranks in task_ranks(scored, Settings(resamples=99)).values():
        assert ranks.excluded == ({"b": "sampling"} if drawn else {})
        assert sorted(ranks.models) == (["a", "c"] if drawn else ["a", "b", "c"])
    # Over data sets one run that samples is enough.
    other = score_task(replace(table, task="other", signatures=(greedy, greedy, greedy)))
    found = overall([scored, other])
    assert found.ranked.tolist() == [True, not drawn, True]
    excluded = overall_ranks(found, Settings(resamples=99))["sago"].excluded
    assert excluded == ({"b": "sampling"} if drawn else {})


def test_sampling_is_named_before_stock_answers_and_after_what_is_unscored():
    table = made.table(np.random.default_rng(7), models=NAMES[:3], documents=30)
    table.responses[:2, :10] = "I cannot help with that."
    table.distances["x_act"][1] = np.nan
    drawn = {"generation": {"do_sample": True}}
    scored = score_task(replace(table, signatures=(drawn, drawn, {})))
    ranks = task_ranks(scored, Settings(resamples=99))
    assert ranks["sago"].excluded == {"a": "sampling", "b": "unscored"}
    assert ranks["sago_text"].excluded == {"a": "sampling", "b": "sampling"}
