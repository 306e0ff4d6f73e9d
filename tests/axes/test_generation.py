import itertools
import math
import random
import time
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from sago_harness.axes.encoders.base import Encoder, FloatArray, Missing, Reading
from sago_harness.axes.encoders.baseline import demo_texts
from sago_harness.axes.generation import (
    GenerationDistance,
    bert_raw_delta,
    bleu_distance,
    bleu_raw_delta,
    generation_distances,
    similarity_distance,
)
from sago_harness.axes.script import script_of
from sago_harness.errors import SagoError

MISSING = Missing("encoder_unavailable", "run `sago models get minilm`")


class LetterEncoder(Encoder):
    """Cosine of the counts of a, b, c; any other letter is unknown to it."""

    name, layer, max_tokens = "letters", None, 8
    kind: Literal["token", "sentence"] = "sentence"
    weights = "sha256:0"

    def read(self, texts: Sequence[str]) -> list[Reading]:
        return [
            Reading(
                text,
                tuple(map(ord, text[:8])),
                len(text),
                sum(letter not in "abc" for letter in text),
                len(text) > 8,
            )
            for text in texts
        ]

    def embed(self, readings: Sequence[Reading]) -> list[FloatArray]:
        return [np.array([reading.ids.count(ord(letter)) for letter in "abc"], float) for reading in readings]

    def similarity(self, a: Reading, b: Reading, of_a: FloatArray, of_b: FloatArray) -> float:
        return float(of_a @ of_b / math.sqrt((of_a @ of_a) * (of_b @ of_b)))


def measure(a: str, b: str) -> GenerationDistance:
    return generation_distances([(a, b)], LetterEncoder(), 0.5)[0]


# --- BLEU -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "tokenizer"),
    [
        ("The lamp on the table is blue.", "The lamp on the desk is blue.", "13a"),
        ("The lamp on the table is blue.", "No idea", "13a"),
        ("a b c d", "a b e f", "13a"),
        ("yes", "yes, of course I would say so", "13a"),
        ("It's 3.5 km &amp; more", "It's 3.5 km & more\nthan that", "13a"),
        ("Синяя лампа стоит на столе", "Лампа стоит на столе", "13a"),
        ("桌子上有一盏蓝色的灯。", "桌子上的灯是蓝色的。", "zh"),
        ("答案是42。", "答案是43。", "zh"),
        ("青いランプがある", "青いランプがない", "char"),
        ("โคมไฟสีฟ้า", "โคมไฟสีแดง", "char"),
    ],
)
def test_bleu_is_sacrebleus_mean_of_both_directions(a: str, b: str, tokenizer: str) -> None:
    def score(hypothesis: str, reference: str) -> float:
        return sacrebleu.sentence_bleu(
            hypothesis, [reference], smooth_method="exp", use_effective_order=True, tokenize=tokenizer
        ).score

    expected = 1 - (score(a, b) + score(b, a)) / 200
    assert bleu_distance(a, b) == pytest.approx(expected, abs=1e-12)


def many_pairs() -> list[tuple[str, str]]:
    """Real texts against each other, and drawn ones: repeated words, few words, none, mixed scripts."""
    rng = random.Random(7)
    shipped = [text for texts in demo_texts().values() for text in texts]
    pairs = list(itertools.pairwise(shipped))
    for text in shipped:
        words = text.split(" ") if " " in text else list(text)
        rng.shuffle(words)
        pairs += [(text, (" " if " " in text else "").join(words)), (text, text[: rng.randrange(len(text))])]
    spaced = [
        "the",
        "the",
        "a",
        "lamp",
        "3.5",
        "5-6",
        "1,000",
        "it's",
        "&amp;",
        "\n",
        "-\n",
        "<skipped>",
        "é",
        ".",
    ]
    drawn = [
        (spaced, " "),
        (spaced[:3], " "),
        (list("桌子上有一盏蓝色的灯。答案是42 ok"), ""),
        (list("青いランプがある。"), ""),
        (["灯", "ランプ", "lamp", "\u200b", "\x0c", "😀"], " "),
    ]
    for vocabulary, between in drawn:
        for _ in range(500):
            a, b = (between.join(rng.choices(vocabulary, k=rng.randint(0, 9))) for _ in "ab")
            pairs.append((a, b))
    return pairs


def test_bleu_equals_sacrebleu_on_thousands_of_pairs() -> None:
    sentence = {name: sacrebleu.BLEU(tokenize=name, effective_order=True) for name in ("13a", "zh", "char")}
    whole = sacrebleu.BLEU()
    pairs = [pair for pair in many_pairs() if pair[0] != pair[1] and all(text.strip() for text in pair)]
    assert len(pairs) > 2000
    assert {script_of(*pair) for pair in pairs} == set(sentence)
    for a, b in pairs:
        bleu = sentence[script_of(a, b)]
        both = bleu.sentence_score(a, [b]).score + bleu.sentence_score(b, [a]).score
        assert bleu_distance(a, b) == pytest.approx(1 - both / 200, abs=1e-12)
        delta = whole.corpus_score([b], [[a]]).score - whole.corpus_score([a], [[a]]).score
        assert bleu_raw_delta(a, b) == pytest.approx(delta, abs=1e-12)


def test_bleu_by_hand() -> None:
    # Unigrams 2 of 4, bigrams 1 of 3, trigrams 0 of 2 smoothed to 1/4, 4-grams 0 of 1 smoothed to 1/4.
    expected = 1 - (2 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** (1 / 4)
    assert bleu_distance("a b c d", "a b e f") == pytest.approx(expected, abs=1e-12)
    # One token of three (brevity exp(1 - 3)), and back: 1/3, then 1/4 of two bigrams, 1/4 of one trigram.
    forth = math.exp(1 - 3)
    back = (1 / 3 * 1 / 4 * 1 / 4) ** (1 / 3)
    assert bleu_distance("a", "a b c") == pytest.approx(1 - (forth + back) / 2, abs=1e-12)


@pytest.mark.parametrize(
    "text", ["Blue lamp", "yes", "灯", "ラ", "a b c d e f g", "", "\x0c", "<skipped>", "\u200b"]
)
def test_identical_texts_are_exactly_zero(text: str) -> None:
    assert bleu_distance(text, text) == 0.0
    assert measure(text, text).bleu == 0.0
    assert measure(text, text).semantic == 0.0


@pytest.mark.parametrize(
    ("a", "b", "far"), [("", "", 0.0), ("", "\x0c", 0.0), ("", "a", 1.0), ("\x0c", "a", 1.0)]
)
def test_empty_texts(a: str, b: str, far: float) -> None:
    for first, second in ((a, b), (b, a)):
        row = measure(first, second)
        assert (row.bleu, row.semantic) == (far, far)
        assert (row.bleu_reason, row.semantic_reason, row.flags) == ("", "", ("empty",))
        assert row.similarity == (1.0 if far == 0 else None)


texts = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
words = st.lists(st.sampled_from(["blue", "lamp", "灯", "ランプ", "3.5", "!", "é"]), max_size=8).map(" ".join)


@settings(deadline=None)
@given(texts | words, texts | words)
def test_bleu_is_a_bounded_symmetric_distance(a: str, b: str) -> None:
    distance = bleu_distance(a, b)
    assert 0.0 <= distance <= 1.0
    assert distance == bleu_distance(b, a)
    assert bleu_distance(a, a) == 0.0


def test_bleu_of_a_thousand_pairs_is_quick() -> None:
    rng = random.Random(5)
    vocabulary = [f"word{number}" for number in range(300)]
    pairs = [
        (" ".join(rng.choices(vocabulary, k=60)), " ".join(rng.choices(vocabulary, k=60)))
        for _ in range(1000)
    ]
    start = time.process_time()
    generation_distances(pairs, MISSING)
    assert time.process_time() - start < 5


# --- the published scheme ---------------------------------------------------------------


def corpus(hypothesis: str, reference: str) -> float:
    return sacrebleu.BLEU().corpus_score([hypothesis], [[reference]]).score


def test_known_answers_of_corpus_bleu() -> None:
    assert corpus("yes", "yes") == 0.0
    assert corpus("one two three four", "one two three") == pytest.approx(59.460355750136046, abs=1e-9)
    assert corpus("one two five six", "one two three four") == pytest.approx(31.947155212313625, abs=1e-9)


def test_raw_delta_of_short_answers_is_blind_and_ours_is_not() -> None:
    assert bleu_raw_delta("yes", "yes") == 0.0
    assert bleu_raw_delta("yes", "no") == 0.0
    assert sacrebleu.sentence_bleu("yes", ["yes"], use_effective_order=True).score == pytest.approx(100)
    assert bleu_distance("yes", "no") == 1.0


def test_raw_delta_against_known_answers() -> None:
    # The baseline of three tokens has no 4-gram, so it scores 0 with itself.
    extended = bleu_raw_delta("one two three", "one two three four")
    assert extended == pytest.approx(59.460355750136046, abs=1e-9)
    shared = bleu_raw_delta("one two three four", "one two five six")
    assert shared == pytest.approx(31.947155212313625 - 100, abs=1e-9)


def test_raw_delta_is_not_symmetric_and_needs_valid_text() -> None:
    long, short = "one two three four five", "one two three four"
    assert bleu_raw_delta(long, short) != bleu_raw_delta(short, long)
    assert bleu_raw_delta("a", "\ud800") is None
    assert bleu_raw_delta("", "") == 0.0


def test_bert_raw_delta() -> None:
    assert bert_raw_delta(0.983356) == pytest.approx(-0.016644)
    assert bert_raw_delta(None) is None


# --- similarity -------------------------------------------------------------------------


def test_similarity_distance_is_linear_and_clipped() -> None:
    assert similarity_distance(1.0, 0.83122575) == 0.0
    assert similarity_distance(0.83122575, 0.83122575) == 1.0
    assert similarity_distance((1 + 0.83122575) / 2, 0.83122575) == pytest.approx(0.5)
    assert similarity_distance(0.2, 0.83122575) == 1.0
    assert similarity_distance(1.0000001, 0.5) == 0.0


@pytest.mark.parametrize("b", [1.0, 1.5, math.nan])
def test_similarity_distance_needs_b_below_one(b: float) -> None:
    with pytest.raises(SagoError, match="below 1"):
        similarity_distance(0.9, b)


# --- the stage --------------------------------------------------------------------------


def test_distances_by_hand() -> None:
    row = measure("aab", "abb")
    # (2, 1) and (1, 2): cosine 4/5, and b = 1/2.
    assert row.similarity == pytest.approx(0.8)
    assert row.semantic == pytest.approx(0.4)
    assert row.flags == ()
    assert measure("a", "b").semantic == 1.0


def test_order_and_mixture_of_pairs() -> None:
    pairs = [("a", "b"), ("", "a"), ("aab", "abb"), ("a", "a"), ("a", "\ud800"), ("abc", "xyz")]
    together = generation_distances(pairs, LetterEncoder(), 0.5)
    assert together == [measure(*pair) for pair in pairs]
    assert [row.semantic for row in together] == [1.0, 1.0, pytest.approx(0.4), 0.0, None, None]


def test_lone_surrogates_are_unscored() -> None:
    for a, b in (("a", "\ud800"), ("\udfff", "a"), ("\ud800", "\ud800")):
        row = measure(a, b)
        assert (row.bleu, row.semantic, row.similarity) == (None, None, None)
        assert row.bleu_reason == row.semantic_reason == "invalid_unicode"


def test_unknown_language_is_unscored_by_the_encoder_only() -> None:
    row = measure("abcabcabc", "xyz")
    assert (row.semantic, row.semantic_reason) == (None, "encoder_language")
    assert row.bleu == 1.0


def test_truncation_is_flagged() -> None:
    row = measure("abc", "abcabcabc")
    assert row.flags == ("encoder_truncated",)
    assert row.semantic is not None


def test_without_an_encoder_nothing_semantic_is_scored() -> None:
    rows = generation_distances([("a", "a"), ("a", "b"), ("", "a")], MISSING)
    assert [row.bleu for row in rows] == [0.0, 1.0, 1.0]
    assert {row.semantic for row in rows} == {None}
    assert {row.semantic_reason for row in rows} == {"encoder_unavailable"}
    assert rows[2].flags == ("empty",)


def test_an_encoder_needs_b() -> None:
    with pytest.raises(SagoError, match="needs b"):
        generation_distances([("a", "b")], LetterEncoder())


def test_no_pairs() -> None:
    assert generation_distances([], MISSING) == []
    assert generation_distances([], LetterEncoder(), 0.5) == []


@settings(deadline=None)
@given(st.lists(st.tuples(texts | words, texts | words), max_size=5))
def test_any_text_gives_a_value_or_a_reason(pairs: list[tuple[str, str]]) -> None:
    rows = generation_distances(pairs, LetterEncoder(), 0.5)
    assert len(rows) == len(pairs)
    for (a, b), row in zip(pairs, rows, strict=True):
        assert row.bleu is not None
        assert 0.0 <= row.bleu <= 1.0
        assert (row.semantic is None) == bool(row.semantic_reason)
        assert row.semantic is None or 0.0 <= row.semantic <= 1.0
        if a == b:
            assert row.bleu == row.semantic == 0.0
