"""The span finder against hand-marked texts; expected pieces are written out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sago_harness.variants.base import Passage, Span
from sago_harness.variants.text.graphemes import is_boundary
from sago_harness.variants.text.spans import find_spans, keeps_order


def pieces(text, extra=()):
    return [text[span.start : span.end] for span in find_spans(text, extra=extra)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "Ping 10.0.0.7, release 2.0.13, at 3.5% on 2031-04-05.",
            ["10.0.0.7", "2.0.13", "3.5%", "2031-04-05"],
        ),
        ("It holds 1,234,567.5 litres.", ["1,234,567.5 litres"]),
        ("Between -3 and 2e-5 it costs $5 or €7.50.", ["-3", "2e-5", "$5", "€7.50"]),
        ("Take 5kg, 3 km/h and 20 °C.", ["5kg", "3 km/h", "20 °C"]),
        ("On 5 April 2031 and April 5, 2031 at 10:30 pm", ["5 April 2031", "April 5, 2031", "10:30 pm"]),
        ("See https://x.org/a?b=c. Then www.y.de/z, ok", ["https://x.org/a?b=c", "www.y.de/z"]),
        ("Mail jo.e+x@mail.example.org!", ["jo.e+x@mail.example.org"]),
        (r"Open /usr/lib/x.so, C:\tmp\a b and notes.txt", ["/usr/lib/x.so", r"C:\tmp\a", "notes.txt"]),
        ("Run `rm x` now", ["`rm x`"]),
        ("Fix:\n```py\nx = 1\n```\nplease", ["```py\nx = 1\n```"]),
        ("An open ```fence runs on", ["```fence runs on"]),
        (r"Let $x^2$ be \(y\), \[z\] or $$w$$", ["$x^2$", r"\(y\)", r"\[z\]", "$$w$$"]),
        ("He has $5 and she $6 now", ["$5", "$6"]),
        ('He said "go on" and “stop it”.', ['"go on"', "“stop it”"]),
        ("It's John's and the dogs' bone, don't", []),
        ("读《红楼梦》和「家」", ["《红楼梦》", "「家」"]),
        ("Dear {name}, [NAME], <x> and %s have ____", ["{name}", "[NAME]", "<x>", "%s", "____"]),
        ("H2O, GPT-4 and covid-19", ["H2O", "GPT-4", "covid-19"]),
        ("Reply with A, B or C.\nA. hen\nB. cow", ["A, B or C", "A. hen", "B. cow"]),
        ("Which?\n(A) hen\n(B) cow\n(C) ant", ["(A) hen", "(B) cow", "(C) ant"]),
        ("Which is it: (A) hen (B) cow?", ["(A) hen (B) cow?"]),
        ("哪个？\nA、鸡\nB、牛", ["A、鸡", "B、牛"]),
        ("A. Lincoln was born when?", []),
        ("Say positive or negative.", ["positive or negative"]),
        ("Answer yes or no.", ["yes or no"]),
        ("Answer with true, false or unknown.", ["true, false or unknown"]),
        ("Is it so? Yes or no?", ["Yes or no"]),
        ("请回答是或否。", ["是或否"]),
        ("会议在2031年4月5日下午3点，共3.5万人", ["2031年4月5日", "下午3点", "3.5万"]),
        ("第三章讲三百二十人", ["第三", "三百二十"]),
        ("Who wrote it?\nAnswer:", ["Answer:"]),
        ("What is the capital of France?", []),
        ("Is it (A) a hen or (B) a cow?\nSay it.", ["(A) a hen or (B) a cow?"]),
        ("Is it A. hen B. cow C. ant?", ["A. hen B. cow C. ant?"]),
        # The second letter stands on another line, or before a mark of another kind.
        ("Plan A. it goes\nThen B. it stops", []),
        ("It is (A) hot.\n(B) is cold", []),
        ("at   \n  3点 or 5 6时", ["3点", "5", "6时"]),
        ("a-b-c9 and x-1y-2", ["a-b-c9", "x-1y-2"]),
        ("ask a.b+c@mail.example.org or a@b.c+d@e.f", ["a.b+c@mail.example.org", "a@b.c", "+d@e.f"]),
        ("see git+ssh://x.org/a, a.b.c.d.e.example.com/x", ["git+ssh://x.org/a", "a.b.c.d.e.example.com/x"]),
        ("Label with either good  ,  fair   or   bad", ["good  ,  fair   or   bad"]),
        ("let \\(a + b\\) be \\begin{a}x\\end{a}", ["\\(a + b\\)", "\\begin{a}x\\end{a}"]),
        ("", []),
    ],
)
def test_kept_pieces(text, kept):
    assert pieces(text) == kept


def test_task_literals_are_found_by_position_and_only_as_words():
    text = "A hen, then a hen."
    spans = find_spans(text, extra=("hen",))
    assert [(span.start, span.end, span.kind) for span in spans] == [(2, 5, "task"), (14, 17, "task")]


def test_task_literals_in_chinese_need_no_border():
    assert pieces("北京的秋天", extra=("秋天",)) == ["秋天"]


def test_a_span_never_ends_inside_a_visible_character():
    text = "costs 5\u0301 and 3\ufe0f\u20e3 \U0001f469\u200d\U0001f467"
    assert pieces(text, extra=("\U0001f469",)) == ["5\u0301", "3\ufe0f\u20e3", "\U0001f469\u200d\U0001f467"]


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("e\u0301", 1, False),
        ("\r\n", 1, False),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 1, False),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 2, True),
        ("\U0001f469\u200d\U0001f467", 1, False),
        ("\U0001f469\u200d\U0001f467", 2, False),
        ("ab", 1, True),
        ("ab", 3, False),
    ],
)
def test_boundaries(text, at, expected):
    assert is_boundary(text, at) is expected


def test_order_counts():
    passage = Passage("3 or 4", keep=(Span(0, 1, "number"), Span(5, 6, "number")))
    assert keeps_order(passage, "x 3 y 4")
    assert not keeps_order(passage, "4 3")
    assert not keeps_order(passage, "3")


@given(st.text(max_size=60), st.lists(st.text(max_size=3), max_size=2))
def test_any_text_gives_sorted_spans_on_borders(text, extra):
    end = 0
    for span in find_spans(text, extra=tuple(extra)):
        assert end <= span.start < span.end <= len(text)
        assert is_boundary(text, span.start)
        assert is_boundary(text, span.end)
        end = span.end
