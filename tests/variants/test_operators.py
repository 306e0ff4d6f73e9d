"""Each operator on texts whose outcome follows by hand, and on one it must refuse."""

import random

import pytest

from sago_harness.errors import SagoError
from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.spans import find_spans


def passage(text, language="en"):
    return Passage(text, language, find_spans(text, language))


def outcomes(name, text, strength=None, position=None, language="en", tries=60):
    operator = OPERATORS.load(name)(strength, position)
    return {operator.apply(passage(text, language), random.Random(seed)) for seed in range(tries)}


def one(*arguments, **options):
    (outcome,) = outcomes(*arguments, **options)
    return outcome


WHO = "Who wrote Emma?"


def test_politeness_offers_every_phrase_of_its_step_before_the_text():
    phrases = read_table("politeness")["en"]["prefix"]["8"]
    assert outcomes("politeness", WHO, 8, "prefix") == {f"{phrase} {WHO}" for phrase in phrases}


def test_politeness_in_chinese_needs_no_space():
    phrases = read_table("politeness")["zh"]["suffix"]["-4"]
    assert outcomes("politeness", "谁写了它？", -4, "suffix", "zh") == {
        f"谁写了它？{phrase}" for phrase in phrases
    }


def test_a_chinese_phrase_stands_apart_from_latin_text():
    phrases = read_table("politeness")["zh"]["suffix"]["2"]
    assert outcomes("politeness", "Say so.", 2, "suffix", "zh") == {f"Say so. {phrase}" for phrase in phrases}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who wrote Emma?\nAnswer:", "Who wrote Emma? {}\nAnswer:"),
        ("Pick one.\nA. hen\nB. cow", "Pick one.\nA. hen\nB. cow\n{}"),
        ("Emma was written by", "Emma was written by\n{}"),
        ("Who? \n", "Who? {} \n"),
    ],
)
def test_a_closing_phrase_joins_no_cue_option_or_open_sentence(text, expected):
    phrases = read_table("politeness")["en"]["suffix"]["2"]
    assert outcomes("politeness", text, 2, "suffix") == {expected.format(phrase) for phrase in phrases}


@pytest.mark.parametrize(
    ("text", "strength", "expected"),
    [
        ("What is it that they do not like?", 1, "What's it that they don't like?"),
        ("I know what it is, but I am not sure.", 1, "I know what it is, but I'm not sure."),
        ("Tell me what it is and what is new.", 1, "Tell me what it is and what's new."),
        ("Do children want to play?", 2, "Do kids wanna play?"),
        ("Do people like you?", 3, "Do ppl like u?"),
        ('Who said "I am not"? It is not me.', 1, 'Who said "I am not"? It\'s not me.'),
    ],
)
def test_casual_throughout(text, strength, expected):
    assert one("casual", text, strength, "throughout") == expected


def test_a_lone_closing_mark_is_spread_over_the_words():
    made = outcomes("punctuation", "Was it 3.5 km?", 1, "throughout")
    assert made == {"Was? it 3.5 km?", "Was it? 3.5 km?", "Was it 3.5 km??"}


def test_casual_throughout_in_chinese():
    assert one("casual", "您知道这里有什么吗？", 3, "throughout", "zh") == "你知道这儿有啥吗？"


def test_hedging_offers_every_phrase_of_its_step():
    phrases = read_table("hedging")["zh"]["prefix"]["2"]
    assert outcomes("hedging", "谁写了它？", 2, "prefix", "zh") == {
        f"{phrase}谁写了它？" for phrase in phrases
    }


def test_casual_greeting():
    assert outcomes("casual", WHO, 1, "prefix") == {f"{hi} {WHO}" for hi in ("Hi!", "Hello!", "Hi there!")}


@pytest.mark.parametrize(
    ("text", "strength", "position", "language", "expected"),
    [
        ("a b", 5, "prefix", "en", "     a b"),
        ("a b\nAnswer:", 5, "suffix", "en", "a b     \nAnswer:"),
        ("one 3.5 x", 1, "prefix", "en", " one 3.5 x"),
        ("is it", 5, "throughout", "en", "is      it"),
        ("中国", 1, "throughout", "zh", "中 国"),
        ("在《红楼》中国", 1, "throughout", "zh", "在《红楼》中 国"),
        ("Say so", 1, "throughout", "zh", "Say  so"),
    ],
)
def test_spaces(text, strength, position, language, expected):
    assert one("spaces", text, strength, position, language) == expected


@pytest.mark.parametrize(
    ("text", "strength", "position", "language", "expected"),
    [
        ("Who?", 3, "suffix", "en", "Who????"),
        ("who wrote it", 3, "suffix", "en", "who wrote it????"),
        ("name a hen", 1, "suffix", "en", "name a hen.."),
        ("谁写了它？", 1, "suffix", "zh", "谁写了它？？"),
        ("它叫什么", 1, "suffix", "zh", "它叫什么？？"),
        ("Well, at 3.5 it is?", 3, "prefix", "en", "Well,,,, at 3.5 it is?"),
        ("Yes, it costs 3.5 now", 5, "throughout", "en", "Yes,,,,,, it costs 3.5 now"),
        ("It costs 3.5 now!", 3, "prefix", "en", "!!! It costs 3.5 now!"),
        ("谁写了它？", 3, "prefix", "zh", "？？？谁写了它？"),
        ("Who?\nAnswer:", 1, "suffix", "en", "Who??\nAnswer:"),
        ("Pick one.\nA. hen\nB. cow", 3, "suffix", "en", "Pick one....\nA. hen\nB. cow"),
        ("Come on 2031-04-05", 1, "suffix", "en", "Come on 2031-04-05.."),
    ],
)
def test_punctuation(text, strength, position, language, expected):
    assert one("punctuation", text, strength, position, language) == expected


def test_case():
    assert one("case", "aß `b` é 5kg ok", 100, "throughout") == "Aß `b` É 5kg OK"
    assert one("case", "abcdef", 100, "prefix") == "ABcdef"
    assert one("case", "abcdef", 100, "suffix") == "abcdEF"
    assert {sum(map(str.isupper, text)) for text in outcomes("case", "abcdefghij", 30, "throughout")} == {3}


def test_case_never_turns_a_word_into_another():
    """WHO, IT and US are other words; every other letter goes."""
    assert outcomes("case", "Who is it?", 100, "throughout", tries=200) == {
        f"{who} {is_} {it}?" for who in ("WhO", "WHo") for is_ in ("Is", "iS") for it in ("It", "iT")
    }
    for text in outcomes("case", "I am with us or it", 100, "throughout", tries=60):
        assert not {"AM", "US", "OR", "IT"} & set(text.split())
        assert "WITH" in text.split()
    # "It" has one letter to turn, and a word that has its capitals keeps them.
    assert outcomes("case", "It at WHO", 100, "throughout") == {"It AT WHO"}
    with pytest.raises(Refused, match="letter"):
        one("case", "It", 100, "throughout")
    # Letter by letter: one of four is held, so the share is still of all that could turn.
    assert {sum(map(str.isupper, text)) for text in outcomes("case", "it so", 50, "throughout")} == {2}
    assert OPERATORS.load("case").version == 2


def test_typos_makes_each_kind_of_error_inside_the_word():
    # "wave": swap, drop, double, keyboard neighbour (a: s; v: c, b) at the two inner letters.
    expected = {"wvae", "wve", "wae", "waave", "wavve", "wsve", "wace", "wabe"}
    assert outcomes("typos", "Is it a wave?", 1, tries=400) == {f"Is it a {word}?" for word in expected}


def test_typos_leaves_names_negations_and_numbers():
    text = "Has Emma never sold seven more than 1234abcd hens in Paris, or does it?"
    for typo in outcomes("typos", text, 1):
        for word in ("Emma", "never", "seven", "more", "than", "1234abcd", "Paris"):
            assert word in typo


def test_typos_gives_no_other_common_word():
    assert "Is it a from?" not in outcomes("typos", "Is it a form?", 1, tries=200)
    assert "Is it a bred?" not in outcomes("typos", "Is it a bread?", 1, tries=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("谁写了它？", "谁写了它?"),
        ("谁，在哪里？3，4", "谁,在哪里?3，4"),
        ("ＡＢＣ是什么", "ABC是什么"),
        ("它是abc吗?", "它是ａｂｃ吗？"),
        ("用`abc`吗?", "用`abc`吗？"),
    ],
)
def test_width(text, expected):
    assert one("width", text, language="zh") == expected


def test_label_fits_the_text_and_is_new():
    assert outcomes("label", WHO) == {label + WHO for label in read_table("labels")["en"]["question"]}
    assert outcomes("label", "Name a hen.") == {
        label + "Name a hen." for label in read_table("labels")["en"]["other"]
    }
    assert not any(text.startswith("Question:") for text in outcomes("label", "question: who?"))
    assert outcomes("label", "谁？", language="zh") == {
        label + "谁？" for label in read_table("labels")["zh"]["question"]
    }


def test_request():
    phrases = read_table("request")["en"]["prefix"]
    assert outcomes("request", WHO, position="prefix") == {
        f"{phrase} {WHO}" for phrase in phrases["question"]
    }
    several = "Name one.\nA. hen\nB. cow"
    assert outcomes("request", several, position="prefix") == {
        f"{phrase}\n{several}" for phrase in phrases["other"]
    }


def test_separators():
    lines = ("---", "===", "***", "###", "- - -", "~~~~~")
    assert outcomes("separators", "Who?\nAnswer:", tries=200) == {
        f"{line}\nWho?\n{line}\nAnswer:" for line in lines
    }


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Emma is a novel. Who wrote it?", "en", "Emma is a novel.\nWho wrote it?"),
        ("Dr. Who, a series, is what?", "en", "Dr. Who,\na series,\nis what?"),
        ("他有5个苹果。还剩几个？", "zh", "他有5个苹果。\n还剩几个？"),
        ("在中国，谁写了它？", "zh", "在中国，\n谁写了它？"),
    ],
)
def test_linebreaks(text, language, expected):
    assert one("linebreaks", text, language=language) == expected


@pytest.mark.parametrize(
    ("name", "strength", "position", "text", "language", "reason"),
    [
        ("politeness", 2, "suffix", "Answer:", "en", "cue"),
        ("politeness", 2, "prefix", "\u0301a", "en", "combining"),
        ("casual", 1, "throughout", "Who wrote it?", "en", "casual form"),
        ("hedging", 1, "suffix", "Complete:", "en", "cue"),
        ("spaces", 5, "throughout", "Why?", "en", "gap"),
        ("spaces", 5, "throughout", "谁？", "zh", "gap"),
        ("punctuation", 1, "throughout", "who", "en", "no mark"),
        ("punctuation", 1, "suffix", "see https://x.org/a", "en", "literal"),
        ("case", 50, "throughout", "WHO? 谁", "en", "letter"),
        ("typos", 1, None, "Who is Emma?", "en", "fewer than 1"),
        ("width", None, None, "谁", "zh", "width"),
        ("label", None, None, "\u0301", "en", "combining"),
        ("request", None, "suffix", "Complete:", "en", "cue"),
        ("separators", None, None, "--- === *** ### - - - ~~~~~", "en", "every kind"),
        ("linebreaks", None, None, "Who wrote it?", "en", "line break"),
    ],
)
def test_refusals(name, strength, position, text, language, reason):
    operator = OPERATORS.load(name)(strength, position)
    with pytest.raises(Refused, match=reason):
        operator.apply(passage(text, language), random.Random(0))


@pytest.mark.parametrize("name", sorted(OPERATORS))
@pytest.mark.parametrize("text", ["", " \n\t"])
def test_blank_text_is_refused(name, text):
    with pytest.raises(Refused, match="empty"):
        OPERATORS.load(name)().apply(Passage(text), random.Random(0))


def test_a_language_it_does_not_know_is_refused():
    with pytest.raises(Refused, match="language de"):
        OPERATORS.load("politeness")().apply(Passage("Wer?", "de"), random.Random(0))


def test_a_wrong_strength_or_position_is_one_line():
    with pytest.raises(SagoError, match="no strength 7: it has 2, 4"):
        OPERATORS.load("politeness")(7)
    with pytest.raises(SagoError, match="no position 'middle'"):
        OPERATORS.load("politeness")(2, "middle")
