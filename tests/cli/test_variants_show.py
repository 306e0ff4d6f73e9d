"""``sago variants show``: changes marked, and text that cannot harm the terminal."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

import pytest

from sago_harness.cli.variants import table
from sago_harness.data import Document, Reject, Variant, VariantSet
from sago_harness.report.changes import show_changes, wants_colour
from sago_harness.variants.packs.pack import Manifest
from sago_harness.variants.packs.packfile import write_pack
from tests.cli.conftest import Sago

TASK = "sago_demo_facts"
DOCUMENTS = 24


def test_show_marks_what_a_variant_changed(sago: Sago, tmp_path: Path) -> None:
    document = Document("7", {"q": "Who wrote it?"})
    variants = (
        Variant("canonical", "canonical", "", document.fields),
        Variant(
            "spaces5", "noise", "spaces", {"q": "Who  wrote it? "}, checks={"changed": None, "length": 1.0}
        ),
        Variant("case30", "noise", "case", {"q": "Who wROte it?"}),
    )
    made = VariantSet(document, variants, (Reject("typos2", "noise", "typos", "nothing to change"),))
    path = tmp_path / "p.jsonl"
    write_pack(path, Manifest("t", "1", "r.1", "00", 1), [made])
    done = sago("variants", "show", str(path))
    assert done.out.splitlines() == [
        "7 (en)",
        "  Who wrote it?",
        "",
        "  spaces5  noise  length 1",
        "    Who {+␣+}wrote it?{+␣+}",
        "",
        "  case30  noise",
        "    Who [-wrote-]{+wROte+} it?",
        "",
        "  not made:",
        "    typos2  nothing to change",
    ]


def test_show_takes_named_documents_or_the_first_ones(sago: Sago, built: Path) -> None:
    heads = re.compile(r"^(facts-\d+) \(en\)$", re.M)
    assert heads.findall(sago("variants", "show", str(built)).out) == ["facts-01", "facts-02", "facts-03"]
    named = sago("variants", "show", str(built), "facts-09", "facts-04").out
    assert heads.findall(named) == ["facts-09", "facts-04"]
    task = sago("variants", "show", TASK, "facts-09", "--recipe", "quick").out
    assert task in named.replace("\n\nfacts-04", "\nfacts-04"), "a task shows what its pack holds"


def test_show_tries_a_recipe_on_any_text(sago: Sago) -> None:
    done = sago("variants", "show", "--text", "法国的首都是哪里？", "--language", "zh", "--recipe", "quick")
    assert done.status == 0
    assert done.out.startswith("text (zh)\n  法国的首都是哪里？\n")
    assert "{+" in done.out


HOSTILE = "a\x1b]0;title\x07\x1b[2Jb\u202ec\u200bd\r\x9be"


def test_hostile_text_cannot_drive_the_terminal(sago: Sago, tmp_path: Path) -> None:
    document = Document(HOSTILE, {HOSTILE: HOSTILE, "q": HOSTILE})
    variants = (
        Variant("canonical", "canonical", "", document.fields),
        Variant(HOSTILE, HOSTILE, HOSTILE, {HOSTILE: HOSTILE * 2, "q": "x"}, checks={HOSTILE: 1.0}),
    )
    made = VariantSet(document, variants, (Reject(HOSTILE, HOSTILE, HOSTILE, HOSTILE),))
    path = tmp_path / "p.jsonl"
    write_pack(
        path,
        Manifest("t", "1", "r.1", "00", 1, constraints=({"name": "changed", "version": 1, "options": {}},)),
        [made],
    )
    for words in (("show", str(path)), ("verify", str(path)), ("show", "--text", HOSTILE)):
        done = sago("variants", *words)
        assert not set(done.out + done.err) & set("\x1b\x07\u202e\u200b\r\x9b"), words
        if words[0] == "show":
            assert "\\x1b[2J" in done.out


def test_hostile_names_cannot_drive_the_terminal_in_an_error_or_a_report(sago: Sago, tmp_path: Path) -> None:
    document = Document(HOSTILE + "\n", {"q": "Who?"})
    variants = (
        Variant("canonical", "canonical", "", document.fields),
        Variant("x", "structure", HOSTILE, {"q": "Who??"}),
    )
    path = tmp_path / "p.jsonl"
    write_pack(path, Manifest("t", "1", "r.1", "00", 1), [VariantSet(document, variants)])
    done = sago("variants", "show", str(path), "nosuch")
    assert done.status == 2
    assert "it has a\\x1b]0;title" in done.error
    audited = sago("variants", "audit", str(path), "--out", str(tmp_path / "audit"))
    assert audited.status == 0
    for text in (done.err, audited.out, (tmp_path / "audit" / "audit.md").read_text("utf-8")):
        assert not set(text) & set("\x1b\x07\u202e\u200b\r\x9b")
    assert table([("operator",), (HOSTILE,)]).count("\n") == 1
    assert "\x1b" not in table([(HOSTILE,)])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_colour(Terminal())
    assert not wants_colour(Terminal(), refused=True)
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())


def test_coloured_changes_end_where_the_change_ends() -> None:
    shown = show_changes("one two", "one 2", colour=True)
    assert shown == "one \x1b[31;9mtwo\x1b[0m\x1b[32;1m2\x1b[0m"


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("a b", "a\nb", "a[-␣-]{+⏎\n+}b"),
        ("法国的首都", "法国首都", "法国[-的-]首都"),
        ("end.", "end", "end[-.-]"),
        ("same", "same", "same"),
        ("ab", "ａｂ", "[-ab-]{+ａｂ+}"),
        ("x y", "x\u3000y", "x[-␣-]{+\\u3000+}y"),
        ("", "new text here", "{+new text here+}"),
    ],
)
def test_changes_read_as_a_person_would_mark_them(before: str, after: str, shown: str) -> None:
    assert show_changes(before, after) == shown


def test_long_texts_are_compared_in_a_moment() -> None:
    start = time.monotonic()
    show_changes("a b " * 20_000, "b c " * 20_000)
    assert time.monotonic() - start < 10
