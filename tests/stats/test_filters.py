"""A task under several filters: results of its own for each, and one vote over data sets."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.cli.main import main
from sago_harness.gate.check import check
from sago_harness.gate.policy import Policy
from sago_harness.report.compared import sections
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.scores.table import read_parquet
from sago_harness.stats.compare import compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.resampling import Settings
from tests.runs.made_runs import write_runs, write_samples

MODELS = ("a", "b", "c")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models on q, and on p under two filters with other values; only one filter is that of all."""
    top = tmp_path_factory.mktemp("filters")
    shape: Mapping[str, Any] = {"models": MODELS, "documents": 30, "variants": 6}
    write_runs(top, tasks=["q"], levels=[0.2, 0.4, 0.6], **shape)
    of_filter = {"loose": [0.9, 0.1, 0.5], "strict": [0.2, 0.5, 0.6]}
    made = {
        name: write_runs(top / "made" / name, tasks=["p"], levels=levels, **shape)
        for name, levels in of_filter.items()
    }
    for model, loose, strict in zip(MODELS, made["loose"], made["strict"], strict=True):
        path = top / model / strict.with_suffix(".jsonl").name.replace("records_", "samples_")
        write_samples(read_parquet(loose), path, filter="third" if model == "c" else "loose")
        write_samples(read_parquet(strict), path, filter="strict")
        for left in (loose, strict):
            next(left.parent.glob("results_*")).unlink()
            left.unlink()
    return top


def study(folder: Path, tasks: Sequence[str] | None = None, scheme: str = "sago") -> Comparison:
    table = read_table(find_runs([folder]), tasks=tasks)
    return compare(table, Settings(resamples=200, scheme=scheme))


def test_the_filter_of_most_models_stands_for_the_task(folder: Path) -> None:
    table = read_table(find_runs([folder]))
    assert table.tasks == ("p[loose]", "p[strict]", "p[third]", "q")
    assert table.spanning == ("p[strict]", "q")
    (note,) = [note for note in table.notes if "filters" in note]
    assert note == (
        "p[strict] and p[loose] and p[third] are the same responses under several filters: what spans data "
        "sets takes p[strict] alone (--tasks 'p[loose]' takes another)"
    )
    alone = read_table(find_runs([folder]), tasks=["p[loose]", "q"])
    assert alone.spanning == ("p[loose]", "q")
    assert not [note for note in alone.notes if "filters" in note]


@pytest.mark.parametrize("scheme", ["sago", "paper-rms", "paper-std-minmax", "paper-std-meanabs"])
def test_what_spans_data_sets_is_that_of_one_filter(folder: Path, scheme: str) -> None:
    both, one = study(folder, scheme=scheme), study(folder, ["p[strict]", "q"], scheme)
    assert both.total is not None
    assert one.total is not None
    assert both.total.tasks == one.total.tasks == ("p[strict]", "q")
    for name, quantity in one.total.quantities.items():
        np.testing.assert_array_equal(both.total.quantities[name].values, quantity.values)
        np.testing.assert_array_equal(both.total.quantities[name].influence, quantity.influence)
    assert both.reversals.keys() == one.reversals.keys()
    for name, table in one.reversals.items():
        np.testing.assert_array_equal(both.reversals[name].pvalue, table.pvalue)
    assert {n: a.rows for n, a in both.agreement.items()} == {n: a.rows for n, a in one.agreement.items()}
    for name, result in one.schemes.items():
        for measure, totals in result.totals.items():
            np.testing.assert_array_equal(both.schemes[name].totals[measure], totals)
    firm = [[str(row) for row in found.firmness if row.score != "unstable"] for found in (both, one)]
    assert firm[0] == firm[1]
    tables = [{t.name: t for t in sections(found)} for found in (both, one)]
    for name in ("leaderboard", "weighted", "agreement", "reversals"):
        assert tables[0][name].rows == tables[1][name].rows, name


def test_each_filter_has_its_own_ranking_and_tests(folder: Path) -> None:
    both, loose = study(folder), study(folder, ["p[loose]"])
    assert both.scored.keys() == {"p[loose]", "p[strict]", "p[third]", "q"}
    np.testing.assert_array_equal(
        both.pairs["p[loose]"].columns["sago"].pvalue, loose.pairs["p[loose]"].columns["sago"].pvalue
    )
    loosely = both.scored["p[loose]"]
    values = dict(zip(loosely.models, loosely.quantities["sago"].values, strict=True))
    assert values["a"] < values["b"]
    assert "c" not in values
    assert both.total is not None
    assert both.total.quantities["sago"].values[0] > both.total.quantities["sago"].values[1]


def test_two_filters_of_one_task_are_one_data_set(folder: Path) -> None:
    found = study(folder, ["p"])
    assert found.tasks == ("p[loose]", "p[strict]", "p[third]")
    assert found.spanning == ("p[strict]",)
    assert found.total is None
    assert not found.reversals
    (board,) = [table for table in sections(found) if table.name == "leaderboard"]
    assert "one data set: p[strict]" in board.notes
    assert [row[0] for row in board.rows] == ["a", "b", "c"]
    assert "mean over" not in str([table.rows for table in sections(found) if table.name == "answers"])


def test_the_mean_of_a_gate_takes_one_filter(folder: Path) -> None:
    policy = Policy.of("rules: [{metric: sago_core, min: 0.1, task: overall}]")
    values = []
    for tasks in (None, ["p[strict]", "q"]):
        table = read_table(find_runs([folder]), tasks=tasks)
        (rule,) = check(policy, table, model="a").rules
        values.append((rule.value, rule.documents, rule.pvalue))
    assert values[0] == values[1]


def test_a_pilot_counts_its_documents_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(folder), "--json"]) == 0
    both = json.loads(capsys.readouterr().out)["plan"]
    assert both["components"]["origin"] == "pilot: 2 data sets of 30 or more documents"
