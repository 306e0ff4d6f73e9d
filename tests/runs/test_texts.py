"""Texts of many records, read at once, are those of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from sago_harness.errors import SagoError
from sago_harness.runs.find import find_runs
from sago_harness.runs.texts import texts, texts_of
from sago_harness.scores.table import read_parquet
from tests.runs.made_runs import write_runs, write_samples


def test_many_at_once_are_those_one_by_one(tmp_path: Path) -> None:
    (path,) = write_runs(tmp_path, models=1, tasks=1, documents=6, variants=6)
    rows = read_parquet(path)
    samples = write_samples(rows, tmp_path / "s.jsonl")
    wanted = [(row["document"], row["variant"]) for row in rows[2::5]]
    expected = {(row["document"], row["variant"]): (row["text"], row["response"]) for row in rows[2::5]}
    for run in (*find_runs([path]), *find_runs([f"m={samples}"])):
        assert texts_of(run, wanted) == expected
        assert {key: texts(run, *key) for key in wanted} == expected
        assert texts_of(run, []) == {}
        # Both are there, but not together.
        for lacking in (("d00001", "nothing"), ("nothing", wanted[0][1])):
            with pytest.raises(SagoError, match="has no variant"):
                texts_of(run, [*wanted, lacking])
