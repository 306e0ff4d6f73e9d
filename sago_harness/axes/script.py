"""Which script a text is written in, as far as counting its words needs it."""

from __future__ import annotations

import re

#: Share of the letters that a script must exceed to decide for both texts.
_DOMINANT = 0.5

_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
# Thai, Lao, Tibetan, Myanmar with its extensions, Khmer. Vowel signs are marks, not
# letters, so isalpha() must be asked as well.
_UNSPACED = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(map(str.isalpha, pattern.findall(text)))


def script_of(*texts: str) -> str:
    """Return the sacrebleu tokenizer that fits the script of the texts.

    Decided on the letters of all texts together, so the order of the texts is without
    effect and both directions of a comparison use the same tokenizer.

    Parameters
    ----------
    *texts : str
        Any texts; may be empty.

    Returns
    -------
    str
        ``"zh"`` when more than half of the letters are Han and there is no kana;
        ``"char"`` when more than half belong to scripts written without spaces (Japanese
        with its kanji, Thai, Lao, Khmer, Myanmar, Tibetan); else ``"13a"``.

    Examples
    --------
    >>> script_of("a blue lamp"), script_of("一盏蓝色的灯"), script_of("青いランプ")
    ('13a', 'zh', 'char')
    """
    text = "".join(texts)
    if text.isascii():
        return "13a"
    han, kana, unspaced = (_count(pattern, text) for pattern in (_HAN, _KANA, _UNSPACED))
    half = _DOMINANT * sum(map(str.isalpha, text))
    if han > half and not kana:
        return "zh"
    if han + kana + unspaced > half:
        # Han beside a little Thai is still not enough for "zh": its tokenizer would take
        # every run of Thai for one word.
        return "char"
    return "13a"


def is_empty(text: str) -> bool:
    r"""Tell whether nothing but white space is in the text (a form feed is white space).

    Examples
    --------
    >>> is_empty("\x0c"), is_empty("yes")
    (True, False)
    """
    return not text.strip()


def is_valid_unicode(text: str) -> bool:
    r"""Tell whether the text can be written as UTF-8, that is, has no lone surrogate.

    Examples
    --------
    >>> is_valid_unicode("naïve 😀"), is_valid_unicode("\ud83d")
    (True, False)
    """
    return text.isascii() or _SURROGATE.search(text) is None
