"""What every operator promises for any text."""

import contextlib
import csv
import json
import pathlib
import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sago_harness.variants.base import SCORED_FAMILIES, Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.constraints.literals import Literals
from sago_harness.variants.constraints.semantic import Semantic
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.text.spans import keeps_order

EVERY = [
    operator(strength, position)
    for operator in (OPERATORS.load(name) for name in OPERATORS)
    for strength in operator.strengths or (None,)
    for position in operator.positions
]
PIECES = [
    *(
        "What is it that you do not like?",
        "Answer:",
        "A. hen\n",
        "B. cow",
        "3.5%",
        "10.0.0.7",
        "`c d`",
        "$x$",
        '"q r"',
    ),
    *(
        "\n",
        " ",
        "  ",
        "\r\n",
        ".",
        "!",
        "?",
        "，",
        "。",
        "？",
        "中国",
        "什么",
        "您",
        "word other",
        "e\u0301",
        "\u0301",
    ),
    *(
        "\u200d",
        "\U0001f469\u200d\U0001f467",
        "\U0001f1e9\U0001f1ea",
        "\u05e9\u05dc\u05d5\u05dd",
        "\u061f",
        "ß",
        "ŉ",
    ),
    *("\u1100", "\u1161", "\u11a8", "\u212a", "\x00", "\ufeff", "ＡＢ", "3，4"),
]
TEXT = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


@settings(max_examples=3000, deadline=None)
@given(TEXT, st.sampled_from(EVERY), st.integers(0, 99), st.booleans())
def test_promises(text, operator, seed, normalise):
    language = operator.languages[seed % len(operator.languages)]
    text = unicodedata.normalize("NFC", text) if normalise else text
    passage = make_passage(text, language)
    try:
        variant = operator.apply(passage, random.Random(seed))
    except Refused:
        return
    assert variant != text
    # A negative control changes literals on purpose.
    assert operator.family == "control" or keeps_order(passage, variant)
    assert variant.encode("utf-8").decode("utf-8") == variant
    assert not unicodedata.is_normalized("NFC", text) or unicodedata.is_normalized("NFC", variant)
    assert operator.apply(passage, random.Random(seed)) == variant


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(EVERY), st.integers(0, 99))
def test_a_lone_surrogate_in_the_input_stops_nothing(operator, seed):
    passage = make_passage("who is\ud800 there, word?", operator.languages[0])
    with contextlib.suppress(Refused):
        assert operator.apply(passage, random.Random(seed)).count("\ud800") == 1


TASTE = {
    "en": [
        "Who wrote Emma?",
        "What happens if you swallow a seed before lunch?",
        "What is the colour of the sky, and why isn't it green?",
        "Explain gravity.",
        "Anna has 3 eggs. She eats 2 of them. How many eggs does she have left?",
        "Dogs bark. Cats meow.",
        "The boy was late, and the bus was gone.",
        "Name a big cat, a large bird and a small fish.",
        "Is it dangerous to begin smoking?",
        "Can reindeer really fly?",
        "Is smoking banned in all countries that are near Poland because people dislike it?",
        "It is healthy to eat apples.",
        "I have an apple, a pear and a plum. What should I do with their skins?",
        "How many miles are there between Paris and Berlin?",
        "Which is taller, the tower in Paris or the bridge in London that was built before 1900?",
        "When did the war end in Europe?",
        "Do all birds fly without a compass?",
        "Tell me about the government of people who live with their parents.",
        "Does your weight change when you hear music?",
        "Tom has 3 dogs, and Anna has 4 cats.",
        "When did the film start, and how large was the present?",
    ],
    "zh": (pathlib.Path(__file__).parent / "chinese_questions.txt").read_text(encoding="utf-8").splitlines(),
}


@pytest.mark.parametrize("name", [name for name in OPERATORS if not name.startswith("rewrite_")])
def test_every_operator_makes_something_of_ordinary_texts(name):
    kind = OPERATORS.load(name)
    if lacking := missing(kind.requires):
        pytest.skip(lacking)
    for operator in (each for each in EVERY if each.name == name):
        for language in operator.languages:
            made = 0
            for text in TASTE[language]:
                with contextlib.suppress(Refused):
                    made += operator.apply(make_passage(text, language), random.Random(3)) != text
            # Chinese has no contractions to expand.
            absent = (operator.name, operator.position, language) == ("formal", "throughout", "zh")
            assert made or absent, (operator.variant_id, language)


def real_questions(folder):
    """Questions as published, as typed and as heard; problems; translations as unfamiliar text."""
    with (folder / "truthfulqa" / "TruthfulQA.csv").open(encoding="utf-8-sig", newline="") as lines:
        yield from [row["Question"] for row in csv.DictReader(lines)]
    with (folder / "gsm8k" / "test.jsonl").open(encoding="utf-8") as lines:
        yield from [json.loads(line)["question"] for line in lines]
    for name in ("context-en-question-en", "keyboard-natural", "asr-natural"):
        content = json.loads((folder / "noiseqa" / f"xquad-{name}.json").read_text(encoding="utf-8"))
        for article in content["data"]:
            yield from (q["question"] for paragraph in article["paragraphs"] for q in paragraph["qas"])
    for name in ("de", "fr"):
        lines = (folder / "mgsm" / f"mgsm_{name}.tsv").read_text(encoding="utf-8").splitlines()
        yield from (line.split("\t")[0] for line in lines)


def test_promises_on_real_questions(shared_data):
    """Literals and semantic words stay, under every operator and strength, on 25 questions each."""
    texts = list(real_questions(shared_data))
    rng = random.Random(20)
    made = 0
    for operator in EVERY:
        if "en" not in operator.languages:
            continue
        for text in rng.sample(texts, 25):
            passage = make_passage(text)
            try:
                variant = operator.apply(passage, random.Random(7))
            except Refused:
                continue
            made += 1
            assert variant != text
            assert unicodedata.is_normalized("NFC", variant) or not unicodedata.is_normalized("NFC", text)
            if operator.family in SCORED_FAMILIES:
                assert keeps_order(passage, variant), (operator.variant_id, variant)
                for constraint in (Literals(), Semantic()):
                    check = constraint.check(passage, variant)
                    assert check.passed, (operator.variant_id, text, variant, check.reason)
    assert made > 2000
