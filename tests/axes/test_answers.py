"""Answers: comparison with gold, and flips."""

from __future__ import annotations

import math

import pytest

from sago_harness.axes.answers import flipped, is_correct, normalise, number_of


@pytest.mark.parametrize(
    ("answer", "gold", "match", "expected"),
    [
        ("The capital is Paris.", ["Paris"], "contains", True),
        ("Parisian food", ["Paris"], "contains", False),
        ("the Eiffel Tower!", ["Eiffel tower"], "exact", True),
        ("Eiffel", ["Eiffel tower"], "exact", False),
        ("答案是100度", ["100"], "contains", True),
        ("答案是1000度", ["100"], "contains", False),
        ("长城在北京", ["长城"], "contains", True),
        ("So it is $1,250.", ["1250"], "number", True),
        ("12 or 13", ["12"], "number", False),
        ("no number", ["12"], "number", False),
        ("anything", [""], "contains", False),
        ("It weighs 3.5 kg", ["3"], "contains", False),
        ("It weighs 3.5 kg", ["5"], "contains", False),
        ("It weighs 3.5 kg.", ["3.5"], "contains", True),
        ("1,300 metres", ["300"], "contains", False),
        ("$1.2 million", ["2"], "contains", False),
        ("The answer is 5.", ["-5"], "contains", False),
        ("The answer is -5.", ["5"], "contains", False),
        ("The answer is \u22125.", ["-5"], "contains", True),
        ("答案是-5", ["-5"], "contains", True),
        ("From 5-7 people", ["7"], "contains", True),
        ("8.5 legs", ["8"], "contains", False),
        ("足球队有十六条腿", ["六条"], "contains", False),
        ("一周有十七天", ["七天"], "contains", False),
        ("一周有17天", ["7天"], "contains", False),
        ("一周有七天", ["七天"], "contains", True),
        ("有二十个", ["二"], "contains", False),
        ("他有十七个，不，七个", ["七个"], "contains", True),
        ("1000 metres", ["1,000"], "contains", True),
        ("1,000 metres", ["1000"], "contains", True),
        ("1000 metres", ["1,000"], "exact", False),
        ("1000", ["1,000."], "exact", True),
        ("Spiders have 8 legs.", ["8"], "contains", True),
        ("一周有7天", ["7"], "contains", True),
        ("It is .5", ["0.5"], "contains", True),
        ("half is .5", ["0.5"], "number", True),
        ("minus five is \u22125", ["-5"], "number", True),
        ("1e3 metres", ["1,000"], "number", True),
    ],
)
def test_correct(answer: str, gold: list[str], match: str, expected: bool) -> None:
    assert is_correct(answer, gold, match) is expected


def test_numbers() -> None:
    assert number_of("from 5-7") == 7.0
    assert number_of("it is -3.5 degrees") == -3.5
    assert number_of("") is None
    assert number_of("it is .5") == 0.5
    assert number_of("No.5") == 5.0
    assert number_of("\u22125") == -5.0
    assert number_of("答案是-5") == -5.0
    assert number_of("1e3") == 1000.0
    assert number_of("2.5E\u22123 m") == 0.0025
    assert number_of("5-7") == 7.0
    assert number_of("1,2,3") == 3.0
    assert number_of("1e999") is None
    assert normalise("  An  Apple, a day ") == "apple day"


def test_flips() -> None:
    assert flipped("1,000", "1000.0") == 0.0
    assert flipped("\u22125", "-5.") == 0.0
    assert flipped(".5", "0.50") == 0.0
    assert flipped("5", "-5") == 1.0
    assert flipped("Yes.", "yes") == 0.0
    assert flipped("yes", "no") == 1.0
    assert flipped(None, "no") == 1.0
    assert math.isnan(flipped(None, None))
