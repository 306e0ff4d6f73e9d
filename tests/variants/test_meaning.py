"""Which words carry the meaning, and when a variant has lost one."""

import pytest

from sago_harness.data import Document
from sago_harness.variants.base import Passage, Span
from sago_harness.variants.build import build, make_passage
from sago_harness.variants.constraints.semantic import Semantic
from sago_harness.variants.recipe import load_recipe
from sago_harness.variants.text.alike import edits_allowed, one_script, within_edits
from sago_harness.variants.text.meaning import find_meaning


def found(text, language="en", keep=()):
    return [(text[span.start : span.end], span.kind) for span in find_meaning(text, language, keep)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who wrote Emma?", [("Emma", "name")]),
        ("Shakespeare wrote it.", [("Shakespeare", "name")]),
        # A capital at the head of a sentence makes no name of a common word.
        ("Which is it? Tell me.", []),
        ("I think I'm late.", []),
        ("WHO WROTE EMMA IN PARIS", [("EMMA", "name"), ("PARIS", "name")]),
        ("Don't they?", [("Don't", "negation")]),
        ("They don\u2019t know nothing", [("don\u2019t", "negation"), ("nothing", "negation")]),
        (
            "Is he the tallest, or older than most?",
            [
                ("tallest", "comparative"),
                ("older", "comparative"),
                ("than", "comparative"),
                ("most", "comparative"),
            ],
        ),
        (
            "Have all of them seen both twice?",
            [("all", "quantifier"), ("both", "quantifier"), ("twice", "quantifier")],
        ),
        ("", []),
        ("?!", []),
    ],
)
def test_english_words(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("法国的首都不是哪里？", [("法国", "name"), ("不", "negation")]),
        # 首都 holds no "all", 是不是 asks and does not deny, 比如 compares nothing.
        ("首都是不是这样，比如那里？", []),
        ("所有人都比他高吗？", [("所有", "quantifier"), ("都", "quantifier"), ("比", "comparative")]),
        ("列夫·托尔斯泰写了什么？", [("列夫·托尔斯泰", "name")]),
        ("Anna写了什么？", [("Anna", "name")]),
    ],
)
def test_chinese_words(text, expected):
    assert found(text, "zh") == expected


def test_a_word_in_a_literal_is_left_to_it():
    text = 'Did "Anna Karenina" meet Levin?'
    assert found(text, keep=(Span(4, 19, "quote"),)) == [("Levin", "name")]


def test_one_edit_per_four_letters():
    assert [edits_allowed(word) for word in ("", "abc", "abcd", "abcdefg", "abcdefgh")] == [0, 0, 1, 1, 2]
    assert within_edits("karenina", "karneian")  # two swaps
    assert within_edits("anna", "annna")
    assert not within_edits("bob", "rob")


KEPT = [
    ("Why did Anna not leave?", "why didn't anna leave"),
    ("Why did Anna not leave?", "why didnt Ana leave"),
    ("Is it older than Rome?", "IS IT OLDER THAN ROME?"),
    ("Is it AFI's list?", "is it afis list"),
    ("Who is tall?", "I don't know more than this: Who is tall?"),
    ("Pick one.\nAnswer:", "Pick one. See you later!\nAnswer:"),
]
LOST = [
    ("Why did Anna not leave?", "Why did Anna leave?", "negation 'not' is lost"),
    ("Why did Anna leave?", "Why did Anna not leave?", "negation 'not' is new"),
    ("Why did Anna leave?", "Why did Vera leave?", "name 'Anna' is lost"),
    ("Is it older?", "Is it younger?", "comparative 'older' is lost"),
    # One letter apart, but another word of the lists and no slip.
    ("Is it older?", "Is it colder?", "comparative 'older' is lost"),
    ("Do all of them fly?", "Do some of them fly?", "quantifier 'all' is lost"),
    ("Are there three of them?", "Are there two of them?", "quantifier 'three' is lost"),
]


@pytest.mark.parametrize(("text", "variant"), KEPT)
def test_a_variant_that_keeps_the_words_passes(text, variant):
    assert Semantic().check(make_passage(text), variant).passed


@pytest.mark.parametrize(("text", "variant", "reason"), LOST)
def test_a_variant_that_turns_a_word_fails(text, variant, reason):
    check = Semantic().check(make_passage(text), variant)
    assert (check.passed, check.reason) == (False, reason)


@pytest.mark.parametrize(
    ("text", "variant", "passed"),
    [
        ("法国的首都是哪里？", "哪里是法国的首都？", True),
        ("地球不是圆的吗？", "地球是圆的吗？", False),
        ("地球是圆的吗？", "地球不是圆的吗？", False),
        ("谁写了它？", "我不太确定怎么问：谁写了它？", True),
        ("他有没有来？", "他 有 没 有 来？", True),
        ("所有鸟都会飞吗？", "有些鸟会飞吗？", False),
    ],
)
def test_chinese_variants(text, variant, passed):
    assert Semantic().check(make_passage(text, "zh"), variant).passed is passed


def test_chinese_in_traditional_characters_keeps_its_words():
    pytest.importorskip("opencc")
    assert Semantic().check(make_passage("亚洲没有大国吗？", "zh"), "亞洲沒有大國嗎？").passed


def test_the_value_is_the_share_of_words_kept():
    check = Semantic().check(make_passage("Did Anna, Vera, Olga and Nina go?"), "Did Anna, Vera and Nina go?")
    assert check.value == 0.75
    assert Semantic().check(Passage("who is it"), "who was it").value == 1.0


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("Did Tom beat Bob?", "Did Bob beat Tom?"),
        ("Is Maria taller than Mario?", "Is Mario taller than Maria?"),
        ("Can you only eat these?", "Only can you eat these?"),
        ("Tell me what to not say and do.", "Tell me what to say and not do."),
    ],
)
def test_words_that_change_places_among_the_same_words_are_no_variant(text, variant):
    assert "changed places" in Semantic().check(make_passage(text), variant).reason


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("What happens if you never sleep?", "If you never sleep, what happens?"),
        ("Is Maria taller than Mario?", "maria taller than mario is"),
    ],
)
def test_a_reordering_that_takes_other_words_along_passes(text, variant):
    assert Semantic().check(make_passage(text), variant).passed


@pytest.mark.parametrize(
    ("text", "variant", "passed"),
    [
        ("Who rules Iran?", "Who rules Iraq?", False),
        ("Is it Slovakia?", "Is it Slovenia?", False),
        ("Who wrote Karenina?", "Who wrote Karenin?", True),
        ("Where is Slovakia?", "Where is Slovakai?", True),
    ],
)
def test_another_known_name_is_no_slip(text, variant, passed):
    assert Semantic().check(make_passage(text), variant).passed is passed


@pytest.mark.parametrize("odd", ["谁写了\ud800这本书？", "谁\x00写了这本书？", "Who\ud800 is it, never?"])
def test_odd_characters_stop_no_document(odd):
    language = "zh" if "谁" in odd else "en"
    made = build(Document("1", {"q": odd}, language), load_recipe("default"), 0)
    assert len(made.variants) > 3


def test_one_script_reads_past_a_zero():
    pytest.importorskip("opencc")
    assert one_script("這裡\x00國家") == "这里\x00国家"
