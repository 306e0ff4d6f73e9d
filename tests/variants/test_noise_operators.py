"""The noise operators for English on texts whose outcome follows by hand, and on ones they refuse."""

import random

import pytest

from sago_harness.variants.base import Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS


def outcomes(name, text, strength=None, tries=60):
    operator = OPERATORS.load(name)(strength)
    return {operator.apply(make_passage(text), random.Random(seed)) for seed in range(tries)}


def one(name, text, strength=None):
    (outcome,) = outcomes(name, text, strength)
    return outcome


@pytest.mark.parametrize(
    ("name", "words"),
    [
        # The two inner letters of "wave": beside "a" lies "s", beside "v" lie "c" and "b".
        ("keyboard", {"wsve", "wace", "wabe"}),
        ("transpose", {"wvae"}),
        ("drop", {"wve", "wae"}),
        ("double", {"waave", "wavve"}),
    ],
)
def test_each_typing_error_makes_its_kind_only(name, words):
    assert outcomes(name, "Is it a wave?", 1) == {f"Is it a {word}?" for word in words}


@pytest.mark.parametrize(
    ("name", "text", "result"),
    [
        ("transpose", "Is it a form?", "from"),
        ("drop", "Is it a bread?", "bred"),
        ("drop", "What are the countries?", "counties"),
        ("double", "Is it a lose?", "loose"),
        ("keyboard", "Is it a hope?", "hole"),
    ],
)
def test_no_typing_error_gives_another_common_word(name, text, result):
    try:
        made = outcomes(name, text, 1, tries=200)
    except Refused:
        return
    assert not any(result in variant for variant in made)


@pytest.mark.parametrize("name", ["keyboard", "transpose", "drop", "double"])
def test_typing_errors_leave_literals_names_and_negations(name):
    text = "Has Karenina never eaten `some bread` with 1234abcd water, or without?"
    for variant in outcomes(name, text, 2):
        assert variant != text
        for word in ("Karenina", "never", "`some bread`", "1234abcd", "without"):
            assert word in variant


def test_a_strength_is_a_number_of_words():
    for strength in (1, 2, 3):
        for variant in outcomes("double", "purple garden window table", strength):
            before = ["purple", "garden", "window", "table"]
            assert sum(old != new for old, new in zip(before, variant.split(), strict=True)) == strength


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who wrote Emma? I forgot.", "who wrote emma? i forgot."),
        ("Does the WHO pay the US in May?", "does the WHO pay the US in May?"),
        ("May I see NASA in Polish?", "may i see nasa in Polish?"),
        ("Will you ask Will?", "will you ask Will?"),
        ("Is plan B in the U.S. law?", "is plan B in the U.S. law?"),
        ("A pH of 7 with Vitamin A?", "a pH of 7 with vitamin A?"),
        ("Does YouTube run `My Code` in Rome?", "does youtube run `My Code` in rome?"),
        ("Say it in \u0130zmir, Anna.", "say it in \u0130zmir, anna."),
    ],
)
def test_lowercase_keeps_the_capitals_that_carry_meaning(text, expected):
    assert one("lowercase", text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who wrote Emma?", "who wrote emma"),
        ("Emma is a novel. Who wrote it?", "emma is a novel who wrote it"),
        ("If it rains, what's Ann's plan?", "if it rains what's ann's plan"),
        ("Is 3.5 more than 1,000?", "is 3.5 more than 1,000"),
        ("Did Dr. No live in the U.S. then?", "did dr. no live in the U.S. then"),
        ("Who is it?\nAnswer:", "who is it\nAnswer:"),
        ("Which one?\nA. Hen, big\nB. Cow", "which one\nA. Hen, big\nB. Cow"),
        ('Who said "Stop, now!" first?', 'who said "Stop, now!" first'),
    ],
)
def test_speech(text, expected):
    assert one("speech", text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Did Ann, Bob and Cy meet?", "comma parts"),
        ("She has red, green, blue hats. Why?", "comma parts"),
        ("He is old, the girl is young. Who is it?", "comma parts"),
        ("He is 5. In 3 years he is 8. Why?", "only their mark"),
        ("He has 3. 5 are red. Why?", "mark"),
        ("You like it?", "question only by its mark"),
        ("Translate into French: I am here.", "colons"),
        ("Is it (in London) cold?", "brackets"),
        ("It is. It is. It is. It is. Is it?", "more than four"),
        ("who wrote it", "no mark"),
    ],
)
def test_speech_refuses_where_a_mark_carries_the_reading(text, reason):
    with pytest.raises(Refused, match=reason):
        one("speech", text)


@pytest.mark.parametrize(
    ("text", "strength", "expected"),
    [
        ("What's it?", 1, "What's it"),
        ("What's it?", 2, "Whats it"),
        ("What\u2019s it?", 2, "Whats it"),
        ("If you don't sleep, what's next?", 2, "If you dont sleep whats next"),
        ("It's said we're well, she'll go. That's why?", 2, "It's said we're well, she'll go. Thats why"),
        ("Is it his?!", 1, "Is it his"),
        ("Who is it?\nAnswer:", 1, "Who is it\nAnswer:"),
        ("If Ann, Bob and Cy meet, who's late?", 2, "If Ann, Bob and Cy meet, whos late"),
        ("After 3 games Ann has 21 points, Bob 5 less, and Cy none. Who's best?", 2,
         "After 3 games Ann has 21 points, Bob 5 less, and Cy none. Whos best"),
    ],
)  # fmt: skip
def test_missing(text, strength, expected):
    assert one("missing", text, strength) == expected


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("You like it?", 1),
        ("He lives in the U.S.", 1),
        ("It was so...", 1),
        ("See https://x.org/a", 1),
        ("Is it there?", 2),
        ("Were they, as we're told, ill?", 2),
    ],
)
def test_missing_refuses(text, strength):
    with pytest.raises(Refused, match="leave out"):
        one("missing", text, strength)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is it true whether it rains?", {"Is it true weather it rains?"}),
        ("Your hat is lost.", {"You're hat is lost."}),
        ("Is it their hat?", {"Is it there hat?", "Is it they're hat?"}),
        ("It\u2019s mine, in its box", {"Its mine, in its box", "It\u2019s mine, in it\u2019s box"}),
        ("Say it in `their` words whose end?", {"Say it in `their` words who's end?"}),
        ("It was written by the man.", {"It was written buy the man."}),
    ],
)
def test_homophones(text, expected):
    assert outcomes("homophones", text, 1) == expected


@pytest.mark.parametrize(
    "text",
    [
        # Both words would make sense: "witch books", "grown buy 3", "the weak".
        "Which books are banned?",
        "It has grown by 3.",
        "Is it the week?",
        # No negation, number or name changes.
        "I do know no one.",
        "Give two to four.",
        "Is it There or Hear?",
    ],
)
def test_homophones_refuse_where_both_words_make_sense(text):
    with pytest.raises(Refused, match="fewer than 1"):
        one("homophones", text, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What color is the theatre?", "What colour is the theater?"),
        ("They love travelling.", "They love traveling."),
        ("The Centre for grey matter", "The Centre for gray matter"),
        ('He said "my favorite color" to his neighbor.', 'He said "my favorite color" to his neighbour.'),
        # "kilometers" belongs to the number, so the other one stays too: one text, one spelling.
        ("Of 5 kilometers, how many kilometers are gray?", "Of 5 kilometers, how many kilometers are grey?"),
    ],
)
def test_spelling(text, expected):
    assert one("spelling", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What does the word color mean?",
        "How do you spell color?",
        "How many letters has color?",
        "Is color a noun?",
        # One text, one spelling.
        "Is the theater open? What is meant by color?",
    ],
)
def test_spelling_refuses_a_word_that_is_spoken_of(text):
    with pytest.raises(Refused, match="spoken of"):
        one("spelling", text)


def test_spelling_changes_a_text_that_speaks_of_other_words():
    assert one("spelling", "The color is red. What is the meaning of life?") == (
        "The colour is red. What is the meaning of life?"
    )


@pytest.mark.parametrize(
    "text", ["A meter of tire", "Practise the program", "The Pearl Harbor story", "a check"]
)
def test_spelling_refuses_words_with_two_meanings_and_names(text):
    with pytest.raises(Refused, match="another form"):
        one("spelling", text)


def test_order_swaps_function_words_only():
    assert outcomes("order", "What is the aim of the game?") == {
        "What the is aim of the game?",
        "What is the aim the of game?",
    }
    assert one("order", "Say `in the box` or in the bag") == "Say `in the box` or the in bag"


@pytest.mark.parametrize(
    "text", ["Dogs bite men", "It is not in the box", "In the box", "Is it true?", "of the 3 men"]
)
def test_order_refuses_where_nothing_small_can_change_places(text):
    with pytest.raises(Refused, match="no pair"):
        one("order", text)


def test_lookalikes_replace_a_share_of_the_letters():
    # 8 letters, so 5 % is one and 25 % two; "w", "h", "k" and "l" have no twin.
    text = "whokl ea"
    twins = {"o": "\u043e", "e": "\u0435", "a": "\u0430"}
    assert outcomes("lookalikes", text, 5) == {text.replace(old, new) for old, new in twins.items()}
    for variant in outcomes("lookalikes", text, 25):
        assert sum(not char.isascii() for char in variant) == 2
    assert one("lookalikes", "wo `o`", 25) == "w\u043e `o`"
    with pytest.raises(Refused, match="look-alike"):
        one("lookalikes", "wkl? \u8c01", 5)


def test_fullwidth_turns_a_share_of_the_words():
    assert one("fullwidth", "Who is `it` 3.5?", 100) == "\uff37\uff48\uff4f \uff49\uff53 `it` 3.5?"
    assert outcomes("fullwidth", "a b c d", 25) == {
        "\uff41 b c d",
        "a \uff42 c d",
        "a b \uff43 d",
        "a b c \uff44",
    }
    with pytest.raises(Refused, match="plain letters"):
        one("fullwidth", "\u8c01 5?", 25)


@pytest.mark.parametrize(
    ("text", "strength", "expected"),
    [
        ("one three five seven nine", 20, "one three five seven\nnine"),
        ("one three five sevens nine", 20, "one three five\nsevens nine"),
        ("short\none three five seven nine", 20, "short\none three five seven\nnine"),
        ("one three `five seven nine` eleven", 20, "one three\n`five seven nine`\neleven"),
        # "a)" and "-" would begin a list.
        ("one three five seven a) nine", 20, "one three five\nseven a) nine"),
        ("one three five seven - nine", 20, "one three five\nseven - nine"),
    ],
)
def test_softbreaks(text, strength, expected):
    assert one("softbreaks", text, strength) == expected


@pytest.mark.parametrize(
    "text", ["Who wrote it?", "x" * 50, "short\nlines\nonly", "`five seven eleven nine`"]
)
def test_softbreaks_refuse_short_lines_and_long_words(text):
    with pytest.raises(Refused, match="no line longer than 20"):
        one("softbreaks", text, 20)


@pytest.mark.parametrize(
    ("text", "strength", "expected"),
    [
        ("Is the film old?", 1, "Is the movie old?"),
        ("The car is red. Whose is the car?", 1, "The automobile is red. Whose is the automobile?"),
        ("Did he want to buy the sofa?", 2, "Did he want to purchase the couch?"),
        ('Who said "a movie" of movies?', 1, 'Who said "a movie" of films?'),
        ("Movies began here", 2, "Films started here"),
    ],
)
def test_synonyms(text, strength, expected):
    assert one("synonyms", text, strength) == expected


@pytest.mark.parametrize(
    "text",
    [
        "What happens to you?",
        "Is it an enormous cat or a huge one?",
        "Is film A longer than movie B?",
        "Is the big bang old?",
        "At the start",
        "It was a huge hat.",
    ],
)
def test_synonyms_refuse_other_senses_and_clashes(text):
    with pytest.raises(Refused, match="another form"):
        one("synonyms", text, 1)


def test_synonyms_ask_for_the_constraint_that_judges_them():
    assert OPERATORS.load("synonyms").needs_constraints == ("similarity",)


@pytest.mark.parametrize(
    ("name", "strength", "text"),
    [
        ("lowercase", None, "Who Wrote Emma?"),
        ("speech", None, "Who wrote it?"),
        ("missing", 1, "Who wrote it?"),
        ("lookalikes", 5, "Who wrote it?"),
        ("fullwidth", 25, "Who wrote it?"),
        ("softbreaks", 20, "one three five seven nine"),
        ("spelling", None, "What colour is it?"),
    ],
)
def test_an_operator_moves_the_feature_it_names(name, strength, text):
    feature = FEATURES.load(OPERATORS.load(name).feature)()
    for variant in outcomes(name, text, strength):
        assert abs(feature.value(variant) - feature.value(text)) >= feature.minimum


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("mark_density", "Is 3.5 it, no?", 100 * 2 / 14),
        ("mark_density", "it's", 25.0),
        ("british_spellings", "grey gray grey", 100 / 14),
        ("mixed_letters", "c\u0430t", 1 / 3),
        ("mixed_letters", "\u043a\u043e\u0442 cat", 0.0),
        ("fullwidth_share", "\uff41b", 0.5),
        ("line_breaks", "a\nb\n", 50.0),
        ("line_breaks", "", 0.0),
    ],
)
def test_features(name, text, value):
    assert FEATURES.load(name)().value(text) == pytest.approx(value)
