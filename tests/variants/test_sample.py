"""Drawing a sample for reading, and counting what two readings say."""

import csv
import json
import re
from collections import Counter

import pytest

from sago_harness.cli.main import main
from sago_harness.data import Document
from sago_harness.errors import SagoError
from sago_harness.variants.audit.judged import judge
from sago_harness.variants.audit.reading import Item, draw, read_items, read_judgements, write_items
from sago_harness.variants.audit.report import BEGIN, END
from sago_harness.variants.recipe import load_recipe

TEXTS = [f"Why did Anna not give {number} red apples to Peter before the war?" for number in range(40)]
DOCUMENTS = {"en": [Document(str(number), {"q": text}) for number, text in enumerate(TEXTS)]}
OPERATORS = ("label", "spaces", "keyboard")


def sheet(seed=1):
    return draw(DOCUMENTS, load_recipe("quick"), seed, of_recipe=16, of_others=8, operators=OPERATORS)


def test_operators_of_the_recipe_are_drawn_more_often_and_one_pair_in_five_is_planted():
    items = sheet()
    honest = Counter(item.operator for item in items if not item.planted)
    # Both serve a second language of which no text was given.
    assert honest == {"label": 16, "spaces": 16, "keyboard": 8}
    assert sum(bool(item.planted) for item in items) == 10
    assert {item.variant for item in items if item.operator == "spaces"} == {"spaces5@throughout"}


def test_the_sheet_says_nothing_about_its_pairs():
    items = sheet()
    assert [item.item for item in items] == [f"{number:04d}" for number in range(1, len(items) + 1)]
    places = [number for number, item in enumerate(items) if item.planted]
    assert places != list(range(len(places)))
    assert places != list(range(len(items) - len(places), len(items)))


def test_a_planted_pair_differs_in_more_than_the_operator_does():
    """A label and extra blanks leave all words in order; a planted change does not."""
    read = {"honest": 0, "planted": 0}
    for item in sheet():
        if item.operator in ("label", "spaces"):
            before, after = (re.findall(r"\w+", text) for text in (item.canonical, item.text))
            assert (after[-len(before) :] == before) == (not item.planted), item
            read["planted" if item.planted else "honest"] += 1
    assert read["honest"] == 32
    assert read["planted"] >= 4


def test_the_same_seed_draws_the_same_sheet():
    assert sheet() == sheet()
    assert sheet() != sheet(seed=2)


def item(number, operator, planted=""):
    return Item(number, operator, operator, "en", "d", "a", "b", planted)


def test_counts_bound_agreement_and_found_changes():
    items = [item("1", "x"), item("2", "x"), item("3", "y"), item("4", "y", "change_name")]
    first = {"1": (True, True), "2": (True, False), "3": (True, True), "4": (False, True)}
    second = {"1": (True, True), "2": (False, True), "3": (True, True), "4": (True, True)}
    result = judge(items, first, second)
    assert [(v.operator, v.n, v.same, v.natural) for v in result.operators] == [
        ("x", 2, 1, 1),
        ("y", 1, 1, 1),
    ]
    assert result.agreement == 0.5
    # Both say "same" three times in four: chance 9/16 + 1/16, kappa (8/16 - 10/16) / (6/16).
    assert result.kappa == pytest.approx(-1 / 3)
    assert (result.found, result.planted) == ((1.0, 0.0), 1)


def test_an_item_read_once_is_left_out():
    items = [item("1", "x"), item("2", "x")]
    result = judge(items, {"1": (True, True), "2": (True, True)}, {"1": (True, True)})
    assert result.operators[0].n == 1


def test_key_and_judgements_come_back_as_written(tmp_path):
    items = [Item("0001", "x", "x1", "zh", "d", 'a "quoted"\nline, with comma', "b\rc\r\nd", "")]
    write_items(tmp_path / "key.csv", items)
    assert read_items(tmp_path / "key.csv") == items
    (tmp_path / "a.tsv").write_text("0001\ty\tn\n\n")
    assert read_judgements(tmp_path / "a.tsv") == {"0001": (True, False)}
    (tmp_path / "a.tsv").write_text("0001\ty\n")
    with pytest.raises(SagoError, match=r"a\.tsv line 1: expected item"):
        read_judgements(tmp_path / "a.tsv")


def test_a_sheet_of_nothing_has_a_key_with_its_head(tmp_path):
    write_items(tmp_path / "key.csv", [])
    assert read_items(tmp_path / "key.csv") == []
    with pytest.raises(SagoError, match="no item of the key is in both readings"):
        judge([], {}, {})


@pytest.mark.parametrize("read", [read_items, read_judgements])
def test_a_file_that_is_absent_or_no_text_is_told_in_one_line(tmp_path, read):
    (tmp_path / "bad").write_bytes(b"\xff\xfe\n")
    for name in ("bad", "none"):
        with pytest.raises(SagoError, match=f"{name} cannot be read") as error:
            read(tmp_path / name)
        assert "\n" not in str(error.value)


def test_a_key_with_a_short_row_is_no_key(tmp_path):
    (tmp_path / "key.csv").write_text("item,operator,variant,language,document,canonical,text,planted\n1,x\n")
    with pytest.raises(SagoError, match="has no column 'variant'"):
        read_items(tmp_path / "key.csv")


def test_the_command_draws_and_collects(tmp_path, capsys):
    (tmp_path / "en.txt").write_text("\n".join(TEXTS) + '\n"two\\nlines of 3 apples"\n')
    words = ["variants", "sample", "draw", "--texts", f"en:{tmp_path / 'en.txt'}", "--recipe", "quick"]
    words += ["--operators", "label,spaces", "--of-recipe", "5", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    rows = [json.loads(line) for line in (tmp_path / "out" / "sheet.jsonl").read_text().splitlines()]
    for name in "ab":
        (tmp_path / f"{name}.tsv").write_text("".join(f"{number}\ty\ty\n" for number, _, _ in rows))
    words = ["variants", "sample", "collect", "--key", str(tmp_path / "out" / "key.csv")]
    words += ["--reading", f"A={tmp_path / 'a.tsv'}", "--reading", f"B={tmp_path / 'b.tsv'}"]
    docs = tmp_path / "docs.md"
    docs.write_text(f"# Prose\n\n{BEGIN.format('sample')}\n{END.format('sample')}\n\nMore.\n")
    assert main([*words, "--out", str(tmp_path / "sample.csv"), "--docs", str(docs)]) == 0
    # All of five: the exact bound is 0.025 to the power 1 / 5.
    told = capsys.readouterr().out
    assert f"label     5     5        5             {0.025 ** (1 / 5):.3f}" in told
    assert "agree on 100.0% of the meanings, the planted changes among them, (" in told
    assert f"| label | 5 | 5 | 5 | {0.025 ** (1 / 5):.3f} |" in docs.read_text()
    assert docs.read_text().endswith("More.\n")
    with (tmp_path / "sample.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(rows)
    assert {row["B: natural"] for row in table} == {"y"}


@pytest.mark.parametrize("content", [b'"cut\n', b"\xff\n", None])
def test_texts_that_cannot_be_read_are_one_line(tmp_path, capsys, content):
    if content is not None:
        (tmp_path / "en.txt").write_bytes(content)
    words = ["variants", "sample", "draw", "--texts", f"en:{tmp_path / 'en.txt'}", "--out", str(tmp_path)]
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("sago: error: --texts ")
    assert error.count("\n") == 1


def test_a_sheet_that_cannot_be_written_is_one_line(tmp_path, capsys):
    (tmp_path / "en.txt").write_text("\n".join(TEXTS))
    words = ["variants", "sample", "draw", "--texts", f"en:{tmp_path / 'en.txt'}", "--recipe", "quick"]
    assert main([*words, "--operators", "label", "--of-recipe", "2", "--out", str(tmp_path / "en.txt")]) == 2
    assert "en.txt cannot be written: File exists" in capsys.readouterr().err


def test_texts_need_their_language(tmp_path, capsys):
    words = ["variants", "sample", "draw", "--texts", "en.txt", "--out", str(tmp_path)]
    assert main(words) == 2
    assert "write the language first" in capsys.readouterr().err
