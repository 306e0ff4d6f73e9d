"""Published variants that people made: the formats, and the files as they are published."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sago_harness.errors import SagoError
from sago_harness.variants.build import build
from sago_harness.variants.people import PEOPLE
from sago_harness.variants.people.base import People
from sago_harness.variants.people.disfl_qa import rewrite
from sago_harness.variants.people.pararel import opening
from sago_harness.variants.recipe import load_recipe
from tests.people_files import save_mgsm


def reader(name: str) -> People:
    return PEOPLE.load(name)()


def squad(questions: dict[str, str]) -> str:
    """Two paragraphs of one article: the first two questions, then the rest."""
    qas = [
        {"id": name, "question": text, "answers": [{"text": "9", "answer_start": 0}]}
        for name, text in questions.items()
    ]
    paragraphs = [{"context": "First.", "qas": qas[:2]}, {"context": "Second.", "qas": qas[2:]}]
    return json.dumps({"version": "1", "data": [{"title": "Hens", "paragraphs": paragraphs}]})


@pytest.fixture
def noiseqa(tmp_path: Path) -> Path:
    original = {"a": "How many hens? ", "b": "Who won?", "c": "Where is it?"}
    typed = {"c": "Whre is it", "a": "How many hens?", "b": "Who won"}
    spoken = {"a": "how many hands", "b": "who won", "c": "where is it"}
    (tmp_path / "xquad-context-en-question-en.json").write_text(squad(original), encoding="utf-8")
    (tmp_path / "xquad-keyboard-natural.json").write_text(squad(typed), encoding="utf-8")
    (tmp_path / "xquad-asr-natural.json").write_text(squad(spoken), encoding="utf-8")
    return tmp_path


def texts(row: dict[str, Any]) -> dict[str, str]:
    return {variant["id"]: variant["text"] for variant in row["variants"]}


def test_noiseqa_joins_the_three_files_by_id_whatever_their_order(noiseqa: Path) -> None:
    rows = reader("noiseqa").rows(noiseqa)
    assert [row["id"] for row in rows] == ["a", "b", "c"]
    assert [row["question"] for row in rows] == ["How many hens?", "Who won?", "Where is it?"]
    # What was typed as it stands is no variant.
    assert texts(rows[0]) == {"spoken": "how many hands"}
    assert texts(rows[1]) == {"typed": "Who won", "spoken": "who won"}
    assert texts(rows[2]) == {"typed": "Whre is it", "spoken": "where is it"}
    assert [row["answers"] for row in rows] == [["9"]] * 3


def test_noiseqa_takes_the_paragraph_as_cluster_and_passage(noiseqa: Path) -> None:
    rows = reader("noiseqa").rows(noiseqa)
    assert [row["context"] for row in rows] == ["First.", "First.", "Second."]
    assert rows[0]["cluster"] == rows[1]["cluster"] != rows[2]["cluster"]


def test_documents_carry_the_rows_variants(noiseqa: Path) -> None:
    document = list(reader("noiseqa").read(noiseqa))[1]
    assert (document.id, document.text, document.language, document.cluster) == (
        "b",
        "Who won?",
        "en",
        "Hens#1",
    )
    assert [(v.family, v.operator, v.text) for v in document.own] == [
        ("human", "typed", "Who won"),
        ("human", "spoken", "who won"),
    ]


def test_disfl_qa_leaves_out_cells_without_a_rewrite(tmp_path: Path) -> None:
    content = {
        "57286951aa": {"original": "Who won? ", "disfluent": "Where no who won?"},
        "57286951ab": {"original": "Who lost?", "disfluent": "#VALUE!"},
        "57286952aa": {"original": "Who?", "disfluent": "Who?"},
    }
    (tmp_path / "dev.json").write_text(json.dumps(content), encoding="utf-8")
    (row,) = reader("disfl_qa").rows(tmp_path)
    assert (row["id"], row["question"], row["cluster"]) == ("57286951aa", "Who won?", "57286951")
    assert texts(row) == {"disfluent": "Where no who won?"}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("Who no what?", "Who no what?"),
        (r"Nativit\u00e9 no what?", "Nativité no what?"),
        (r"What is \"only\" no \"all\"?", 'What is "only" no "all"?'),
        (r"How err\u007f when?", "How err when?"),
        ('Who? "," Who no what?', ""),
        ("Question n/a", ""),
        ("cut off \\", ""),
    ],
)
def test_a_cell_that_was_escaped_twice_is_read_as_it_was_meant(cell: str, text: str) -> None:
    assert rewrite(cell) == text


@pytest.mark.parametrize(
    ("pattern", "start"),
    [
        ("[X] was born in [Y].", "[X] was born in"),
        ("The capital of [X] is [Y] .", "The capital of [X] is"),
        ("[X] was started in [Y]", "[X] was started in"),
        ("[X], developed by [Y],", "[X], developed by"),
        ("[X] label : [Y].", "[X] label :"),
        # The object comes first, is no end, or follows a comma after which anything may come.
        ("[Y] is the capital of [X].", ""),
        ("The official language of [X] is the [Y] language.", ""),
        ("[X] was a [Y]-born person.", ""),
        ("[X]'s capital, [Y].", ""),
    ],
)
def test_only_patterns_that_end_in_the_object_are_completed(pattern: str, start: str) -> None:
    assert opening(pattern) == start


@pytest.fixture
def pararel(tmp_path: Path) -> Path:
    def save(name: str, rows: list[dict[str, str]]) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    save(
        "patterns/P1.jsonl",
        [{"pattern": p} for p in ("[Y] bore [X].", "[X] was born in [Y].", "[X] comes from [Y].")],
    )
    save("patterns/P2.jsonl", [{"pattern": p} for p in ("[X] is in [Y].", "[Y] has [X].")])
    fact = {"sub_label": "Ann", "obj_label": "Rome", "uuid": "u1"}
    save("tuples/P1.jsonl", [fact, {**fact, "obj_label": "Italy", "uuid": "u2"}])
    save("tuples/P2.jsonl", [{"sub_label": "Bonn", "obj_label": "Europe", "uuid": "u3"}])
    return tmp_path


def test_pararel_asks_for_the_object_in_every_pattern_that_ends_in_it(pararel: Path) -> None:
    # P2 has one such pattern only, so there is nothing to vary.
    (row,) = reader("pararel").rows(pararel)
    assert (row["id"], row["cluster"]) == ("P1:Ann", "P1:Ann")
    assert row["question"] == "Ann was born in"
    assert texts(row) == {"pattern2": "Ann comes from"}
    assert row["answers"] == ["Rome", "Italy"]


def test_pararel_reads_whole_statements_for_checks_without_a_model(pararel: Path) -> None:
    found = {document.id: document for document in reader("pararel").read(pararel)}
    assert list(found) == ["P1:u1", "P1:u2", "P2:u3"]
    assert found["P1:u2"].text == "Italy bore Ann."
    assert [v.text for v in found["P1:u2"].own] == ["Ann was born in Italy.", "Ann comes from Italy."]
    assert found["P1:u1"].cluster == found["P1:u2"].cluster
    assert [v.text for v in found["P2:u3"].own] == ["Europe has Bonn."]


def test_mgsm_pairs_the_lines_and_keeps_quotation_marks(tmp_path: Path) -> None:
    rows = reader("mgsm").rows(save_mgsm(tmp_path))
    assert [(row["id"], row["question"], row["answers"]) for row in rows] == [
        ("001", "Two?", ["2"]),
        ("002", '"Three"?', ["3"]),
    ]
    assert texts(rows[1]) == {
        "translation_de": "“Drei”?",
        "translation_es": "¿Tres?",
        "translation_fr": "3 ?",
    }
    assert {v["family"] for row in rows for v in row["variants"]} == {"language"}


@pytest.mark.parametrize(
    ("german", "message"),
    [
        ("Drei?\t3\nZwei?\t2\n", "line 1 of mgsm_de.tsv is another problem's"),
        ("Zwei? 2\nDrei?\t3\n", "line 1 of mgsm_de.tsv is not a question, a tab and an answer"),
        ("Zwei?\t2\n", "is not mgsm as published"),
    ],
)
def test_mgsm_files_that_do_not_match_are_told_in_one_line(tmp_path: Path, german: str, message: str) -> None:
    with pytest.raises(SagoError, match=message) as caught:
        reader("mgsm").rows(save_mgsm(tmp_path, german))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", list(PEOPLE))
def test_a_missing_file_is_named_with_its_source(name: str, tmp_path: Path) -> None:
    people = reader(name)
    with pytest.raises(SagoError, match=f"read from .* as published at {people.source}") as caught:
        people.rows(tmp_path)
    assert people.files[0] in str(caught.value)


def test_a_file_of_another_format_is_told_in_one_line(noiseqa: Path) -> None:
    (noiseqa / "xquad-asr-natural.json").write_text('{"data": [{"title": "t"}]}', encoding="utf-8")
    with pytest.raises(SagoError, match=r"is not noiseqa as published at .*: lacks 'paragraphs'"):
        reader("noiseqa").rows(noiseqa)


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a": ', b"\xff", b"7", b'{"a": {"original": 1}}'])
def test_a_malformed_file_of_disfl_qa_is_told_in_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_bytes(content)
    with pytest.raises(SagoError) as caught:
        reader("disfl_qa").rows(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


#: Documents, and variants by operator, counted over the published files.
PUBLISHED = {
    "noiseqa": (1190, {"typed": 594, "spoken": 1190}),
    "disfl_qa": (992, {"disfluent": 992}),
    "mgsm": (250, {"translation": 750}),
}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_the_published_files_are_read(name: str, shared_data: Path) -> None:
    rows = reader(name).rows(shared_data / name)
    count, operators = PUBLISHED[name]
    assert len(rows) == count == len({row["id"] for row in rows})
    assert Counter(v["operator"] for row in rows for v in row["variants"]) == operators


def test_pararel_as_published(shared_data: Path) -> None:
    rows = {row["id"]: row for row in reader("pararel").rows(shared_data / "pararel")}
    allan = rows["P19:Allan Peiper"]
    assert allan["question"] == "Allan Peiper was born in"
    assert allan["answers"] == ["Alexandra"]
    assert "Allan Peiper originates from" in texts(allan).values()
    assert not any("[" in text for row in rows.values() for text in (row["question"], *texts(row).values()))
    statements = list(reader("pararel").read(shared_data / "pararel"))
    # 593 facts of ten relations, among them the official languages, which have one cloze pattern.
    assert len(statements) == len({document.id for document in statements}) == 593
    assert not any(name.startswith("P37:") for name in rows)


def test_the_first_digits_of_a_squad_id_name_one_paragraph(shared_data: Path) -> None:
    """Disfl-QA takes them for the paragraph; XQuAD has both."""
    by_second: dict[str, set[str]] = {}
    rows = reader("noiseqa").rows(shared_data / "noiseqa")
    for row in rows:
        by_second.setdefault(row["id"][:8], set()).add(row["cluster"])
    assert {len(clusters) for clusters in by_second.values()} == {1}
    assert len(by_second) < len(rows) / 4


@pytest.mark.parametrize(
    ("name", "operator", "least"),
    [("noiseqa", "typed", 0.95), ("noiseqa", "spoken", 0.93), ("disfl_qa", "disfluent", 0.98)],
)
def test_the_human_recipe_lets_most_of_what_people_made_through(
    name: str, operator: str, least: float, shared_data: Path
) -> None:
    recipe = load_recipe("human")
    brought = kept = 0
    reasons: Counter[str] = Counter()
    for document in reader(name).read(shared_data / name):
        made = build(document, recipe, seed=42)
        brought += sum(v.operator == operator for v in document.own)
        kept += sum(v.operator == operator for v in made.variants)
        reasons.update(reject.reason for reject in made.rejects)
    assert kept / brought > least
    assert set(reasons) == {"literals"}


def test_a_typed_number_that_became_another_is_refused(tmp_path: Path, noiseqa: Path) -> None:
    path = noiseqa / "xquad-context-en-question-en.json"
    path.write_text(squad({"a": "Who won in 1985?", "b": "Who won?", "c": "Where?"}), encoding="utf-8")
    typed = {"a": "Who won in 18985?", "b": "Who won", "c": "Where?"}
    (noiseqa / "xquad-keyboard-natural.json").write_text(squad(typed), encoding="utf-8")
    document = next(reader("noiseqa").read(noiseqa))
    made = build(document, load_recipe("human"), seed=42)
    assert [(reject.id, reject.reason) for reject in made.rejects] == [
        ("typed", "literals"),
        ("spoken", "literals"),
    ]
