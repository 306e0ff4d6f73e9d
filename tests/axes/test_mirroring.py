"""Mirroring: hand-computed shares, floors, and an unbiased zero where there is none."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from sago_harness.axes.mirroring import Manner, mirroring
from sago_harness.axes.mirroring_rules import mirrors

UPPER, SPACES = "upper_share", "extra_spaces"


def test_share_by_hand() -> None:
    """Upper-case share goes 0 -> 1 in the prompt and 0 -> .5 in the response: m = .5."""
    canonical = Manner("abcd", "wxyz", None)
    shout = Manner("ABCD", "WXyz", UPPER)
    calm = Manner("ab  cd", "Wxyz", SPACES)
    found = mirroring(canonical, [shout, calm])
    assert found[0].value == pytest.approx(0.5)
    assert found[0].floor == pytest.approx(0.25)  # the other variant's response has 1 capital in 4
    assert found[0].net == pytest.approx(0.25)
    assert found[1].value == 0.0


def test_going_the_other_way_is_negative_and_held() -> None:
    canonical = Manner("abcd", "WXYZ", None)
    shout = Manner("ABCD", "wxyz", UPPER)
    other = Manner("ab  cd", "WXYZ", SPACES)
    assert mirroring(canonical, [shout, other])[0].value == -1.0


def test_reasons() -> None:
    canonical = Manner("abcd", "wxyz", None)
    none, small = Manner("abdc", "wxyz", None), Manner("abcd", "WXYZ", UPPER)
    empty, alone = Manner("ABCD", " ", UPPER), Manner("ABCD", "WXYZ", UPPER)
    assert mirroring(canonical, [none])[0].reason == "no_feature"
    assert mirroring(canonical, [small])[0].reason == "small_change"
    assert mirroring(canonical, [empty])[0].reason == "empty_response"
    assert mirroring(Manner("abcd", "", None), [alone])[0].reason == "empty_response"
    lonely = mirroring(canonical, [alone])[0]
    assert lonely.reason == "no_floor"
    assert lonely.value == 1.0
    assert math.isnan(lonely.net)


def test_what_moves_the_feature_by_accident_is_no_floor() -> None:
    """A variant whose own prompt moves f, whatever its operator declares, says nothing of f at rest."""
    canonical = Manner("abcd", "wxyz", None)
    shout = Manner("ABCD", "WXYZ", UPPER)
    loud_by_accident = Manner("ABCD  abcd", "WXYZ", SPACES)
    calm = Manner("ab  cd", "wxyz", SPACES)
    assert mirroring(canonical, [shout, loud_by_accident, calm])[0].net == 1.0
    assert mirroring(canonical, [shout, loud_by_accident])[0].reason == "no_floor"


def test_variants_outside_the_score_are_no_floor() -> None:
    canonical = Manner("abcd", "wxyz", None)
    shout = Manner("ABCD", "WXYZ", UPPER)
    calm = Manner("ab  cd", "wxyz", SPACES)
    persons = Manner("a bcd", "WXYZ", None, in_floor=False)
    assert mirroring(canonical, [shout, calm, persons])[0].net == 1.0


def test_ordinary_fluctuation_averages_to_zero() -> None:
    """Responses drawn without regard to the prompt: the document value has mean 0 (within 4 errors)."""
    rng = random.Random(5)

    def word() -> str:
        return "".join(rng.choice("abcXYZ") for _ in range(30))

    values = []
    for _ in range(400):
        canonical = Manner("abcdefgh", word(), None)
        shout = [Manner("ABCDefgh", word(), UPPER), Manner("ABCDEFGH", word(), UPPER)]
        rest = [Manner("ab   cdefgh", word(), SPACES) for _ in range(4)]
        values.append(np.mean([found.net for found in mirroring(canonical, shout + rest)[:2]]))
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    assert abs(np.mean(values)) < 4 * error


@pytest.mark.parametrize(
    ("operator", "strength", "response", "canonical", "expected"),
    [
        # 3 added spaces in 40 characters = 7.5 per 100: both rules to strength 20 hold.
        ("spaces", 5, "a    b" + "c" * 34, "a b" + "c" * 34, 1.0),
        # to strength 50 five are asked for.
        ("spaces", 50, "a    b" + "c" * 34, "a b" + "c" * 34, 0.0),
        # 2 repeats in 10 characters.
        ("punctuation", 5, "Hello you!!!"[:12], "Hello you!", 1.0),
        ("punctuation", 20, "Hello you!!!", "Hello you!", 0.0),
        ("punctuation", 1, "well......", "well.", 1.0),  # run of 6 dots counts 3
        ("case", 20, "HELLO there friends", "hello there friends", 1.0),  # 5 of 17 letters = 29 %
        ("case", 100, "HELLO there dear old friends", "hello there dear old friends", 0.0),  # 5 of 24 = 21 %
        ("case", 20, "Hello There", "hello there", 0.0),  # Title case is not mirroring
        ("case", 20, "heLLo there", "hello there", 1.0),  # mixed case: 5 of 10 letters
        ("politeness", 6, "Dear all", "all", None),
    ],
)
def test_published_rules(
    operator: str, strength: float, response: str, canonical: str, expected: float | None
) -> None:
    assert mirrors(operator, strength, response, canonical) == expected
