"""The document browser in a real browser: found, sorted, compared word by word, by mouse and by keys."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from sago_harness.report.browse.data import browse_data, document_link
from sago_harness.report.page.page import build, save
from sago_harness.report.study import Study, read_study
from sago_harness.scores.table import read_parquet
from sago_harness.stats.resampling import Settings
from tests.browser.rig import findings, opened
from tests.report.test_browse_data import samples
from tests.runs.made_runs import Rows, write_runs

pytestmark = pytest.mark.browser

#: Every document is among the worst ones: what the list must show is known from elsewhere.
ALL = 5000

LONG = "word " * 20_000


def study_of(*paths: Path) -> Study:
    return read_study(paths, Settings(resamples=99), worst=ALL, with_texts=False)


def written(study: Study, path: Path) -> Path:
    """Write a report without charts: they take their time, and are tested elsewhere."""
    save(build(study, browse=browse_data(study), drawn=[]), path)
    return path


@contextmanager
def browsing(browser: Browser, path: Path, hash: str = "", **how: Any) -> Iterator[Page]:
    with opened(browser, path, drawn=False, **how) as watched:
        if hash:
            # Another hash alone would not load the page again.
            watched.page.goto("about:blank")
            watched.page.goto(path.as_uri() + hash)
        watched.page.wait_for_selector("#sago-browse:not([aria-busy])")
        watched.page.wait_for_selector("#sago-browse [data-part=pane] .sb-card")
        yield watched.page


def part(page: Page, name: str) -> Locator:
    return page.locator(f"#sago-browse [data-part={name}]")


def title(page: Page) -> str:
    return part(page, "pane").locator("h3").inner_text()


def rows(page: Page) -> list[str]:
    """Documents of the rows that are there, from above."""
    return [
        text.split(" · ")[0]
        for text in page.locator("#sago-browse [role=option] .sb-row-id").all_inner_texts()
    ]


def choose(page: Page, name: str, label: str) -> None:
    part(page, name).select_option(label=label)


def worst_first(study: Study, task: str, model: str) -> list[str]:
    found = next(one for one in study.found.worst if (one.task, one.model) == (task, model))
    return [case.document for case in found.cases]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Two models on two data sets with other operators each, some numbers missing."""
    folder = tmp_path_factory.mktemp("browsed")
    of: dict[str, Any] = {"models": ["steady", "Qwen/千问"], "documents": 60, "levels": (0.2, 0.7)}
    write_runs(folder / "a", tasks=["facts"], variants=12, repeats=1, missing=0.05, **of)
    write_runs(folder / "b", tasks=["maths"], variants=2, seed=1, **of)
    return study_of(folder)


@pytest.fixture(scope="module")
def page_file(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(study, tmp_path_factory.mktemp("page") / "report.html")


def report_of(folder: Path, *of_models: Rows, names: tuple[str, ...] = ()) -> Path:
    """Write a report of records that a test has made up."""
    named = dict(zip(names or tuple(f"m{k}" for k in range(len(of_models))), of_models, strict=True))
    samples(folder / "samples", named)
    return written(study_of(folder / "samples"), folder / "report.html")


def made_rows(folder: Path, **changes: Any) -> Rows:
    sizes: Mapping[str, Any] = {"tasks": 1, "documents": 4, "variants": 3, "models": 1, **changes}
    (path,) = write_runs(folder / "made", **sizes)
    return read_parquet(path)


def of_document(rows: Rows, number: int) -> Rows:
    ids = list(dict.fromkeys(row["document"] for row in rows))
    return [row for row in rows if row["document"] == ids[number] and row["role"] != "control"]


def test_it_opens_on_the_worst_document_of_the_worst_model(
    browser: Browser, study: Study, page_file: Path
) -> None:
    cases = [
        (case.value, case.document) for o in study.found.worst if o.model == "Qwen/千问" for case in o.cases
    ]
    with browsing(browser, page_file) as page:
        assert title(page) == max(cases)[1]
        selected = page.locator("#sago-browse [role=option][aria-selected=true]")
        assert selected.get_attribute("aria-posinset") == "1"
        assert part(page, "status").inner_text() == "120 documents"


def test_the_list_is_in_the_order_of_the_worst_cases(browser: Browser, study: Study, page_file: Path) -> None:
    with browsing(browser, page_file) as page:
        for task, model in (("facts", "steady"), ("maths", "Qwen/千问")):
            choose(page, "task", task)
            choose(page, "model", model)
            expect(part(page, "status")).to_have_text("60 documents")
            expect(page.locator("#sago-browse [role=option]").first).to_contain_text(
                worst_first(study, task, model)[0]
            )
            seen = rows(page)
            assert len(seen) > 8
            assert seen == worst_first(study, task, model)[: len(seen)]


def test_sorted_by_name_and_by_furthest_variant(browser: Browser, study: Study, page_file: Path) -> None:
    with browsing(browser, page_file) as page:
        choose(page, "task", "facts")
        choose(page, "model", "steady")
        choose(page, "sort", "document")
        expect(page.locator("#sago-browse [role=option]").first).to_contain_text("d00000")
        seen = rows(page)
        assert seen == [f"d{k:05d}" for k in range(len(seen))]
        choose(page, "sort", "furthest variant")
        found = next(o for o in study.found.worst if (o.task, o.model) == ("facts", "steady"))
        far = max(found.cases, key=lambda case: case.distance)
        first = page.locator("#sago-browse [role=option]").first
        expect(first).to_contain_text(far.document)
        expect(first.locator(".sb-row-far")).to_contain_text(f"furthest: {far.variant}")
        texts = page.locator("#sago-browse [role=option] .sb-row-far").all_inner_texts()
        shares = [float(text.split()[-1]) for text in texts]
        assert shares == sorted(shares, reverse=True)


def test_family_and_operator_choose_the_variants(browser: Browser, page_file: Path) -> None:
    with browsing(browser, page_file, "#doc=facts/steady/d00003") as page:
        cards = part(page, "pane").locator("article")
        assert cards.count() == 1 + 12 + 1
        choose(page, "family", "noise")
        expect(cards).to_have_count(1 + 4)
        assert part(page, "operator").locator("option").all_inner_texts() == [
            "all",
            "noise/typos",
            "noise/spaces",
        ]
        choose(page, "operator", "noise/spaces")
        expect(cards).to_have_count(1 + 2)
        assert {t.split("\n")[0] for t in cards.locator("h4 bdi").all_inner_texts()} == {"spaces1", "spaces2"}
        fars = page.locator("#sago-browse [role=option] .sb-row-far").all_inner_texts()
        assert all("spaces" in text or "none" in text for text in fars)
        # maths has no such operator, and leaves the list.
        choose(page, "task", "all")
        choose(page, "operator", "noise/spaces")
        expect(part(page, "status")).to_have_text("60 documents")
        choose(page, "family", "all")
        choose(page, "operator", "all")
        expect(cards).to_have_count(1 + 12 + 1)
        expect(part(page, "status")).to_have_text("120 documents")


def test_search_counts_what_holds_the_words(browser: Browser, tmp_path: Path) -> None:
    made = made_rows(tmp_path, documents=120)
    ids = list(dict.fromkeys(row["document"] for row in made))
    for row in made:
        if row["document"] in ids[10:17] and row["variant"] == "typos1":
            row["response"] = "A Needle in Ä haystack"
        if row["document"] == ids[99] and row["role"] == "canonical":
            row["text"] = "is there a NEEDLE here?"
        if row["role"] == "control":
            row["response"] = "a needle that is no variant"
    with browsing(browser, report_of(tmp_path, made)) as page:
        part(page, "query").fill("needle")
        expect(part(page, "status")).to_have_text("8 of 120 documents hold “needle”")
        assert sorted(rows(page)) == sorted([*ids[10:17], ids[99]])
        part(page, "query").fill("needle in ä")
        expect(part(page, "status")).to_have_text("7 of 120 documents hold “needle in ä”")
        choose(page, "operator", "register/politeness")
        expect(part(page, "status")).to_have_text("0 of 120 documents hold “needle in ä”")
        choose(page, "operator", "all")
        part(page, "query").fill("d00099")
        expect(part(page, "status")).to_have_text("1 of 120 documents hold “d00099”")
        part(page, "query").press("ArrowDown")
        expect(part(page, "pane").locator("h3")).to_have_text("d00099")
        part(page, "query").fill("")
        expect(part(page, "status")).to_have_text("120 documents")


#: What is left of a cell without its changed words, buttons and marks.
_KEPT = """
(cell) => {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll("del, ins").forEach((one) => one.remove());
  return copy.textContent;
}
"""


def random_texts(seed: int) -> tuple[str, str]:
    rng = random.Random(seed)
    words = [
        rng.choice(["the", "cat", "sat", "Ärger", "on", "3,000", "mats", "模型", "好"]) for _ in range(60)
    ]
    changed = list(words)
    for _ in range(rng.randrange(1, 25)):
        place = rng.randrange(len(changed))
        kind = rng.randrange(3)
        if kind == 0:
            changed.insert(place, rng.choice(["new", "dog", "新", "cat"]))
        elif kind == 1 and len(changed) > 5:
            del changed[place]
        else:
            changed[place] = "other"
    return " ".join(words), " ".join(changed)


def test_marked_words_are_what_differs_and_no_more(browser: Browser, tmp_path: Path) -> None:
    made = made_rows(tmp_path, documents=30, variants=1)
    wanted = {}
    for number in range(30):
        canonical, variant, *_ = of_document(made, number)
        canonical["response"], variant["response"] = random_texts(number)
        wanted[canonical["document"]] = canonical["response"], variant["response"]
    with browsing(browser, report_of(tmp_path, made)) as page:
        part(page, "list").focus()
        page.keyboard.press("Home")
        for _ in range(30):
            expect(part(page, "pane").locator("h3")).to_have_text(
                page.locator("#sago-browse [aria-selected=true] .sb-row-id").inner_text()
            )
            # Prompts are the first pair of a card.
            cells = (
                part(page, "pane").locator("article").nth(1).locator(".sb-pair").nth(1).locator(".sb-text")
            )
            one, other = wanted[title(page)]
            assert cells.all_text_contents() == [one, other]
            left, right = (cells.nth(k).evaluate(_KEPT) for k in range(2))
            assert left == right, "what is not marked is the same on both sides"
            assert cells.nth(0).locator("ins").count() == cells.nth(1).locator("del").count() == 0
            marked = cells.nth(0).locator("del").count() + cells.nth(1).locator("ins").count()
            assert bool(marked) == (one != other)
            page.keyboard.press("ArrowDown")


@pytest.mark.parametrize(
    ("one", "other", "removed", "added"),
    [
        ("The cat sat.", "The dog sat.", ["cat"], ["dog"]),
        ("今天天气很好。", "今天天气不好。", ["很"], ["不"]),
        ("Why do cats purr?", "Why do    cats purr?", [" "], ["    "]),
        ("a big red house here", "a small blue house here", ["big red"], ["small blue"]),
        ("one two three", "one two three four", [], [" four"]),
        ("It is 3,000 m.", "It is 3,100 m.", ["3,000"], ["3,100"]),
        ("a\u200bb is here", "ab is here", ["aU+200Bb"], ["ab"]),
    ],
)
def test_differences_of_known_texts(
    browser: Browser, tmp_path: Path, one: str, other: str, removed: list[str], added: list[str]
) -> None:
    made = made_rows(tmp_path, documents=2, variants=1)
    canonical, variant, *_ = of_document(made, 0)
    canonical["text"], variant["text"] = one, other
    with browsing(browser, report_of(tmp_path, made), "#doc=made00/m0/d00000") as page:
        cells = part(page, "pane").locator("article").nth(1).locator(".sb-pair").first.locator(".sb-text")
        assert cells.nth(0).locator("del").all_text_contents() == removed
        assert cells.nth(1).locator("ins").all_text_contents() == added
        for k, tag in ((0, "del"), (1, "ins")):
            for mark in cells.nth(k).locator(tag).all():
                line = mark.evaluate("(e) => getComputedStyle(e).textDecorationLine")
                assert line == {"del": "line-through", "ins": "underline"}[tag]


def test_distances_stand_beside_chance_and_noise(browser: Browser, study: Study, page_file: Path) -> None:
    run = study.runs["facts", "steady"]
    row = next(
        r for r in read_parquet(run.path) if (r["document"], r["variant"]) == ("d00007", "politeness1")
    )
    with browsing(browser, page_file, "#doc=facts/steady/d00007") as page:
        card = page.locator(
            "#sago-browse article", has=page.locator("h4", has_text=re.compile("^politeness1"))
        )
        tiles = card.locator("dl > div")
        names = [text.split()[0] for text in tiles.locator("dt").all_inner_texts()]
        assert names == ["x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_jsd", "x_mr"]
        for name, tile in zip(names, tiles.locator("dd").all(), strict=True):
            value = row["distances"][name]
            if value is None:
                assert row["reasons"][name].replace("_", " ") in tile.inner_text()
            else:
                number = tile.locator("strong").inner_text().replace("−", "-")
                assert abs(float(number) - value) <= 0.0056
                assert "floor" in tile.inner_text(), "the made runs hold repeats"
                assert ("chance" in tile.inner_text()) == (name != "x_mr")


def test_bars_of_the_overview_have_chance_and_floor(browser: Browser, page_file: Path) -> None:
    with browsing(browser, page_file, "#doc=facts/steady/d00007") as page:
        bars = part(page, "pane").locator(".sb-bars .sb-bar")
        places = "(bar, name) => [...bar.querySelectorAll(name)].map((one) => one.style.left)"
        for bar in bars.all():
            assert bar.evaluate(places, ".sb-floor") == ["0%"], "the made repeats are equal"
            assert len(bar.evaluate(places, ".sb-chance")) == 1
        assert "the dotted one the model's noise floor" in part(page, "pane").inner_text()
        page.evaluate("location.hash = '#doc=maths/steady/d00007'")
        expect(part(page, "pane").locator(".sb-about")).to_contain_text("maths")
        assert part(page, "pane").locator(".sb-bars .sb-floor").count() == 0
        assert "without repeats there is no noise floor" in part(page, "pane").inner_text()


def test_reasons_flags_and_answers_are_told(browser: Browser, tmp_path: Path) -> None:
    made = made_rows(tmp_path)
    canonical, first, second, third = of_document(made, 0)
    canonical |= {"correct": 1, "answer": "42", "flags": ["truncated"], "response": "42 it is"}
    first |= {"correct": 0, "answer": "41", "flags": ["empty"], "response": ""}
    first["distances"]["flip"] = 1.0
    second |= {"correct": 1, "response": "42 it is", "flags": ["refused"]}
    third |= {"text_reason": "noop_tokens", "flags": ["noop_tokens"]}
    third["distances"] = dict.fromkeys(third["distances"])
    third["reasons"] = dict.fromkeys(
        ("x_bleu", "x_bert", "x_act", "x_prob", "x_ent", "x_jsd", "x_mr"), "noop_tokens"
    )
    with browsing(browser, report_of(tmp_path, made), "#doc=made00/m0/d00000") as page:
        cards = part(page, "pane").locator("article")

        def card(name: str) -> str:
            return cards.filter(has=page.locator("h4", has_text=re.compile(f"^{name}"))).inner_text()

        told = cards.first.inner_text()
        assert "✓ right" in told
        assert "answer: 42" in told
        assert "ran into the token limit" in told
        told = card(first["variant"])
        assert "right to wrong" in told
        assert "other answer" in told
        assert "(empty)" in told
        told = card(second["variant"])
        assert "same response" in told
        assert "Word for word the canonical one" in told
        assert "refusal" in told
        told = card(third["variant"])
        assert "not counted: noop tokens" in told
        assert "No distance is scored: noop tokens" in told


def test_by_keys_alone(browser: Browser, study: Study, page_file: Path) -> None:
    with browsing(browser, page_file, "#doc=facts/steady/d00000") as page:
        order = worst_first(study, "facts", "steady")
        part(page, "list").focus()
        page.keyboard.press("Home")
        for key, at in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("End", 59), ("ArrowDown", 59)):
            page.keyboard.press(key)
            selected = page.locator("#sago-browse [aria-selected=true]")
            expect(selected).to_have_attribute("aria-posinset", str(at + 1))
            active = part(page, "list").get_attribute("aria-activedescendant")
            assert active == selected.get_attribute("id")
            assert selected.get_attribute("aria-setsize") == "60"
            expect(selected).to_be_in_viewport(ratio=0.9)
            if at < len(order):
                expect(part(page, "pane").locator("h3")).to_have_text(order[at])
        page.keyboard.press("PageUp")
        expect(page.locator("#sago-browse [aria-selected=true]")).not_to_have_attribute("aria-posinset", "60")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.dataset.part") == "pane"
        part(page, "pane").get_by_role("button", name="next").press("Enter")
        assert page.evaluate("document.activeElement.dataset.part") == "pane"


def test_links_from_elsewhere(browser: Browser, page_file: Path) -> None:
    model = quote("Qwen/千问", safe="")
    with browsing(browser, page_file, document_link("maths", "Qwen/千问", "d00041")) as page:
        assert title(page) == "d00041"
        assert part(page, "task").locator("option:checked").inner_text() == "maths"
        assert part(page, "model").locator("option:checked").inner_text() == "Qwen/千问"
        expect(part(page, "pane")).to_be_in_viewport()
        own = part(page, "pane").get_by_role("link", name="link to this document")
        assert own.get_attribute("href") == f"#doc=maths/{model}/d00041"
        page.evaluate("location.hash = '#doc=facts/steady/d00002'")
        expect(part(page, "pane").locator("h3")).to_have_text("d00002")
        for wrong in ("#doc=facts/steady/d99999", "#doc=%E0%A4%A", "#doc=", "#doc=a/b/c/d"):
            page.evaluate("(hash) => { location.hash = hash; }", wrong)
            expect(part(page, "status")).to_contain_text("There is no document")
        assert title(page) == "d00002"


#: The rows that are there reach from the upper to the lower edge of what is seen.
_COVERED = """
() => {
  const list = document.querySelector("#sago-browse [data-part=list]");
  const rows = [...list.querySelectorAll("[role=option]")].map((row) => row.getBoundingClientRect());
  const box = list.getBoundingClientRect();
  return rows.some((row) => row.top <= box.top + 2) && rows.some((row) => row.bottom >= box.bottom - 2);
}
"""


def until(page: Page, condition: str) -> None:
    """Wait for what an expression says: Playwright's own way needs eval, which the page forbids."""
    for _ in range(1000):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"this did not come: {condition}")


def test_a_thousand_documents_are_as_many_rows_as_are_seen(browser: Browser, tmp_path: Path) -> None:
    write_runs(tmp_path / "runs", models=2, tasks=1, documents=1000, variants=12, levels=(0.3, 0.5))
    with browsing(browser, written(study_of(tmp_path / "runs"), tmp_path / "report.html")) as page:
        options = page.locator("#sago-browse [role=option]")
        choose(page, "model", "all")
        expect(part(page, "status")).to_have_text("2,000 documents")
        most = options.count()
        for share in (0.1, 0.5, 0.9, 1.0, 0.3):
            part(page, "list").evaluate(
                "(list, share) => { list.scrollTop = share * list.scrollHeight; }", share
            )
            until(page, _COVERED)
            most = max(most, options.count())
        assert most <= 40
        part(page, "list").focus()
        page.keyboard.press("End")
        expect(page.locator("#sago-browse [aria-selected=true]")).to_have_attribute("aria-posinset", "2000")
        part(page, "query").fill("It is")
        expect(part(page, "status")).to_have_text("2,000 of 2,000 documents hold “It is”")
        # Blocks are unpacked as they are needed, and let go.
        assert page.locator("script[id^=browse-r]").count() == 2 * 20


def test_hostile_texts_are_shown_and_never_run(browser: Browser, tmp_path: Path) -> None:
    made = made_rows(tmp_path)
    texts = [
        "<img src=x onerror='window.__pwned=1'>",
        "</script><script>window.__pwned=1</script>",
        "{{7*7}} ${window.__pwned=1}",
        "safe\u202eright to left\u2066 \x07\ud800 \U0001f469\u200d\U0001f4bb",
        LONG,
        "<style>*{display:none}</style>",
    ]
    for row, text in zip([r for r in made if r["role"] != "control"], texts, strict=False):
        row["text"] = row["response"] = text
    for row in made:
        row["document"] = row["document"].replace("d00001", "<b>\u202edoc</b>/%2F'\"")
        if row.get("partner"):
            row["partner"] = row["partner"].replace("d00001", "<b>\u202edoc</b>/%2F'\"")
    name = "'\"><script>window.__pwned=1</script>\u202e"
    with browsing(browser, report_of(tmp_path, made, names=(name,))) as page:
        part(page, "list").focus()
        page.keyboard.press("Home")
        seen = ""
        titles = []
        for _ in range(4):
            expect(part(page, "pane").locator("h3")).to_have_text(
                page.locator("#sago-browse [aria-selected=true] .sb-row-id").inner_text()
            )
            titles.append(title(page))
            seen += part(page, "pane").inner_text()
            assert "\u202e" not in str(part(page, "pane").evaluate("(pane) => pane.textContent"))
            page.keyboard.press("ArrowDown")
        assert "<b>U+202Edoc</b>/%2F'\"" in titles
        for text in (*texts[:3], texts[5]):
            assert text in seen
        assert "safeU+202Eright to leftU+2066 U+0007" in seen
        assert "\U0001f469\u200d\U0001f4bb" in seen
        assert page.locator("#sago-browse :is(img, script, style, bdi b, .sb-text b)").count() == 0
        page.evaluate("(id) => { location.hash = '#doc=made00/' + id; }", quote(name, safe="") + "/d00000")
        expect(part(page, "pane").locator("h3")).to_have_text("d00000")
        page.evaluate(
            "(hash) => { location.hash = hash; }", document_link("made00", name, "<b>\u202edoc</b>/%2F'\"")
        )
        expect(part(page, "pane").locator("h3")).to_have_text("<b>U+202Edoc</b>/%2F'\"")


def test_long_texts_are_folded_until_they_are_asked_for(browser: Browser, tmp_path: Path) -> None:
    made = made_rows(tmp_path)
    canonical, variant, *_ = of_document(made, 0)
    canonical["response"], variant["response"] = LONG, f"{LONG}end"
    with browsing(browser, report_of(tmp_path, made), "#doc=made00/m0/d00000") as page:
        pane = part(page, "pane")
        assert pane.evaluate("(pane) => pane.textContent.length") < 30_000
        pane.get_by_role("button", name="show all 100,000 characters").first.press("Enter")
        text = pane.locator("article").first.locator(".sb-text").nth(1)
        assert text.text_content() == LONG
        assert text.evaluate("(text) => text === document.activeElement")


@pytest.mark.parametrize("dark", [False, True])
def test_a_narrow_screen_stacks(browser: Browser, tmp_path: Path, dark: bool) -> None:
    made = made_rows(tmp_path, variants=12)
    for row in made:
        row["response"] += "x" * 300
        row["document"] = f"{row['document']}-{'y' * 120}"
    with browsing(browser, report_of(tmp_path, made), width=390, height=844, dark=dark) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        boxes = part(page, "pane").locator("article").nth(1).locator(".sb-cell").all()
        first, second = (box.bounding_box() for box in boxes[:2])
        assert first is not None
        assert second is not None
        assert second["y"] >= first["y"] + first["height"]


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_serious(browser: Browser, page_file: Path, dark: bool) -> None:
    with opened(browser, page_file, dark=dark, drawn=False, bypass_csp=True) as watched:
        watched.page.wait_for_selector("#sago-browse [data-part=pane] .sb-card")
        assert findings(watched.page) == []


def test_the_open_document_is_printed(browser: Browser, page_file: Path) -> None:
    with browsing(browser, page_file) as page:
        page.emulate_media(media="print")
        assert part(page, "list").is_hidden()
        assert page.locator("#sago-browse .sb-filters").is_hidden()
        assert part(page, "pane").locator("article").nth(1).is_visible()
        assert page.locator("#sago-browse article").count() == part(page, "pane").locator("article").count()
