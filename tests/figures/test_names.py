"""Labels of names from outside."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from sago_harness.figures.names import LABEL, columns, labels, slug, whole
from sago_harness.figures.series import Series
from tests.figures.studies import HOSTILE

_ANY = st.text(alphabet=st.characters(), max_size=80)


@given(st.lists(_ANY, max_size=8))
def test_labels_are_short_and_unlike(names: list[str]) -> None:
    found = labels(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(found)
    for label in found.values():
        assert label
        assert columns(label) <= LABEL
        assert all(unicodedata.category(char)[0] != "C" for char in label)
        label.encode()


@given(_ANY)
def test_whole_names_are_one_visible_line(name: str) -> None:
    text = whole(name)
    assert len(text) <= 300
    assert all(unicodedata.category(char)[0] != "C" for char in text)


def test_ends_that_tell_models_apart_stay() -> None:
    names = [f"organisation/a-very-long-model-name-{size}-instruct" for size in ("1b", "2b")]
    found = list(labels(names).values())
    assert len(set(found)) == 2
    assert all(label.endswith("-instruct") for label in found)


def test_short_names_stay_as_they_are() -> None:
    assert labels(["gemma3-270m", "模型"]) == {"gemma3-270m": "gemma3-270m", "模型": "模型"}


def test_slugs_are_safe() -> None:
    for name in HOSTILE:
        made = slug(name)
        assert made
        assert made.isascii()
        assert not set(made) & set("/\\:*?\"<>|'; \0\n")
        assert len(made) <= 60


def test_a_model_keeps_its_looks() -> None:
    series = Series(("b", "a"))
    looks = series.looks("color", "shape")
    assert {tuple(one["scale"]["domain"]) for one in looks.values()} == {("b", "a")}
    assert series.dashes()["strokeDash"]["scale"]["domain"] == [series.dash("b"), series.dash("a")]
    many = Series(tuple(map(str, range(13))))
    assert many.looks("color") == many.dashes() == {}
