"""Long texts, also odd ones, take time in proportion to their length."""

import random
import time

import pytest

from sago_harness.variants.audit.align import align
from sago_harness.variants.audit.words import Word
from sago_harness.variants.base import Passage, Refused, Span
from sago_harness.variants.grammar.english import MOST_CHARACTERS, PARSER
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.text.spans import find_spans

SHORT, TIMES = 5_000, 8


def seconds(work, text):
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        work(text)
        best = min(best, time.process_time() - start)
    return best


def grows_evenly(work, piece):
    """A text eight times as long may take 24 times as long; work on every pair takes 64 times."""
    short, long = (piece * (size // len(piece)) for size in (SHORT, SHORT * TIMES))
    return seconds(work, long) < 3 * TIMES * seconds(work, short) + 0.5


@pytest.mark.parametrize(
    "piece",
    [
        "1.1.",
        "ab-",
        "A",
        "A. ",
        "\n",
        "\t ",
        "a.b-",
        "12",
        "\\(",
        "\\a[",
        "say      ",
        "either ",
        "\U0001f1e6",
    ],
)
def test_literal_spans_of_a_long_text(piece):
    assert grows_evenly(find_spans, piece)


def split_by_spans(text):
    """Return a passage in which every third word is held, as negations and names are."""
    spans, at = [], 0
    for index, word in enumerate(text.split(" ")):
        if index % 3 == 0 and word:
            spans.append(Span(at, at + len(word), "negation"))
        at += len(word) + 1
    return Passage(text, leave=tuple(spans))


@pytest.mark.parametrize(
    ("name", "strength", "piece"),
    [
        ("abbreviations", 1, "Who is Bob? "),
        ("casual", 1, "If a, b, "),
        ("linebreaks", None, "not the cat "),
        ("typos", 1, "not a "),
        ("typos", 1, "word"),
        ("fullwidth", 25, "(((("),
        ("listing", None, "a:  "),
        ("order", None, "not in the hat of the man "),
        ("softbreaks", 20, "a b c "),
        ("missing", 2, "I don't, "),
        ("spelling", None, "the color "),
        ("change_number", None, "a 1 b 2 "),
    ],
)
def test_operators_on_a_long_text(name, strength, piece):
    operator = OPERATORS.load(name)
    if absent := missing(operator.requires):
        pytest.skip(absent)

    def work(text):
        try:
            operator(strength).apply(split_by_spans(text), random.Random(1))
        except Refused:
            return

    assert grows_evenly(work, piece)


@pytest.mark.parametrize("name", ["zh_address", "zh_mixed", "width", "linebreaks"])
def test_chinese_operators_on_a_long_text(name):
    def work(text):
        spans = tuple(Span(at, at + 1, "name") for at, char in enumerate(text) if char == "甲")
        try:
            OPERATORS.load(name)().apply(Passage(text, "zh", leave=spans), random.Random(1))
        except Refused:
            return

    assert grows_evenly(work, "甲a不是\U0001f1e6\U0001f1e6")


@pytest.mark.skipif(bool(missing(PARSER)), reason=missing(PARSER))
@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("split", "Tom has a dog, and Anna has a cat."),
        ("merge", "Tom has a dog. The dog is old."),
        ("listing", "Tom bought a box of pens, cups and hats."),
        ("shorten", "Can reindeer really fly?"),
    ],
)
def test_what_parses_every_sentence_refuses_a_long_text(name, short):
    operator = OPERATORS.load(name)()
    assert operator.apply(Passage(short), random.Random(1)) != short
    long = short + " " + "He ran. " * (MOST_CHARACTERS // 8)
    with pytest.raises(Refused, match="too long"):
        operator.apply(Passage(long), random.Random(1))


def words(count, step=1):
    return [Word(f"w{number}", "content", f"w{number}") for number in range(0, count, step)]


def test_alignment_of_long_texts_finds_the_same_partners():
    canonical = words(3000)
    variant = [word for number, word in enumerate(canonical) if number % 10]
    found = align(canonical, variant)
    assert found.missing == tuple(canonical[::10])
    assert found.extra == found.moved == ()


def test_alignment_of_long_texts_forgives_misspellings_between_partners():
    canonical = [Word(form, "content", form) for form in ("planet", "turned", "slowly", "around") * 500]
    variant = list(canonical)
    for at in range(1, len(variant), 40):
        variant[at] = Word("trned", "content", "trned")
    # Of different length, so that the texts are not alike at both ends.
    variant.insert(0, Word("hello", "stop", "hello"))
    found = align(canonical, variant)
    assert found.missing == ()
    assert found.edits == 50


def test_alignment_of_long_texts_takes_words_in_another_place_for_moved():
    first, second = words(600), [Word(f"v{number}", "content", f"v{number}") for number in range(500)]
    found = align([*first, *second], [*second, *first])
    assert {word.text for word in found.moved} == {word.text for word in second}
    assert found.missing == found.extra == ()


@pytest.mark.parametrize("step", [1, 2, 3])
def test_time_of_the_alignment(step):
    def work(text):
        count = len(text)
        align(words(count), [Word("x", "stop", "x"), *words(count, step)])

    assert seconds(work, "a" * 4000) < 12 * seconds(work, "a" * 1000) + 0.5
