"""Relative instability, axes and composites: closed forms, a simulation, and the rules of section 5."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from sago_harness.scores.composite import (
    Estimate,
    clipped,
    mean_estimate,
    mean_of,
    relative_instability,
    stability,
    stock_documents,
    stock_share,
    task_scores,
)

NAN = float("nan")


def test_mean_and_standard_error_are_scipys() -> None:
    values = np.array([0.1, 0.5, 0.9, 0.2, NAN])
    found = mean_estimate(values)
    assert found.value == pytest.approx(np.mean(values[:4]))
    assert found.stderr == pytest.approx(stats.sem(values[:4]))
    assert found.n == 4


def test_relative_instability_by_hand() -> None:
    """q_s = (.1, .3), q_c = (.8, 1.0): r^2 = .2/.9; u = (q_s - r^2 q_c)/.9, halved and over r."""
    found = relative_instability(np.array([0.1, 0.3]), np.array([0.8, 1.0]))
    r2 = 0.2 / 0.9
    r = math.sqrt(r2)
    u = np.array([0.1 - r2 * 0.8, 0.3 - r2 * 1.0]) / 0.9 / (2 * r)
    assert found.value == pytest.approx(r)
    assert found.stderr == pytest.approx(stats.sem(u))


def test_only_documents_with_both_enter() -> None:
    found = relative_instability(np.array([0.25, 0.9, NAN]), np.array([1.0, NAN, 1.0]))
    assert found.value == pytest.approx(0.5)
    assert found.n == 1
    assert math.isnan(found.stderr)


def test_equal_distributions_give_one_without_bias() -> None:
    """Variants that move as far as chance: r has mean 1 (an RMS against single draws would not)."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        d = rng.beta(2, 2, size=(60, 8))
        c = rng.beta(2, 2, size=(60, 2))
        found.append(relative_instability(np.mean(d**2, axis=1), np.mean(c**2, axis=1)).value)
    assert np.mean(found) == pytest.approx(1.0, abs=0.01)


def test_standard_error_matches_the_spread_of_repeated_studies() -> None:
    """The delta method's error against the standard deviation over 600 simulated studies, N = 60."""
    rng = np.random.default_rng(7)
    values, errors = [], []
    for _ in range(600):
        level = rng.beta(2, 5, size=60)
        s = np.mean((level[:, None] * rng.beta(4, 2, size=(60, 6))) ** 2, axis=1)
        c = np.mean(rng.beta(5, 2, size=(60, 2)) ** 2, axis=1)
        found = relative_instability(s, c)
        values.append(found.value)
        errors.append(found.stderr)
    assert np.mean(errors) == pytest.approx(np.std(values, ddof=1), rel=0.1)


def test_interval_covers() -> None:
    """t intervals on the influence values cover the true r of known distributions in 93 to 97 %."""
    rng = np.random.default_rng(11)
    n, studies, hits = 40, 1000, 0
    truth = math.sqrt((0.3**2 + 0.3**2 / 3) / (0.8**2))  # E q_s / E q_c of the draws below
    quantile = stats.t.ppf(0.975, n - 1)
    for _ in range(studies):
        q_s = np.square(rng.normal(0.3, 0.3 / math.sqrt(3), size=n))
        q_c = np.full(n, 0.64) * rng.uniform(0.5, 1.5, size=n)
        found = relative_instability(q_s, q_c)
        hits += abs(found.value - truth) <= quantile * found.stderr
    assert 0.93 <= hits / studies <= 0.97


def test_axis_error_takes_dependence_into_account() -> None:
    """Two measures with the same values have the error of one, not of two independent ones."""
    s, c = np.array([0.1, 0.4, 0.2]), np.array([1.0, 0.9, 1.1])
    one = relative_instability(s, c)
    both = mean_of({"a": one, "b": relative_instability(s, c)})
    assert both.value == pytest.approx(one.value)
    assert both.stderr == pytest.approx(one.stderr)


def test_documents_of_one_measure_only() -> None:
    """Independent halves: the variance of the mean of two means is a quarter of their sum."""
    a, b = np.array([0.1, 0.5, NAN, NAN]), np.array([NAN, NAN, 0.2, 0.8])
    first, second = mean_estimate(a), mean_estimate(b)
    both = mean_of({"a": first, "b": second})
    assert both.value == pytest.approx((0.3 + 0.5) / 2)
    raw = np.sum(np.square((first.influence + second.influence) / 2))
    assert np.sum(np.square(both.influence)) == pytest.approx(raw)


def test_clipping_only_where_an_axis_is_formed() -> None:
    wild = relative_instability(np.array([2.0, 2.0]), np.array([1.0, 1.0]))
    assert wild.value == pytest.approx(math.sqrt(2))
    assert clipped(wild).value == 1.0
    assert math.isnan(clipped(Estimate(NAN, np.zeros(1), 0, "x")).value)


def test_unscored_unless_all_are_scored() -> None:
    good = mean_estimate(np.array([0.2, 0.4]))
    bad = mean_estimate(np.array([NAN, NAN]))
    found = mean_of({"x_bleu": good, "x_bert": bad})
    assert math.isnan(found.value)
    assert found.reason == "x_bert: no_scored_document"


def test_rigid_and_noise_rules() -> None:
    s, c = np.array([0.0001, 0.0002]), np.array([0.002, 0.002])  # root .0447 < .05
    assert relative_instability(s, c, least_chance=0.05).reason == "rigid"
    assert relative_instability(s, np.array([0.003, 0.003]), least_chance=0.05).reason == ""
    assert relative_instability(s, np.zeros(2)).reason == "rigid"
    # chance .3, floor .11: under three times; floor .09: over.
    chance = np.array([0.09, 0.09])
    assert relative_instability(s, chance, np.array([0.0121, 0.0121])).reason == "chance_near_noise"
    assert relative_instability(s, chance, np.array([0.0081, 0.0081])).reason == ""


def payload(q: float, chance: float, mirroring: float, response: str) -> dict[str, object]:
    measures = ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent")
    return {**{m: [q, chance, None] for m in measures}, "x_mr": mirroring, "response": response}


AXES = {
    "x_bleu": "generation",
    "x_bert": "generation",
    "x_act": "activation",
    "x_prob": "confidence",
    "x_ent": "confidence",
}


def test_sago_core_and_text_by_hand() -> None:
    """Every r = .5, mirroring .1: sago = 1 - (1.5 + .1)/4, core = .5, text = 1 - .3."""
    scores = task_scores([payload(0.25, 1.0, 0.05, "a"), payload(0.25, 1.0, 0.15, "b")], AXES)
    assert scores.sago.value == pytest.approx(1 - 1.6 / 4)
    assert scores.sago_core.value == pytest.approx(0.5)
    assert scores.sago_text.value == pytest.approx(1 - 0.6 / 2)
    assert scores.axes["mirroring"].value == pytest.approx(0.1)
    assert scores.stock_share == 0.0


def test_negative_mirroring_counts_as_none() -> None:
    scores = task_scores([payload(0.25, 1.0, -0.3, "a"), payload(0.25, 1.0, -0.1, "b")], AXES)
    assert scores.axes["mirroring"].value == 0.0
    assert scores.relative["x_mr"].value == pytest.approx(-0.2)


def test_text_only_model_has_sago_text_alone() -> None:
    items = [
        {**payload(0.25, 1.0, 0.0, r), "x_act": [None] * 3, "x_prob": [None] * 3, "x_ent": [None] * 3}
        for r in "ab"
    ]
    scores = task_scores(items, AXES)
    assert scores.sago_text.value == pytest.approx(0.75)
    assert math.isnan(scores.sago.value)
    assert "activation" in scores.sago.reason


def test_stock_answers() -> None:
    assert stock_documents(["a", "b", "a", "", None]) == [True, False, True, True, False]
    assert stock_share(["a", "b", "a", "", None]) == pytest.approx(0.75)
    assert stock_share(["", ""]) == 1.0
    assert math.isnan(stock_share([None]))


def test_a_share_of_stock_answers_lowers_r_as_stated() -> None:
    """A share p of stock answers lowers r^2 to about r^2/(1 + p) without any stability.

    Among N documents with p N stock ones, a stock document moves nothing, and its chance
    partners are stock as well with probability p.
    """
    rng = np.random.default_rng(0)
    n, p, moved = 20000, 0.3, 0.6
    stock = rng.random(n) < p
    q_s = np.where(stock, 0.0, moved**2)
    partner = stock[rng.permutation(n)]
    q_c = np.where(stock & partner, 0.0, 1.0)
    found = relative_instability(q_s, q_c).value
    expected = moved * math.sqrt((1 - p) / (1 - p * p))  # = moved / sqrt(1 + p)
    assert found == pytest.approx(expected, rel=0.02)


def test_stability_flips_the_sign_of_the_error_only() -> None:
    one = mean_estimate(np.array([0.2, 0.4]))
    assert stability({"a": one}).value == pytest.approx(0.7)
    assert stability({"a": one}).stderr == pytest.approx(one.stderr)


def test_noise_and_excess() -> None:
    """Floor .3, variants .5: sqrt(.25 - .09) = .4; less than the floor counts as nothing."""
    items = [{**payload(0.25, 1.0, 0.0, r), "x_bleu": [0.25, 1.0, 0.09]} for r in "ab"]
    assert task_scores(items, AXES).noise == {"x_bleu": (pytest.approx(0.3), pytest.approx(0.4))}
    quiet = [{**payload(0.25, 1.0, 0.0, r), "x_bleu": [0.04, 1.0, 0.09]} for r in "ab"]
    assert task_scores(quiet, AXES).noise["x_bleu"][1] == 0.0
