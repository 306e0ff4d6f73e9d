"""docs/statistics.md: every table of ``sago compare``, its columns and its flags are explained there."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sago_harness.report.compared import TABLES
from sago_harness.report.compared_mixed import MIXED
from sago_harness.report.compared_standing import HEALTH_LIMIT
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.scores.document import HEALTH_FLAGS
from sago_harness.stats.compare import Settings, compare
from sago_harness.stats.comparison import CAPPED, SHARES, Comparison
from sago_harness.stats.independence import RESAMPLES as INDEPENDENCE
from sago_harness.stats.variance import RESAMPLES as VARIANCE
from tests.runs.made_runs import write_runs

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
TEXT = PAGE.read_text(encoding="utf-8")

#: Heading of the second level -> what stands under it.
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.S | re.M))

#: What needs no explanation.
PLAIN = {"data set", "model", "measure", "score", "scheme", "document", "family", "a", "b"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    place = tmp_path_factory.mktemp("made")
    write_runs(place, models=4, tasks=2, documents=12, variants=6)
    return compare(read_table(find_runs([place])), Settings(resamples=99))


@pytest.mark.parametrize("name", TABLES)
def test_every_table_and_column_is_explained(name: str, study: Comparison) -> None:
    assert name in SECTIONS
    told = SECTIONS[name] + SECTIONS["Words and columns that come again"]
    if name == "ranking":
        told += SECTIONS["leaderboard"]
    told = " ".join(told.split())
    table = TABLES[name](study)
    assert table.name == name
    for column in table.columns:
        title = column.title or column.key
        if title in PLAIN or column.key.removeprefix("sago_") != column.key:
            continue
        assert re.search(rf"\b{re.escape(title)}\b" if title.isalpha() else re.escape(title), told), title


def test_every_flag_is_explained(study: Comparison) -> None:
    """Flags are taken from the table itself: one model of two data sets has all that can go wrong."""
    one = study.scored[study.tasks[0]]
    bad = replace(
        one,
        stock=np.ones(4),
        health={name: np.ones(4) for name in HEALTH_FLAGS},
        scored=np.zeros(4, dtype=np.intp),
        mixed=(True,) * 4,
        sampling=np.ones(4, dtype=bool),
    )
    less = replace(study.scored[study.tasks[1]], models=study.models[1:])
    rows = TABLES["ranking"](replace(study, scored={"bad": bad, "less": less}, ranks={}, intervals={})).rows
    shown = {flag for row in rows for flag in str(row[-1]).split()}
    assert {"stock", "sampling", "coverage", "mixed", "missing", *HEALTH_FLAGS} - {"truncated"} == shown
    told = SECTIONS["Words and columns that come again"]
    for flag in shown:
        assert f"| `{flag}` |" in told
    assert f"`{MIXED.heading}` (`{MIXED.key}` in CSV\nand JSON)" in told
    for flag in HEALTH_FLAGS:
        assert f"`{flag}`" in SECTIONS["ranking"]
    assert "`truncated`" in told
    assert HEALTH_LIMIT == 0.1


def test_the_caps_are_those_of_the_code(study: Comparison) -> None:
    told = SECTIONS["Words and columns that come again"]
    assert f"at most {SHARES}, whatever" in told
    (capped,) = (line for line in told.splitlines() if f"at most {SHARES}, whatever" in line)
    for name in ("`apart`", "`independence`", "`variance`", "*epsilon changed*", "resampling support"):
        assert name in capped
    assert study.about()["caps"] == dict.fromkeys(CAPPED, SHARES)
    assert INDEPENDENCE == VARIANCE
    assert f"take up to {VARIANCE:,}" in told


def test_links_inside_the_page_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", TEXT, re.M)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    for name in re.findall(r"\]\(#([^)]*)\)", TEXT):
        assert name in anchors
    for name in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (PAGE.parent / name).exists()
