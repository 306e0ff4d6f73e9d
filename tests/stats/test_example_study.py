"""docs/example-study.md: the table of judged pairs comes out of the CSV beside it, as printed."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "example-study.md"


def test_the_printed_table_is_that_of_the_csv(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(ROOT)
    text = PAGE.read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.S)
    exec(compile(block, str(PAGE), "exec"), {})
    made = capsys.readouterr().out.splitlines()
    printed = text.split('| measure | n | correlation with "another answer"')[1].split("\n\n")[0]
    assert printed.splitlines()[2:] == made


def test_the_pairs_are_those_that_the_page_tells_of() -> None:
    with (ROOT / "docs" / "example-study-pairs.csv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file))
    assert len(pairs) == len({(p["model"], p["task"], p["document"], p["variant"]) for p in pairs}) == 200
    same = sum(pair["same_answer"] == "1" for pair in pairs)
    assert f"{same} of 200 were the same" in PAGE.read_text(encoding="utf-8")
    for pair in pairs:
        distances = [pair[name] for name in ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_jsd")]
        assert all(0.0 <= float(value) <= 1.0 for value in distances if value)
