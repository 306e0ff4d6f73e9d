"""How often a policy at its margin passes, or fails, wrongly: at most as often as its level says."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from sago_harness.gate.bounds import Bounds, bounded_mean
from sago_harness.gate.evidence import Evidence
from sago_harness.gate.metrics import Metric, metric_of, rate_metric
from sago_harness.gate.policy import Rule
from sago_harness.gate.verdicts import Question, decide
from sago_harness.stats.table import TaskTable
from tests.gate.studies import (
    LAWS,
    MEASURES,
    SCORES,
    flips,
    pairs,
    scored,
    slants,
    studies,
    true_differences,
    truth,
)
from tests.gate.wrong_verdicts import (
    LEVEL,
    LONG,
    SOURCE,
    Pair,
    allowed,
    bounds_of_pairs,
    bounds_of_runs,
    parts,
    shares,
)

#: Of the law "rare" a measure of text rests on six of forty documents.
CASES = [(law, documents) for law in LAWS for documents in (40, 100)]


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def question(metric: Metric, kind: str, threshold: float, bounds: Bounds, documents: int) -> Question:
    rule = Rule(metric.name, kind, threshold)
    return Question(rule, metric, "t", Evidence(bounds, bounds.value, math.nan, documents, documents), 0.1)


def absolute(law: str, documents: int, count: int, resamples: int) -> dict[str, Pair]:
    one, true = scored(studies(law, 2, count, documents)), truth(law, parts(count))
    found, low_by = one.quantities, slants(one)
    return {name: shares(bounds_of_runs(found[name], resamples, low_by[name]), true[name]) for name in SCORES}


@pytest.mark.parametrize(("law", "documents"), [("skewed", 40), ("zeros", 40), ("ties", 100)])
def test_thresholds_of_a_run(law: str, documents: int) -> None:
    for name, pair in absolute(law, documents, 400, 999).items():
        assert max(pair) <= allowed(400), (name, pair)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "documents"), CASES)
def test_thresholds_of_a_run_long(law: str, documents: int) -> None:
    found = absolute(law, documents, LONG, 1999)
    print(law, documents, {name: [round(s, 4) for s in pair] for name, pair in found.items()})
    for name, pair in found.items():
        assert max(pair) <= allowed(LONG), (name, pair)


def rate_errors(law: str, documents: int, count: int, resamples: int) -> Pair:
    values, true = flips(np.random.default_rng([5, documents, len(law)]), law, count, documents)
    return shares([bounded_mean(row, 0.0, 1.0, resamples, SOURCE) for row in values], true)


@pytest.mark.parametrize("law", ["one", "dependent", "even"])
def test_shares_of_documents(law: str) -> None:
    assert max(rate_errors(law, 40, 400, 999)) <= LEVEL + 1e-9 + 3.0 * 0.011


@pytest.mark.slow
@pytest.mark.parametrize("law", ["one", "dependent", "even"])
@pytest.mark.parametrize("documents", [40, 100])
def test_shares_of_documents_long(law: str, documents: int) -> None:
    pair = rate_errors(law, documents, LONG, 1999)
    print(law, documents, pair)
    assert max(pair) <= allowed(LONG)


def decidable(table: TaskTable, name: str, count: int) -> np.ndarray:
    """Return the pairs on which forty documents were moved by every measure: the gate decides no others."""
    if name == "x_mr":
        return np.ones(count, dtype=bool)
    used = ("x_bleu",) if name in ("x_bleu", "sago_generation") else tuple(MEASURES)
    moved = np.min(
        [
            ((table.distances[m] > 0.0).any(axis=2).reshape(2, count, -1).any(axis=0)).sum(axis=1)
            for m in used
        ],
        axis=0,
    )
    return moved >= 40


def non_inferiority(law: str, documents: int, count: int, resamples: int) -> dict[str, Pair]:
    levels = (0.5, 0.4)
    table = pairs(law, 3, count, documents, levels)
    one, true = scored(table), true_differences(law, levels, parts(count))
    found, low_by = one.quantities, slants(one)
    return {
        name: shares(
            bounds_of_pairs(found[name], resamples, low_by[name]), true[name], decidable(table, name, count)
        )
        for name in SCORES
    }


@pytest.mark.parametrize(("law", "documents"), [("skewed", 40), ("zeros", 100)])
def test_margins_against_a_baseline(law: str, documents: int) -> None:
    for name, pair in non_inferiority(law, documents, 300, 999).items():
        assert max(pair) <= allowed(300), (name, pair)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "documents"), CASES)
def test_margins_against_a_baseline_long(law: str, documents: int) -> None:
    found = non_inferiority(law, documents, LONG, 1999)
    print(law, documents, {name: [round(s, 4) for s in pair] for name, pair in found.items()})
    for name, pair in found.items():
        assert max(pair) <= allowed(LONG), (name, pair)


def rate_margins(documents: int, count: int, resamples: int, base: float, worse: float) -> Pair:
    """Flips of 0 and 1 in pairs: the run flips where the baseline does, and sometimes more."""
    rng = np.random.default_rng([9, documents])
    before = rng.random((count, documents)) < base
    after = before | (rng.random((count, documents)) < worse / (1.0 - base))
    rows = after.astype(float) - before.astype(float)
    return shares([bounded_mean(row, -1.0, 1.0, resamples, SOURCE) for row in rows], worse)


def test_margins_of_shares() -> None:
    assert max(rate_margins(100, 400, 999, 0.2, 0.1)) <= allowed(400)


@pytest.mark.slow
@pytest.mark.parametrize("documents", [40, 100])
@pytest.mark.parametrize(("base", "worse"), [(0.2, 0.1), (0.02, 0.2), (0.5, 0.08)])
def test_margins_of_shares_long(documents: int, base: float, worse: float) -> None:
    pair = rate_margins(documents, LONG, 1999, base, worse)
    print(documents, base, worse, pair)
    assert max(pair) <= allowed(LONG)


def equivalence(law: str, documents: int, count: int, resamples: int) -> dict[str, float]:
    """Share of pairs that pass as equivalent though their true difference is the margin itself."""
    levels = (0.5, 0.4)
    one = scored(pairs(law, 4, count, documents, levels))
    found, low_by = one.quantities, slants(one)
    true = true_differences(law, levels, parts(count))
    passed = {}
    for name in ("x_bleu", "sago_core"):
        metric, margin = metric_of(found[name]), abs(true[name])
        asked = [
            question(metric, "equivalence", margin, bounds, documents)
            for bounds in bounds_of_pairs(found[name], resamples, low_by[name])
        ]
        passed[name] = float(np.mean([one.passes(LEVEL) for one in asked]))
    return passed


def test_equivalence_is_not_passed_at_its_margin() -> None:
    for name, share in equivalence("skewed", 40, 300, 999).items():
        assert share <= allowed(300), name


@pytest.mark.slow
@pytest.mark.parametrize(("law", "documents"), CASES)
def test_equivalence_is_not_passed_at_its_margin_long(law: str, documents: int) -> None:
    passed = equivalence(law, documents, LONG, 1999)
    print(law, documents, passed)
    assert max(passed.values()) <= allowed(LONG)


def family(law: str, documents: int, count: int, resamples: int) -> Pair:
    """Share of policies of six rules, each at its margin, of which any passes; and of which any fails."""
    table = studies(law, 6, count, documents)
    one, true = scored(table), truth(law, parts(count))
    found, low_by = one.quantities, slants(one)
    rng = np.random.default_rng([8, documents])
    values, rate = flips(rng, "dependent", count, documents)
    bounds = {name: bounds_of_runs(found[name], resamples, low_by[name]) for name in SCORES}
    passed = failed = 0
    for m in range(count):
        asked = [
            question(
                metric_of(found[name]), "min" if found[name].higher_is_better else "max", true[name],
                bounds[name][m], documents,
            )
            for name in SCORES
        ]  # fmt: skip
        share = bounded_mean(values[m], 0.0, 1.0, resamples, SOURCE)
        asked.append(question(rate_metric("flip"), "max", rate, share, documents))
        verdicts = [result.verdict for result in decide(asked, LEVEL)]
        passed += "pass" in verdicts
        failed += "fail" in verdicts
    return passed / count, failed / count


def test_any_rule_of_a_policy() -> None:
    assert max(family("skewed", 100, 200, 1999)) <= allowed(200)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "documents"), CASES)
def test_any_rule_of_a_policy_long(law: str, documents: int) -> None:
    pair = family(law, documents, LONG, 4999)
    print(law, documents, pair)
    assert max(pair) <= allowed(LONG)


def test_the_bounds_are_not_idle() -> None:
    """Power: a run clearly on one side passes or fails, most of the time."""
    one = scored(studies("plain", 7, 100, 100))
    found, low_by = one.quantities["sago_core"], slants(one)["sago_core"]
    true, metric = truth("plain")["sago_core"], metric_of(found)
    bounds = bounds_of_runs(found, 999, low_by)
    for shift, verdict in ((-0.06, "pass"), (0.06, "fail")):
        seen = [
            decide([question(metric, "min", true + shift, bounds[m], 100)], LEVEL)[0].verdict
            for m in range(100)
        ]
        assert seen.count(verdict) > 80
