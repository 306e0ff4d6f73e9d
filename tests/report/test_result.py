"""One result by itself in a notebook: what it holds is there, escaped, and nothing that is not."""

from __future__ import annotations

import html
import re
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from sago_harness.report.result import MOST, result_table
from sago_harness.stats.compare import Settings, compare
from sago_harness.stats.comparison import Comparison
from sago_harness.stats.components import default_components
from sago_harness.stats.power import plan
from sago_harness.stats.rich import Rich
from sago_harness.stats.table import ScoreTable
from tests.stats import made

pytestmark = pytest.mark.filterwarnings("error")

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def study() -> Comparison:
    names = ("a", HOSTILE, "c", "d")
    tables = [
        made.table(np.random.default_rng(k), models=names, task=task, documents=20, mirroring=0.1)
        for k, task in enumerate(("facts", "maths"))
    ]
    return compare(ScoreTable.of(tables), Settings(resamples=99))


def results(study: Comparison) -> dict[str, Any]:
    one = {
        "ranks": study.ranks["facts"]["sago"], "rank": next(study.ranks["facts"]["sago"].rows()),
        "interval": study.intervals["facts"]["sago"], "pairs": study.pairs["facts"],
        "pair": next(study.pairs["facts"].rows()), "total": study.total, "unstable": study.unstable[0],
        "reversals": study.reversals["sago"], "somewhere": next(study.reversals["sago"].pairs()),
        "agreement": study.agreement["sago"], "independence": study.independence[0],
        "variance": study.variance[0], "dose": study.dose[0], "worst": study.worst[0],
        "case": study.worst[0].cases[0], "firmness": study.firmness[0],
        "scheme": study.schemes["paper-rms"], "quantity": study.scored["facts"].quantities["sago"],
        "components": default_components("sago_core"),
        "plan": plan(default_components("sago_core"), 12, documents=100),
    }  # fmt: skip
    return one


def test_every_result_is_shown_and_nothing_of_a_name_is_run(study: Comparison) -> None:
    for name, one in results(study).items():
        assert isinstance(one, Rich), name
        page = one._repr_html_()
        assert "<table" in page, name
        assert "<script" not in page, name
        assert type(one).__name__ in page, name


def test_a_ranking_has_its_rows(study: Comparison) -> None:
    ranks = study.ranks["facts"]["sago"]
    table = result_table(ranks)
    assert [column.key for column in table.columns][:3] == ["model", "value", "stderr"]
    assert [row[0] for row in table.rows] == list(ranks.models)
    assert [row[1] for row in table.rows] == ranks.value.tolist()


def test_arrays_of_models_stand_in_columns(study: Comparison) -> None:
    one = study.variance[0]
    rows = {
        row[0]: dict(zip((c.key for c in result_table(one).columns), row, strict=True))
        for row in result_table(one).rows
    }
    for m, model in enumerate(one.models):
        for k, component in enumerate(one.components):
            assert rows[model][f"shares {component}"] == one.shares[m, k]
        assert rows[model]["documents"] == one.documents[m]


def test_a_matrix_over_data_sets_is_not_taken_for_one_of_models(study: Comparison) -> None:
    square = replace(study.agreement["sago"], models=("a", "b"), mean_ranks=np.array([1.5, 2.5]))
    assert square.tau.shape == (2, 2)
    assert [column.key for column in result_table(square).columns] == ["model", "mean_ranks"]


def test_one_number_after_the_other_where_there_are_no_models(study: Comparison) -> None:
    one = study.unstable[0]
    told = dict(result_table(one).rows)
    assert told["model"] == one.model
    assert float(told["r"]) == pytest.approx(one.r, rel=1e-3)
    assert float(told["pvalue"]) == pytest.approx(one.pvalue, rel=1e-3)


def test_an_agreement_names_the_pairs_of_data_sets(study: Comparison) -> None:
    one = study.agreement["sago"]
    assert f"maths, facts: tau {one.tau[0, 1]:.3f}" in " ".join(result_table(one).notes) or (
        f"facts, maths: tau {one.tau[0, 1]:.3f}" in result_table(one).notes
    )


def test_reversals_are_shown_where_none_is_confirmed(study: Comparison) -> None:
    table = result_table(study.reversals["sago"])
    assert len(table.rows) == 6
    assert {"a", "b", "pvalue"} <= {column.key for column in table.columns}


def test_a_result_of_no_model_is_an_empty_table(study: Comparison) -> None:
    one = study.variance[0]
    none = {
        f.name: getattr(one, f.name)[:0] for f in fields(one) if isinstance(getattr(one, f.name), np.ndarray)
    }
    assert result_table(replace(one, models=(), reasons=(), share_reasons=(), **none)).rows == ()


def test_long_results_say_that_they_go_on(study: Comparison) -> None:
    block = study.pairs["facts"]
    many = len(list(block.rows()))
    table = result_table(block)
    assert len(table.rows) == min(many, MOST)
    assert (f"the first {MOST}" in table.notes) == (many > MOST)


def test_a_missing_number_is_a_dash_with_its_reason(study: Comparison) -> None:
    one = study.intervals["facts"]["sago"]
    blank = replace(one, low=np.full(4, np.nan), reasons=("one_document",) * 4)
    text = html.unescape(re.sub(r"<[^>]+>", " ", blank._repr_html_()))
    assert "one_document" in text
    assert "nan" not in text.lower()
