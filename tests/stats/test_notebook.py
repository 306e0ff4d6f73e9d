"""docs/notebook.md: its blocks run, one after the other, as a reader would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.report.compared import TABLES
from tests.runs.made_runs import write_runs

PAGE = Path(__file__).parents[2] / "docs" / "notebook.md"


def test_the_pages_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    write_runs(tmp_path / "runs", models=4, tasks=3, documents=40, variants=12)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 17
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert said.count("true rank between") == 4
    assert said.count("would have been found") == 6
    assert "<table" in names["study"]._repr_html_()
    assert names["study"].settings.resamples == 999
    assert len(names["rows"]) == 4
    assert np.isfinite(names["interval"].low).all()
    # Six measures of four models on three data sets; the page's counts are those of the table.
    shown = TABLES["unstable"](names["study"]).rows
    found = sum(row[-1] == "unstable" for row in shown)
    assert f"{found} of 72 tests find instability" in said
    assert len(shown) == 72
    assert "above a tenth of chance: " in said
    assert len(names["alone"]) == 24
    # Six pairs of axes on each data set; 15 pairs of six measures, for four models and over them.
    assert said.count(" and confidence: ") + said.count(" and mirroring: blank") == 3 * (2 + 3)
    assert len(names["measures"]) == 15 * 5
    np.testing.assert_allclose(names["shares"].shares.sum(axis=1), 1.0)
    assert said.count(" monotone ") == 3 * 6
    assert said.count("worst of model") == 4 * 3 * 2
    assert said.count("  asked 'What is d") == 4 * 3 * 2
    assert said.count("(sago), best kept: ") == sum(
        one.score == "sago" and not one.reason for one in names["study"].firmness
    )
    assert said.count(": x_act of model") == 4 * 3
    assert "scores of this scheme: x_act x_bleu" in said
    assert (names["pilot"].documents, names["pilot"].models, names["pilot"].variants) == (40, 4, 12)
    # Rank sums 4, 5, 10, 11: W = 12 * 37 / (3^2 (4^3 - 4)).
    assert f"homophones: 4 models on 3 paraphrases: Kendall W {12 * 37 / 540:.3f}" in said
