"""What reading tells of and never passes over: lines, values, filters, and runs that cannot be checked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sago_harness.errors import SagoError
from sago_harness.report.compared import TABLES
from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.scores.table import read_parquet
from sago_harness.stats.compare import compare
from sago_harness.stats.digest import table_digest
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable
from tests.runs.made_runs import write_runs, write_samples

QUICK = Settings(resamples=99)


def samples(folder: Path, change: Callable[[list[bytes]], list[bytes]], *, results: bool = True) -> Path:
    """Write the runs of two models as samples, one of them changed line by line."""
    paths = []
    for records in write_runs(folder, models=["a", "b"], tasks=["p"], documents=6, variants=6):
        path = records.with_name(records.name.replace("records_", "samples_")).with_suffix(".jsonl")
        write_samples(read_parquet(records), path)
        records.unlink()
        if not results:
            next(records.parent.glob("results_*")).unlink()
        paths.append(path)
    paths[1].write_bytes(b"".join(change(paths[1].read_bytes().splitlines(keepends=True))))
    return folder


def load(folder: Path, *, skip_damaged: bool = False) -> ScoreTable:
    table = read_table(find_runs([folder]), skip_damaged=skip_damaged)
    table.load("p")
    return table


def without_record(line: bytes) -> bytes:
    return line.replace(rb"{\"record\":2,", b"{")


def one_without_record(line: bytes) -> bytes:
    return line.replace(rb"{\"record\":2,", b"{", 1)


def with_value(value: bytes) -> Callable[[bytes], bytes]:
    return lambda line: line.replace(rb"\"x_act\":0.", rb"\"x_act\":" + value + rb",\"zz\":0.")


CASES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "no record": (without_record, "holds no record of sago-harness, as the other lines do"),
    "one response without": (one_without_record, "response 1 of .* is no record"),
    "a list": (with_value(b"[1,2]"), r"x_act is \[1, 2\], and no number"),
    "a negative": (with_value(b"-0.25"), "x_act is -0.25, and no distance"),
    "an infinity": (with_value(b"1e999"), "x_act is inf, and no distance"),
    "a text": (with_value(rb"\"0.9\""), "x_act is '0.9', and no number"),
    "true": (with_value(b"true"), "x_act is True, and no number"),
    "a huge number": (with_value(b"9" * 400), "x_act is a whole number beyond what a float holds"),
    "a deep nest": (lambda _: b"[" * 100_000 + b"\n", "is no sample of lm-eval"),
    "a role": (lambda line: line.replace(rb"\"control\"", rb"\"boo\""), "role 'boo': known are canonical"),
}


@pytest.mark.parametrize("results", [True, False])
@pytest.mark.parametrize("place", [0, 1, 5])
@pytest.mark.parametrize("name", CASES)
def test_a_damaged_line_is_named(name: str, place: int, results: bool, tmp_path: Path) -> None:
    damage, said = CASES[name]
    folder = samples(
        tmp_path,
        lambda lines: [damage(line) if i == place else line for i, line in enumerate(lines)],
        results=results,
    )
    with pytest.raises(SagoError, match=rf"b/samples_p_.*jsonl line {place + 1}:? .*{said}"):
        load(folder)
    table = load(folder, skip_damaged=True)
    assert table.models == ("a", "b")
    (note,) = [note for note in table.notes if "damaged" in note]
    assert note.startswith("p: b: 1 damaged line left out: ")
    assert len(table.load("p").documents) == 6
    assert np.isnan(table.load("p").distances["x_bert"][1]).all(axis=1).sum() == 1


def test_samples_of_other_projects_are_passed_over(tmp_path: Path) -> None:
    folder = samples(tmp_path, lambda lines: lines)
    (other,) = (folder / "a").glob("samples_*")
    other.with_name(other.name.replace("_p_", "_other_")).write_text(
        '{"doc_id": 0, "resps": [["x"]], "filtered_resps": ["x"], "filter": "none"}\n'
    )
    assert load(folder).tasks == ("p",)


def test_distances_of_another_seed_are_checked(tmp_path: Path) -> None:
    write_runs(tmp_path / "1", models=["a", "b"], tasks=["p"], documents=6, variants=6)
    write_runs(tmp_path / "2", models=["a", "b"], tasks=["p"], documents=6, variants=6, pack_seed=7, seed=7)
    table = read_table(find_runs([tmp_path]))
    ((seed, pack),) = table.packs.items()
    wrong = pack.load("p")
    wrong.distances["x_act"][0, 0, 0] = -3.0
    with pytest.raises(SagoError, match="x_act of model a on document d00000 is -3"):
        compare(
            ScoreTable(table.tasks, table.models, table.load, packs={seed: ScoreTable.of([wrong])}), QUICK
        )


def test_what_stands_beside_is_a_mean_over_the_same_data_sets(tmp_path: Path) -> None:
    write_runs(tmp_path, models=["a", "b"], tasks=["p", "q"], documents=8, variants=6)
    write_runs(tmp_path, models=["c"], tasks=["p"], documents=8, variants=6)
    found = compare(read_table(find_runs([tmp_path])), QUICK)
    board = TABLES["leaderboard"](found)
    rows = {row["model"]: row for row in board.records()}
    for name in ("acc", "acc_mean", "acc_worst", "flip"):
        assert rows["c"][name] is None
        each = [found.scored[task].beside[name].values[0] for task in "pq"]
        assert rows["a"][name] == pytest.approx(np.mean(each))
    assert "c is not in the mean over data sets: it lacks q" in board.notes


def test_a_signature_is_one_line_that_can_be_seen(tmp_path: Path) -> None:
    (table,) = read_table(find_runs([write_runs(tmp_path, models=1, tasks=["p"], documents=6)[0].parent]))
    found = compare(ScoreTable.of([table]), QUICK)
    object.__setattr__(found, "tasks", ("x\n\\input{evil} \x1b[31m",))
    assert found.signature.isprintable()
    assert r"tasks:x\n\input{evil} \x1b[31m|" in found.signature


def test_blank_lines_and_a_byte_order_mark_are_no_damage(tmp_path: Path) -> None:
    plain = load(samples(tmp_path / "1", lambda lines: lines)).load("p")
    folder = samples(tmp_path / "2", lambda lines: [b"\xef\xbb\xbf" + lines[0], b"\n", *lines[1:], b" \r\n"])
    table = load(folder, skip_damaged=True)
    assert not table.notes
    assert table_digest(table.load("p")) == table_digest(plain)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"signature": {"seed": 42}, "model": "x"}, "its parts are of other types"),
        ({"signature": "x"}, "its parts are of other types"),
        ("x", "its parts are of other types"),
    ],
)
def test_a_results_file_of_other_types_is_named(own: object, said: str, tmp_path: Path) -> None:
    records = write_runs(tmp_path, models=["a"], tasks=["p"], documents=3, variants=3)[0]
    path = next(records.parent.glob("results_*"))
    content = json.loads(path.read_text(encoding="utf-8"))
    content["configs"]["p"]["metadata"]["sago"] = own
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(SagoError, match=rf"results_.* is no results file of lm-eval: {said}"):
        find_runs([tmp_path])


def test_a_deep_results_file_is_named(tmp_path: Path) -> None:
    records = write_runs(tmp_path, models=["a"], tasks=["p"], documents=3, variants=3)[0]
    next(records.parent.glob("results_*")).write_text("[" * 100_000)
    with pytest.raises(SagoError, match=r"results_.* is no results file of lm-eval"):
        find_runs([tmp_path])


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("document", pa.array([7], pa.int64())),
        ("reasons", pa.array(["{" + '"a":{' * 100_000])),
        ("families", pa.array(['{"register": 1e400}'])),
        ("families", pa.array([DEEP])),
        ("measures", pa.array([DEEP])),
        ("role", pa.array([1.5], pa.float64())),
        ("record", pa.array([[2]], pa.list_(pa.int64()))),
        ("strength", pa.array([float("inf")], pa.float64())),
    ],
)
def test_a_cell_of_parquet_that_cannot_be_read_is_refused(name: str, value: pa.Array, tmp_path: Path) -> None:
    records = write_runs(tmp_path, models=["a"], tasks=["p"], documents=3, variants=3)[0]
    table = pq.read_table(records)
    at = table.schema.get_field_index(name)
    bad = pa.array(value.to_pylist() * table.num_rows, value.type)
    pq.write_table(table.set_column(at, name, bad), records)
    with pytest.raises(SagoError) as caught:
        read_table(find_runs([tmp_path])).load("p")
    said = str(caught.value)
    assert name in said or str(records) in said
    assert len(said) < 400


def test_copies_are_no_older_runs(tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", models=["a", "b"], tasks=["p"], documents=3, variants=3)
    shutil.copytree(tmp_path / "runs" / "a", tmp_path / "copy" / "a")
    assert read_table(find_runs([tmp_path])).notes == ("1 copy of the same time left out: a on p",)
    shutil.copytree(tmp_path / "runs" / "a", tmp_path / "again" / "a")
    assert read_table(find_runs([tmp_path])).notes == ("2 copies of the same time left out: a on p",)


def test_a_run_without_records_that_its_results_file_measured_is_refused(tmp_path: Path) -> None:
    folder = samples(tmp_path, lambda lines: [line.replace(rb"{\"record\":2,", b"{") for line in lines])
    with pytest.raises(
        SagoError, match=r"samples_p_.* holds no records .* results_.* says that p was measured"
    ):
        load(folder)


def test_a_filter_that_the_results_file_does_not_name_is_not_passed_over(tmp_path: Path) -> None:
    folder = samples(
        tmp_path, lambda lines: [*lines, *(line.replace(b'"none"', b'"other"') for line in lines)]
    )
    with pytest.raises(
        SagoError, match="holds responses of the filters none, other, and its results file names"
    ):
        load(folder)


def test_a_document_without_its_canonical_response_is_named(tmp_path: Path) -> None:
    records = write_runs(tmp_path, models=["a"], tasks=["p"], documents=3, variants=3)[0]
    table = pq.read_table(records)
    rows = [i for i in range(table.num_rows) if i != table.column("role").to_pylist().index("canonical")]
    pq.write_table(table.take(rows), records)
    with pytest.raises(SagoError, match="holds document 'd00000' without its canonical response"):
        read_table(find_runs([tmp_path])).load("p")
