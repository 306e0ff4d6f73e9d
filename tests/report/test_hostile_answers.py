"""R08: answers and names that are markup, from the run's files to the report and to Markdown."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sago_harness.cli.main import main
from sago_harness.report.browse.block import DataBlock
from sago_harness.report.browse.block import unpacked as content_of
from sago_harness.report.browse.data import FIRST
from tests.report.test_page import Page
from tests.runs.made_runs import write_runs

IMAGE, MODEL, BARS = "<img src=x onerror=alert(1)>", 'a" onmouseover="x', "a|b\n| c"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models on two data sets; every canonical answer is one of the strings, every other the other."""
    folder = tmp_path_factory.mktemp("hostile") / "runs"
    for path in write_runs(folder, models=[MODEL, "b"], tasks=["p", "q"], documents=6, variants=6):
        table = pq.read_table(path)
        roles = table.column("role").to_pylist()
        said = pa.array([IMAGE if role == "canonical" else BARS for role in roles])
        at = table.column_names.index("response")
        pq.write_table(table.set_column(at, "response", said), path)
    return folder


def test_the_report_shows_text_and_no_markup(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert main(["report", str(runs), "--out", str(out), "--resamples", "99"]) == 0
    text = out.read_text(encoding="utf-8")
    page = Page(text)
    assert not page.open
    assert not page.stray
    assert not {"img", "iframe", "object"} & {tag for tag, _ in page.elements}
    for _, attributes in page.elements:
        # An attribute that the name broke out of would be one of these.
        assert not [name for name in attributes if name.startswith("on") or '"' in name]
    assert MODEL in page.by_id("board")
    visible = re.sub(r"<script.*?</script>|<style>.*?</style>", "", text, flags=re.S)
    assert MODEL not in visible, "its quotation mark is escaped wherever it stands"
    blocks = {
        str(attributes["id"]): words
        for attributes, words in page.of("script")
        if str(attributes.get("id", "")).startswith("browse-")
    }
    index = content_of(DataBlock(FIRST, blocks[FIRST]))
    assert [one["task"] for one in index["tasks"]] == ["p", "q"]
    models = content_of(DataBlock("i", blocks["browse-i-0"]))["models"]
    assert [one["name"] for one in models] == [MODEL, "b"]
    said = content_of(DataBlock("r", blocks["browse-r-0-0-0"]))["documents"]
    for document in said:
        assert [one for one in document["r"] if isinstance(one, str)] == [IMAGE, BARS], "as they were said"


def test_markdown_tables_keep_their_columns(runs: Path, tmp_path: Path) -> None:
    assert main(["compare", str(runs), "--out", str(tmp_path / "c"), "--resamples", "99"]) == 0
    seen = {"answer": 0, "name": 0}
    files = sorted((tmp_path / "c").glob("*.md"))
    assert files
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [line for line in lines if line.startswith("|")]
        assert not [line for line in lines if line.startswith("| c")], "no answer begins a row"
        if not rows:
            continue
        bars = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows]
        assert set(bars) == {bars[0]}, path.name
        for row in rows:
            assert "<" not in row
            seen["answer"] += r"a\|b" in row
            seen["name"] += "onmouseover" in row
    assert seen["answer"], "the table of the worst documents holds answers"
    assert seen["name"]
