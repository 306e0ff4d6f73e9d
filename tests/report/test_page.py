"""The report as a file: its structure, what it may do, and that outside text stays text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.figures.figure import Figure, NotDrawn
from sago_harness.report.page.markup import MOST_ROWS, html_table
from sago_harness.report.page.page import build, save
from sago_harness.report.page.policy import embedded, inline_script, inline_style
from sago_harness.report.study import Study
from sago_harness.report.tables import Column, Table, as_csv
from sago_harness.stats.compare import compare
from sago_harness.stats.resampling import Settings
from sago_harness.stats.table import ScoreTable
from tests.stats.made import table

FAST = Settings(resamples=99)
VOID = {"meta", "br", "input", "link", "img", "hr", "circle", "line"}

#: What models, data sets and texts are called by somebody who means ill.
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    'a" onmouseover="window.__pwned=1',
    "</script><script>window.__pwned=1</script>",
    "{{7*7}}{% raw %}${7*7}",
    "a\u202eb\u2066c",
    "lone \ud800 surrogate",
    "<!--<script>",
    "a|b\n| c",
    '模型" onmouseover="window.__pwned=1',
)


class Page(HTMLParser):
    """Elements in their order, with their attributes and their text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[list[str]] = []
        self.stray: list[str] = []
        self._stack: list[int] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute twice in {tag} {attrs}"
        self.elements.append((tag, dict(attrs)))
        self.texts.append([])
        if tag not in VOID:
            self.open.append(tag)
            self._stack.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.stray.append(tag)
            return
        self.open.pop()
        self._stack.pop()

    def handle_data(self, data: str) -> None:
        for place in self._stack:
            self.texts[place].append(data)

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attrs, "".join(self.texts[i])) for i, (name, attrs) in enumerate(self.elements) if name == tag
        ]

    def by_id(self, id: str) -> str:
        return next("".join(self.texts[i]) for i, (_, a) in enumerate(self.elements) if a.get("id") == id)


def unpacked(page: Page, id: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(page.by_id(id))))


def stub(name: str = "bump-sago", kind: str = "bump", title: str = "Ranks", text: str = "a leads") -> Figure:
    rows = ((text, 0.5), ("b", float("nan")))
    return Figure(
        name,
        kind,
        title,
        f"{text}, then b.",
        {"mark": "point", "data": {"values": [{"model": text, "value": 0.5}]}},
        Table(name, title, (Column("model", kind="text"), Column("value")), rows),
        ("a note",),
    )


def study(
    models: Sequence[str] = ("a", "b", "c"), tasks: Sequence[str] = ("p", "q"), documents: int = 12
) -> Study:
    rng = np.random.default_rng(1)
    levels = list(np.linspace(0.2, 0.6, len(models)))
    tables = [table(rng, task=task, models=models, documents=documents, level=levels) for task in tasks]
    return Study(compare(ScoreTable.of(tables), FAST, workers=1), command="sago report runs --out x.html")


@pytest.fixture(scope="module")
def some() -> Study:
    return study()


@pytest.fixture(scope="module")
def text(some: Study) -> str:
    missing = NotDrawn("layers", "layers", "Layers", "no run holds layers")
    return build(some, drawn=[stub(), stub("rose", "rose", "A rose"), missing])


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_it_is_whole(page: Page) -> None:
    assert not page.open
    assert not page.stray
    ids = Counter(str(attrs["id"]) for _, attrs in page.elements if "id" in attrs)
    assert {name: count for name, count in ids.items() if count > 1} == {}
    for tag, attrs in page.elements:
        for name in ("aria-labelledby", "aria-describedby"):
            for id in str(attrs.get(name) or "").split():
                assert id in ids, f"{tag} names {id}"
        if tag == "a" and not str(attrs.get("href")).startswith("#doc="):
            assert str(attrs["href"])[1:] in ids


def test_the_order_is_that_of_a_reader_in_a_hurry(page: Page) -> None:
    heads = [words.strip() for attrs, words in page.of("h2")]
    assert heads[0] == "In short"
    assert heads[-3:] == ["Documents", "How to read this", "Signature and sources"]
    thirds = [words.strip() for _, words in page.of("h3")][:3]
    assert thirds == ["Models", "Leaderboard", "Does the ranking turn round elsewhere?"]
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels)), "a heading level is left out"


def test_the_policy_comes_first_and_names_what_is_there(text: str, page: Page) -> None:
    head = [element for element in page.elements if element[0] not in ("html", "head")]
    assert head[0][1].get("http-equiv") == "Content-Security-Policy"
    assert text.encode().index(b"charset=") < 1024, "browsers look for it in the first 1024 bytes"
    policy = dict(part.strip().partition(" ")[::2] for part in str(head[0][1]["content"]).split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["img-src"] == "data: blob:"
    assert not {"connect-src", "font-src", "frame-src", "object-src"} & set(policy)
    assert "unsafe" not in str(head[0][1]["content"])

    def digests(codes: Sequence[str]) -> set[str]:
        made = [base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in codes]
        return {f"'sha256-{one}'" for one in made}

    # Read as a browser does: what stands between the tags, not what was put there.
    programs = re.findall(r"<script>(.*?)</script>", text, re.S)
    styles = re.findall(r"<style>(.*?)</style>", text, re.S)
    assert len(programs) == 2
    assert len(styles) == 1
    assert set(policy["script-src"].split()) == digests(programs)
    assert set(policy["style-src"].split()) == digests(styles)


def test_nothing_comes_from_elsewhere_and_nothing_is_inline(page: Page) -> None:
    for tag, attrs in page.elements:
        assert not [name for name in attrs if name.startswith("on") or name == "style"], tag
        assert "src" not in attrs
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "img")
        if "href" in attrs:
            assert str(attrs["href"]).startswith("#")


def test_tables_say_what_they_head(page: Page) -> None:
    inside = 0
    for tag, attrs in page.elements:
        if tag == "th":
            assert attrs.get("scope") in ("col", "row")
        inside += tag == "caption"
    assert inside == len(page.of("table"))


def test_every_figure_has_its_parts(page: Page, some: Study) -> None:
    figures = page.of("figure")
    assert len(figures) == 2
    specs = unpacked(page, "specs")
    for number in (1, 2):
        assert specs[f"figure-{number}"] == {
            "mark": "point",
            "data": {"values": [{"model": "a leads", "value": 0.5}]},
        }
        assert "a leads, then b." in page.by_id(f"figure-{number}-text")
        assert "a note" in page.by_id(f"figure-{number}-text")
    wanted = {(a.get("data-save"), a.get("data-of")) for a, _ in page.of("button") if a.get("data-save")}
    assert {("svg", "figure-1"), ("png", "figure-2")} <= wanted
    assert "no run holds layers" in page.by_id("origins")
    assert "A rose" in page.by_id("further"), "a figure of another package has a place"


def test_every_table_can_be_saved_as_it_is(page: Page, some: Study) -> None:
    from sago_harness.report.compared import RARE, TABLES

    stored = unpacked(page, "tables")
    of = {str(a.get("data-of")) for a, _ in page.of("button") if a.get("data-save") == "csv"}
    assert of == set(stored)
    files = {one["file"]: one["csv"] for one in stored.values()}
    for name, make in TABLES.items():
        made = make(some.found)
        if made.rows or name not in RARE:
            assert files[f"{name}.csv"] == as_csv(made)
    assert files["rose.csv"] == "model,value\na leads,0.5\nb,\n"


def test_the_same_study_gives_the_same_file(text: str, some: Study) -> None:
    missing = NotDrawn("layers", "layers", "Layers", "no run holds layers")
    again = build(some, drawn=[stub(), stub("rose", "rose", "A rose"), missing])
    assert again == text
    assert not re.search(r"0x[0-9a-f]{8,}", re.sub(r"<script.*?</script>", "", text, flags=re.S))


def test_what_identifies_it_is_at_the_end(page: Page, some: Study) -> None:
    words = page.by_id("origin")
    assert some.found.signature in words
    assert "sago report runs --out x.html" in words


def test_hostile_names_stay_text() -> None:
    names = HOSTILE
    made = study(models=names, tasks=names[:2], documents=6)
    figures = [stub(title=name, text=name) for name in names]
    text = build(made, drawn=figures)
    text.encode("utf-8")
    page = Page(text)
    assert not page.open
    assert not page.stray
    assert {tag for tag, _ in page.elements} <= {
        "html", "head", "meta", "title", "style", "body", "a", "header", "p", "h1", "h2", "h3", "button",
        "noscript", "div", "nav", "ol", "ul", "li", "main", "section", "b", "span", "strong", "table",
        "caption", "thead", "tbody", "tr", "th", "td", "svg", "text", "line", "circle", "figure",
        "figcaption", "details", "summary", "dl", "dt", "dd", "pre", "code", "script", "bdi",
    }  # fmt: skip
    for _, attrs in page.elements:
        assert not [name for name in attrs if name.startswith("on") or '"' in name]
    shown = page.by_id("board")
    assert "<img src=x onerror=alert(1)>" in shown
    assert 'a" onmouseover="window.__pwned=1' in shown
    assert "{{7*7}}" in shown
    assert r"a\u202eb\u2066c" in shown, "what turns the reading round is shown as its code"
    assert r"lone \ud800 surrogate" in shown
    assert r"a|b\n| c" in shown
    visible = re.sub(r"<script.*?</script>|<style>.*?</style>", "", text, flags=re.S)
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", visible)
    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
    assert len(data) == 2
    assert len(unpacked(page, "specs")) == len(figures)
    for one in data:
        assert not set("<>&\u2028\u2029") & set(one)
        json.loads(one)


def test_long_texts_are_cut_and_said_so() -> None:
    long = Table("t", "x" * 100_000, (Column("m", "", "text"),), (("y" * 100_000,),), ("z" * 100_000,))
    made = html_table(long, "t1")
    assert len(made.html) < 5_000
    assert "(100,000 characters)" in made.html


def test_rows_past_the_limit_are_kept_for_later() -> None:
    rows = tuple((f"m{k}", k / 1000) for k in range(MOST_ROWS + 5))
    made = html_table(Table("t", "T", (Column("m", "", "text"), Column("r")), rows), "t1")
    assert made.html.count("<tr>") == MOST_ROWS + 1
    assert made.rest[0] == (f"m{MOST_ROWS}", ".200")
    assert len(made.rest) == 5
    assert 'data-rest="t1"' in made.html


def test_columns_without_a_word_are_left_out() -> None:
    columns = (Column("m", "", "text"), Column("reason", kind="text"), Column("r"))
    made = html_table(Table("t", "T", columns, (("a", "", 1.0), ("b", None, float("nan")))), "t1")
    assert "reason" not in made.html
    assert made.html.count('scope="col"') == 2


def test_chinese_says_so() -> None:
    made = html_table(Table("t", "模型的稳定性", (Column("m", "", "text"),), (("通义千问",),)), "t1")
    assert '<bdi lang="zh">通义千问</bdi>' in made.html
    assert '<bdi lang="zh">模型的稳定性</bdi>' in made.html


@pytest.mark.parametrize("value", ["</script>", "<!--", "\u2028\u2029&", "]]>", "\ud800", float("nan")])
def test_embedded_json_reads_back(value: Any) -> None:
    made = embedded([value])
    assert not set("<>&\u2028\u2029") & set(made)
    expected = None if isinstance(value, float) else value.replace("\ud800", "\ufffd")
    assert json.loads(made) == [expected]


def test_programs_and_styles_cannot_end_their_element() -> None:
    made = inline_script('a = "</ScRiPt>"; b = "<!-- <script>";\r\nc = 1;\r')
    assert not re.search("</script|<!--", made, re.I)
    assert "\r" not in made
    with pytest.raises(ValueError, match="end tag"):
        inline_style("a::after { content: '</style>' }")


def test_one_model_shows_what_it_can() -> None:
    made = study(models=("solo",), tasks=("p",))
    reason = "a ranking takes two models"
    page = Page(build(made, drawn=[stub(kind="profile"), NotDrawn("bump", "bump", "Ranks", reason)]))
    short = page.by_id("short")
    assert "Cannot be shown with these data" in short
    assert "1 model on 1 data set" in short
    assert "solo" in short
    assert "a rank takes a second model" in short
    assert reason in page.by_id("datasets")


def test_a_study_without_documents_enough_for_anything() -> None:
    made = study(models=("solo",), tasks=("p", "q"), documents=1)
    page = Page(build(made, drawn=[]))
    assert "has no score" in page.by_id("short")
    assert "nan" not in page.by_id("short").lower()


def test_another_scheme() -> None:
    rng = np.random.default_rng(3)
    tables = [table(rng, task=task, models=("a", "b"), documents=12) for task in ("p", "q")]
    from sago_harness.stats.schemes import scheme_names

    for scheme in scheme_names():
        found = compare(ScoreTable.of(tables), Settings(resamples=99, scheme=scheme), workers=1)
        page = Page(build(Study(found), drawn=[]))
        assert not page.stray
        assert found.scores[0] in page.by_id("board")


def test_it_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "new" / "report.html"
    save("<p>", out)
    assert out.read_text() == "<p>"
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]
    (tmp_path / "file").write_text("")
    with pytest.raises(SagoError, match="cannot be written"):
        save("<p>", tmp_path / "file" / "report.html")
