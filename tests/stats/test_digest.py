"""A signature changes with every number that was read, and with nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sago_harness.runs.find import find_runs
from sago_harness.runs.read import read_table
from sago_harness.scores.table import read_parquet
from sago_harness.stats.compare import compare
from sago_harness.stats.digest import table_digest
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable, TaskTable
from tests.runs.made_runs import write_runs, write_samples
from tests.stats.made import table

QUICK = Settings(resamples=99)


@pytest.fixture
def made() -> TaskTable:
    return table(np.random.default_rng(0), documents=8, repeats=1)


@pytest.mark.parametrize("kind", ["distances", "controls", "repeats", "correct", "responses"])
def test_one_number_more_or_less(made: TaskTable, kind: str) -> None:
    block = getattr(made, kind)
    if isinstance(block, dict):
        values = block["x_act"].copy()
        values[1, 3, 0] = 0.123
        other = replace(made, **{kind: {**block, "x_act": values}})
    else:
        values = block.copy()
        values[1, 3] = "other" if kind == "responses" else 1.0 - values[1, 3]
        other = replace(made, **{kind: values})
    assert table_digest(other) != table_digest(made)
    assert table_digest(replace(other, **{kind: block})) == table_digest(made)
    signed = [compare(ScoreTable.of([one]), QUICK).signature for one in (made, other, made)]
    assert signed[0] == signed[2] != signed[1]


def test_all_not_a_numbers_are_one(made: TaskTable) -> None:
    found = set()
    for bits in (0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000000000000):
        block = made.distances["x_act"].copy()
        block[0, 0, 0] = np.array([bits], dtype=np.uint64).view(np.float64)[0]
        found.add(table_digest(replace(made, distances={**made.distances, "x_act": block})))
    assert len(found) == 1


def test_samples_and_parquet_of_a_run_have_one_digest(tmp_path: Path) -> None:
    paths = write_runs(tmp_path, models=["a", "b"], tasks=["p"], documents=6, variants=6, missing=0.2)
    before = table_digest(read_table(find_runs([tmp_path])).load("p"))
    for records in paths:
        path = records.with_name(records.name.replace("records_", "samples_")).with_suffix(".jsonl")
        write_samples(read_parquet(records), path)
        records.unlink()
    assert table_digest(read_table(find_runs([tmp_path])).load("p")) == before


def test_the_digests_of_other_seeds_are_there(tmp_path: Path) -> None:
    write_runs(tmp_path / "1", models=["a", "b"], tasks=["p"], documents=6, variants=6)
    write_runs(tmp_path / "2", models=["a", "b"], tasks=["p"], documents=6, variants=6, pack_seed=7, seed=7)
    found = compare(read_table(find_runs([tmp_path])), QUICK)
    assert list(found.digests) == ["p", "p, pack seed 7"]
    assert json.loads(json.dumps(found.about()["digests"])) == found.digests


def test_numbers_of_other_kinds_are_numbers(made: TaskTable) -> None:
    first, *others = made.variants
    assert first.strength == 2.0
    found = {
        table_digest(replace(made, variants=(replace(first, strength=strength), *others)))
        for strength in (2.0, np.float64(2.0), np.float32(2.0), np.int64(2), 2)
    }
    assert len(found) == 1
