"""Building a document's variants: what is kept, what is rejected, and that chance is keyed."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from sago_harness.data import Document, Reject, Variant
from sago_harness.variants.base import SCORED_FAMILIES
from sago_harness.variants.build import build
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.operators.label import Label
from sago_harness.variants.packs.pack import pack_digest
from sago_harness.variants.recipe import load_recipe

RECIPES = ("quick", "default")
QUESTIONS = {
    "en": [
        "What is the capital of France?",
        "Who wrote the novel that the film is based on?",
        "Mia sold 48 clips in April, and then she sold half as many in May. How many clips did she sell?",
        "Translate the following sentence into German: The weather is nice today.",
        "Which animal lays eggs?\nA. hen\nB. cow\nC. ant\nAnswer:",
    ],
    "zh": [
        "法国的首都是哪里？",
        "小明有5个苹果，给了小红2个。他还剩几个苹果？",
        "把下面的句子翻译成英文：今天天气很好。",
        "《红楼梦》的作者是谁？",
    ],
}
G02 = "Ping 10.0.0.7, release 2.0.13, at 3.5% on 2031-04-05."
G03 = "Reply with A, B or C.\nA. hen\nB. cow\nC. ant\nAnswer:"
G03_LABELS = "Say positive or negative."


def made(text, language="en", recipe="quick", seed=0, **facts):
    return build(Document("d1", {"question": text}, language, **facts), load_recipe(recipe), seed)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(
    ("language", "text"), [(code, text) for code, texts in QUESTIONS.items() for text in texts]
)
def test_typical_questions_get_two_of_each_family(recipe, language, text):
    for seed in range(5):
        result = made(text, language, recipe, seed)
        families = Counter(variant.family for variant in result.variants[1:])
        assert all(families[family] >= 2 for family in SCORED_FAMILIES), result.rejects
        assert len(result.variants) + len(result.rejects) == 1 + len(
            load_recipe(recipe).for_language(language)
        )


def test_the_canonical_variant_comes_first_and_is_the_document():
    first = made("Who wrote it?").variants[0]
    assert (first.id, first.family, first.operator) == ("canonical", "canonical", "")
    assert first.fields == {"question": "Who wrote it?"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_case_g02_literals_stand_in_every_variant(recipe, language):
    for seed in range(20):
        for variant in made(G02, language, recipe, seed).variants:
            for literal in ("10.0.0.7", "2.0.13", "3.5%", "2031-04-05"):
                assert variant.text.count(literal) == 1, variant


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_case_g03_letters_order_and_labels_stand_in_every_variant(recipe, language):
    for seed in range(20):
        for variant in made(G03, language, recipe, seed).variants:
            lines = variant.text.split("\n")
            assert [line for line in lines if line in ("A. hen", "B. cow", "C. ant")] == [
                "A. hen",
                "B. cow",
                "C. ant",
            ]
            assert variant.text.count("A, B or C") == 1
            assert lines[-1] == "Answer:"
        for variant in made(G03_LABELS, language, recipe, seed).variants:
            assert variant.text.count("positive or negative") == 1


PROGRAM = """
from sago_harness.data import Document
from sago_harness.variants.build import build
from sago_harness.variants.packs.pack import pack_digest
from sago_harness.variants.recipe import load_recipe
recipe = load_recipe("default")
texts = [f"What do people say about the number {i} and about the others?" for i in range(10)]
texts += [f"人们怎么看数字{i}，还有别的数字？" for i in range(10)]
documents = [Document(str(i), {"q": t}, "en" if i < 10 else "zh") for i, t in enumerate(texts)]
print(recipe.digest, pack_digest(build(document, recipe, 7) for document in documents))
"""


def test_case_g04_the_hash_seed_changes_nothing():
    """20 documents; three interpreters with different hash seeds."""
    root = str(Path(__file__).parents[2])
    outputs = set()
    for hash_seed in ("0", "1", "random"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": root}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop().split()) == 2


def test_the_seed_and_the_document_id_key_chance():
    recipe = load_recipe("default")
    text = {"q": "Who wrote the novel that the film is based on?"}
    same = [build(Document("a", text), recipe, 1).variants for _ in range(2)]
    assert same[0] == same[1]
    assert build(Document("a", text), recipe, 2).variants != same[0]
    assert build(Document("b", text), recipe, 1).variants != same[0]


def test_every_field_is_varied_and_a_refused_one_keeps_its_text():
    document = Document("d", {"context": "Emma is a novel about people.", "question": "Why?"})
    variants = {variant.id: variant for variant in build(document, load_recipe("quick"), 0).variants}
    assert variants["spaces5@throughout"].fields["question"] == "Why?"
    assert variants["spaces5@throughout"].fields["context"].count(" ") == 5 + 5
    assert all(value != document.fields[name] for name, value in variants["label"].fields.items())
    assert list(variants["label"].fields) == ["context", "question"]


def test_options_spread_over_fields_are_no_options_of_one_text():
    document = Document("d", {"one": "A. hen lays eggs", "two": "B. cow gives milk"})
    result = build(document, load_recipe("quick"), 0)
    assert not [reject for reject in result.rejects if reject.reason == "literals"]


def test_if_all_fields_refuse_the_reason_is_told():
    result = made("Why?")
    assert Reject("spaces5@throughout", "noise", "spaces", "no gap between words") in result.rejects


@pytest.mark.parametrize("facts", [{"reason": "no question field"}, {}])
def test_a_document_that_cannot_be_varied_keeps_its_canonical_variant(facts):
    result = made("Who wrote it?" if facts else " \n", **facts)
    assert [variant.id for variant in result.variants] == ["canonical"]
    assert result.rejects == ()


def test_task_literals_are_kept():
    for seed in range(20):
        for variant in made(
            "where does the hedgehog sleep", recipe="default", seed=seed, keep=("hedgehog",)
        ).variants:
            assert "hedgehog" in variant.text


def test_own_variants_follow_and_are_checked():
    def own(name, text):
        return Variant(name, "human", "noiseqa", {"question": text})

    text = "Who wrote caf\u00e9?"
    others = (
        own("typed", "who wrote cafe"),
        own("same", "Who wrote cafe\u0301?"),
        own("again", "who wrote cafe"),
    )
    result = made(text, own=(*others, own("typed", "another text")))
    assert result.variants[-1] == others[0]
    assert [(reject.id, reject.reason) for reject in result.rejects if reject.family == "human"] == [
        ("same", "changed"),
        ("again", "duplicate"),
        ("typed", "id taken"),
    ]


class Twin(Label):
    """The same label every time, under another name."""

    name = "twin"

    def vary(self, passage, rng):
        return "Question: " + passage.text


class Vandal(Label):
    name = "vandal"

    def apply(self, passage, rng):
        return passage.text.replace("3", "4")


class Needy(Label):
    name = "needy"
    requires = ("a_library_nobody_has",)


@pytest.fixture
def extended(monkeypatch, tmp_path):
    """A recipe over operators that another package could add."""
    for operator in (Twin, Vandal, Needy):
        monkeypatch.setitem(OPERATORS._entries(), operator.name, "elsewhere:X")
        monkeypatch.setitem(OPERATORS._loaded, operator.name, operator)
    second = type("Second", (Twin,), {"name": "second"})
    monkeypatch.setitem(OPERATORS._entries(), "second", "elsewhere:X")
    monkeypatch.setitem(OPERATORS._loaded, "second", second)
    path = tmp_path / "r.yaml"
    names = ("twin", "second", "vandal", "needy")
    path.write_text(
        "name: r\nversion: 1\nvariants:\n" + "".join(f"  - {{operator: {name}}}\n" for name in names)
    )
    return load_recipe(path)


def test_rejects_say_why(extended):
    result = build(Document("d", {"q": "Has it 3 eggs?"}), extended, 0)
    assert [variant.id for variant in result.variants] == ["canonical", "twin"]
    assert [(reject.id, reject.reason) for reject in result.rejects] == [
        ("second", "duplicate"),
        ("vandal", "literals"),
        ("needy", "missing library a_library_nobody_has"),
    ]
    unchanged = build(Document("d", {"q": "Has it eggs?"}), extended, 0)
    assert ("vandal", "changed") in [(reject.id, reject.reason) for reject in unchanged.rejects]


def test_pack_digest_ignores_the_order_of_documents_only():
    recipe = load_recipe("quick")
    sets = [build(Document(str(i), {"q": text}), recipe, 0) for i, text in enumerate(QUESTIONS["en"])]
    digest = pack_digest(sets)
    assert pack_digest(reversed(sets)) == digest
    assert pack_digest(sets[1:]) != digest
    assert pack_digest([build(sets[0].document, recipe, 1), *sets[1:]]) != digest
    assert pack_digest(iter(sets)) == digest
