from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy import optimize, stats

from sago_harness.stats import dose
from sago_harness.stats.dose import DoseResult, arms, dose_response
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import TaskTable, VariantKey
from tests.stats import made

pytestmark = pytest.mark.filterwarnings("error")


def graded(
    distances: np.ndarray,
    strengths: Sequence[float | None],
    repeats: np.ndarray | None = None,
    positions: Sequence[str | None] | None = None,
) -> TaskTable:
    """One operator on one measure; distances of shape (M, D, V)."""
    models, documents, variants = distances.shape
    places = positions or [None] * variants
    return TaskTable(
        "made",
        tuple(f"m{m}" for m in range(models)),
        tuple(f"d{i}" for i in range(documents)),
        tuple(
            VariantKey(f"v{v}", "noise", "typos", s, p)
            for v, (s, p) in enumerate(zip(strengths, places, strict=True))
        ),
        {"x_act": "activation"},
        {"noise": variants},
        {"x_act": distances},
        {},
        {} if repeats is None else {"x_act": repeats},
    )


def only(table: TaskTable, level: float = 0.05) -> DoseResult:
    (result,) = dose_response(table, Settings(level=level))
    return result


def rising(rng: np.random.Generator, documents: int = 30, models: int = 2) -> np.ndarray:
    means = np.array([0.02, 0.1, 0.2, 0.4])
    return np.clip(means + rng.normal(0.0, 0.05, size=(models, documents, 4)), 0.0, 1.0)


def hall(values: npt.ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Ends of Hall's interval: his transformation of T set to the quantiles, by a root finder."""
    own = np.asarray(values, dtype=float)
    n, s, error = len(own), stats.skew(own), stats.sem(own)

    def transformed(t: float) -> float:
        r = np.sqrt(n)
        return t + s * t**2 / (3.0 * r) + s**2 * t**3 / (27.0 * n) + s / (6.0 * r)

    high, low = (
        optimize.brentq(lambda t, q=q: transformed(t) - q, -1e3, 1e3, xtol=1e-13)
        for q in stats.t.ppf([(1.0 - level) / 2.0, (1.0 + level) / 2.0], n - 1)
    )
    return own.mean() - low * error, own.mean() - high * error


def test_means_are_numpys_and_intervals_halls() -> None:
    rng = np.random.default_rng(0)
    d = rising(rng)
    d[rng.random(d.shape) < 0.1] = np.nan
    result = only(graded(d, [1, 2, 3, 4]), level=0.1)
    assert result.strengths == (1, 2, 3, 4)
    for m in range(2):
        for s in range(4):
            own = d[m, np.isfinite(d[m, :, s]), s]
            assert result.means[m, s] == pytest.approx(own.mean(), rel=1e-12)
            assert (result.low[m, s], result.high[m, s]) == pytest.approx(hall(own, 0.9), rel=1e-9)
            assert result.counts[m, s] == len(own)


def test_intervals_of_symmetric_distances_are_students() -> None:
    own = np.array([0.1, 0.2, 0.25, 0.3, 0.4])
    result = only(graded(np.stack([own, own[::-1]], axis=1)[None], [1, 2]))
    interval = stats.ttest_1samp(own, 0.0).confidence_interval()
    for s in range(2):
        assert (result.low[0, s], result.high[0, s]) == pytest.approx(tuple(interval), rel=1e-9)


@pytest.mark.parametrize("documents", [40, 100])
@pytest.mark.parametrize(("zeros", "least"), [(0.0, 0.93), (0.6, 0.93), (0.85, 0.93)])
def test_intervals_cover_means_of_many_zeros(zeros: float, least: float, documents: int) -> None:
    """Student's t covers 94.1 and 90.9 % at 60 and 85 % zeros and 40 documents [sim]."""
    rng = np.random.default_rng(11)
    studies = 4000
    d = np.where(
        rng.random((studies, documents, 1)) < zeros, 0.0, rng.beta(2.0, 2.0, (studies, documents, 1))
    )
    found = dose._Interval.of(d.transpose(2, 0, 1), 0.05)
    share = np.mean((found.low <= (1.0 - zeros) / 2.0) & (found.high >= (1.0 - zeros) / 2.0))
    error = 3.0 * np.sqrt(0.95 * 0.05 / studies)
    # 97.7 % at 85 % zeros and 40 documents: six of them are not 0.
    assert least - error <= share <= 0.975 + error


def test_variants_of_one_strength_are_averaged_within_the_document() -> None:
    d = np.array([[[0.1, 0.3, 0.5], [0.2, np.nan, 0.4], [np.nan, np.nan, 0.2]]])
    result = only(graded(d, [1, 1, 2], positions=["prefix", "suffix", "prefix"]))
    assert result.strengths == (1, 2)
    np.testing.assert_allclose(result.means, [[0.2, (0.5 + 0.4 + 0.2) / 3]])
    assert result.counts.tolist() == [[2, 3]]
    assert result.documents.tolist() == [2]
    assert result.note == "positions_differ"
    same = only(graded(d, [1, 1, 2], positions=["prefix", "prefix", "prefix"]))
    assert same.note == ""


def test_correlation_is_scipys_within_documents() -> None:
    rng = np.random.default_rng(1)
    # Coarse, so that there are ties; shuffled columns.
    d = np.round(rising(rng), 1)[:, :, [2, 0, 3, 1]]
    d[0, :5, 1] = np.nan
    d[1, 7] = 0.3
    result = only(graded(d, [3, 1, 4, 2]))
    for m in range(2):
        own = []
        for row in d[m]:
            known = np.isfinite(row)
            flat = np.ptp(row[known]) == 0.0
            own.append(0.0 if flat else stats.spearmanr(np.array([3, 1, 4, 2])[known], row[known]).statistic)
        assert result.statistic[m] == pytest.approx(np.mean(own), abs=1e-12)
        assert tuple(result.confidence_interval[m]) == pytest.approx(hall(own), abs=1e-9)
    assert (result.statistic > 0.8).all()
    assert result.monotone.all()


@pytest.mark.parametrize("sent_again", [False, True])
@pytest.mark.parametrize("lost", [False, True])
def test_models_side_by_side_are_models_alone(
    sent_again: bool, lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    d = rng.gamma(2.0, 0.1, size=(5, 12, 7))
    repeats = rng.gamma(1.0, 0.1, size=(5, 12, 2)) if sent_again else None
    if lost:
        d[rng.random(d.shape) < 0.2] = np.nan
        d[3, :, 4:] = np.nan
        if repeats is not None:
            repeats[2], repeats[1, 3:5] = np.nan, np.nan
    table = graded(d, [2, 1, 4, 4, None, 3, -1], repeats)
    alone = [dose_response(table.with_models([name])) for name in table.models]
    # Two models at a time, the last one alone.
    monkeypatch.setattr(dose, "NEAR", 12 * 7)
    together = dose_response(table)
    assert [(one.arm, one.strengths) for one in together] == [("-", (-1,)), ("+", (1, 2, 3, 4))]
    for place, result in enumerate(together):
        for m, others in enumerate(alone):
            one = others[place]
            for name in ("means", "low", "high", "counts", "floors", "threshold", "statistic"):
                np.testing.assert_allclose(getattr(result, name)[m], getattr(one, name)[0], rtol=1e-12)
            np.testing.assert_allclose(result.confidence_interval[m], one.confidence_interval[0], rtol=1e-12)
            for name in ("documents", "monotone", "reasons", "threshold_reasons", "floor_reasons"):
                assert getattr(result, name)[m] == getattr(one, name)[0]


def test_a_mean_that_falls_is_not_monotone_and_rounding_is_no_fall() -> None:
    d = np.array([[[0.1, 0.3, 0.2]] * 4, [[0.1, 0.1 + 1e-13, 0.1]] * 4, [[0.1, 0.1, 0.5]] * 4])
    result = only(graded(d, [1, 2, 3]))
    assert result.monotone.tolist() == [False, True, True]


def test_threshold_is_the_smallest_strength_above_the_noise_of_repeats() -> None:
    rng = np.random.default_rng(2)
    d = rising(rng)
    repeats = np.clip(rng.normal(0.1, 0.03, size=(2, 30, 3)), 0.0, 1.0)
    repeats[1] = 0.0
    result = only(graded(d, [1, 2, 3, 4], repeats))
    assert result.threshold.tolist() == [3, 1]
    assert result.floor_reasons == ("", "deterministic")
    assert result.floors[0] == pytest.approx(repeats[0].mean())
    # Paired with the document's own floor.
    paired = stats.ttest_1samp(d[0, :, 1] - repeats[0].mean(axis=1), 0.0).confidence_interval()
    assert paired.low < 0.0
    assert only(graded(d, [1, 2, 3, 4])).floor_reasons == ("no_repeats", "no_repeats")
    assert only(graded(d, [1, 2, 3, 4])).floors.tolist() == [0.0, 0.0]
    unreached = only(graded(d * 0.2, [1, 2, 3, 4], repeats))
    assert math.isnan(unreached.threshold[0])
    assert unreached.threshold_reasons == ("not_reached", "")


def test_strengths_of_both_signs_are_two_arms_weakest_first() -> None:
    d = rising(np.random.default_rng(3))[:, :, [3, 1, 0, 2]]
    down, up = dose_response(graded(d, [-10, 4, 2, -2]))
    assert (down.arm, down.strengths) == ("-", (-2, -10))
    assert (up.arm, up.strengths) == ("+", (2, 4))
    np.testing.assert_allclose(down.means, d[:, :, [3, 0]].mean(axis=1))
    assert up.monotone.all()
    assert down.monotone.all()
    shorter, longer = dose_response(graded(d, [0.25, 2.0, 1.5, 0.5]))
    assert shorter.strengths == (0.5, 0.25)
    assert longer.strengths == (1.5, 2.0)
    assert shorter.monotone.all()
    assert arms([10, 30]) == [("", [0, 1])]
    assert arms([-1, -2]) == [("", [0, 1])]


def test_ungraded_operators_are_listed_as_such() -> None:
    table = made.table(np.random.default_rng(4), documents=20)
    results = dose_response(table)
    assert len(results) == 6 * 6
    by = {(r.operator, r.measure): r for r in results}
    assert by["wrap", "x_bleu"].reasons == ("no_strength", "no_strength")
    assert by["wrap", "x_bleu"].strengths == ()
    assert by["wrap", "x_bleu"].threshold_reasons == ("no_strength", "no_strength")
    assert not by["wrap", "x_bleu"].graded
    assert by["spaces", "x_jsd"].strengths == (5, 20)
    assert by["spaces", "x_jsd"].reasons == ("", "")
    single = only(graded(rising(np.random.default_rng(5))[:, :, :1], [2]))
    assert single.reasons == ("one_strength", "one_strength")
    assert np.isfinite(single.means).all()
    assert np.isnan(single.statistic).all()
    assert not single.monotone.any()
    assert str(single) == "typos on x_act: strengths 2"


def test_no_effect_of_strength_is_found_at_the_level() -> None:
    rng = np.random.default_rng(6)
    d = rng.gamma(2.0, 0.1, size=(600, 40, 3)) * rng.gamma(2.0, 0.5, size=(600, 40, 1))
    result = only(graded(d, [1, 2, 3]))
    found = (result.confidence_interval[:, 0] > 0.0) | (result.confidence_interval[:, 1] < 0.0)
    assert found.mean() <= 0.05 + 3.0 * math.sqrt(0.05 * 0.95 / 600)


def test_what_cannot_be_said_has_a_reason() -> None:
    rng = np.random.default_rng(7)
    table = graded(rising(rng), [1, 2, 3, 4])
    for m, gone in ((0, True), (1, False)):
        d = table.distances["x_act"].copy()
        d[0] = np.nan
        result = only(replace(table, distances={"x_act": d}))
        assert result.reasons[m] == ("not_measured" if gone else "")
        assert result.threshold_reasons[m] == ("not_measured" if gone else "")
        assert math.isnan(result.statistic[m]) == gone
    one = only(table.with_documents(np.arange(30) < 1))
    assert one.reasons == ("too_few_documents",) * 2
    assert one.threshold_reasons == ("too_few_documents",) * 2
    assert np.isfinite(one.means).all()
    none = only(table.with_documents(np.arange(30) < 0))
    assert none.reasons == ("not_measured",) * 2
    for level in (0.0, 0.4):
        flat = only(graded(np.full((1, 5, 3), level), [1, 2, 3]))
        assert flat.statistic.tolist() == [0.0]
        assert flat.reasons == ("",)
        assert flat.monotone.tolist() == [True]
        reached = "" if level else "not_reached"
        assert flat.threshold_reasons == (reached,)
    hole = table.distances["x_act"].copy()
    hole[:, :, 2] = np.nan
    partly = only(replace(table, distances={"x_act": hole}))
    assert not partly.monotone.any()
    assert partly.threshold.tolist() == [1, 1]
