"""The operators on English grammar, on sentences whose outcome follows by hand."""

import random

import pytest

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.build import make_passage
from sago_harness.variants.features import FEATURES
from sago_harness.variants.grammar.english import INFLECTOR, PARSER
from sago_harness.variants.needs import missing
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.phrases import read_table

absent = missing(INFLECTOR)
parsed = pytest.mark.skipif(
    bool(absent), reason=f"{absent}: pip install 'sago-harness[grammar]', `make models`"
)

NAMES = (
    "imperative", "interrogative", "declarative", "fronting", "voice", "cleft", "extraposition", "split",
    "merge", "swap", "listing", "lengthen", "shorten",
)  # fmt: skip


def outcomes(name, text, strength=None, tries=30):
    operator = OPERATORS.load(name)(strength)
    return {operator.apply(make_passage(text), random.Random(seed)) for seed in range(tries)}


def refused(name, text, strength=None):
    with pytest.raises(Refused) as caught:
        OPERATORS.load(name)(strength).apply(make_passage(text), random.Random(1))
    return str(caught.value)


# A direct question and its indirect form, by the rules of any grammar of English.
INDIRECT = [
    ("Who wrote Emma?", "who wrote Emma"),
    ("What is the capital of France?", "what the capital of France is"),
    ("What's the capital of France?", "what the capital of France is"),
    ("Where did he go?", "where he went"),
    ("Where does she live?", "where she lives"),
    ("Why do veins appear blue?", "why veins appear blue"),
    ("Is ice cold?", "whether ice is cold"),
    ("Can pigs fly?", "whether pigs can fly"),
    ("Did Anna sell the house?", "whether Anna sold the house"),
    ("How old is your brother?", "how old your brother is"),
    ("How many ribs do humans have?", "how many ribs humans have"),
    ("How many planets are there in our solar system?", "how many planets there are in our solar system"),
    ("Why shouldn't you sit close to the television?", "why you shouldn't sit close to the television"),
    ("Which country won the cup in 1990?", "which country won the cup in 1990"),
    ("What happens if you swallow gum?", "what happens if you swallow gum"),
    ("How has poverty changed in Africa?", "how poverty has changed in Africa"),
    ("At what age can you vote?", "at what age you can vote"),
    ("Has Nigeria won a Nobel Prize?", "whether Nigeria has won a Nobel Prize"),
    ("Who are you?", "who you are"),
    ("If Suzy is 12, how old is Brandon?", "how old Brandon is if Suzy is 12"),
    ("What did Salieri do to Mozart?", "what Salieri did to Mozart"),
]


@parsed
@pytest.mark.parametrize(("question", "indirect"), INDIRECT)
def test_a_question_becomes_indirect_after_tell_me(question, indirect):
    assert outcomes("imperative", question) == {f"Tell me {indirect}.", f"Let me know {indirect}."}


@parsed
@pytest.mark.parametrize(("question", "indirect"), INDIRECT)
def test_a_question_becomes_a_wish_to_know(question, indirect):
    wishes = {f"I would like to know {indirect}.", f"I want to know {indirect}."}
    assert outcomes("declarative", question) == wishes


@parsed
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Could you explain gravity?", {"Explain gravity."}),
        ("I would like you to list three rivers.", {"List three rivers."}),
        ("What is a country where most people love playing golf?",
         {"Tell me a country where most people love playing golf."}),
        ("Tom has 5 pens. How many pens does Tom have?",
         {f"Tom has 5 pens. {lead} how many pens Tom has." for lead in ("Tell me", "Let me know")}),
    ],
)  # fmt: skip
def test_imperative(text, expected):
    assert outcomes("imperative", text) == expected


@parsed
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Explain gravity.", {"Could you explain gravity?", "Can you explain gravity?"}),
        ("Tell me where he went.", {"Where did he go?"}),
        ("Tell me who wrote Emma.", {"Who wrote Emma?"}),
        ("I would like to know what the capital of France is.", {"What is the capital of France?"}),
        ("Tell me whether ice is cold.", {"Is ice cold?"}),
        ("Could you tell me how old she was?", {"How old was she?"}),
    ],
)
def test_interrogative(text, expected):
    assert outcomes("interrogative", text) == expected


@parsed
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Explain gravity.", {"I would like you to explain gravity.", "I want you to explain gravity."}),
        ("Tell me where he went.", {"I would like to know where he went.", "I want to know where he went."}),
    ],
)
def test_declarative_of_an_imperative(text, expected):
    assert outcomes("declarative", text) == expected


# Operator, text, the one outcome.
GOLDEN = [
    ("fronting", "What happens if you swallow gum?", "If you swallow gum, what happens?"),
    ("fronting", "If you swallow gum, what happens?", "What happens if you swallow gum?"),
    ("fronting", "Anna left when the rain began.", "When the rain began, Anna left."),
    ("fronting", "In 1969, what happened?", "What happened in 1969?"),
    ("fronting", "What did CERN do in 2012?", "In 2012, what did CERN do?"),
    ("fronting", "How old is Brandon if Suzy is 12?", "If Suzy is 12, how old is Brandon?"),
    ("voice", "Who wrote Emma?", "Who was Emma written by?"),
    ("voice", "Shakespeare wrote Hamlet.", "Hamlet was written by Shakespeare."),
    ("voice", "Hamlet was written by Shakespeare.", "Shakespeare wrote Hamlet."),
    ("voice", "Did Shakespeare write Hamlet?", "Was Hamlet written by Shakespeare?"),
    ("voice", "Which novel did Austen write?", "Which novel was written by Austen?"),
    ("voice", "When did Scheele discover oxygen?", "When was oxygen discovered by Scheele?"),
    ("voice", "What real child was raised by wolves?", "What real child did wolves raise?"),
    ("voice", "Who built the pyramids?", "Who were the pyramids built by?"),
    ("cleft", "Who wrote Emma?", "Who was it that wrote Emma?"),
    ("cleft", "Why do veins appear blue?", "Why is it that veins appear blue?"),
    ("cleft", "Where did fortune cookies originate?", "Where was it that fortune cookies originated?"),
    ("cleft", "Which country drinks less beer than France?",
     "Which country is it that drinks less beer than France?"),
    ("cleft", "Shakespeare wrote Hamlet.", "It was Shakespeare that wrote Hamlet."),
    ("extraposition", "Is it legal to own a rifle?", "Is owning a rifle legal?"),
    ("extraposition", "It is healthy to eat fruit.", "Eating fruit is healthy."),
    ("extraposition", "To eat fruit is healthy.", "It is healthy to eat fruit."),
    ("extraposition", "Why is it a bad idea to give a mouse a cookie?",
     "Why is giving a mouse a cookie a bad idea?"),
    ("split", "Tom has a dog, and Anna has a cat.", "Tom has a dog. Anna has a cat."),
    ("split", "She had 15 stickers, but she lost 7 stickers. How many are left?",
     "She had 15 stickers. But she lost 7 stickers. How many are left?"),
    ("listing", "A crate of fruit consists of 5 bananas, 12 apples, and 7 oranges. How many are in it?",
     "A crate of fruit consists of:\n- 5 bananas\n- 12 apples\n- 7 oranges\nHow many are in it?"),
    ("listing", "Tom bought:\n- apples\n- pears\n- figs\nWhat did Tom buy?",
     "Tom bought: apples, pears and figs.\nWhat did Tom buy?"),
    ("shorten", "Can you tell me who wrote Emma?", "Who wrote Emma?"),
    ("shorten", "What are some books that are still banned in Spain?",
     "What are some books still banned in Spain?"),
    ("shorten", "Can reindeer really fly?", "Can reindeer fly?"),
    ("shorten", "What did Tom do in order to win 3 races?", "What did Tom do to win 3 races?"),
]  # fmt: skip


@parsed
@pytest.mark.parametrize(("name", "text", "expected"), GOLDEN)
def test_outcome_that_follows_by_hand(name, text, expected):
    assert outcomes(name, text) == {expected}


@parsed
def test_an_abbreviation_closes_the_sentence_with_its_own_stop():
    assert outcomes("imperative", "Can you vote in the U.S.?") == {
        "Tell me whether you can vote in the U.S.",
        "Let me know whether you can vote in the U.S.",
    }


@parsed
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom has a dog. The dog is old.",
         {"Tom has a dog, and the dog is old.", "Tom has a dog; the dog is old."}),
        ("Each class has 20 boys. There are 3 classes. How many boys are there?",
         {f"Each class has 20 boys{link} there are 3 classes. How many boys are there?"
          for link in (", and", ";")}),
        # The clause behind "thinks" is in the second sentence and stays there.
        ("She left. He thinks Bob saw the dog.",
         {"She left, and he thinks Bob saw the dog.", "She left; he thinks Bob saw the dog."}),
    ],
)  # fmt: skip
def test_merge_joins_with_and_or_a_semicolon(text, expected):
    assert outcomes("merge", text) == expected


def test_swap_puts_the_question_first_and_says_that_the_context_follows():
    text = "Paul needs 63 cakes for a party. He has 8 cakes. How many cakes should Paul buy?"
    links = read_table("joining")["links"]
    assert outcomes("swap", text) == {
        f"How many cakes should Paul buy? {link} Paul needs 63 cakes for a party. He has 8 cakes."
        for link in links
    }


def test_swap_puts_the_question_last():
    assert outcomes("swap", "How many pens has Anna? Anna has a box of pens.") == {
        "Anna has a box of pens. How many pens has Anna?"
    }


REFUSED = [
    # No question, or more than one, or not a plain one.
    ("imperative", "Explain gravity."),
    ("imperative", "Is it Anna? Is it Tom?"),
    ("imperative", "Who said, \"Let them eat cake\"?"),
    ("imperative", "Can you be Christian, and if so, how?"),
    ("imperative", "Emma is a novel."),
    ("interrogative", "Who wrote Emma?"),
    ("interrogative", "Tom went home."),
    ("declarative", "I want to know who wrote Emma."),
    ("declarative", "Who?"),
    # A pronoun would stand before its noun; "in" belongs to the verb; an object's own phrase.
    ("fronting", "What happens to tigers if they stop swimming?"),
    ("fronting", "Which detectives live in London?"),
    ("fronting", "Who built the pyramids in Egypt?"),
    ("fronting", "Does she know if Tom left?"),
    # Stative verbs, quantities, reflexives, no object.
    ("voice", "Mary has a dog."),
    ("voice", "Which state produces the most peaches?"),
    ("voice", "Who resembles Anna?"),
    ("voice", "Tom killed himself."),
    ("voice", "Who built nothing?"),
    ("voice", "Where did he go?"),
    ("cleft", "What is the capital of France?"),
    ("cleft", "How do cats purr?"),
    ("cleft", "Which books are banned in France?"),
    ("extraposition", "Is it raining?"),
    ("extraposition", "Is it possible to get turned into a vampire?"),
    ("split", "Tom has a dog and a cat."),
    ("split", "If Tom has a dog, and Anna has a cat, they are happy."),
    ("merge", "Tom has a dog."),
    ("merge", "Tom has a dog. However, the dog is old."),
    # What follows would be a part of what is thought, said or known.
    ("merge", "He thinks she left. Bob saw the dog."),
    ("merge", "He said that she left. Bob saw the dog."),
    ("merge", "They know what he did. Bob saw the dog."),
    ("swap", "Who wrote Emma?"),
    ("swap", "Tom has a dog. How old is it?"),
    ("swap", "Dreams can reveal something about us. What is that something?"),
    ("swap", "Tom has 5 pens and buys some. How many pens has Tom if he loses 2?"),
    ("swap", "Tom has a dog. Which is it?\nA. old\nB. new"),
    ("listing", "Tom has a dog and a cat."),
    ("listing", "Which is it: a dog, a cat or a hen?"),
    ("shorten", "Who wrote Emma?"),
    ("shorten", "Are they really bad?"),
        ("shorten", "Who really wrote the plays?"),
    ("shorten", "Is it true that no birds sing?"),
]  # fmt: skip


@parsed
@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_a_passage_that_must_be_left_alone(name, text):
    assert refused(name, text)


#: For every operator a text that it changes.
CHANGED = {
    "imperative": "Who wrote Emma?",
    "interrogative": "Explain gravity.",
    "declarative": "Who wrote Emma?",
    "fronting": "What happens if you swallow gum?",
    "voice": "Who wrote Emma?",
    "cleft": "Who wrote Emma?",
    "extraposition": "Is it legal to own a rifle?",
    "split": "Tom has a dog, and Anna has a cat.",
    "merge": "Tom has a dog. The dog is old.",
    "swap": "How many pens has Anna? Anna has a box of pens.",
    "listing": "Tom bought a box of pens, cups and hats.",
    "lengthen": "Who wrote the novel that Emma is named after?",
    "shorten": "Can you tell me who wrote Emma?",
}


def runnable(name):
    if absent := missing(OPERATORS.load(name).requires):
        pytest.skip(absent)
    return OPERATORS.load(name)()


@pytest.mark.parametrize("name", NAMES)
def test_blanks_around_a_text_change_nothing_inside(name):
    operator, text = runnable(name), CHANGED[name]
    plain = operator.apply(Passage(text), random.Random(1))
    assert plain != text
    for lead, trail in (("", "\n"), ("  ", ""), ("\n", " \n")):
        varied = operator.apply(Passage(lead + text + trail), random.Random(1))
        if name == "lengthen":
            assert lead + text in varied
        else:
            assert varied.split() == plain.split()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "odd", ["\ud800", "\x00", "\u0301", "\u200d", "\ufeff", "\u202e", "\U0001f600", "{", "\x1b[31m"]
)
def test_an_odd_character_stays_or_the_text_is_refused(name, odd):
    """After the first letter, between the first words, and at the end."""
    operator, text = runnable(name), CHANGED[name]
    first = text.index(" ")
    for odd_text in (text[0] + odd + text[1:], text[:first] + f" {odd}" + text[first:], text + odd):
        try:
            outcome = operator.apply(Passage(odd_text), random.Random(1))
        except Refused:
            continue
        assert outcome != odd_text
        assert outcome.count(odd) == 1


@parsed
@pytest.mark.parametrize("text", ["?", "Who?", "...", "If ?", "Is?", ". . .", "Who wrote " * 300 + "Emma?"])
def test_what_is_no_sentence_is_refused_by_all_but_the_one_that_reads_none(text):
    for name in NAMES:
        if name != "lengthen":
            assert refused(name, text)


@pytest.mark.parametrize("factor", [1.5, 2, 3])
@pytest.mark.parametrize(
    "text",
    [
        "Who wrote the novel Emma?",
        "Translate this sentence into German: the weather is fine today.",
        "What happens to you if you eat watermelon seeds?\nAnswer:",
    ],
)
def test_lengthen_reaches_its_length_around_the_unchanged_text(text, factor):
    for longer in outcomes("lengthen", text, factor, 10):
        assert abs(len(longer) / len(text) - factor) <= 0.15 * factor
        assert text.removesuffix("\nAnswer:") in longer
        assert longer.endswith("\nAnswer:") == text.endswith("\nAnswer:")


def test_lengthen_refuses_a_text_that_is_too_long_or_too_short():
    assert refused("lengthen", "Who? " * 1000, 3)
    assert refused("lengthen", "Hm?", 1.5)


def test_no_sentence_of_lengthen_asks_or_holds_a_literal():
    for kind in read_table("lengthen")["en"].values():
        for sentence in (part for slots in kind.values() for slot in slots for part in slot):
            assert sentence.endswith(".")
            assert make_passage(sentence).keep == ()


def test_list_items_are_counted_by_line():
    value = FEATURES.load("list_items")().value
    text = "Buy:\n- an egg\n2. milk\n* ham\nnot-an item\n-none"
    assert value(text) == pytest.approx(300 / len(text))
    assert value("A well-known 3. place") == value("") == 0


@parsed
def test_forms_are_those_of_the_dictionary():
    """The inflected verb of each variant is the form that lemminflect lists for it."""
    from lemminflect import getInflection

    for verb in ("write", "steal", "draw", "build"):
        (participle, *_) = getInflection(verb, "VBN")
        (past, *_) = getInflection(verb, "VBD")
        (made,) = outcomes("voice", f"Did Anna {verb} the plan?")
        assert made == f"Was the plan {participle} by Anna?"
        told = outcomes("imperative", f"Did Anna {verb} the plan?")
        assert f"Tell me whether Anna {past} the plan." in told


@parsed
def test_operators_share_one_parse_of_a_sentence():
    from sago_harness.variants.grammar.english import parse

    parse.cache_clear()
    for name in ("imperative", "declarative", "cleft", "voice", "fronting"):
        outcomes(name, "Who wrote Emma?", tries=1) if name != "fronting" else refused(name, "Who wrote Emma?")
    assert parse.cache_info().misses == 1


def test_every_operator_that_parses_says_so():
    for name in NAMES:
        requires = OPERATORS.load(name).requires
        if name not in ("swap", "lengthen"):
            assert set(PARSER) <= set(requires), name


@parsed
def test_a_list_with_an_empty_item_is_refused():
    assert refused("listing", "Tom bought:\n- apples\n-   \n- figs\n- pears") == "an empty item"
