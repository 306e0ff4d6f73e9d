"""Another part of a Chinese question comes first."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.clauses import is_thing, moves, tokens
from sago_harness.variants.chinese.sentences import BLOCK, Sentence, last_question, masked
from sago_harness.variants.chinese.words import words
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table

_WHO = r"谁|哪位[^\W\d_的是在了]{0,4}|哪个[^\W\d_的是在了]{1,4}"
_WHICH = (
    r"谁|哪里|哪儿|哪[个座位种条颗只项部本家支所款门](?![年月天日时])[^\W\d_的是在了有]{0,4}"
    r"|哪一[个座位种条颗只项部本家支所款门][^\W\d_的是在了有]{0,4}"
)
_BE = re.compile(rf"(?P<thing>.+?)是(?P<which>{_WHICH})\Z")
_BE_BACK = re.compile(r"(?P<which>谁|哪里|哪儿)是(?P<thing>.+)\Z")
_OPENING = re.compile(r"请|那么|那(?![个些位座条])|难道|究竟|到底|你|我|您|这是|其中|另外|如果|假如")
# What makes a noun phrase name one thing: a link, a superlative or an order.
_DEFINITE = re.compile("[的最第]")


class ZhTopic(Guarded):
    """Moves a part of the last question to the front, or back.

    "谁写了X？" and "X是谁写的？"; "X的Y是哪里？" and "哪里是X的Y？"; "X在T…" becomes "在T，X…";
    为什么 stands before the subject or behind it.

    Examples
    --------
    >>> ZhTopic().apply(Passage("谁发明了电话？", "zh"), random.Random(1))
    '电话是谁发明的？'
    """

    name = "zh_topic"
    family = "structure"
    languages = ("zh",)
    requires = ("rjieba",)
    tables: ClassVar[tuple[str, ...]] = ("zh_topic",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose among the moves that fit."""
        sentence = last_question(passage)
        if not sentence or _OPENING.match(sentence.text) or re.search("[，,、：:]", sentence.text):
            raise Refused("no plain question")
        found = list(_orders(passage, sentence))
        if not found:
            raise Refused("no part that can move")
        text = passage.text
        return text[: sentence.start] + rng.choice(found) + text[sentence.end :]


def _orders(passage: Passage, sentence: Sentence) -> Iterator[str]:
    """Yield the other orders of a question's parts."""

    def part(match: re.Match[str], name: str) -> str:
        start, end = match.span(name)
        return passage.text[sentence.start + start : sentence.start + end] if start >= 0 else ""

    def whole(match: re.Match[str]) -> bool:
        return all(
            moves(passage, sentence.start + match.start(name), sentence.start + match.end(name))
            for name in match.groupdict()
            if match.start(name) >= 0
        )

    made, back = _making()
    if (match := made.match(sentence.text)) and whole(match) and _known(passage, sentence, match):
        yield f"{part(match, 'thing')}是{part(match, 'who')}{part(match, 'how')}{part(match, 'verb')}的"
    if (match := back.match(sentence.text)) and whole(match) and _known(passage, sentence, match):
        yield f"{part(match, 'who')}{part(match, 'how')}{part(match, 'verb')}了{part(match, 'thing')}"
    if (match := _BE.match(sentence.text)) and whole(match) and _definite(passage, sentence, match):
        yield f"{part(match, 'which')}是{part(match, 'thing')}"
    if (match := _BE_BACK.match(sentence.text)) and whole(match) and _definite(passage, sentence, match):
        yield f"{part(match, 'thing')}是{part(match, 'which')}"
    yield from _why_moved(passage, sentence)
    yield from _time_first(passage, sentence)


def _known(passage: Passage, sentence: Sentence, match: re.Match[str]) -> bool:
    """Say whether the thing made is one plain, known thing."""
    start, end = (sentence.start + at for at in match.span("thing"))
    return is_thing(tokens(masked(passage), start, end))


def _definite(passage: Passage, sentence: Sentence, match: re.Match[str]) -> bool:
    thing = match.group("thing")
    if (
        len(thing) < 3
        or not _DEFINITE.search(thing)
        or re.search("[的是谁哪吗]$|是|什么|谁|哪|几|多少", thing)
    ):
        return False
    found = tokens(
        masked(passage), sentence.start + match.start("thing"), sentence.start + match.end("thing")
    )
    return bool(found) and found[-1].tag not in ("nr", "nrt", "nrfg", "nz", "r", "f", "y", "uj")


def _why_moved(passage: Passage, sentence: Sentence) -> Iterator[str]:
    """Yield the question with 为什么 before its subject, or behind it."""
    text, raw = masked(passage), passage.text
    at = sentence.text.find("为什么")
    if at < 0 or sentence.text.count("为什么") > 1:
        return
    start, end = sentence.start + at, sentence.start + at + 3
    rest = words(text[end : sentence.end])
    if at:
        if is_thing(words(text[sentence.start : start])) and rest and moves(passage, sentence.start, start):
            yield f"为什么{raw[sentence.start : start]}{raw[end : sentence.end]}"
        return
    verb = next((index for index, word in enumerate(rest) if word.tag in ("v", "d", "p")), 0)
    border = end + sum(len(word.text) for word in rest[:verb])
    # A verb with 的 behind it may belong to a noun: then the subject is longer.
    plain = (rest and rest[verb].text == "是") or "的" not in text[border : sentence.end]
    # The segmenter may take "人会" for a noun.
    modal = text[border - 1] in "会能要可得不"
    if verb and plain and not modal and is_thing(rest[:verb]) and moves(passage, end, border):
        yield f"{raw[end:border]}为什么{raw[border : sentence.end]}"


def _time_first(passage: Passage, sentence: Sentence) -> Iterator[str]:
    """Yield the question with "在 + time" before its subject."""
    match = _time().search(sentence.text)
    if not match or not match.start():
        return
    start, end = (sentence.start + at for at in match.span())
    text = masked(passage)
    block = match.group().strip("在" + "期间时的候")
    if set(block) == {BLOCK} and not any(
        span.kind == "date" and span.start >= start and span.end <= end for span in passage.keep
    ):
        return
    subject, rest = tokens(text, sentence.start, start), tokens(text, end, sentence.end)
    if not (is_thing(subject) and rest and rest[0].tag in ("v", "vn", "d", "p")):
        return
    # Two times or a relative clause: what the time belongs to is not plain.
    if (rest[0].tag == "p" and rest[0].text == "在") or subject[0].text == "什么":
        return
    if moves(passage, sentence.start, start) and moves(passage, start, end):
        raw = passage.text
        yield f"{raw[start:end]}，{raw[sentence.start : start]}{raw[end : sentence.end]}"


@functools.cache
def _making() -> tuple[re.Pattern[str], re.Pattern[str]]:
    table = read_table("zh_topic")
    verbs, adverbs = "|".join(table["made"]), "|".join(table["adverbs"])
    how = rf"(?P<how>(?:在[^，的了是]{{1,10}}?)?(?:{adverbs})?)"
    return (
        re.compile(rf"(?P<who>{_WHO}){how}(?P<verb>{verbs})了(?P<thing>.+)\Z"),
        re.compile(rf"(?P<thing>.+?)是(?P<who>{_WHO}){how}(?P<verb>{verbs})的\Z"),
    )


@functools.cache
def _time() -> re.Pattern[str]:
    times = sorted(read_table("zh_topic")["times"], key=lambda word: (-len(word), word))
    return re.compile(f"在(?:{BLOCK}+|{'|'.join(times)})(?:期间|的时候|时)?")
