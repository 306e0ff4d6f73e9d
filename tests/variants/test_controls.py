"""Negative controls: each changes what is asked, in one place, or refuses."""

import random
import unicodedata

import pytest

from sago_harness.variants.base import Passage, Refused, Span
from sago_harness.variants.build import make_passage
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.phrases import read_table
from sago_harness.variants.recipe import load_recipe

CONTROLS = sorted(name for name in OPERATORS if OPERATORS.load(name).family == "control")


def apply(name, text, language="en", seed=0):
    return OPERATORS.load(name)().apply(make_passage(text, language), random.Random(seed))


def test_all_six_are_there():
    assert CONTROLS == [
        "change_comparison",
        "change_name",
        "change_negation",
        "change_number",
        "change_quantifier",
        "change_unit",
    ]


@pytest.mark.parametrize(
    ("name", "language", "text", "changed"),
    [
        ("change_comparison", "en", "Which city is larger?", "Which city is smaller?"),
        ("change_comparison", "en", "Who led BEFORE him?", "Who led AFTER him?"),
        ("change_comparison", "en", "He bought twice as many eggs.", "He bought half as many eggs."),
        ("change_comparison", "en", "What is the most common name?", "What is the least common name?"),
        ("change_comparison", "zh", "最大的城市是哪个？", "最小的城市是哪个？"),
        ("change_quantifier", "en", "Do all birds fly?", "Do some birds fly?"),
        ("change_quantifier", "en", "Every bird can fly.", "No bird can fly."),
        ("change_quantifier", "en", "She sold all of the eggs.", "She sold some of the eggs."),
        ("change_quantifier", "zh", "所有的鸟都会飞吗？", "部分的鸟都会飞吗？"),
        ("change_unit", "en", "How many miles is it?", "How many kilometers is it?"),
        ("change_unit", "en", "It took 3 hours.", "It took 3 minutes."),
        ("change_unit", "en", "It costs $5.", "It costs €5."),
        ("change_unit", "zh", "从甲地到乙地有5公里。", "从甲地到乙地有5英里。"),
        ("change_negation", "en", "Who is not a king?", "Who is a king?"),
        ("change_negation", "en", "Which birds can't fly?", "Which birds can fly?"),
        ("change_negation", "en", "What animals will not bite?", "What animals will bite?"),
        ("change_negation", "en", "It has never been won.", "It has been won."),
        ("change_negation", "en", "What did Anna eat?", "What didn't Anna eat?"),
        ("change_negation", "en", "Who was king?", "Who wasn't king?"),
        ("change_negation", "en", "What can birds eat?", "What can't birds eat?"),
        ("change_negation", "zh", "北京是首都吗？", "北京不是首都吗？"),
        ("change_negation", "zh", "他没有钱。", "他有钱。"),
    ],
)
def test_the_one_place_is_changed(name, language, text, changed):
    assert apply(name, text, language) == changed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("change_comparison", "Who was he named after?"),
        ("change_comparison", "There is no longer a king."),
        ("change_comparison", "Most people sleep."),
        ("change_quantifier", "How many birds fly?"),
        ("change_quantifier", "He knew nothing at all.".replace("nothing", "it")),
        ("change_quantifier", "She swims every day."),
        ("change_unit", "Her feet hurt."),
        ("change_unit", "Which day is it?"),
        ("change_negation", "Not only birds fly."),
        ("change_negation", "Name the king."),
        ("change_negation", "Did Anna win?"),
        ("change_negation", "Isn't it true that hens fly?"),
        ("change_negation", "If hens fly, can they swim?"),
        ("change_number", "Who won?"),
        ("change_number", "At 10:30 he left v2.0 behind."),
        ("change_number", "He has 1 egg and 0 hens."),
        ("change_name", "Who wrote the book?"),
        ("change_name", "What did the International Space Station do?"),
        ("change_name", "When did she visit New York?"),
    ],
)
def test_what_is_no_such_thing_is_refused(name, text):
    with pytest.raises(Refused):
        apply(name, text)


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize("text", ["", " \n", "?", "再见"])
def test_blank_texts_are_refused(name, text):
    with pytest.raises(Refused):
        apply(name, text)


@pytest.mark.parametrize("seed", range(30))
def test_a_number_stays_a_number_of_its_kind(seed):
    year = apply("change_number", "Who won in 1966?", seed=seed)
    assert year != "Who won in 1966?"
    assert 1946 <= int(year.removeprefix("Who won in ").removesuffix("?")) <= 1986
    words = {apply("change_number", "I ate Two eggs", seed=seed).split()[2]}
    assert words <= {word.title() for word in read_table("controls")["number"]["en"]}
    thousands = apply("change_number", "It has 12,000 seats", seed=seed).split()[2]
    assert len(thousands) == 6
    assert thousands.endswith(",000")
    chinese = apply("change_number", "有三个人。", "zh", seed)
    assert chinese[1] in "两四五六七八九"
    assert chinese[0] + chinese[2:] == "有个人。"


@pytest.mark.parametrize("seed", range(20))
def test_a_name_gives_way_to_one_of_its_kind_everywhere(seed):
    kinds = {"Germany": "country", "Paris": "city", "Monday": "weekday"}
    for name, kind in kinds.items():
        text = apply("change_name", f"Was {name} grey? I like {name}'s rain.", seed=seed)
        new = text.split()[1]
        assert new != name
        assert new in read_table("controls")["name"][kind]
        assert text == f"Was {new} grey? I like {new}'s rain."


def test_an_unknown_name_inside_a_sentence_is_a_surname():
    text = apply("change_name", "When were Tesla's patents restored?")
    assert text.startswith("When were ")
    assert text.endswith("'s patents restored?")
    assert "Tesla" not in text


def test_code_and_addresses_are_left_alone():
    text = "Run `make 5 all` at www.more.com before 12."
    for seed in range(20):
        for name in CONTROLS:
            try:
                changed = apply(name, text, seed=seed)
            except Refused:
                continue
            assert "`make 5 all` at www.more.com" in changed


def test_a_number_that_is_kept_may_change():
    passage = Passage("I have 5 hens", keep=(Span(7, 8, "number"),))
    changed = OPERATORS.load("change_number")().apply(passage, random.Random(1))
    assert changed.replace(changed[7], "5") == passage.text
    assert changed[7] in "2346789"


def test_a_mark_that_would_join_is_no_word_border():
    """A letter with a combining mark behind is another letter."""
    with pytest.raises(Refused):
        OPERATORS.load("change_comparison")().apply(Passage("more\u0301"), random.Random(0))
    text = unicodedata.normalize("NFC", "Is this café larger?")
    assert unicodedata.is_normalized("NFC", apply("change_comparison", text))


def test_a_recipe_with_negatives_asks_for_all_of_them():
    assert load_recipe("quick").with_negatives().families[-1] == "control"
    assert {entry.operator for entry in load_recipe("quick").with_negatives().entries} >= set(CONTROLS)
