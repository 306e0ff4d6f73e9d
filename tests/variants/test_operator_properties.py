"""What every operator promises for any text."""

import random
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from sago_harness.variants.base import Passage, Refused
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


@settings(max_examples=1500, deadline=None)
@given(TEXT, st.sampled_from(("en", "zh")), st.sampled_from(EVERY), st.integers(0, 99), st.booleans())
def test_promises(text, language, operator, seed, normalise):
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
