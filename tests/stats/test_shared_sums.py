"""Shortcuts over all pairs of models against the plain sums that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sago_harness.stats.counts import Extremes
from sago_harness.stats.flips import Flips
from sago_harness.stats.moments import moments
from sago_harness.stats.pair_data import PairData, contributions, pair_data
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.shared_sums import PairSums, SharedSums
from tests.stats import made

MODELS = tuple("abcdefg")


def scores(documents: int = 30) -> dict[str, PairData]:
    rng = np.random.default_rng(3)
    table = made.table(rng, models=MODELS, documents=documents, level=np.linspace(0.2, 0.9, 7))
    return pair_data(score_task(table))


@pytest.mark.parametrize("documents", [8, 30])
@pytest.mark.parametrize("name", ["x_bleu", "x_mr", "sago_generation", "sago", "sago_text"])
def test_draws_are_the_sums_of_contributions_under_signs(documents, name):
    data = scores(documents)[name]
    flips = Flips(documents, Settings(resamples=499), "pairs", "made")
    shared = SharedSums(flips)
    order = np.array([3, 0, 1, 2, 6, 5])
    sums = PairSums(shared, data.terms, order)
    j = np.array([1, 2, 4])
    a, b = np.full(3, 3), order[j]
    scale = np.array([1.0, -1.0, 2.5])
    difference = data.quantity.values[a] - data.quantity.values[b]
    part = np.ones(documents, dtype=bool)
    for share in (np.zeros(3), difference):
        plain = contributions(data.terms, a, b, share, np.broadcast_to(part, (3, documents)))
        wanted = (plain * scale[:, None]) @ flips.patterns.T.astype(float)
        found = sums.draws(
            np.zeros(3, dtype=np.intp), j, scale, *((share, shared.even(part)) if share.any() else ())
        )
        slack = 1e-12 if flips.exact else 4e-7
        np.testing.assert_allclose(found, wanted, rtol=0, atol=slack * 4 * np.abs(plain).sum())


@pytest.mark.parametrize("name", ["x_bleu", "x_mr", "sago_generation", "sago", "sago_text"])
def test_moments_are_those_of_influence_values_of_equal_models(name):
    """Where two models have one value, contributions are the differences of their influence values."""
    data = scores()[name]
    others = np.arange(1, 7)
    squares, cubes = moments(data.terms, 30, np.zeros(6, dtype=np.intp), others)
    one = data.terms[0].quantity
    if len(data.terms) == 1:
        d = one.influence[0] - one.influence[others]
        if data.terms[0].root:
            r = one.values
            u = 2.0 * r[:, None] * one.influence
            d = (u[0] - u[others]) / (r[0] + r[others])[:, None]
        d = d - d.mean(axis=1, keepdims=True)
        assert squares == pytest.approx(stats.moment(d, 2, axis=1) * 30, rel=1e-9)
        assert cubes == pytest.approx(stats.moment(d, 3, axis=1) * 30, rel=1e-9)
    part = np.ones((6, 30), dtype=bool)
    plain = contributions(data.terms, np.zeros(6, dtype=np.intp), others, np.zeros(6), part)
    assert squares == pytest.approx(np.square(plain).sum(axis=1), rel=1e-12)
    assert cubes == pytest.approx((plain**3).sum(axis=1), rel=1e-9)


def test_a_model_does_not_differ_from_itself():
    squares, cubes = moments(scores()["sago"].terms, 30, np.array([2]), np.array([2]))
    assert (squares.tolist(), cubes.tolist()) == ([0.0], [0.0])


def test_many_terms_are_summed_pair_by_pair():
    data = scores()["sago"]
    terms = data.terms * 3
    shared = SharedSums(Flips(30, Settings(resamples=99), "ranks", "made"))
    order, j = np.arange(7), np.array([1, 2, 3])
    few, many = (
        PairSums(shared, t, order).draws(np.zeros(3, dtype=np.intp), j, np.ones(3)).copy()
        for t in (data.terms, terms)
    )
    np.testing.assert_allclose(many, 3.0 * few, rtol=0, atol=1e-5 * np.abs(few).max())
    squares = [moments(t, 30, np.zeros(3, dtype=np.intp), j)[0] for t in (data.terms, terms)]
    np.testing.assert_allclose(squares[1], 9.0 * squares[0], rtol=1e-10)


@pytest.mark.parametrize("edge", [0.0, 1.0, 2.5, 9.0])
def test_extremes_are_what_sorting_gives(edge):
    draws = np.round(np.random.default_rng(4).normal(size=(5, 400)), 2).astype(np.float32)
    few = Extremes(draws, np.full(5, edge))
    limits = np.full(5, edge + 0.25, dtype=np.float32)
    assert few.above(limits).tolist() == (draws >= limits[:, None]).sum(axis=1).tolist()
    assert few.above(limits, equal=False).tolist() == (draws > limits[:, None]).sum(axis=1).tolist()
    assert few.below(-limits).tolist() == (draws <= -limits[:, None]).sum(axis=1).tolist()
    for magnitude in (False, True):
        wanted = np.sort(np.abs(draws) if magnitude else draws, axis=1)[:, -3].astype(float)
        found = few.largest(3, magnitude=magnitude)
        there = wanted >= max(edge, 1e-9)
        np.testing.assert_array_equal(found[there], wanted[there])
        assert np.isnan(found[~there]).all()
