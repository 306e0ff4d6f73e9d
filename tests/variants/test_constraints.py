"""Constraints on hand-made pairs."""

import pytest

from sago_harness.variants.base import Passage
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.constraints.length import Length
from sago_harness.variants.spans import find_spans


def check(name, canonical, variant):
    return CONSTRAINTS.load(name)().check(Passage(canonical, keep=find_spans(canonical)), variant)


def test_changed_sees_through_normal_forms():
    assert not check("changed", "e\u0301", "e\u0301").passed
    assert not check("changed", "e\u0301", "\u00e9").passed
    assert check("changed", "a", "a ").passed


@pytest.mark.parametrize(
    ("canonical", "variant", "passed"),
    [
        ("Give 3 of 4 hens", "Please give 3 of 4 hens", True),
        ("Give 3 of 4 hens", "Give 4 of 3 hens", False),
        ("Give 3 of 4 hens", "Give 3 of 14 hens", False),
        ("Give 3 of 4 hens", "Give 3 of 4 hens, 3 times", False),
        ("Run `a b` now", "Run `a  b` now", False),
        ("Say yes or no.", "Say YES or NO.", False),
        ("Who?", "Anything", True),
    ],
)
def test_literals(canonical, variant, passed):
    outcome = check("literals", canonical, variant)
    assert outcome.passed is passed
    assert bool(outcome.reason) is not passed


def test_literals_value_is_the_share_that_survived():
    # Two distinct literals, one of them gone.
    assert check("literals", "at 3.5% on 2031-04-05", "at 3.6% on 2031-04-05").value == 0.5


@pytest.mark.parametrize(
    ("canonical", "variant", "passed", "ratio"),
    [
        ("abcd", "abcd" + "x" * 120, True, 31.0),
        ("abcd", "abcd" + "x" * 121, False, 31.25),
        ("a" * 100, "a" * 400, True, 4.0),
        ("a" * 100, "a" * 401, False, 4.01),
        ("a" * 10, "a" * 3, True, 0.3),
        ("a" * 10, "a" * 2, False, 0.2),
        ("ab", "a" + " " * 900 + "b", True, 1.0),
    ],
)
def test_length(canonical, variant, passed, ratio):
    outcome = check("length", canonical, variant)
    assert outcome.passed is passed
    assert outcome.value == pytest.approx(ratio)


def test_length_bounds_can_be_stated():
    assert not Length(allowance=0, upper=1.5).check(Passage("ab"), "abcd").passed
