"""What the gate writes: every format keeps its shape whatever names say."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sago_harness.errors import SagoError
from sago_harness.gate.check import check
from sago_harness.gate.github import annotate, append_summary, command, summary, without_commands
from sago_harness.gate.junit import as_junit
from sago_harness.gate.result import GateResult
from sago_harness.jsonsafe import dumps
from tests.gate.made_gate import policy, run, task_table
from tests.report.test_tables import HOSTILE

NAMES = (
    *HOSTILE,
    "::error::a\n::add-mask::b",
    "]]></testcase>",
    "a\x00b\ufffe",
    "%0A::error::",
    "x" * 100_000,
)


def gate(name: str = "new", *, undecided: str = "block") -> GateResult:
    """A pass, a failure and an undecided rule, all of them with a hostile name."""
    new, old = task_table(name, model=name), task_table(name, model=f"old {name}", seed=3)
    rules = (
        {"metric": "sago_core", "min": 0.1, "name": name[:200]},
        {"metric": "flip", "max": 0.9},
        {"metric": "x_act", "max": 0.2},
        {"metric": "empty", "max": 0.01},
        {"metric": "sago", "margin": 0.3},
    )
    return check(
        policy(*rules, treatment="model", undecided=undecided), run(new, notes=[f"note {name}"]), run(old)
    )


@pytest.mark.parametrize("name", NAMES)
def test_junit_is_xml_that_says_what_was_decided(name: str) -> None:
    text = as_junit(gate(name))
    root = ET.fromstring(text.encode("utf-8"))
    (suite,) = root
    cases = suite.findall("testcase")
    assert len(cases) == 5
    assert {child.tag for child in suite} == {"properties", "testcase"}
    assert [child.tag for case in cases for child in case] == ["failure", "error"]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "1", "1")
    for case in cases:
        assert set(case.attrib) == {"classname", "name"}
    said = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert said["verdict"] == "fail"
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff\u202e]", text)


def test_junit_skips_what_the_policy_lets_through() -> None:
    root = ET.fromstring(as_junit(gate(undecided="allow")).encode())
    assert (root.get("errors"), root.get("skipped")) == ("0", "1")
    assert root.find(".//skipped") is not None


def test_a_name_comes_back_from_junit() -> None:
    root = ET.fromstring(as_junit(gate('a" onmouseover="x<b>&amp;')).encode())
    names = [case.get("name") for case in root.iter("testcase")]
    assert 'a" onmouseover="x<b>&amp;' in names


@pytest.mark.parametrize("name", NAMES)
def test_no_name_is_a_command_to_github(name: str) -> None:
    found = gate(name)
    lines = annotate(found)
    assert len(lines) == 3
    for line in lines:
        assert "\n" not in line
        assert "\r" not in line
        assert re.match(r"::(error|warning|notice) title=[^:,]*::", line)
    text = without_commands(str(found)).split("\n")
    stop = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", text[0])
    assert stop is not None
    assert text[-1] == f"::{stop[1]}::"
    assert stop[1] not in "\n".join(text[1:-1])
    assert without_commands("a") != without_commands("a"), "nobody can know the word that ends it"


def test_annotations_say_how_bad_it_is() -> None:
    kinds = [line.partition(" ")[0] for line in annotate(gate())]
    assert kinds == ["::error", "::error", "::error"]
    kinds = [line.partition(" ")[0] for line in annotate(gate(undecided="allow"))]
    assert kinds == ["::error", "::warning", "::error"]
    passed = check(policy({"metric": "sago", "min": 0.1}), run())
    assert [line.partition(" ")[0] for line in annotate(passed)] == ["::notice"]


def test_github_escapes_are_its_own() -> None:
    """The rules of actions/toolkit: % first, then line breaks; : and , in properties."""
    assert command("error", "100% a:b, c") == "::error::100%25 a:b, c"
    assert command("error", "x", title="a:b,c%") == "::error title=a%3Ab%2Cc%25::x"


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_keeps_its_columns(name: str) -> None:
    text = summary(gate(name))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 5
    for row in rows:
        assert row.replace("\\\\", "").replace("\\|", "").count("|") == 10, row[:300]
        assert "<" not in row
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("name", NAMES)
def test_terminal_and_notebook(name: str) -> None:
    found = gate(name)
    text = str(found)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text.splitlines()) == 1 + 1 + 5 + len(found.table().notes) + 1

    class Seen(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.tags: set[str] = set()
            self.attributes: list[object] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.tags.add(tag)
            self.attributes += attrs

    seen = Seen()
    seen.feed(found._repr_html_())
    assert seen.tags == {"p", "b", "table", "caption", "tr", "th", "td"}
    assert seen.attributes == []


def test_r08() -> None:
    """Escaped in text and attributes; a Markdown table keeps its columns."""
    image, model = "<img src=x onerror=alert(1)>", 'a" onmouseover="x'
    new = replace(task_table("a|b\n| c", model=model))
    found = check(policy({"metric": "sago", "min": 0.9, "name": image}), run(new))
    rows = [line for line in summary(found).splitlines() if line.startswith("|")]
    assert rows[2].startswith("| fail | &lt;img src=x onerror=alert\\(1\\)&gt; | a\\|b\\\\n\\| c |")
    assert "<img" not in found._repr_html_()
    case = ET.fromstring(as_junit(found).encode()).find(".//testcase")
    assert case is not None
    assert case.attrib == {"classname": "sago.gate.a|b\\n| c", "name": image}
    assert "a&quot; onmouseover=&quot;x" in as_junit(found)
    assert 'onmouseover="' not in as_junit(found)
    assert "a|b\\n| c" in str(found)


@pytest.mark.parametrize("name", NAMES)
def test_json_is_strict_and_whole(name: str) -> None:
    found = gate(name)
    read = json.loads(dumps(found.about()), parse_constant=lambda word: pytest.fail(word))
    assert (read["verdict"], read["exit_status"]) == ("fail", 1)
    assert [rule["verdict"] for rule in read["rules"]] == ["pass", "pass", "fail", "undecided", "pass"]
    assert read["rules"][2]["value"] == found.rules[2].value, "unrounded"
    assert read["rules"][3]["blocks"]


def test_a_summary_is_added_to(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    append_summary(gate(), path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n## ❌ sago gate: failed")
    with pytest.raises(SagoError, match="cannot be written"):
        append_summary(gate(), tmp_path)
