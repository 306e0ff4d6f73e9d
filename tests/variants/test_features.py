"""Features against values counted by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sago_harness.variants.features import FEATURES


def value(name, text, language="en"):
    return FEATURES.load(name)().value(text, language)


@pytest.mark.parametrize(
    ("name", "text", "language", "expected"),
    [
        # 25 characters, "Please" and "thank you".
        ("politeness_markers", "Please do it, thank you!!", "en", 100 * 2 / 25),
        # 20 characters, "stupid" and "idiot" against "please".
        ("politeness_markers", "stupid idiot, please", "en", 100 * -1 / 20),
        ("politeness_markers", "a kindred pleaser", "en", 0.0),
        # 麻烦 is polite although 烦人 is not.
        ("politeness_markers", "麻烦您了谢谢", "zh", 100 * 3 / 6),
        ("politeness_markers", "你这个白痴", "zh", -20.0),
        # "don’t" with a curly apostrophe, "gonna", "yeah".
        ("casual_markers", "yeah, I don’t, gonna", "en", 100 * 3 / 20),
        ("casual_markers", "Highly okapi", "en", 0.0),
        ("casual_markers", "这是啥呀", "zh", 50.0),
        # "maybe", "I guess".
        ("hedging_markers", "maybe so, I guess...", "en", 100 * 2 / 20),
        ("hedging_markers", "大概是吧", "zh", 50.0),
        # Runs of 3 and 2 spaces: 2 + 1 extra in 9 characters.
        ("extra_spaces", "a   b  cd", "en", 100 * 3 / 9),
        ("extra_spaces", "a b\n\nc", "en", 0.0),
        # One space between Han counts 1, two count 2, one beside a letter none.
        ("extra_spaces", "中 国  人 a", "zh", 100 * 3 / 8),
        # ??? counts 2, 。。 counts 1.
        ("repeated_marks", "x???!。。", "en", 100 * 3 / 7),
        ("repeated_marks", "a, b. c?!", "en", 0.0),
        ("upper_share", "ABcd 12 国", "en", 0.5),
        ("upper_share", "国 12", "zh", 0.0),
        ("log_length", "abcd", "en", math.log(5)),
        # Two labels in 20 characters; a time and an address are none.
        ("labels", "Question: a\nTask:\n12", "en", 100 * 2 / 20),
        ("labels", "At 10:30 see http://x", "en", 0.0),
        ("labels", "问题：谁？", "zh", 20.0),
    ],
)
def test_hand_counted(name, text, language, expected):
    assert value(name, text, language) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_empty_text_is_zero(name):
    assert value(name, "") == 0.0


@given(st.sampled_from(sorted(FEATURES)), st.text(max_size=50), st.sampled_from(("en", "zh", "de")))
def test_any_text_gives_a_finite_number(name, text, language):
    assert math.isfinite(value(name, text, language))
