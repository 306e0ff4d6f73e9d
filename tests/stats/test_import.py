"""``sago import``: published accuracies by paraphrase, our own file, and files that are neither."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.cli import import_grid
from sago_harness.errors import SagoError
from sago_harness.stats.agreement import agreement
from sago_harness.stats.grid import Grid, load_grids, save_grids


def run(*words: object) -> int:
    parser = argparse.ArgumentParser()
    import_grid.configure(parser)
    return import_grid.run(parser.parse_args([str(word) for word in words]))


def published(path: Path, rows: dict[str, dict[str, Any]]) -> Path:
    content = {
        index: {"template": "Q: {q}", "method": "cot", "correct": True, "accs": accs, "ranks": {}}
        for index, accs in rows.items()
    }
    path.write_text(json.dumps({"paraphrases": content}), encoding="utf-8")
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    accs = [(0.1, 0.2, 0.3, 0.4), (0.1, 0.2, 0.4, 0.3), (0.2, 0.1, 0.3, 0.4)]
    return published(
        tmp_path / "small.json", {str(i): dict(zip("abcd", row, strict=True)) for i, row in enumerate(accs)}
    )


@pytest.fixture(scope="module")
def prompts(shared_data: Path) -> Path:
    folder = shared_data / "multi_prompt_eval"
    if not folder.is_dir():
        pytest.skip(f"no folder multi_prompt_eval in {shared_data}: see SAGO_DATA_DIR")
    return folder


@pytest.mark.parametrize(
    ("name", "rows", "models", "w"),
    [
        ("word_before", 233, 16, 0.557),
        ("first_alphabetically", 234, 16, 0.394),
        ("homophones", 265, 16, 0.669),
        ("causal_judgement", 187, 11, 0.816),
        ("sports_understanding", 173, 11, 0.619),
    ],
)
def test_measured_accuracies(prompts: Path, name: str, rows: int, models: int, w: float) -> None:
    (grid,) = load_grids(prompts / f"{name}.json")
    assert grid.values.shape == (rows, models)
    assert np.isfinite(grid.values).all()
    assert round(agreement(grid).kendall_w, 3) == w


def test_all_files_at_once(prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(prompts.glob("*.json"))
    out = tmp_path / "new" / "grid.json"
    assert run(*files, "--out", out) == 0
    first = capsys.readouterr().out
    assert [line.split()[0] for line in first.splitlines()[1:-1]] == [file.stem for file in files]
    assert run(out) == 0
    assert capsys.readouterr().out == first.removesuffix(f"written: {out}\n")


def test_printed_table(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(small) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert " ".join(head.split()) == (
        "grid rows models Kendall W Friedman p mean tau lowest pairs that change"
    )
    # Ranks add up to 11, 10, 5, 4 with mean 7.5: W = 12 * 37 / (9 * 60), chi2 = 9 W.
    assert row.split() == ["small", "3", "4", "0.822", "7.40", "0.06", "0.56", "0.33", "2", "of", "6"]


def test_own_file_names_its_schema_and_keeps_every_number(tmp_path: Path) -> None:
    values = np.array([[0.1 + 0.2, np.nan, 1e-17], [1.0, 2.0, 3.0]])
    grids = [
        Grid("x_bleu", ("facts", "maths"), ("a", "b", "c"), values, False),
        Grid("sago", ("facts", "maths"), ("a", "b", "c"), 1 - values),
    ]
    path = tmp_path / "g.json"
    save_grids(path, grids)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert (read["schema"], read["version"]) == ("sago-grid", 1)
    again = load_grids(path)
    for one, other in zip(grids, again, strict=True):
        assert (one.name, one.rows, one.models, one.higher_is_better, one.unit) == (
            other.name, other.rows, other.models, other.higher_is_better, other.unit
        )  # fmt: skip
        np.testing.assert_array_equal(one.values, other.values)
    assert [path.name for path in tmp_path.iterdir()] == ["g.json"]


def test_a_missing_accuracy_leaves_the_model_out_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {str(i): {name: 0.1 * (i + k) % 1 for k, name in enumerate("abcde")} for i in range(3)}
    rows["1"]["b"] = None  # type: ignore[assignment]
    del rows["2"]["d"]
    path = published(tmp_path / "p.json", rows)
    assert run(path) == 0
    out = capsys.readouterr().out
    assert "p: left out, no value in some paraphrase: b, d" in out
    assert "p: 3 models (2 left out): agreement is not told under 4" in out


def test_one_paraphrase_is_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(published(tmp_path / "p.json", {"1": dict.fromkeys("abcd", 0.5)})) == 0
    assert "one paraphrase" in capsys.readouterr().out


def test_names_cannot_drive_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"1": {"a\x1b[31m": 0.1}, "2": {"b": 0.2}}
    assert run(published(tmp_path / "p.json", rows)) == 0
    assert "\x1b" not in capsys.readouterr().out


WRONG = {
    "no JSON": ("{", "no whole JSON file"),
    "a list": ("[1]", "is no grid"),
    "results of a run": ('{"results": {}}', "is no grid"),
    "no paraphrase": ('{"paraphrases": {}}', "no paraphrase"),
    "a percentage": ('{"paraphrases": {"7": {"accs": {"m": 57.5}}}}', "divide a percentage by 100"),
    "a list of paraphrases": ('{"paraphrases": []}', "is no grid"),
    "no accs": ('{"paraphrases": {"7": {"template": ""}}}', "paraphrase '7'"),
    "accs empty": ('{"paraphrases": {"7": {"accs": {}}}}', "paraphrase '7'"),
    "a word": ('{"paraphrases": {"7": {"accs": {"m": "0.5"}}}}', "model 'm': '0.5' is no number"),
    "true": ('{"paraphrases": {"7": {"accs": {"m": true}}}}', "True is no number"),
    "infinite": ('{"paraphrases": {"7": {"accs": {"m": Infinity}}}}', "infinite"),
    "too large": ('{"paraphrases": {"7": {"accs": {"m": 1' + "0" * 400 + "}}}}", "infinite"),
    "too many digits": ('{"paraphrases": {"7": {"accs": {"m": ' + "1" * 5000 + "}}}}", "cannot be used"),
    "a key twice": ('{"paraphrases": {"7": {"accs": {"m": 1, "m": 2}}}}', "'m' comes twice"),
    "too deep": ("[" * 100_000, "cannot be used"),
    "another schema": ('{"schema": "other", "version": 1}', "expected 'sago-grid'"),
    "a newer version": ('{"schema": "sago-grid", "version": 2}', "reads version 1"),
    "no grids": ('{"schema": "sago-grid", "version": 1, "grids": []}', "holds no grid"),
    "a grid that is none": ('{"schema": "sago-grid", "version": 1, "grids": [3]}', "grid 1: 'name'"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files(tmp_path: Path, case: str) -> None:
    text, word = WRONG[case]
    path = tmp_path / "wrong.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SagoError) as caught:
        run(path, "--out", tmp_path / "out.json")
    message = str(caught.value)
    assert word in message
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 400
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"values": [[1, 2]]}, "1 rows of values for 2 names"),
        ({"values": [[1, 2], [1]]}, "row 'q': expected 2 values"),
        ({"values": [[1, 2], [1, "x"]]}, "row 'q', model 'b': 'x' is no number"),
        ({"models": ["a", "a"]}, "a name comes twice: 'a'"),
        ({"higher_is_better": 1}, "'higher_is_better' is missing or no bool"),
    ],
)
def test_wrong_grids(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    entry = {"name": "x", "unit": "data set", "higher_is_better": True, "models": ["a", "b"],
             "rows": ["p", "q"], "values": [[1, 2], [3, 4]]}  # fmt: skip
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"schema": "sago-grid", "version": 1, "grids": [entry]}), encoding="utf-8")
    assert load_grids(path)[0].values.tolist() == [[1, 2], [3, 4]]
    path.write_text(json.dumps({"schema": "sago-grid", "version": 1, "grids": [entry | change]}))
    with pytest.raises(SagoError, match="grid 1") as caught:
        load_grids(path)
    assert word in str(caught.value)


def test_no_such_file_a_folder_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for path, word in (("none.json", "cannot be read"), (".", "cannot be read"), ("bytes.json", "UTF-8")):
        with pytest.raises(SagoError, match=word):
            run(tmp_path / path)


def test_out_is_never_an_input_and_never_half_a_file(small: Path, tmp_path: Path) -> None:
    before = small.read_bytes()
    with pytest.raises(SagoError, match="one of the files to read"):
        run(small, "--out", small)
    assert small.read_bytes() == before
    with pytest.raises(SagoError, match="cannot be written"):
        run(small, "--out", small / "below.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SagoError, match="cannot be written"):
        run(small, "--out", tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "small.json"]
