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
    ],
)
def test_correct(answer: str, gold: list[str], match: str, expected: bool) -> None:
    assert is_correct(answer, gold, match) is expected


def test_numbers() -> None:
    assert number_of("from 5-7") == 7.0
    assert number_of("it is -3.5 degrees") == -3.5
    assert number_of("") is None
    assert normalise("  An  Apple, a day ") == "apple day"


def test_flips() -> None:
    assert flipped("1,000", "1000.0") == 0.0
    assert flipped("Yes.", "yes") == 0.0
    assert flipped("yes", "no") == 1.0
    assert flipped(None, "no") == 1.0
    assert math.isnan(flipped(None, None))
