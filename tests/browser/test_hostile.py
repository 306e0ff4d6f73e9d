"""Names and texts of somebody who means ill: shown as text, never run."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Browser, expect

from sago_harness.report.page.markup import document_link
from tests.browser.rig import opened
from tests.runs.made_runs import write_runs

pytestmark = pytest.mark.browser

NAMES = (
    'a" onmouseover="window.__pwned=1',
    'a" onmouseover="x',
    "</script><script>window.__pwned=1</script>",
    "<img src=x onerror=window.__pwned=1>",
    "{{7*7}}${7*7}",
    "a\u202eb\u2066c",
    "datum.value;window.__pwned=1",
    "lone \ud800 surrogate",
)

#: They are part of file names, which hold no slash.
TASKS = (
    "<img src=x onerror=window.__pwned=1>",
    'x" onmouseover="window.__pwned=1 {{7*7}}\u202e\'];datum.x',
)

#: How a name is seen that has characters which cannot be.
SEEN = {"\u202e": r"\u202e", "\u2066": r"\u2066", "\ud800": r"\ud800"}

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


def seen(name: str) -> str:
    for char, code in SEEN.items():
        name = name.replace(char, code)
    return name


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from sago_harness.cli.main import main

    folder = tmp_path_factory.mktemp("hostile")
    runs = folder / "runs"
    plain = [f"m{k}" for k in range(len(NAMES))]
    named = dict(zip(("facts", "maths"), TASKS, strict=True))
    written = write_runs(runs, models=plain, tasks=list(named), documents=12, variants=6)
    for name, own in zip(plain, NAMES, strict=True):
        for path in (runs / name).glob("results_*.json"):
            content = json.loads(path.read_text())
            content["model_name"] = own
            content["config"]["model_args"]["pretrained"] = own
            for part in ("results", "configs"):
                content[part] = {named[task]: of for task, of in content[part].items()}
            path.write_text(json.dumps(content))
    for at, path in enumerate(written):
        (task,) = (task for task in named if f"_{task}_" in path.name)
        written[at] = path.rename(path.with_name(path.name.replace(task, named[task])))
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
        assert sorted(shown) == sorted(map(seen, NAMES))
        short = page.locator("#short").inner_text()
        assert all(seen(task) in short for task in TASKS)
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


def test_names_and_answers_of_the_browser_of_documents(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, drawn=False) as watched:
        page = watched.page
        page.wait_for_selector("#sago-browse [data-part=pane] .sb-card")
        chosen = page.locator("#sago-browse [data-part=task] option").all_inner_texts()
        assert set(chosen) == {"all", *(task.replace("\u202e", "[U+202E]") for task in TASKS)}
        # Rows of records are in the order of the documents: the first one has the first texts.
        hash = document_link(TASKS[0], NAMES[0], "d00000")
        page.evaluate("(hash) => { location.hash = hash; }", hash)
        expect(page.locator("#sago-browse [data-part=pane] h3")).to_have_text("d00000")
        said = page.locator("#sago-browse [data-part=pane]").inner_text()
        for text in (TEXTS[0], TEXTS[1], TEXTS[3]):
            assert text in said
        # R08: two lines of text, and no cell of any table; an end of a line that changed has a mark.
        assert TEXTS[2] in said.replace("↵", "")
        # Names in links come back as what they are; half a character is none.
        for name in (NAMES[0], "lone \ud800 surrogate"):
            row = page.locator(".told li", has=page.locator("b", has_text=seen(name)))
            row.get_by_role("link").first.click()
            opened_of = page.locator("#sago-browse .sb-about bdi").first
            expect(opened_of).to_have_text(name.replace("\ud800", "\ufffd"))
        assert page.locator("#sago-browse :is(img, script, iframe)").count() == 0


def test_a_narrow_screen_holds_long_names(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile, width=390, drawn=False) as watched:
        watched.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390
