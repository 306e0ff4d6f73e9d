"""Questions for yes or no in Chinese: with 吗, with 是否, with the verb said twice."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.clauses import tokens
from sago_harness.variants.chinese.sentences import BLOCK, last_question, masked
from sago_harness.variants.chinese.words import Word, words
from sago_harness.variants.phrases import read_table

_CLAUSE = re.compile(r"[^，,：:、]+\Z")
# A negation, a rhetorical turn or a focus ("只有人类…") would have another scope.
_NEGATED = re.compile(r"不|没|沒|别(?![的人墅称])|非(?![洲常])|难道|莫非|岂|何尝|[只仅连]")
# What comes before the subject and may have verbs of its own; a subject need not follow.
_LEAD = re.compile(r"请问|.{1,10}的时候")
_YOU = ("你", "您")
# Subjects that are not one thing take no 是否 behind them.
_OPEN = ("有人", "有", "谁", "什么", "哪", "哪个", "哪些", "几", "多少", "任何")
# What may stand before the predicate: a subject, a place, a time.
_BEFORE = frozenset(
    [
        "n", "nr", "nrt", "nrfg", "ns", "nt", "nz", "ng", "j", "s", "eng", "r", "rr", "p", "f", "t", "m",
        "uj", "x", "q", "b", "a", "c", "zg", "l", "mq", "vn", "uv",
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """The predicate of a question with 吗: its range, where adverbs before it begin, and where 吗 stands."""

    start: int
    end: int
    adverb: int
    particle: int
    predicate: str


def asked(passage: Passage) -> Asked:
    """Find the predicate of the last question, which must end with 吗.

    Raises
    ------
    Refused
        If it is not plain which word is asked about.

    Examples
    --------
    >>> asked(Passage("鸟都会飞吗？", "zh"))
    Asked(start=2, end=3, adverb=1, particle=4, predicate='会')
    """
    sentence = last_question(passage)
    if not sentence or not sentence.text.endswith("吗"):
        raise Refused("no question with 吗")
    clause = _CLAUSE.search(sentence.text)
    if not clause or _NEGATED.search(clause.group()):
        raise Refused("not a plain question")
    start, particle = sentence.start + clause.start(), sentence.end - 1
    lead = _LEAD.match(clause.group())
    start += lead.end() if lead else 0
    return _predicate(tokens(masked(passage), start, particle + 1), particle, lead is not None)


def _predicate(found: tuple[Word, ...], particle: int, led: bool) -> Asked:
    table = read_table("zh_yes_no")
    for index, word in enumerate(found):
        if word.text in table["predicates"]:
            adverb = index
            while adverb and found[adverb - 1].text in table["adverbs"]:
                adverb -= 1
            rest = found[index + 1 :]
            # A predicate that belongs to a noun ("会飞的鸟是…吗") is not the one asked about.
            nested = word.text != "是" and any(other.text == "是" for other in rest)
            nested = nested and not (index == 1 and found[0].text in _YOU)
            bare = rest[0].text == "吗" and word.text in ("是", "有")
            if (
                nested
                or bare
                or any(other.text in _OPEN for other in found[:index])
                or not (adverb or led)
                or rest[0].text in ("的", "过", "了")
            ):
                break
            return Asked(word.start, word.end, found[adverb].start, particle, word.text)
        if word.tag not in _BEFORE and word.text not in table["adverbs"] and word.text[0] != BLOCK:
            break
    raise Refused("no plain predicate")


@dataclass(frozen=True, slots=True)
class Alternative:
    """The word that asks in a question without 吗: its range, and what a question with 吗 has there."""

    start: int
    end: int
    plain: str


def alternative(passage: Passage) -> tuple[Alternative, int]:
    """Find 是否 or a verb said twice in the last question, and the question's end.

    Raises
    ------
    Refused
        If there is none, or more of the question would change.

    Examples
    --------
    >>> alternative(Passage("地球是不是圆的？", "zh"))
    (Alternative(start=2, end=5, plain='是'), 7)
    """
    sentence = last_question(passage)
    if not sentence or sentence.text[-1] in "吗呢吧呀啊":
        raise Refused("no question with 是否")
    clause = _CLAUSE.search(sentence.text)
    matches = list(_choices().finditer(clause.group())) if clause else []
    if not clause or len(matches) != 1:
        raise Refused("no question with 是否")
    (match,) = matches
    start = sentence.start + clause.start()
    # Cut apart, because "狗能|不能" is what the whole gives.
    before, after = words(clause.group()[: match.start()]), words(clause.group()[match.end() :])
    if not before or not after or _NEGATED.search(clause.group().replace(match.group(), "")):
        raise Refused("not a plain question")
    if any(word.tag not in _BEFORE and word.text[0] != BLOCK for word in before) or before[-1].text == "的":
        raise Refused("asks inside another clause")
    plain = _plain(match.group(), after)
    return Alternative(start + match.start(), start + match.end(), plain), sentence.end


def _plain(form: str, after: tuple[Word, ...]) -> str:
    nxt = after[0]
    acts = nxt.tag in ("v", "vn", "vd", "d", "p", "zg") or nxt.text in read_table("zh_yes_no")["predicates"]
    if nxt.text == "为":
        raise Refused("是否 before 为")
    if nxt.text.startswith("是"):
        return ""
    # "是…的" and "是真的" need their 是.
    acts = acts and after[-1].text != "的"
    if form == "是否":
        return "" if acts or nxt.tag == "a" else "是"
    if form == "是不是":
        return "" if acts else "是"
    if form == "有没有" and acts:
        if not any(word.text == "过" or word.text.endswith("过") for word in after):
            raise Refused("有没有 before a verb")
        return ""
    return _back()[form]


@functools.cache
def _back() -> dict[str, str]:
    table = read_table("zh_yes_no")
    return {form: word for key in ("short", "predicates") for word, form in table[key].items()}


@functools.cache
def _choices() -> re.Pattern[str]:
    forms = sorted([*_back(), "是否"], key=lambda form: (-len(form), form))
    return re.compile("|".join(forms))
