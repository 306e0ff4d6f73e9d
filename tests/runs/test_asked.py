"""What was asked is read once where files hold the same bytes, and read again where one of them differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sago_harness.errors import SagoError
from sago_harness.runs.columns import Columns, read_columns
from sago_harness.runs.find import RunFile, find_runs
from sago_harness.runs.read import read_table
from sago_harness.scores.table import encodings, read_parquet, write_parquet
from tests.runs.made_runs import write_runs
from tests.runs.test_read import equal_tables

TWO = {"models": 2, "tasks": 1, "documents": 7, "variants": 8, "repeats": 1, "missing": 0.3}


def two(
    folder: Path, change: Callable[[pa.Table], pa.Table] = lambda table: table, **how: object
) -> list[RunFile]:
    """Two runs of the same prompts; the second file is written again with a change."""
    _, second = write_runs(folder, **TWO)  # type: ignore[arg-type]
    table = pq.read_table(second, partitioning=None)
    changed = change(table)
    pq.write_table(changed, second, **{"compression": "zstd", **encodings(changed.schema), **how})
    return find_runs([folder])


def both(runs: list[RunFile]) -> tuple[Columns, Columns]:
    first = read_columns(runs[0])
    return first, read_columns(runs[1], before=first)


def same_columns(one: Columns, other: Columns) -> None:
    for name in ("documents", "keys", "reasons", "flags", "families", "measures", "partners"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("document", "variant", "role", "reason", "unsent", "responses", "partner"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert one.numbers.keys() == other.numbers.keys()
    for name, values in one.numbers.items():
        np.testing.assert_array_equal(values, other.numbers[name], name)


def test_the_same_bytes_are_decoded_once(tmp_path: Path) -> None:
    runs = two(tmp_path)
    first, second = both(runs)
    assert second.asked is first.asked is not None
    same_columns(second, read_columns(runs[1]))


def replaced(name: str, values: Callable[[list[object]], list[object]]) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        place = table.column_names.index(name)
        column = pa.array(values(table.column(name).to_pylist()), table.schema.field(name).type)
        return table.set_column(place, name, column)

    return change


CHANGES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "a partner": replaced("partner", lambda said: ["d00003" if one == "d00001" else one for one in said]),
    "a document": replaced("document", lambda said: ["other" if one == "d00001" else one for one in said]),
    "a strength": replaced("strength", lambda said: [9.0 if one == 1.0 else one for one in said]),
    "a family": replaced("family", lambda said: ["human" if one == "noise" else one for one in said]),
    "the order": lambda table: table.take(pa.array(np.arange(len(table))[::-1])),
    "the length": lambda table: table.slice(0, len(table) - 12),
    "no partners": lambda table: table.drop_columns(["partner"]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_differs_is_read_again(change: Callable[[pa.Table], pa.Table], tmp_path: Path) -> None:
    runs = two(tmp_path, change)
    first, second = both(runs)
    assert second.asked is not first.asked
    same_columns(second, read_columns(runs[1]))
    # In a table of both, each model has what a table of its own has.
    together = next(iter(read_table(runs, allow_mixed=True)))
    for run in runs:
        (alone,) = list(read_table([run], allow_mixed=True))
        part = together.with_models([run.model])
        documents = np.array([name in alone.documents for name in part.documents])
        assert part.with_documents(documents).documents == alone.documents
        for name, block in alone.raw.items():
            at = [[key.id for key in together.variants].index(key.id) for key in alone.variants]
            np.testing.assert_array_equal(part.with_documents(documents).raw[name][:, :, at], block, name)
        assert alone.reasons == {name: list(counts) for name, counts in part.reasons.items()}


@pytest.mark.parametrize(
    "how",
    [{"compression": "snappy"}, {"compression": "none"}, {"row_group_size": 20}, {"use_dictionary": False},
     {"data_page_size": 64}, {"data_page_version": "2.0"}],
    ids=str,
)  # fmt: skip
def test_other_ways_of_writing_give_the_same(how: dict[str, object], tmp_path: Path) -> None:
    plain = two(tmp_path / "plain")
    other = two(tmp_path / "other", **how)
    equal_tables(next(iter(read_table(plain))), next(iter(read_table(other))))
    same_columns(both(plain)[1], both(other)[1])


def test_records_written_by_the_project_are_read_once(tmp_path: Path) -> None:
    runs = find_runs([tmp_path]) if write_runs(tmp_path, **TWO) else []  # type: ignore[arg-type]
    for run in runs:
        write_parquet(read_parquet(run.path), run.path)
    first, second = both(runs)
    assert second.asked is first.asked
    same_columns(second, read_columns(runs[1]))


def test_a_newer_record_beside_a_known_one_is_refused(tmp_path: Path) -> None:
    runs = two(tmp_path, replaced("record", lambda said: [99] * len(said)))
    with pytest.raises(SagoError, match="newer sago-harness"):
        both(runs)


def test_a_file_whose_sizes_are_wrong_is_refused(tmp_path: Path) -> None:
    runs = two(tmp_path)
    whole = runs[1].path.read_bytes()
    # Bytes in the middle of the file are gone, and its end tells of more than there is.
    runs[1].path.write_bytes(whole[:200] + whole[-6000:])
    with pytest.raises(SagoError):
        both(runs)
