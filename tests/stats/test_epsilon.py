"""Other epsilons: the same verdicts as a comparison that was asked for with them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from sago_harness.report.compared import TABLES
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.epsilon import epsilon_changed, epsilon_tests
from sago_harness.stats.firmness import FirmnessResult
from sago_harness.stats.instability import instability
from sago_harness.stats.resampling import Settings
from sago_harness.stats.scored import score_task
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.stats import made

QUICK = Settings(resamples=199)
COUNTS = re.compile(r"(\d+) of (\d+) tests find instability, (\d+) of (\d+) at (\S+); (\d+) verdicts? chang")


def near(task: str, seed: int) -> TaskTable:
    """Models that move by about .025 to .2 of chance; one lacks a measure, and repeats are no zeros."""
    one = made.table(
        np.random.default_rng(seed), task=task, models="abcd", level=(0.03, 0.06, 0.1, 0.2), repeats=2
    )
    one.distances["x_act"][1] = np.nan
    repeats = {name: values + 0.02 for name, values in one.repeats.items()}
    return replace(one, repeats=repeats)


def study(settings: Settings) -> Comparison:
    return compare(ScoreTable.of([near("p", 0), near("q", 1)]), settings)


def of(found: Comparison) -> dict[str, FirmnessResult]:
    return {row.detail: row for row in found.firmness if row.kind == "epsilon changed"}


@pytest.mark.parametrize("correction", ["holm", "bh"])
def test_counts_are_those_of_a_comparison_with_that_epsilon(correction: str) -> None:
    settings = replace(QUICK, correction=correction)
    verdicts = {
        epsilon: [one.adjusted <= 0.05 for one in study(replace(settings, epsilon=epsilon)).unstable]
        for epsilon in (0.025, 0.05, 0.1)
    }
    found = study(settings)
    rows = of(found)
    assert list(rows) == ["0.025", "0.1"]
    tested = sum(np.isfinite(one.pvalue) for one in found.unstable)
    for epsilon in (0.025, 0.1):
        changed = sum(a != b for a, b in zip(verdicts[epsilon], verdicts[0.05], strict=True))
        told = COUNTS.match(rows[f"{epsilon:g}"].reason)
        assert told is not None
        expected = (sum(verdicts[epsilon]), tested, sum(verdicts[0.05]), tested, 0.05, changed)
        assert tuple(map(float, told.groups())) == expected
        assert rows[f"{epsilon:g}"].models == ("a", "b", "c", "d")
    # The study has something to count.
    assert sum(verdicts[0.025]) > sum(verdicts[0.05]) > sum(verdicts[0.1]) > 0


def test_p_values_are_those_of_the_test_itself() -> None:
    one = near("p", 2)
    scored = score_task(one)
    tests = epsilon_tests(scored, QUICK, instability(scored, QUICK, one))
    assert list(tests.pvalues) == [0.05, 0.025, 0.1]
    for epsilon, values in tests.pvalues.items():
        again = instability(scored, replace(QUICK, epsilon=epsilon), one)
        np.testing.assert_array_equal(values, [result.pvalue for result in again])


def test_another_epsilon_in_use_is_held_against_the_usual_one() -> None:
    assert list(of(study(replace(QUICK, epsilon=0.1)))) == ["0.025", "0.05"]
    assert list(of(study(replace(QUICK, epsilon=0.2)))) == ["0.025", "0.05", "0.1"]


def test_nothing_tested_is_said() -> None:
    one = made.table(np.random.default_rng(0), documents=1)
    scored = score_task(one)
    rows = epsilon_changed([epsilon_tests(scored, QUICK, instability(scored, QUICK, one))], QUICK)
    assert [row.reason for row in rows] == ["no test of instability has a p-value"] * 2
    assert [(row.models, row.tasks) for row in rows] == [((), 0)] * 2


def test_the_table_has_the_rows() -> None:
    table = TABLES["firmness"](study(QUICK))
    names = [column.key for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows if row[1] == "epsilon changed"]
    assert [row["detail"] for row in rows] == ["0.025", "0.1"]
    for row in rows:
        assert (row["score"], row["models"], row["data_sets"]) == ("unstable", 4, 2)
        assert (row["moved"], row["best_kept"]) == (None, None)
        assert COUNTS.match(str(row["reason"]))
