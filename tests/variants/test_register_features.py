"""Features that register operators move: against counts by hand, and on real questions."""

import csv
import random

import pytest

from sago_harness.variants.base import Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.constraints import CONSTRAINTS
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS

ADDED = (
    *("formal", "fillers", "abbreviations", "urgency", "framing", "talkative", "emoji", "interjection"),
    "addressing",
)


def every():
    for name in ADDED:
        operator = OPERATORS.load(name)
        for strength in operator.strengths:
            for position in operator.positions:
                yield operator(strength, position)


@pytest.mark.parametrize(
    ("name", "text", "language", "expected"),
    [
        # 20 characters, "hereby" and "purchase".
        ("formal_markers", "I hereby purchase it", "en", 100 * 2 / 20),
        # 16 characters, "don't" and "kids" against "wish to".
        ("formal_markers", "kids don't wish to", "en", 100 * -1 / 18),
        ("formal_markers", "谨启：敬请台鉴", "zh", 100 * 3 / 7),
        # "Um", "you know", "like"; the second "know" and "like" are plain words.
        ("filler_words", "Um, is it, you know, like, what you know I like?", "en", 100 * 3 / 48),
        ("filler_words", "The ER of UM does well.", "en", 0.0),
        ("filler_words", "那个，那个人呢？", "zh", 100 / 8),
        ("abbreviations", "U.S. vs. r u ok at x.org", "en", 100 * 4 / 24),
        ("urgency_markers", "Hurry, it is urgent!", "en", 10.0),
        ("urgency_markers", "尽快。", "zh", 100 / 3),
        # "I", "my" and "I'm"; "War I" and "me-too" are none.
        ("first_person", "In World War I my hat; I'm I.", "en", 100 * 3 / 29),
        ("first_person", "我和我们", "zh", 25.0),
        # A family, a flag and a hand with its skin tone are one each; a tick and "#" none.
        (
            "emoji",
            "\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea\U0001f44b\U0001f3fd✓#.",
            "en",
            100 * 3 / 10,
        ),
        ("small_talk", "The bus in the rain.", "en", 10.0),
        ("interjection_markers", "Oh, hmm, other ohms!", "en", 10.0),
        ("address_words", "Dear friend, a friend is late, my friend.", "en", 100 * 2 / 41),
        ("address_words", "朋友，这是朋友的。", "zh", 100 / 9),
    ],
)
def test_features_count_what_a_reader_counts(name, text, language, expected):
    assert FEATURES.load(name)().value(text, language) == pytest.approx(expected, abs=1e-9)


def truthful(folder, count):
    with (folder / "truthfulqa" / "TruthfulQA.csv").open(encoding="utf-8") as file:
        rows = [row["Question"] for row in csv.DictReader(file)]
    return rows[:: len(rows) // count][:count]


def test_plain_questions_have_no_markers_as_a_rule(shared_data):
    texts = truthful(shared_data, 700)
    for name in {OPERATORS.load(name).feature for name in ADDED}:
        feature = FEATURES.load(name)()
        marked = sum(feature.value(text) != 0 for text in texts)
        # Short forms ("what's") count against formality, and one question in nine has one.
        assert marked <= (0.15 if name == "formal_markers" else 0.05) * len(texts), (name, marked)


def test_every_operator_moves_its_own_feature_on_real_questions(shared_data):
    for operator in every():
        feature = FEATURES.load(operator.feature)()
        # Words to swap or borders of clauses are not in every question.
        rare = operator.position == "throughout" and operator.name != "fillers"
        texts = truthful(shared_data, 395 if rare else 40)
        made = 0
        for index, text in enumerate(texts):
            try:
                variant = operator.apply(make_passage(text), random.Random(index))
            except Refused:
                continue
            made += 1
            assert feature.value(variant) - feature.value(text) > feature.minimum, (
                operator.variant_id,
                variant,
            )
        assert made >= (20 if rare else len(texts)), (operator.variant_id, made)


def test_variants_of_real_questions_pass_the_constraints(shared_data):
    constraints = [CONSTRAINTS.load(name)() for name in ("changed", "literals", "semantic", "length")]
    failed, made = [], 0
    for operator in every():
        for index, text in enumerate(truthful(shared_data, 40)):
            passage = make_passage(text)
            try:
                variant = operator.apply(passage, random.Random(index))
            except Refused:
                continue
            made += 1
            reasons = [c.name for c in constraints if not c.check(passage, variant).passed]
            if reasons:
                failed.append((operator.variant_id, reasons, variant))
    assert made > 1000
    assert len(failed) <= 0.01 * made, failed
