"""A study read from run folders: the statistics of `sago compare`, texts, and where they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from sago_harness.report.study import read_study
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table, texts
from sago_harness.stats.compare import compare
from sago_harness.stats.resampling import Settings
from tests.runs.made_runs import write_runs

FAST = Settings(resamples=99)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder, models=2, tasks=2, documents=8, variants=6)
    return folder


def test_it_is_what_compare_finds(runs: Path) -> None:
    study = read_study([runs], FAST, command="sago report runs")
    plain = compare(read_table(find_runs([runs])), FAST)
    assert study.found.signature == plain.signature
    for task, scored in plain.scored.items():
        mine = study.found.scored[task].quantities["sago_text"].values
        assert mine.tolist() == scored.quantities["sago_text"].values.tolist()
    assert set(study.runs) == {(task, model) for task in plain.tasks for model in plain.models}
    assert study.layers == {}
    assert study.command == "sago report runs"


def test_texts_are_those_of_the_runs(runs: Path) -> None:
    study = read_study([runs], FAST, worst=1)
    case = study.found.worst[0].cases[0]
    run = study.runs[study.found.worst[0].task, case.model]
    assert (
        study.found.canonical[run.task, case.model, case.document]
        == texts(run, case.document, "canonical")[1]
    )


def test_models_and_tasks_are_chosen(runs: Path) -> None:
    whole = read_study([runs], FAST)
    model, task = whole.found.models[0], whole.found.tasks[1]
    study = read_study([runs], FAST, models=[model], tasks=[task])
    assert (study.found.models, study.found.tasks) == ((model,), (task,))
    assert set(study.runs) == {(task, model)}


def test_few_texts_are_those_of_the_first_rows_of_the_table(runs: Path) -> None:
    from sago_harness.report.compared import TABLES

    every = TABLES["worst"](read_study([runs], FAST).found)
    few = TABLES["worst"](read_study([runs], FAST, with_texts=False).told(7).found)
    assert len(every.rows) > 7
    assert few.rows[:7] == every.rows[:7]
    assert {row[:6] for row in few.rows} == {row[:6] for row in every.rows}
    prompt = [column.key for column in every.columns].index("prompt")
    assert all(row[prompt] for row in every.rows)
    assert not any(row[prompt] for row in few.rows[7:])


def test_a_results_file_is_read_once_for_all_its_tasks(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sago_harness.runs import layers

    read: list[Path] = []
    plain = layers.layers_of_results
    monkeypatch.setattr(layers, "layers_of_results", lambda path: read.append(path) or plain(path))
    read_study([runs], FAST, with_texts=False)
    assert len(read) == len(set(read)) == 2
