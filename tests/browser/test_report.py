"""The report in a real browser: drawn, calm, readable by all, light and dark, small and on paper."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from sago_harness.figures import FIGURES
from tests.browser.rig import findings, first_chart, opened

pytestmark = pytest.mark.browser

#: Number of drawn marks in every chart, by the chart's id.
_MARKS = """
Object.fromEntries([...document.querySelectorAll(".chart")].map((chart) => [
  chart.dataset.chart,
  chart.querySelectorAll("svg g.role-mark > :is(path, text, line, rect)").length,
]))
"""

_FOCUS = """
(() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  return {
    tag: at.tagName, id: at.id, text: at.textContent.trim().slice(0, 40), href: at.getAttribute("href"),
    outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
    seen: box.width > 1 && box.height > 1,
  };
})()
"""


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def ink(page: Page) -> str:
    """Colour of the first label in a chart."""
    return str(page.evaluate("document.querySelector('.chart svg text').getAttribute('fill')"))


def test_every_chart_is_drawn(browser: Browser, report: Path) -> None:
    with opened(browser, report) as watched:
        marks = watched.page.evaluate(_MARKS)
        assert len(marks) >= len(FIGURES) - 1, "made runs lack what one kind of figure needs at most"
        assert {chart: count for chart, count in marks.items() if count < 2} == {}
        assert watched.page.locator(".chart", has_text="could not be drawn").count() == 0


def test_charts_far_below_wait_for_their_turn(browser: Browser, report: Path) -> None:
    with opened(browser, report, drawn=False) as watched:
        page = watched.page
        page.evaluate("document.querySelector('#care .chart').scrollIntoView()")
        page.wait_for_selector("#care .chart[data-drawn] svg")


def test_tables_are_there(browser: Browser, report: Path) -> None:
    with opened(browser, report, drawn=False) as watched:
        page = watched.page
        rows = page.locator("#board tbody tr")
        assert sorted(rows.locator("th").all_inner_texts()) == ["one", "three", "two", "通义千问"]
        # The levels of the made runs order the models.
        assert rows.locator("th").all_inner_texts()[0] == "one"
        assert page.locator("figure.plate").count() == page.locator("figure.plate details table").count()
        fold = page.locator("#datasets > details.fold:not(.more-figures)").first
        assert not fold.locator("table").is_visible()
        fold.locator("summary").click()
        assert fold.locator("table").is_visible()


def test_dark_and_back(browser: Browser, report: Path) -> None:
    with opened(browser, report, drawn=False) as watched:
        page = watched.page
        first_chart(page)
        page.evaluate("window.__heard = []; sago.onTheme((name) => window.__heard.push(name))")
        light, drawn = background(page), ink(page)
        page.locator("#theme").click()
        assert page.evaluate("sago.theme()") == "dark"
        first_chart(page, "dark")
        assert background(page) != light
        assert ink(page) != drawn
        assert page.locator("#status").inner_text() == "The page is dark."
        page.locator("#theme").click()
        first_chart(page)
        assert (background(page), ink(page)) == (light, drawn)
        assert page.evaluate("window.__heard") == ["dark", "light"]


def test_it_follows_the_system(browser: Browser, report: Path) -> None:
    with opened(browser, report, dark=True, drawn=False) as watched:
        page = watched.page
        assert page.evaluate("sago.theme()") == "dark"
        dark = background(page)
        page.emulate_media(color_scheme="light")
        page.wait_for_selector('html[data-theme="light"]')
        assert background(page) != dark


def test_a_narrow_screen_scrolls_down_alone(browser: Browser, report: Path) -> None:
    with opened(browser, report, width=390, height=844) as watched:
        page = watched.page
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        # A wide table scrolls in its own box, by keys as well.
        box = page.locator(".scroll:has(#board)")
        assert box.evaluate("(box) => box.scrollWidth > box.clientWidth")
        assert box.get_attribute("tabindex") == "0"


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)])
def test_axe_finds_nothing_serious(browser: Browser, small: Path, dark: bool, width: int) -> None:
    # The checker is a program of its own, which the page's policy would not let in.
    with opened(browser, small, dark=dark, width=width, drawn=False, bypass_csp=True) as watched:
        first_chart(watched.page, "dark" if dark else "light")
        assert findings(watched.page) == []
        watched.page.evaluate(
            """async () => {
              document.querySelectorAll('details.fold').forEach((one) => { one.open = true; });
              // Boxes are measured when the page has been laid out anew.
              for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
            }"""
        )
        assert findings(watched.page) == []


def test_by_keys_alone(browser: Browser, report: Path) -> None:
    with opened(browser, report, drawn=False) as watched:
        page = watched.page
        page.keyboard.press("Tab")
        first = page.evaluate(_FOCUS)
        assert first["href"] == "#content"
        assert first["seen"]
        assert first["outline"]
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        page.reload()
        stops = []
        for _ in range(14):
            page.keyboard.press("Tab")
            stops.append(page.evaluate(_FOCUS))
        assert all(stop["outline"] and stop["seen"] for stop in stops)
        assert stops[1]["id"] == "theme"
        assert stops[2]["href"] == "#short", "the contents follow"
        page.locator("#datasets > details.fold:not(.more-figures) > summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("#datasets > details.fold:not(.more-figures)").first.evaluate("(one) => one.open")


def test_boxes_that_do_not_scroll_are_no_stop(browser: Browser, small: Path) -> None:
    with opened(browser, small, width=1600) as watched:
        state = """async () => {
          // Boxes are measured when the charts have found their size.
          for (let frame = 0; frame < 5; frame++) await new Promise(requestAnimationFrame);
          return [...document.querySelectorAll(".scroll")].filter((box) => box.checkVisibility())
            .map((box) => [box.scrollWidth > box.clientWidth + 1, box.tabIndex === 0]);
        }"""
        for wide, stop in watched.page.evaluate(state):
            assert wide == stop


def test_on_paper(browser: Browser, report: Path) -> None:
    """Printed at once from a dark screen: light, everything open, every chart there."""
    with opened(browser, report, dark=True, drawn=False) as watched:
        page = watched.page
        page.evaluate(
            """window.matchMedia("print").addEventListener("change", (event) => {
              if (event.matches) window.__paper = {
                open: document.querySelectorAll("details.fold:not([open])").length,
                theme: sago.theme(),
              };
            })"""
        )
        page.evaluate(
            """window.addEventListener("afterprint", () => { window.__charts =
              [...document.querySelectorAll(".chart")].map((one) => !!one.querySelector("svg")); })"""
        )
        made = page.pdf(format="A4")
        assert made[:5] == b"%PDF-"
        assert page.evaluate("window.__paper") == {"open": 0, "theme": "light"}
        assert all(page.evaluate("window.__charts"))
        assert page.evaluate("sago.theme()") == "dark"
        assert page.locator("details.fold[open]").count() == 0
        page.emulate_media(media="print")
        assert background(page) == "rgb(255, 255, 255)"
        assert not page.locator(".contents").is_visible()
        assert not page.locator("#theme").is_visible()
        assert page.locator("button[data-save]:visible").count() == 0


def test_files_are_what_was_shown(browser: Browser, report: Path, tmp_path: Path) -> None:
    with opened(browser, report, dark=True, drawn=False) as watched:
        page = watched.page
        plate = page.locator("figure.plate").first
        for kind in ("svg", "png", "csv"):
            with page.expect_download() as got:
                plate.locator(f'button[data-save="{kind}"]').click()
            assert got.value.suggested_filename.endswith(f".{kind}")
            got.value.save_as(tmp_path / f"x.{kind}")
        assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
        svg = ET.parse(tmp_path / "x.svg").getroot()
        assert svg.tag.endswith("svg")
        fills = {one.get("fill") for one in svg.iter()}
        assert "#ffffff" in fills, "drawn for paper, whatever the screen"
        lines = (tmp_path / "x.csv").read_text().splitlines()
        assert len(lines) == 1 + plate.locator("tbody tr").count()
        assert page.locator(".desk").count() == 0


def test_the_leaderboard_can_be_saved(browser: Browser, report: Path, tmp_path: Path) -> None:
    with opened(browser, report, drawn=False) as watched:
        page = watched.page
        with page.expect_download() as got:
            page.locator('button[data-save="csv"][data-of="board"]').click()
        got.value.save_as(tmp_path / "x.csv")
        with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        assert [row["model"] for row in rows] == page.locator("#board tbody th").all_inner_texts()
        for row in rows:
            assert (float(row["chance"]), float(row["noise"])) == (0.0, 1.0), "the made repeats are equal"
        drawn = page.locator("#board tbody .whisker")
        assert (
            drawn.count() == len(rows) == drawn.locator(".chance").count() == drawn.locator(".noise").count()
        )


def test_rows_that_are_left_out_come_on_demand(browser: Browser, report: Path) -> None:
    with opened(browser, report, drawn=False) as watched:
        page = watched.page
        asked = page.locator("button[data-rest]").first
        table = page.locator(f"#{asked.get_attribute('data-rest')}")
        page.evaluate("document.querySelectorAll('details.fold').forEach((one) => { one.open = true; })")
        before = table.locator("tbody tr").count()
        said = asked.inner_text()
        asked.click()
        page.wait_for_selector(f"#{table.get_attribute('id')} tbody tr:nth-child({before + 1})")
        after = table.locator("tbody tr").count()
        assert said == f"Show all {after:,} rows"
        first, last = table.locator("tbody tr").first, table.locator("tbody tr").last
        kinds = "(row) => [...row.cells].map((cell) => [cell.tagName, cell.className, cell.scope ?? ''])"
        assert first.evaluate(kinds) == last.evaluate(kinds)


def test_one_model(browser: Browser, one_model: Path) -> None:
    with opened(browser, one_model) as watched:
        page = watched.page
        assert "Cannot be shown with these data" in page.locator("#short").inner_text()
        assert page.locator(".missing li").count() > 0
        marks = page.evaluate(_MARKS)
        assert marks
        assert min(marks.values()) >= 2


def test_without_a_program_words_and_tables_stay(browser: Browser, report: Path) -> None:
    with opened(browser, report, drawn=False, java_script_enabled=False) as watched:
        page = watched.page
        assert page.locator("#board tbody tr").count() == 4
        assert page.locator("noscript").first.is_visible()
        assert page.locator("button:visible").count() == 0


def test_it_is_small(report: Path) -> None:
    assert report.stat().st_size < 6e6
