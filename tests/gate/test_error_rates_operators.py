"""How often a rule on one operator's variants passes, or fails, wrongly at its margin."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sago_harness.gate import unseen
from sago_harness.gate.bounds import SPARE, SPARE_OF_SINGLES
from sago_harness.gate.evidence import Draws, of_pair, of_run
from sago_harness.gate.joined import joined
from sago_harness.gate.metrics import measured, metric_of, of_operator
from sago_harness.stats.operators import alone
from sago_harness.stats.pair_data import pair_data
from sago_harness.stats.quantities import quantities
from sago_harness.stats.reduce import MeasureValues, reduce_task
from sago_harness.stats.resampling import TIE
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import TaskTable
from tests.gate.studies import LAWS, MEASURES, NAMES, pairs, scored_of, slants, studies
from tests.gate.wrong_verdicts import (
    LONG,
    SOURCE,
    Pair,
    allowed,
    bounds_of_pairs,
    bounds_of_runs,
    parts,
    shares,
)

LEVELS = (0.5, 0.4)

#: Of two variants, and of a single one.
OPERATORS = ("noise/typos", "structure/wrap")

SPARES = dict(zip(OPERATORS, (SPARE, SPARE_OF_SINGLES), strict=True))

CASES = [(law, documents) for law in LAWS for documents in (40, 100)]

#: Pair of shares by operator and score.
Found = dict[tuple[str, str], Pair]


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def of_one(table: TaskTable, operator: str) -> dict[str, MeasureValues]:
    """Reduce a table to one operator's variants, all runs at once."""
    family, _, name = operator.partition("/")
    place = table.operators.index((family, name))
    variants = int((table.operator_of == place).sum())
    return {measure: alone(values, place, variants) for measure, values in reduce_task(table).items()}


def both(table: TaskTable) -> dict[tuple[str, str], np.ndarray]:
    """Values of every run, by operator and score."""
    found = {operator: quantities(of_one(table, operator)) for operator in OPERATORS}
    return {(operator, name): one[name].values for operator, one in found.items() for name in NAMES}


@cache
def truth(law: str, count: int) -> dict[tuple[str, str], float]:
    found = [both(studies(law, 1000 + part, 1, 200_000)) for part in range(parts(count))]
    return {key: float(np.mean([one[key][0] for one in found])) for key in found[0]}


@cache
def true_differences(law: str, count: int) -> dict[tuple[str, str], float]:
    found = [both(pairs(law, 1000 + part, 1, 200_000, LEVELS)) for part in range(parts(count))]
    return {key: float(np.mean([one[key][0] - one[key][1] for one in found])) for key in found[0]}


def unseen_of(one: ScoredTask, name: str) -> list[unseen.Unseen | None]:
    """What the gate adds where few documents were moved, for every run."""
    data, flat = pair_data(one)[name], one.quantities[name].stderr <= TIE
    return [unseen.of_run(one, data, m, flat=bool(flat[m])) for m in range(len(one.models))]


def thresholds(law: str, documents: int, count: int, resamples: int) -> Found:
    table = studies(law, 31, count, documents)
    true = truth(law, count)
    shown = {}
    for operator in OPERATORS:
        one = scored_of("t", table, of_one(table, operator))
        low_by = slants(one)
        for name in NAMES:
            rare = unseen_of(one, name)
            bounds = bounds_of_runs(
                one.quantities[name], resamples, low_by[name], unseen=rare, spare=SPARES[operator]
            )
            # Of a single variant the gate decides nothing on fewer moved documents.
            fine = decidable(one.reduced, name, count, 1) if operator == OPERATORS[1] else None
            shown[operator, name] = shares(bounds, true[operator, name], fine)
    return shown


def decidable(reduced: Mapping[str, MeasureValues], name: str, count: int, runs: int) -> np.ndarray:
    """Studies in which forty documents were moved by every measure, in any of so many runs."""
    fine = np.ones(count, dtype=bool)
    if name == "x_mr":
        return fine
    for measure in ("x_bleu",) if name == "x_bleu" else tuple(MEASURES):
        moved = (reduced[measure].squares() > 0.0).reshape(runs, count, -1).any(axis=0)
        fine &= moved.sum(axis=1) >= 40
    return fine


def margins(law: str, documents: int, count: int, resamples: int) -> Found:
    table = pairs(law, 32, count, documents, LEVELS)
    true = true_differences(law, count)
    shown = {}
    for operator in OPERATORS:
        one = scored_of("t", table, of_one(table, operator))
        low_by = slants(one)
        for name in NAMES:
            bounds = bounds_of_pairs(one.quantities[name], resamples, low_by[name], spare=SPARES[operator])
            fine = decidable(one.reduced, name, count, 2)
            shown[operator, name] = shares(bounds, true[operator, name], fine)
    return shown


def check(found: Found, count: int) -> None:
    for key, pair in found.items():
        assert max(pair) <= allowed(count), (key, pair)


def show(kind: str, law: str, documents: int, found: Found) -> None:
    said = {" ".join(key): [round(side, 4) for side in pair] for key, pair in found.items()}
    print(kind, law, documents, said)


@pytest.mark.parametrize("law", ["skewed", "zeros"])
def test_thresholds_on_one_operator(law: str) -> None:
    check(thresholds(law, 40, 300, 999), 300)


def test_margins_of_one_operator() -> None:
    check(margins("skewed", 40, 300, 999), 300)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "documents"), CASES)
def test_thresholds_on_one_operator_long(law: str, documents: int) -> None:
    found = thresholds(law, documents, LONG, 1999)
    show("thresholds", law, documents, found)
    check(found, LONG)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "documents"), CASES)
def test_margins_of_one_operator_long(law: str, documents: int) -> None:
    found = margins(law, documents, LONG, 1999)
    show("margins", law, documents, found)
    check(found, LONG)


@pytest.mark.parametrize("operator", OPERATORS)
def test_what_is_simulated_is_what_the_gate_does(operator: str) -> None:
    """Value, error and bounds of three studies, by the gate's own way from the tables."""
    draws = Draws(999, 0)
    for law, pair in (("skewed", False), ("rare", False), ("plain", True)):
        count = 3
        # The draws of a data set go by its name.
        table = pairs(law, 5, count, 40, LEVELS) if pair else studies(law, 5, count, 40)
        table = replace(table, task=SOURCE.task)
        all_ = scored_of("t", table, of_one(table, operator))
        found, low_by = all_.quantities, slants(all_)
        for name in ("x_bleu", "sago_core"):
            if pair:
                many = bounds_of_pairs(found[name], 999, low_by[name], spare=SPARES[operator])
            else:
                many = bounds_of_runs(
                    found[name], 999, low_by[name], unseen=unseen_of(all_, name), spare=SPARES[operator]
                )
            for m in range(count):
                one = table.with_models([table.models[m]])
                if pair:
                    one = joined(one, table.with_models([table.models[m + count]]))
                metric = metric_of(found[name])
                gate = (of_pair if pair else of_run)(
                    of_operator(measured(one), operator, "rule"), metric, draws
                )
                assert gate.bounds.value == pytest.approx(many[m].value, abs=1e-12)
                assert gate.bounds.stderr == pytest.approx(many[m].stderr, rel=1e-9)
                for level in (0.05, 0.01):
                    assert gate.bounds.upper(level) == pytest.approx(many[m].upper(level), rel=1e-4)
                    assert gate.bounds.lower(level) == pytest.approx(many[m].lower(level), rel=1e-4)
