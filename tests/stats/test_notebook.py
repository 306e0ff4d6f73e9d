"""docs/notebook.md: its blocks run, one after the other, as a reader would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runs.made_runs import write_runs

PAGE = Path(__file__).parents[2] / "docs" / "notebook.md"


def test_the_pages_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    write_runs(tmp_path / "runs", models=4, tasks=3, documents=40, variants=6)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 6
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
