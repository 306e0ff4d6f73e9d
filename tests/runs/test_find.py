"""Which records are found, how their models are called, and what is said where there are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.report.files import UNFINISHED
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.scores.table import read_parquet
from tests.runs.made_runs import TIME, described, signature, write_results, write_runs, write_samples

LATER = "2026-02-02T03-04-05.000006"


def made(folder: Path, name: str, *, model: dict[str, Any] | None = None, time: str = TIME) -> Path:
    """One model on one task; return its records."""
    (path,) = write_runs(folder, models=[name], tasks=1, documents=2, variants=3, time=time)
    write_results(path.parent, name, {"made00": signature("made00", 2, 3)}, model=model, time=time)
    return path


def test_a_folder_gives_every_model_and_task(tmp_path: Path) -> None:
    written = write_runs(tmp_path, models=["org/b", "a"], tasks=2, documents=2, variants=3)
    runs = find_runs([tmp_path])
    assert [(run.task, run.model) for run in runs] == [
        (task, model) for task in ("made00", "made01") for model in ("a", "org/b")
    ]
    assert {run.path for run in runs} == set(written)
    for run in runs:
        assert run.time == TIME
        assert run.results == run.path.parent / f"results_{TIME}.json"
        assert run.signature["recipe"] == "made.1"


def test_the_newest_counts_unless_all_are_asked_for(tmp_path: Path) -> None:
    old, new = made(tmp_path / "first", "m"), made(tmp_path / "second", "m", time=LATER)
    (run,) = find_runs([tmp_path])
    assert (run.path, run.older) == (new, 1)
    assert read_table([run]).notes == ("1 older run left out: m on made00",)
    assert [(r.model, r.path) for r in find_runs([tmp_path], every=True)] == [
        (f"m {TIME}", old),
        (f"m {LATER}", new),
    ]


def test_a_folder_that_is_named_twice_counts_once(tmp_path: Path) -> None:
    path = made(tmp_path / "first", "m")
    for every in (False, True):
        (run,) = find_runs([tmp_path, path.parent, path], every=every)
        assert (run.path, run.older) == (path, 0)
    assert read_table([run]).notes == ()


def test_parquet_is_preferred_over_samples_of_the_same_time_only(tmp_path: Path) -> None:
    records = made(tmp_path, "m")
    rows = read_parquet(records)
    samples = write_samples(rows, records.with_name(f"samples_made00_{TIME}.jsonl"))
    assert [run.path for run in find_runs([tmp_path])] == [records]
    later = write_samples(rows, records.with_name(f"samples_made00_{LATER}.jsonl"))
    assert [run.path for run in find_runs([tmp_path])] == [later]
    later.unlink()
    records.unlink()
    assert [run.path for run in find_runs([tmp_path])] == [samples]


def test_runs_that_have_not_ended_are_left_out(tmp_path: Path) -> None:
    whole = made(tmp_path, "m")
    made(tmp_path / f"{UNFINISHED}host-1", "m", time=LATER)
    assert [run.path for run in find_runs([tmp_path])] == [whole]


def test_without_a_results_file_the_folder_names_the_model(tmp_path: Path) -> None:
    path = made(tmp_path, "m")
    (path.parent / f"results_{TIME}.json").unlink()
    path.parent.rename(tmp_path / "other")
    (run,) = find_runs([tmp_path])
    assert (run.model, run.task, run.results) == ("other", "made00", None)
    assert run.signature["variants"] == signature("made00", 2, 3)["variants"]
    assert run.signature["model"] == described()


def test_a_name_may_be_given(tmp_path: Path) -> None:
    made(tmp_path / "x", "m")
    made(tmp_path / "y", "m", time=LATER)
    runs = find_runs([f"before={tmp_path / 'x'}", f"after={tmp_path / 'y'}"])
    assert [run.model for run in runs] == ["after", "before"]


def test_a_path_that_is_there_is_no_name(tmp_path: Path) -> None:
    path = made(tmp_path / "pretrained=m", "m")
    (run,) = find_runs([tmp_path / "pretrained=m"])
    assert (run.model, run.path) == ("m", path)


@pytest.mark.parametrize(
    ("change", "labels"),
    [
        ({"adapter": "mine"}, ["m (adapter=mine)", "m (adapter=none)"]),
        ({"revision": "v2"}, ["m (revision=main)", "m (revision=v2)"]),
        ({"dtype": "bfloat16"}, ["m (dtype=bfloat16)", "m (dtype=float32)"]),
        ({"quantised": True}, ["m (quantised=no)", "m (quantised=yes)"]),
        ({"batch_size": "9", "device": "cuda"}, ["m"]),
    ],
)
def test_models_of_one_name_are_told_apart(tmp_path: Path, change: dict[str, Any], labels: list[str]) -> None:
    made(tmp_path / "a", "m")
    made(tmp_path / "b", "m", model=described(**change), time=LATER)
    assert [run.model for run in find_runs([tmp_path])] == labels


def test_two_models_under_one_given_name_are_told_apart(tmp_path: Path) -> None:
    made(tmp_path, "a")
    made(tmp_path, "b")
    labels = [run.model for run in find_runs([f"mine={tmp_path}"])]
    assert labels == ["mine (model=a)", "mine (model=b)"]


@pytest.mark.parametrize("with_results", [True, False])
def test_every_filter_is_a_run(tmp_path: Path, with_results: bool) -> None:
    records = made(tmp_path, "m")
    samples = records.with_name(f"samples_made00_{TIME}.jsonl")
    rows = read_parquet(records)
    write_samples(rows, samples, filter="strict")
    for row in rows:
        row["distances"] = {**row["distances"], "x_bleu": 0.25}
    write_samples(rows, samples, filter="loose")
    if with_results:
        full = {"made00": signature("made00", 2, 3)}
        write_results(records.parent, "m", full, filters=["strict", "loose"])
    else:
        (records.parent / f"results_{TIME}.json").unlink()
    runs = find_runs([tmp_path])
    assert [(run.task, run.path) for run in runs] == [("made00[loose]", samples), ("made00[strict]", samples)]
    tables = read_table(runs, tasks=["made00"])
    assert tables.tasks == ("made00[loose]", "made00[strict]")
    assert set(tables.load("made00[loose]").distances["x_bleu"].ravel()) == {0.25}
    assert set(tables.load("made00[strict]").distances["x_bleu"].ravel()) != {0.25}


def test_files_may_be_named(tmp_path: Path) -> None:
    write_runs(tmp_path, models=["m"], tasks=2, documents=2, variants=3)
    records = tmp_path / "m" / f"records_made00_{TIME}.parquet"
    samples = write_samples(read_parquet(records), records.with_name(f"samples_made00_{TIME}.jsonl"))
    results = tmp_path / "m" / f"results_{TIME}.json"
    for path, expected in (
        (records, [records]),
        (samples, [samples]),
        (results, [records, records.with_name(f"records_made01_{TIME}.parquet")]),
    ):
        runs = find_runs([path])
        assert [run.path for run in runs] == expected
        assert {(run.model, run.results) for run in runs} == {("m", results)}


def test_a_results_file_of_another_name_is_taken(tmp_path: Path) -> None:
    path = made(tmp_path, "m")
    (path.parent / f"results_{TIME}.json").rename(path.parent / f"mine_{TIME}.json")
    (run,) = find_runs([tmp_path])
    assert run.results == path.parent / f"mine_{TIME}.json"
    assert run.model == "m"


def test_a_name_that_says_nothing_is_read_from_the_records(tmp_path: Path) -> None:
    path = made(tmp_path, "m")
    renamed = path.rename(tmp_path / "mine.parquet")
    (run,) = find_runs([renamed])
    assert (run.task, run.time, run.model) == ("made00", "", tmp_path.name)
    other = tmp_path / "other.parquet"
    other.write_bytes(renamed.read_bytes())
    with pytest.raises(SagoError, match="NAME=PATH"):
        find_runs([renamed, other])
    assert len(find_runs([f"a={renamed}", f"b={other}"])) == 2


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match=r"there is no folder or file .*nowhere"):
        find_runs([tmp_path / "nowhere"])
    with pytest.raises(SagoError, match=r"records_<task>_<time>\.parquet and no samples_<task>"):
        find_runs([tmp_path])
    made(tmp_path / "a", "m")
    (tmp_path / "b").mkdir()
    with pytest.raises(SagoError, match=r"b holds no records of sago tasks"):
        find_runs([tmp_path / "a", tmp_path / "b"])


def test_tasks_of_other_projects_are_told_from_ours(tmp_path: Path) -> None:
    line = json.dumps({"doc_id": 0, "resps": [["4"]], "filtered_resps": ["4"], "filter": "none"}) + "\n"
    theirs = tmp_path / f"samples_arc_easy_{TIME}.jsonl"
    theirs.write_text(line, encoding="utf-8")
    write_results(tmp_path, "m", {}, others=["arc_easy"])
    with pytest.raises(SagoError, match=r"samples of other tasks only \(arc_easy\)"):
        find_runs([tmp_path])
    made(tmp_path, "m")
    assert [run.task for run in find_runs([tmp_path])] == ["made00"]


def test_a_results_file_that_is_not_whole_is_named(tmp_path: Path) -> None:
    path = made(tmp_path, "m")
    results = path.parent / f"results_{TIME}.json"
    results.write_text(results.read_text(encoding="utf-8")[:50], encoding="utf-8")
    with pytest.raises(SagoError, match=rf"results_{TIME}\.json is no results file of lm-eval"):
        find_runs([tmp_path])
