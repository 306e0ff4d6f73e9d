"""Contracts of the tables: every entry states its facts, and every phrase does what it says."""

import pytest

from sago_harness.variants.base import (
    OTHER_FAMILIES,
    SCORED_FAMILIES,
    Constraint,
    Feature,
    Operator,
)
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.phrases import read_table, table_hash
from sago_harness.variants.text.spans import find_spans


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_operator_states_its_facts(name):
    operator = OPERATORS.load(name)
    assert issubclass(operator, Operator)
    assert operator.name == name
    assert operator.family in SCORED_FAMILIES + OTHER_FAMILIES
    assert operator.languages
    assert set(operator.languages) <= {"en", "zh"}
    assert operator.positions
    assert len(set(operator.positions)) == len(operator.positions)
    assert len(set(operator.strengths)) == len(operator.strengths)
    assert operator.feature is None or operator.feature in FEATURES
    assert operator.version >= 1
    assert operator.__doc__
    for table in operator.tables:
        assert len(table_hash(table)) == 64


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_feature_states_its_facts(name):
    feature = FEATURES.load(name)
    assert issubclass(feature, Feature)
    assert feature.name == name
    assert feature.minimum > 0
    assert feature.unit


@pytest.mark.parametrize("name", sorted(CONSTRAINTS))
def test_constraint_states_its_facts(name):
    constraint = CONSTRAINTS.load(name)
    assert issubclass(constraint, Constraint)
    assert constraint.name == name


def ladder():
    for language, places in read_table("politeness").items():
        for place, steps in places.items():
            for step, phrases in steps.items():
                yield language, place, float(step), phrases


def test_ladder_is_complete():
    operator = OPERATORS.load("politeness")
    steps = {(language, place): set() for language in operator.languages for place in ("prefix", "suffix")}
    for language, place, step, phrases in ladder():
        steps[language, place].add(step)
        assert 2 <= len(set(phrases)) == len(phrases)
    assert all(found == set(operator.strengths) for found in steps.values())


def test_every_phrase_of_the_ladder_has_markers_of_its_sign():
    feature = FEATURES.load("politeness_markers")()
    for language, place, step, phrases in ladder():
        for phrase in phrases:
            assert feature.value(phrase, language) * step > 0, (language, place, step, phrase)


def test_more_polite_steps_have_more_markers():
    """Mean number of markers does not fall from 2 to 6 to 10, nor rise from -2 to -10 in sign."""
    feature = FEATURES.load("politeness_markers")()
    for language in ("en", "zh"):
        for place in ("prefix", "suffix"):
            counts = {
                step: sum(feature.value(phrase, language) * len(phrase) / 100 for phrase in phrases)
                / len(phrases)
                for code, spot, step, phrases in ladder()
                if (code, spot) == (language, place)
            }
            assert counts[10] > counts[2] > 0 > counts[-2] >= counts[-10], (language, place, counts)


@pytest.mark.parametrize("name", ["casual", "hedging"])
def test_every_phrase_has_a_marker(name):
    feature = FEATURES.load(f"{name}_markers")()
    for language, table in read_table(name).items():
        for place in ("prefix", "suffix"):
            for phrases in table[place].values():
                for phrase in phrases:
                    assert feature.value(phrase, language) > 0, (language, phrase)


def test_casual_short_forms_are_markers():
    feature = FEATURES.load("casual_markers")()
    for language, table in read_table("casual").items():
        for words in table["throughout"].values():
            for word, short in words.items():
                if word != "您":  # the plain "you" is the absence of a polite form, no marker
                    assert feature.value(short, language) > 0, (language, short)


def every_phrase():
    for language, _, _, phrases in ladder():
        yield from ((language, phrase) for phrase in phrases)
    for name in ("casual", "hedging", "request"):
        for language, table in read_table(name).items():
            for place in ("prefix", "suffix"):
                for phrases in table[place].values():
                    yield from ((language, phrase) for phrase in phrases)


def test_no_phrase_adds_a_literal():
    """A number, an option or a label word in a wrapper could change what is asked."""
    for language, phrase in every_phrase():
        assert find_spans(phrase + " x", language) == (), phrase


def test_every_phrase_is_a_sentence_of_its_own():
    for language, phrase in every_phrase():
        assert phrase == phrase.strip()
        assert phrase[-1] in (".!?:" if language == "en" else "。！？："), phrase


def test_no_phrase_limits_the_answer():
    """Wording about manner may not ask for another length, form or language."""
    forms = ("brief", "short", "word", "sentence", "detail", "step", "explain", "just the", "only", "list")
    for _, phrase in every_phrase():
        assert not [form for form in forms if form in phrase.lower().split()], phrase


def test_labels_end_with_a_colon():
    for table in read_table("labels").values():
        for labels in table.values():
            assert all(label.strip()[-1] in ":：" for label in labels)
