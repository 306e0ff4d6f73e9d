"""Register operators on texts whose outcome follows by hand."""

import random

import pytest

from sago_harness.variants.base import Passage, Refused, Span
from sago_harness.variants.build import make_passage
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.parts.full_forms import full_forms
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.spans import find_spans

PHRASED = ("formal", "urgency", "framing", "interjection", "addressing")
WHO = "Who wrote Emma?"
EN = [
    "Name the capital of France.",
    "In what year was the novel written, and who is the author of it?",
    "Translate the sentence, then say what it means.",
]
ZH = ["谁写了《红楼梦》？", "如果你吃了西瓜籽，会发生什么？", "翻译这个句子：猫在睡觉。"]


def outcomes(name, text, strength=None, position=None, language="en", tries=120):
    operator = OPERATORS.load(name)(strength, position)
    passage = make_passage(text, language)
    return {operator.apply(passage, random.Random(seed)) for seed in range(tries)}


def one(*arguments, **options):
    (outcome,) = outcomes(*arguments, **options)
    return outcome


def phrases():
    for name in PHRASED:
        for language, places in read_table(name).items():
            for place, steps in places.items():
                for step, said in steps.items():
                    yield name, language, place, step, said
    for language, chats in read_table("talkative").items():
        yield "talkative", language, "prefix", "1", [chat["said"][0] for chat in chats]


# -- phrases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PHRASED)
def test_every_step_has_six_phrases_and_offers_each(name):
    for _, language, place, step, said in (row for row in phrases() if row[0] == name):
        assert len(set(said)) == len(said) >= 6
        text = WHO if language == "en" else ZH[0]
        glue = " " if language == "en" else ""
        expected = {
            f"{phrase}{glue}{text}" if place == "prefix" else f"{text}{glue}{phrase}" for phrase in said
        }
        assert outcomes(name, text, float(step), place, language) == expected


def test_phrase_tables_have_every_step_of_their_operator():
    for name in PHRASED:
        operator = OPERATORS.load(name)
        wanted = {f"{step:g}" for step in operator.strengths}
        for language in operator.languages:
            for place in set(operator.positions) - {"throughout"}:
                assert set(read_table(name)[language][place]) == wanted


def test_phrases_are_sentences_without_literals_or_demands_on_the_answer():
    forms = {
        *("brief", "briefly", "short", "shortly", "word", "words", "sentence", "detail", "step", "explain"),
        *("only", "list", "quick", "quickly", "answer", "expert", "simple", "concise", "correct", "wrong"),
    }
    asked = ("简短", "一句", "详细", "步骤", "答案", "只要", "一个字", "列出", "专家", "解释")
    for _, language, _, _, said in phrases():
        for phrase in said:
            assert phrase == phrase.strip()
            assert phrase[-1] in (".!:" if language == "en" else "。！：？"), phrase
            assert "?" not in phrase
            assert find_spans(f"{phrase} x", language) == (), phrase
            words = {word.strip(".,:;!").lower() for word in phrase.split()}
            assert not words & forms, phrase
            assert not [form for form in asked if form in phrase], phrase


def test_every_phrase_is_read_by_the_feature_of_its_operator():
    for name, language, _, _, said in phrases():
        feature = FEATURES.load(OPERATORS.load(name).feature)()
        for phrase in said:
            assert feature.value(phrase, language) > 0, (name, phrase)


def test_small_talk_shares_no_topic_with_the_text():
    made = outcomes("talkative", "Does a cat drink coffee in the rain?", 1, tries=300)
    assert made
    for banned in ("cat", "coffee", "rain", "umbrella"):
        assert not any(banned in text.removesuffix("Does a cat drink coffee in the rain?") for text in made)


def test_small_talk_has_as_many_different_sentences_as_its_strength():
    for text in outcomes("talkative", WHO, 3):
        said = text.removesuffix(f" {WHO}").split(". ")
        assert len(said) == len(set(said)) == 3


def test_three_sentences_of_small_talk_stay_within_the_length_allowance():
    for chats in read_table("talkative").values():
        assert all(sum(len("".join(phrase.split())) for phrase in chat["said"]) <= 120 for chat in chats)
        assert all(len(chat["said"]) == 3 for chat in chats)


# -- formal throughout --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What's the capital?", "What is the capital?"),
        ("It isn't what they don't like.", "It is not what they do not like."),
        ("Who's there, and who's John's wife?", "Who is there, and who is John's wife?"),
        ("Why don't you ask?", "Why do you not ask?"),
        ("Isn't it late?", "Is it not late?"),
        ("He is late, isn't he?", "He is late, is he not?"),
        ("Don't go.", "Do not go."),
        ("I can't say that he won't come.", "I cannot say that he will not come."),
        ("Can't we go?", "Can we not go?"),
        (
            "Let's see what you're up to; I'm in and they've left.",
            "Let us see what you are up to; I am in and they have left.",
        ),
        ("WHAT'S THE CAPITAL?", "WHAT IS THE CAPITAL?"),
        ("What’s it like?", "What is it like?"),
        ("How many eggs won't he sell?", "How many eggs will he not sell?"),
        # The quotation is kept, the question beside it is not.
        ("What's \"what's up\" in French?", 'What is "what\'s up" in French?'),
        # A number stands beside the change.
        ("What's 5% of 20?", "What is 5% of 20?"),
    ],
)
def test_formal_writes_short_forms_out(text, expected):
    assert one("formal", text, 1, "throughout") == expected


@pytest.mark.parametrize(
    "text",
    [
        "Whose is John's dog's bone?",
        "What's been lost?",
        "Who's already gone?",
        "It's happened again.",
        "He's chosen the hat.",
        "He's called me.",
        "What's he want?",
        "Where's the road go?",
        "They'd go if he'd asked.",
        "Why don't cats swim?",
        "Isn't the sky blue?",
        "Don't people swim?",
        "Which foods don't cats eat?",
        "There's 5 of us.",
        "It ain't so.",
    ],
)
def test_an_unclear_short_form_stays(text):
    assert list(full_forms(text)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do kids want to buy bikes?", "Do children wish to purchase bicycles?"),
        ("What happens if I throw away 3 photos?", "What occurs if I discard 3 photographs?"),
        ("What happens to you if it happens?", None),
        ("Mom asked my mom to find out how.", "Mom asked my mother to ascertain how."),
        ("Find out more about it.", None),
        ("How come birds try to fly?", "Why is it that birds attempt to fly?"),
        ('Did "Kids" and the kids win?', 'Did "Kids" and the children win?'),
        ("Is Big Bike Week in May?", None),
    ],
)
def test_formal_swaps_words_that_are_safe_in_any_sentence(text, expected):
    if expected is None:
        with pytest.raises(Refused, match="formal form"):
            outcomes("formal", text, 2, "throughout")
    else:
        assert one("formal", text, 2, "throughout") == expected


def test_every_formal_swap_raises_the_formal_feature():
    feature = FEATURES.load("formal_markers")()
    for words in read_table("formal_words").values():
        for word, new in words.items():
            here, there = (feature.value(text) * len(text) for text in (word, new))
            assert there > here, (word, new)


def test_formal_leaves_a_name_alone():
    passage = Passage("Does kid pay?", leave=(Span(5, 8, "name"),))
    with pytest.raises(Refused, match="formal form"):
        OPERATORS.load("formal")(2, "throughout").apply(passage, random.Random(0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He is late, but she will wait.", "He's late, but she'll wait."),
        ("We will see; here is the plan.", "We'll see; here's the plan."),
        # After a question word nothing carries the short form.
        ("Tell me where he is now, it is late.", "Tell me where he is now, it's late."),
    ],
)
def test_casual_is_the_other_way(text, expected):
    assert one("casual", text, 1, "throughout") == expected


# -- abbreviations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "strength", "expected"),
    [
        ("Does the government work with people?", 1, "Does the govt work w/ people?"),
        ("Are you with people because of the government?", 2, "Are u w/ ppl bc of the govt?"),
        ("People like hens and cows.", 2, "Ppl like hens & cows."),
        ("It eats hens, cows and so on.", 1, "It eats hens, cows etc."),
        ("For example, who are you?", 2, "E.g., who r u?"),
        # A quotation and a number with its unit are kept.
        ('Say "you and I" for 5 years with love and joy.', 1, 'Say "you and I" for 5 years w/ love & joy.'),
        # Nothing follows for "w/" to lean on; a name keeps its words.
        ("Who are the University staff with?", 2, "Who r the University staff with?"),
    ],
)
def test_abbreviations(text, strength, expected):
    assert one("abbreviations", text, strength) == expected


def test_every_abbreviation_is_read_by_the_feature():
    feature = FEATURES.load("abbreviations")()
    for words in read_table("abbreviations").values():
        for word, short in words.items():
            assert feature.value(f"x {short} x") > 0, short
            assert feature.value(f"x {word} x") == 0, word


# -- fillers ------------------------------------------------------------------------------------


def test_one_filler_stands_before_the_text_or_before_a_content_word():
    table = read_table("fillers")["en"]
    inside = [word for word in table["inside"] if word != "like"]
    assert outcomes("fillers", "Name the capital.", 1, tries=300) == {
        *(f"{word}, name the capital." for word in table["start"]),
        *(f"Name the, {word}, capital." for word in inside),
    }


def test_a_filler_keeps_the_capital_of_a_word_that_may_be_a_name():
    table = read_table("fillers")["en"]
    assert outcomes("fillers", "Emma left.", 1) == {f"{word}... Emma left." for word in table["start"]}


def test_no_filler_stands_beside_a_number_a_name_or_a_quotation():
    text = 'In the 12 days, Emma saw the "big cat" of Paris'
    for made in outcomes("fillers", text, 1):
        assert made.lower().endswith(text[3:].lower())
        assert made.lower().index("in the 12") > 0


def test_fillers_in_chinese_stand_before_the_text_or_after_a_mark():
    table = read_table("fillers")["zh"]
    assert outcomes("fillers", "如果下雨，会怎样？", 1, language="zh", tries=300) == {
        *(f"{word}，如果下雨，会怎样？" for word in table["start"]),
        *(f"如果下雨，{word}，会怎样？" for word in table["border"]),
    }


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_the_strength_is_the_number_of_fillers(strength):
    feature = FEATURES.load("filler_words")()
    for language, texts in (("en", EN), ("zh", ZH)):
        for text in texts:
            for made in outcomes("fillers", text, strength, language=language, tries=40):
                assert round(feature.value(made, language) * len(made) / 100) == strength, made


# -- emoji --------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [1, 2, 3])
@pytest.mark.parametrize("position", ["prefix", "suffix", "throughout"])
def test_the_strength_is_the_number_of_emoji(strength, position):
    feature = FEATURES.load("emoji")()
    for language, text in (("en", EN[2]), ("zh", ZH[1])):
        for made in outcomes("emoji", text, strength, position, language, tries=40):
            assert round(feature.value(made, language) * len(made) / 100) == strength, made
            signs = set("".join(read_table("emoji")[position]))
            rest = "".join(char for char in made if char not in signs)
            assert "".join(rest.split()) == "".join(text.split())


def test_emoji_throughout_stand_at_the_borders_of_clauses_first():
    signs = read_table("emoji")["throughout"]
    assert outcomes("emoji", "If it rains, who goes?", 1, "throughout") == {
        f"If it rains, {sign} who goes?" for sign in signs
    }
    for made in outcomes("emoji", "If it rains, who goes?\nAnswer:", 3, "throughout"):
        before, clause, after = (
            made.split("If it rains, ")[0],
            made.split("rains, ")[1],
            made.split("goes? ")[1],
        )
        assert before.strip() in signs
        assert clause[0] in signs
        assert after.removesuffix("\nAnswer:") in signs


def test_neither_an_abbreviation_nor_a_list_has_a_border():
    with pytest.raises(Refused, match="no border"):
        outcomes("emoji", "What U.S. state has hens, and cows?", 1, "throughout")


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "strength", "position", "text", "language", "reason"),
    [
        ("formal", 1, "suffix", "Answer:", "en", "cue"),
        ("formal", 1, "throughout", "Who wrote it?", "en", "formal form"),
        ("formal", 2, "throughout", "谁？", "zh", "language zh"),
        ("fillers", 1, None, "\u0301", "en", "combining"),
        ("abbreviations", 2, None, "Who wrote it?", "en", "abbreviation"),
        ("abbreviations", 2, None, "谁？", "zh", "language zh"),
        ("urgency", 1, "suffix", "Complete:", "en", "cue"),
        ("framing", 1, "suffix", "Complete:", "en", "cue"),
        ("talkative", 1, None, "\u0301a", "en", "combining"),
        ("emoji", 1, "prefix", "\u200da", "en", "combining"),
        ("emoji", 3, "throughout", WHO, "en", "no border"),
        ("interjection", 1, None, "\u0301a", "zh", "combining"),
        ("addressing", 2, "suffix", "Answer:", "en", "cue"),
    ],
)
def test_refusals(name, strength, position, text, language, reason):
    with pytest.raises(Refused, match=reason):
        OPERATORS.load(name)(strength, position).apply(make_passage(text, language), random.Random(0))
