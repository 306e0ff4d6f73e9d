"""Names and texts of somebody who means ill: shown as text, never run."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser

from tests.browser.rig import opened
from tests.runs.made_runs import write_runs

pytestmark = pytest.mark.browser

NAMES = (
    'a" onmouseover="window.__pwned=1',
    "</script><script>window.__pwned=1</script>",
    "<img src=x onerror=window.__pwned=1>",
    "{{7*7}}${7*7}",
    "a\u202eb\u2066c",
    "datum.value;window.__pwned=1",
)

TEXTS = (
    "<img src=x onerror=alert(1)>",
    "</script><script>window.__pwned=1</script>",
    "a|b\n| c",
    "{{7*7}} {% raw %} ${7*7}",
    "\u202eevil\u2066",
    "x" * 100_000,
    "javascript:window.__pwned=1",
    "<!--<script>",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sago_harness.cli.main import main

    folder = tmp_path_factory.mktemp("hostile")
    runs = folder / "runs"
    plain = [f"m{k}" for k in range(len(NAMES))]
    written = write_runs(runs, models=plain, tasks=["facts", "maths"], documents=12, variants=6)
    for name, own in zip(plain, NAMES, strict=True):
        for path in (runs / name).glob("results_*.json"):
            content = json.loads(path.read_text())
            content["model_name"] = own
            content["config"]["model_args"]["pretrained"] = own
            path.write_text(json.dumps(content))
    for path in written:
        table = pq.read_table(path)
        said = pa.array([TEXTS[row % len(TEXTS)] for row in range(table.num_rows)])
        for column in ("response", "text"):
            table = table.set_column(table.column_names.index(column), column, said)
        pq.write_table(table, path)
    out = folder / "report.html"
    assert main(["report", str(runs), "--out", str(out), "--resamples", "99"]) == 0
    return out


def test_shown_and_never_run(browser: Browser, hostile: Path) -> None:
    # What it must not do is asserted when the page is closed.
    with opened(browser, hostile) as watched:
        page = watched.page
        shown = page.locator("#board tbody th").all_inner_texts()
        for name in NAMES:
            assert name.replace("\u202e", r"\u202e").replace("\u2066", r"\u2066") in shown
        assert page.locator("main img, main script, main iframe").count() == 0
        for chart in page.locator(".chart:visible").all():
            chart.scroll_into_view_if_needed()
            box = chart.bounding_box()
            assert box is not None
            # Over the marks, for their tooltips.
            for share in (0.2, 0.4, 0.6):
                page.mouse.move(box["x"] + share * min(box["width"], 900), box["y"] + share * box["height"])
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_narrow_screen_holds_long_names(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, width=390, drawn=False) as watched:
        watched.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390
