"""Rows out of files: every kind, and what is told of a bad one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sago_harness.documents.read import read_file, read_hub, read_local
from sago_harness.errors import SagoError

ROWS = [{"q": "Ça va?", "n": "1"}, {"q": "好吗", "n": "2"}]


def save(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def parquet(path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


def test_every_kind_gives_the_same_rows(tmp_path: Path) -> None:
    files = [
        save(tmp_path / "a.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n\n" for row in ROWS)),
        save(tmp_path / "a.JSON", json.dumps(ROWS)),
        save(tmp_path / "b.json", json.dumps({"version": 1, "examples": ROWS})),
        save(tmp_path / "a.csv", "q,n\nÇa va?,1\n好吗,2\n"),
        save(tmp_path / "a.tsv", "q\tn\nÇa va?\t1\n好吗\t2\n"),
        parquet(tmp_path / "a.parquet"),
    ]
    for path in files:
        assert read_file(path) == ROWS, path.name


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    for name, text in (("a.jsonl", '{"q": "x"}\n'), ("a.json", '[{"q": "x"}]'), ("a.csv", "q\nx\n")):
        path = tmp_path / name
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert read_file(path) == [{"q": "x"}]


def test_csv_fields_may_hold_commas_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = save(tmp_path / "a.csv", 'q,a\n"one, ""two""\nthree",4\n')
    assert read_file(path) == [{"q": 'one, "two"\nthree', "a": "4"}]


def test_a_lone_surrogate_is_replaced(tmp_path: Path) -> None:
    assert read_file(save(tmp_path / "a.jsonl", '{"q": "a\\ud800b"}\n')) == [{"q": "a\ufffdb"}]


def test_a_key_with_a_lone_surrogate_is_replaced_too(tmp_path: Path) -> None:
    text = '{"q": {"\\udc00k": 1}, "\\ud800": "x"}\n'
    assert read_file(save(tmp_path / "a.jsonl", text)) == [{"q": {"\ufffdk": 1}, "\ufffd": "x"}]


def test_what_is_nested_within_reason_is_read(tmp_path: Path) -> None:
    deep = "[" * 40 + "]" * 40
    assert read_file(save(tmp_path / "a.jsonl", f'{{"q": {deep}}}\n')) == [{"q": json.loads(deep)}]


def test_nan_becomes_null(tmp_path: Path) -> None:
    assert read_file(save(tmp_path / "a.jsonl", '{"q": "x", "v": NaN}\n')) == [{"q": "x", "v": None}]


BAD: dict[str, tuple[str, str]] = {
    "a.jsonl": ('{"q": 1}\n{"q": \n', r"a\.jsonl line 2 is not JSON"),
    "b.jsonl": ('{"q": 1}\n["q"]\n', r"b\.jsonl line 2 is not a JSON object but list"),
    "a.json": ('[{"q": 1}', r"a\.json is not JSON"),
    "b.json": ('{"q": 1}', r"b\.json is no list of JSON objects"),
    "c.json": ("[1, 2]", r"c\.json is no list of JSON objects"),
    "a.parquet": ("not parquet at all", r"a\.parquet is no Parquet file"),
    "a.xlsx": ("x", r"files of kind \.xlsx are not read; use \.jsonl, \.json, \.csv"),
    "deep.jsonl": (
        '{"q": 1}\n{"q": ' + "[" * 100_000 + "]" * 100_000 + "}\n",
        r"deep\.jsonl line 2 is nested too deeply",
    ),
    "some.jsonl": ('{"q": ' + "[" * 60 + "]" * 60 + "}\n", r"line 1 is nested too deeply: at most 50 levels"),
    "deep.json": ("[" * 100_000 + "]" * 100_000, r"deep\.json is nested too deeply"),
    "digits.jsonl": ('{"q": ' + "1" * 5000 + "}\n", r"digits\.jsonl line 1 is not JSON"),
    "long.csv": (
        "q,a\nx,y\n" + "z" * 200_000 + ",1\n",
        r"long\.csv line 3 cannot be read: field larger than field limit \(131072\)",
    ),
    "plain": ("x", r"files of kind no ending are not read"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_file_is_named_with_its_line(name: str, tmp_path: Path) -> None:
    text, message = BAD[name]
    with pytest.raises(SagoError, match=message) as caught:
        read_file(save(tmp_path / name, text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
def test_a_file_in_another_encoding_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes('{"q": "Ça"}'.encode("latin-1"))
    with pytest.raises(SagoError, match=f"{name} cannot be read"):
        read_file(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SagoError, match=r"gone\.jsonl cannot be read"):
        read_file(tmp_path / "gone.jsonl")


def test_a_local_copy_takes_the_first_pattern_that_fits(tmp_path: Path) -> None:
    save(tmp_path / "test-0.jsonl", '{"q": "a"}\n')
    save(tmp_path / "test-1.jsonl", '{"q": "b"}\n')
    save(tmp_path / "train.jsonl", '{"q": "c"}\n')
    assert read_local(tmp_path, ["test*.jsonl", "*.jsonl"]) == [{"q": "a"}, {"q": "b"}]
    assert read_local(tmp_path / "none", ["*"]) is None
    with pytest.raises(SagoError, match=r"holds none of \*\.csv, \*\.tsv"):
        read_local(tmp_path, ["*.csv", "*.tsv"])


def test_a_saved_data_set_with_several_splits_is_refused(tmp_path: Path) -> None:
    import datasets

    part = datasets.Dataset.from_list(ROWS)
    datasets.DatasetDict({"test": part}).save_to_disk(str(tmp_path / "one"))
    assert read_local(tmp_path / "one", ["*"]) == ROWS
    datasets.DatasetDict({"test": part, "train": part}).save_to_disk(str(tmp_path / "two"))
    with pytest.raises(SagoError, match="save the one that is to be used"):
        read_local(tmp_path / "two", ["*"])


@pytest.mark.parametrize("folder", ["nq", None])
def test_a_hub_data_set_out_of_reach_is_one_line(folder: str | None) -> None:
    with pytest.raises(SagoError) as caught:
        read_hub("nobody/nothing", "small", "test", "my_task", folder)
    message = str(caught.value)
    assert "\n" not in message
    for part in ("'my_task'", "nobody/nothing (small)", "'test'", "reach the hub"):
        assert part in message
    assert ("$SAGO_DATA_DIR" in message) == (folder is not None)


def test_a_proxy_that_refuses_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub's client has an error of its own for it, which is no OSError."""
    import datasets
    import huggingface_hub.utils

    client = getattr(huggingface_hub.utils, "httpx", None)
    if client is None:
        pytest.skip("this hub client raises OSErrors only")

    def refuse(**_: Any) -> None:
        raise client.ProxyError("403 Forbidden")

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(
        SagoError, match=r"'t': data set a/b, split 'test', is not at hand: .*\[403 Forbidden\]"
    ):
        read_hub("a/b", None, "test", "t", "ab")


def test_the_kind_of_error_is_kept_for_a_bug() -> None:
    """A wrong argument is no missing data set."""
    with pytest.raises(TypeError):
        read_hub("json", None, "test", "t", None, data_files=object(), no_such_argument=1)  # type: ignore[arg-type]


def test_hub_rows_are_plain_json(tmp_path: Path) -> None:
    path = save(tmp_path / "rows.jsonl", '{"q": "x", "deep": {"v": [1, null]}}\n')
    rows: list[dict[str, Any]] = read_hub("json", None, "train", "t", None, data_files=str(path))
    assert rows == [{"q": "x", "deep": {"v": [1, None]}}]
