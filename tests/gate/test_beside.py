"""Rules on measures that are in no score: ``x_jsd``, and why none on ``x_cka``."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.axes.representation.base import Side, jackknife_stderr
from sago_harness.axes.representation.cka import Cka
from sago_harness.errors import SagoError
from sago_harness.gate.check import check
from sago_harness.gate.metrics import measured
from sago_harness.stats.scored import score_task
from tests.gate.made_gate import policy, run, task_table
from tests.gate.wrong_verdicts import LEVEL, LONG, allowed

JSD = {"metric": "x_jsd", "max": 0.9}


def test_the_instability_of_an_unscored_measure_is_formed_like_any_other() -> None:
    """The same distances under the name of a scored measure give the same number, error and bounds."""
    table = task_table()
    moved, chance = table.distances["x_jsd"], table.controls["x_jsd"]
    as_act = replace(
        table,
        distances={**table.distances, "x_act": moved},
        controls={**table.controls, "x_act": chance},
    )
    for rule in ({}, {"operator": "noise/typos"}):
        (jsd,) = check(policy({**JSD, **rule}), run(table)).rules
        (act,) = check(policy({"metric": "x_act", "max": 0.9, **rule}), run(as_act)).rules
        for field in ("value", "low", "high", "stderr", "pvalue", "documents", "total", "verdict", "method"):
            assert getattr(jsd, field) == getattr(act, field), field
        assert jsd.verdict == "pass"


def test_its_number_is_the_plain_formula() -> None:
    """r = sqrt(mean q_s / mean q_c), q_s the mean over families of mean squared distances."""
    table = task_table(documents=50)
    moved, chance = table.distances["x_jsd"][0], table.controls["x_jsd"][0]
    families = [np.array([key.family == family for key in table.variants]) for family in table.families]
    square = np.mean([np.square(moved[:, of]).mean(axis=1) for of in families], axis=0)
    expected = math.sqrt(square.mean() / np.square(chance).mean(axis=1).mean())
    (rule,) = check(policy(JSD), run(table)).rules
    assert rule.value == pytest.approx(expected)


def test_it_is_compared_and_averaged_like_any_other() -> None:
    new = run(task_table("a"), task_table("b", seed=1))
    old = run(task_table("a", model="old", seed=5), task_table("b", model="old", seed=6))
    rules = [
        {**JSD, "task": "overall"},
        {"metric": "x_jsd", "margin": 0.3, "task": "overall"},
        {"metric": "x_jsd", "margin": 0.3},
    ]
    found = check(policy(*rules, treatment="model"), new, old)
    assert [rule.verdict for rule in found.rules] == ["pass"] * 4
    each = [check(policy(JSD), run(new.load(task))).rules[0].value for task in "ab"]
    assert found.rules[0].value == pytest.approx(np.mean(each))


def test_scores_and_what_counts_as_scored_stay_as_they_are() -> None:
    table = task_table()
    distances = {**table.distances, "x_jsd": np.full_like(table.distances["x_jsd"], np.nan)}
    distances["x_jsd"][:, :40] = table.distances["x_jsd"][:, :40]
    table = replace(table, distances=distances)
    plain, one = score_task(table), measured(table)
    for name, quantity in plain.quantities.items():
        np.testing.assert_array_equal(one.scored.quantities[name].values, quantity.values)
    rules = [{"metric": "unscored", "max": 0.5}, {"metric": "sago", "min": 0.1}, JSD]
    found = check(policy(*rules), run(table)).rules
    assert (found[0].value, found[1].documents) == (0.0, 60)
    assert (found[2].documents, found[2].total, found[2].missing) == (40, 60, True)


def test_a_run_without_it_is_wrong_input() -> None:
    table = task_table()
    less = replace(
        table,
        measures={k: v for k, v in table.measures.items() if k != "x_jsd"},
        distances={k: v for k, v in table.distances.items() if k != "x_jsd"},
    )
    with pytest.raises(SagoError, match=r"rule 1 \(x_jsd\): the run has no x_jsd on p"):
        check(policy(JSD), run(less))
    nothing = {**table.distances, "x_jsd": np.full_like(table.distances["x_jsd"], np.nan)}
    with pytest.raises(SagoError, match=r"no value of x_jsd on p \(no_document_with_chance\)"):
        check(policy(JSD), run(replace(table, distances=nothing)))


@pytest.mark.parametrize("name", list(REPRESENTATIONS))
@pytest.mark.parametrize("rule", [{"max": 0.4}, {"margin": 0.1}, {"max": 0.4, "task": "overall"}])
def test_a_measure_over_the_whole_data_set_is_refused_with_the_reason(
    name: str, rule: dict[str, float | str]
) -> None:
    made = policy({"metric": name, **rule}, treatment="model")
    with pytest.raises(
        SagoError, match=rf"{name} is one number for the whole data set, .*such as x_act"
    ) as caught:
        check(made, run(), run(task_table(model="old", seed=3)))
    assert "\n" not in str(caught.value)


#: Of hidden states: what documents share lies in few directions.
DIMENSIONS, FACTORS, VARIANTS, NOISE = 32, 6, 4, 0.5
AXES = np.random.default_rng(0).normal(size=(FACTORS, DIMENSIONS)) * (0.8 ** np.arange(FACTORS))[:, None]

#: Law -> spread over documents of what a variant changes, and how much that is.
LAWS = {"even": (0.0, 0.6), "skewed": (0.8, 0.5)}


def stated(rng: np.random.Generator, law: str, documents: int) -> tuple[float, float]:
    """``x_cka`` and its error as a run states them: variants add noise of each document's own size."""
    spread, much = LAWS[law]
    shape = (documents, DIMENSIONS)
    states = rng.normal(size=(documents, FACTORS)) @ AXES + NOISE * rng.normal(size=shape)
    size = much * rng.lognormal(0.0, spread, size=(documents, 1))
    x, cka = Side(states), Cka()
    values, changes = [], np.zeros(documents)
    for _ in range(VARIANTS):
        y = Side(states + size * rng.normal(size=shape))
        values.append(cka.compare(x, y))
        changes += values[-1] - cka.left_out(x, y, np.arange(documents), documents)
    return float(np.mean(values)), jackknife_stderr(changes / VARIANTS)


def true_cka(law: str) -> float:
    """1 - |S_xx| / |S_xx + E a^2| of the covariances: what a variant adds is independent of the states."""
    spread, much = LAWS[law]
    states = AXES.T @ AXES + NOISE**2 * np.eye(DIMENSIONS)
    added = much**2 * math.exp(2.0 * spread**2) * np.eye(DIMENSIONS)
    return float(1.0 - np.linalg.norm(states) / np.linalg.norm(states + added))


def passed_wrongly(law: str, documents: int, count: int) -> float:
    """Share of studies whose upper bound by Student's t lies under the truth."""
    from scipy import stats

    rng = np.random.default_rng([61, documents, len(law)])
    reach = stats.t.isf(LEVEL, documents - 1) * (1.0 + 1.0 / documents)
    found = np.array([stated(rng, law, documents) for _ in range(count)])
    return float(np.mean(found[:, 0] + reach * found[:, 1] < true_cka(law)))


def test_a_value_and_its_error_do_not_bound_cka() -> None:
    """Where few documents bring most of the change, a small value comes with a small error."""
    assert passed_wrongly("even", 40, 200) <= allowed(200)
    assert passed_wrongly("skewed", 40, 200) > 2.0 * allowed(200) - LEVEL


@pytest.mark.slow
def test_more_documents_do_not_help_it_long() -> None:
    for documents in (40, 100):
        share = passed_wrongly("skewed", documents, LONG)
        print(documents, share)
        assert share > 2.0 * LEVEL
