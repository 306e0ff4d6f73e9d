import pytest
from hypothesis import given
from hypothesis import strategies as st

from sago_harness.axes.script import is_empty, is_valid_unicode, script_of


@pytest.mark.parametrize(
    ("text", "tokenizer"),
    [
        ("", "13a"),
        ("12 + 30 = 42", "13a"),
        ("Blue lamp", "13a"),
        ("Größe, naïve, ça", "13a"),
        ("Синяя лампа стоит на столе", "13a"),
        ("파란 램프가 탁자 위에 있다", "13a"),
        ("المصباح الأزرق", "13a"),
        ("नीला दीपक", "13a"),
        ("一盏蓝色的灯", "zh"),
        ("答案是 42 km。", "zh"),
        ("𠀀𠀁𠀂", "zh"),
        ("青いランプがある", "char"),
        ("東京都 に", "char"),
        ("ﾗﾝﾌﾟ", "char"),
        ("โคมไฟสีฟ้า", "char"),
        ("ໂຄມໄຟສີຟ້າ", "char"),
        ("ចង្កៀងពណ៌ខៀវ", "char"),
        ("အပြာရောင်မီးအိမ်", "char"),
        ("སྒྲོན་མེ་སྔོན་པོ", "char"),
        ("The word 灯 means lamp", "13a"),
    ],
)
def test_tokenizer_fits_the_script(text: str, tokenizer: str) -> None:
    assert script_of(text) == tokenizer


def test_both_texts_decide_together() -> None:
    chinese, english = "一盏蓝色的灯", "ok"
    assert script_of(chinese, english) == script_of(english, chinese) == "zh"
    assert script_of("灯", "a blue lamp") == "13a"


@given(st.text(), st.text())
def test_order_is_without_effect(a: str, b: str) -> None:
    assert script_of(a, b) == script_of(b, a)
    assert script_of(a, b) in {"13a", "zh", "char"}


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x0c", "\x1c", "\u3000", "\xa0"])
def test_white_space_is_empty(text: str) -> None:
    assert is_empty(text)


def test_anything_else_is_not_empty() -> None:
    assert not is_empty("\x0cyes")
    assert not is_empty("\u200b")


@given(st.text(alphabet=st.characters()) | st.text(alphabet=st.characters(categories=["Cs", "Ll"])))
def test_valid_unicode_is_what_utf8_can_write(text: str) -> None:
    try:
        text.encode("utf-8")
        writable = True
    except UnicodeEncodeError:
        writable = False
    assert is_valid_unicode(text) == writable
