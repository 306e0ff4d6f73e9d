"""Arrow arrays become NumPy arrays as Arrow itself converts them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sago_harness.runs.arrow import codes, doubles, places
from tests.runs.made_runs import write_runs

KINDS = (pa.int8(), pa.int32(), pa.int64(), pa.uint8(), pa.float32(), pa.float64(), pa.bool_(), pa.null())


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_numbers_are_those_of_arrow_itself(kind: pa.DataType) -> None:
    values = [None] * 20 if kind == pa.null() else [1, None, 0, 1, 1, None, 0, 0, 1, 0] * 2
    whole = pa.array(values, None if kind == pa.null() else pa.int8()).cast(kind)
    column = pa.chunked_array([whole[:3], whole[3:3], whole[3:]])
    expected = [np.nan if value is None else float(value) for value in values]
    np.testing.assert_array_equal(doubles(column), expected)
    np.testing.assert_array_equal(doubles(column.slice(7, 9)), expected[7:16])


def test_a_column_without_rows_is_empty() -> None:
    assert doubles(pa.chunked_array([], pa.float64())).shape == (0,)
    assert codes(pa.array([], pa.int32())).shape == (0,)


def test_codes_are_those_of_a_dictionary_and_null_is_minus_one() -> None:
    words = ["b", None, "a", "b", None, "c", "a", "b", "c", None]
    coded = pa.array(words).dictionary_encode()
    for part, said in ((coded, words), (coded[3:], words[3:]), (coded[2:4], words[2:4])):
        names = part.dictionary.to_pylist()
        found = [None if code < 0 else names[code] for code in codes(part.indices)]
        assert found == said


def test_rows_are_taken_as_numpy_takes_them() -> None:
    rows = np.array([4, 0, 2])
    assert pa.array([10, 11, 12, 13, 14]).take(places(rows)).to_pylist() == [14, 10, 12]


def test_reading_runs_imports_no_data_frames(tmp_path: Path) -> None:
    write_runs(tmp_path, models=2, tasks=1, documents=3, variants=6, missing=0.2)
    code = (
        "import sys\n"
        "from sago_harness.runs.find import find_runs\n"
        "from sago_harness.runs.read import read_table\n"
        "list(read_table(find_runs([sys.argv[1]])))\n"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0
