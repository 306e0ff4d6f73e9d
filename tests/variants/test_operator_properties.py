"""What every operator promises for any text."""

import csv
import json
import random
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from sago_harness.variants.base import SCORED_FAMILIES, Passage, Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.constraints.literals import Literals
from sago_harness.variants.constraints.semantic import Semantic
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.text.spans import find_spans, keeps_order

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
    passage = Passage(text, language, find_spans(text, language))
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
    passage = Passage("who is\ud800 there, word?", operator.languages[0])
    try:
        variant = operator.apply(passage, random.Random(seed))
    except Refused:
        variant = "\ud800"
    assert variant.count("\ud800") == 1


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
