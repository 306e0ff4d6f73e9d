"""``sago plan``: tables, JSON, pilots and bad input."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.cli import plan as command
from sago_harness.errors import SagoError
from sago_harness.scores.table import read_parquet
from sago_harness.stats.components import default_components
from sago_harness.stats.pilot import pilot_components, pooled
from sago_harness.stats.power import documents_needed, paired_power
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.runs.made_runs import write_runs, write_samples
from tests.stats import made

Plan = Callable[..., str]


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str]) -> Plan:
    """Run the command; what it printed."""

    def call(*words: str) -> str:
        parser = argparse.ArgumentParser()
        command.configure(parser)
        capsys.readouterr()
        assert command.run(parser.parse_args([str(word) for word in words])) == 0
        return capsys.readouterr().out

    return call


@pytest.fixture
def pilot(monkeypatch: pytest.MonkeyPatch) -> list[TaskTable]:
    """Two data sets of three models in place of what a folder would hold."""
    rng = np.random.default_rng(1)
    tables = [made.table(rng, task=task, models=("a", "b", "c"), documents=30) for task in ("p", "q")]
    place(monkeypatch, tables)
    return tables


def place(monkeypatch: pytest.MonkeyPatch, tables: Sequence[TaskTable], notes: Sequence[str] = ()) -> None:
    from sago_harness.runs import find, read

    monkeypatch.setattr(find, "find_runs", lambda paths: list(paths))
    monkeypatch.setattr(read, "read_table", lambda runs, **_: ScoreTable.of(tables, notes))


def read(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def test_without_a_pilot_the_defaults_and_where_they_come_from(plan: Plan) -> None:
    told = plan()
    assert "24 TruthfulQA questions" in told
    assert "two models taken as unrelated" in told
    n = documents_needed(0.05, default_components("sago_core"), 12)
    rows = [line.split() for line in told.splitlines() if line.strip()[:1].isdigit()]
    assert rows[0][:3] == ["12", str(n), "0.050"]
    assert [row[0] for row in rows] == ["12", "6", "24"]
    # 1 canonical, 12 variants and 2 controls, for two models.
    assert rows[0][3] == f"{n * 2 * 15:,}"


def test_documents_given_the_difference_is_told(plan: Plan) -> None:
    told = read(plan("--documents", "100", "--power", "0.9", "--json"))
    found = told["plan"]
    assert found["documents"] == 100
    assert found["difference"] is None
    components = default_components("sago_core")
    error = math.sqrt(components.per_document(12) / 100)
    assert paired_power(found["detectable"], error, 100) == pytest.approx(0.9)
    assert "no number of variants finds less than" in plan("--documents", "100")


def test_the_recipe_says_how_many_variants(plan: Plan) -> None:
    assert read(plan("--recipe", "quick", "--json"))["plan"]["variants"] == 6
    assert read(plan("--recipe", "full", "--json"))["plan"]["variants"] == 131


def test_models_share_the_level_and_data_sets_the_cost(plan: Plan) -> None:
    two = read(plan("--json"))["plan"]
    more = read(plan("--models", "4", "--datasets", "3", "--json"))["plan"]
    assert more["comparisons"] == 6
    assert more["documents"] == documents_needed(0.05, default_components("sago_core"), 12, 0.8, 0.05 / 6)
    assert more["prompts"] == more["documents"] * 15 * 4 * 3
    assert more["detectable_overall"] == pytest.approx(more["detectable"] / math.sqrt(3))
    assert two["detectable_overall"] == two["detectable"]
    assert "over 3 data sets" in plan("--datasets", "3")


def test_repeats_and_longer_responses_cost(plan: Plan) -> None:
    base = read(plan("--tokens", "10", "--json"))["plan"]
    more = read(plan("--tokens", "10", "--repeats", "3", "--json"))["plan"]
    n = base["documents"]
    assert base["passes"] == n * 2 * (10 + 12 * 11 + 2)
    assert more["passes"] == n * 2 * (10 + 12 * 11 + 2 + 30)
    assert more["prompts"] - base["prompts"] == n * 2 * 3


def test_a_pilot_gives_the_variances(plan: Plan, pilot: list[TaskTable]) -> None:
    told = read(plan("runs", "--json"))["plan"]
    components = pooled([pilot_components(table, "sago_core") for table in pilot])
    assert told["variants"] == 10, "those of the pilot"
    assert told["documents"] == documents_needed(0.05, components, 10)
    assert told["components"]["document"] == pytest.approx(components.document)
    text = plan("runs")
    assert "pilot: 2 data sets of 30 or more documents" in text
    assert "pairs of models" in text
    assert read(plan("runs", "--recipe", "default", "--json"))["plan"]["variants"] == 12


def test_a_small_pilot_says_how_rough_it_is(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """The relative error of a standard deviation of n normal numbers is 1 / sqrt(2 (n - 1))."""
    for documents in (9, 40):
        one = made.table(np.random.default_rng(0), documents=documents)
        monkeypatch.setattr("sago_harness.runs.find.find_runs", lambda paths: [])
        monkeypatch.setattr(
            "sago_harness.runs.read.read_table", lambda runs, one=one, **_: ScoreTable.of([one])
        )
        said = plan("pilot", "--difference", "0.1")
        rough = "a pilot of 9 documents tells an sd only within about 25%, one standard error"
        assert (rough in said) == (documents == 9)


def test_a_pilot_gives_any_measure(plan: Plan, pilot: list[TaskTable]) -> None:
    assert read(plan("runs", "--score", "x_bleu", "--json"))["plan"]["score"] == "x_bleu"
    assert read(plan("runs", "--score", "sago_confidence", "--json"))["plan"]["documents"] > 1


def test_a_data_set_that_gives_nothing_is_told(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    good = made.table(rng, task="good", documents=20)
    small = made.table(rng, task="small", documents=2)
    place(monkeypatch, [good, small], ["one line was left out"])
    told = plan("runs")
    assert "pilot 'small' has 2 documents scored for all models" in told
    assert "one line was left out" in told
    place(monkeypatch, [small])
    with pytest.raises(SagoError, match="pilot 'small' has 2 documents"):
        plan("runs")


def test_variants_for_a_difference_on_so_many_documents(plan: Plan) -> None:
    """With one variant fewer, the plan itself says that more than the difference is needed."""
    words = ("--documents", 80, "--difference", 0.05, "--models", 3)
    found = read(plan(*words, "--json"))
    needed = found["variants_needed"]
    assert needed > 1
    assert found["plan"]["variants"] == needed
    assert found["plan"]["detectable"] <= 0.05
    components = default_components("sago_core")
    for variants, enough in ((needed, True), (needed - 1, False)):
        stderr = math.sqrt(components.per_document(variants) / 80)
        assert (paired_power(0.05, stderr, 80, 0.05 / 3) >= 0.8) == enough
    assert f"a difference of 0.05 on 80 documents takes {needed} variants of each document" in plan(*words)


def test_no_number_of_variants_helps_where_documents_differ_too_much(plan: Plan) -> None:
    found = read(plan("--documents", 30, "--difference", 0.03, "--json"))
    assert found["variants_needed"] is None
    assert found["plan"]["detectable"] > 0.03
    shown = plan("--documents", 30, "--difference", 0.03)
    enough = documents_needed(0.03, default_components("sago_core"), 12)
    assert f"documents differ too much; 12 take {enough} documents" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--difference", "x"), "--difference x: that is no number"),
        (("--difference", "nan"), "--difference nan: that is no number"),
        (("--difference", "0"), "--difference 0: it must be above 0"),
        (("--difference", "-0.1"), "--difference -0.1: it must be above 0"),
        (("--difference", "1.5"), "at most 1"),
        (("--difference", "1.5", "--documents", "10"), "at most 1"),
        (("--documents", "1"), "--documents 1: it must be 2 or more"),
        (("--documents", "2.5"), "--documents 2.5: that is no whole number"),
        (("--power", "1"), "--power 1: it must lie between"),
        (("--power", "0.01"), "--power 0.01: it must lie between"),
        (("--level", "0"), "--level 0: it must lie between"),
        (("--models", "1"), "--models 1: it must be 2 or more"),
        (("--datasets", "0"), "--datasets 0: it must be 1 or more"),
        (("--repeats", "-1"), "--repeats -1: it must be 0 or more"),
        (("--tokens", "0"), "--tokens 0: it must be 1 or more"),
        (("--score", "sago_cor"), "did you mean sago_core"),
        (("--score", "x_bleu"), "others need a pilot"),
        (("--recipe", "defalt"), "unknown recipe 'defalt': did you mean default"),
        (("--recipe", "human"), "makes no variants itself"),
        (("--language", "fr"), "has no variant for language 'fr'"),
        (("--difference", "0.0000001"), "needs more than"),
    ],
)
def test_bad_input_is_one_line(plan: Plan, words: Sequence[str], message: str) -> None:
    with pytest.raises(SagoError) as caught:
        plan(*words)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pilot_that_is_not_there(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(SagoError, match="nowhere"):
        plan(str(tmp_path / "nowhere"))
    with pytest.raises(SagoError, match="holds no"):
        plan(str(tmp_path))


def test_more_documents_than_there_can_be(plan: Plan) -> None:
    with pytest.raises(SagoError, match="10,000,000 or less"):
        plan("--documents", 10**21)


def test_a_language_is_that_of_a_recipe(plan: Plan, pilot: list[TaskTable]) -> None:
    with pytest.raises(SagoError, match="--language zh: the pilot's own variants are counted"):
        plan("runs", "--language", "zh")
    assert "variants" in plan("runs", "--language", "zh", "--recipe", "default")


def test_a_damaged_pilot_is_read_without_its_damage(plan: Plan, tmp_path: Path) -> None:
    for records in write_runs(tmp_path, models=["a", "b"], tasks=["p"], documents=12, variants=6):
        path = records.with_name(records.name.replace("records_", "samples_")).with_suffix(".jsonl")
        write_samples(read_parquet(records), path)
        records.unlink()
        path.write_text("{\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(SagoError, match=r"line 1 .* \(--skip-damaged leaves such lines out\)"):
        plan(str(tmp_path))
    assert "1 damaged line left out" in plan(str(tmp_path), "--skip-damaged")
