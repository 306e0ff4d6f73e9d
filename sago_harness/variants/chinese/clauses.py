"""Plain clauses: what does what, and what stands where."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from sago_harness.variants.base import Passage
from sago_harness.variants.chinese.sentences import BLOCK, touches
from sago_harness.variants.chinese.words import Word, words
from sago_harness.variants.phrases import read_table

_NOUNS = ("n", "nr", "nrt", "nrfg", "ns", "nt", "nz", "ng", "j", "s", "eng")
_PRONOUNS = frozenset(
    ["我", "你", "您", "他", "她", "它", "我们", "你们", "他们", "她们", "它们", "谁", "什么", "人们"]
)
# "所有人被…" and "把所有人…" call for a 都.
_WHOLE = re.compile("所有|每|全|大家|各|任何")
_POINTING = re.compile("[这那].?")
# A thing that is not known yet stands in no front place of a Chinese clause.
_COUNT = re.compile(r"^[一两几]|^[一两几二三四五六七八九十百千万]+[\u4e00-\u9fff]")


def tokens(text: str, start: int, end: int) -> tuple[Word, ...]:
    """Return the words of a text in a range; empty if one crosses its ends.

    Examples
    --------
    >>> [word.text for word in tokens("小明打破了杯子", 2, 7)]
    ['打破', '了', '杯子']
    """
    found = tuple(word for word in words(text) if word.end > start and word.start < end)
    return found if found and found[0].start == start and found[-1].end == end else ()


def is_thing(found: Sequence[Word]) -> bool:
    """Say whether words are a plain noun phrase: nouns, names, pronouns, joined by 的 or pointed at.

    Examples
    --------
    >>> is_thing(words("小明的杯子")), is_thing(words("打破杯子")), is_thing(words("一个杯子"))
    (True, False, False)
    """
    if not found or found[-1].text == "的" or _COUNT.match("".join(word.text for word in found)):
        return False
    for index, word in enumerate(found):
        noun = word.tag in _NOUNS or word.text in _PRONOUNS or word.text[0] == BLOCK
        joins = index > 0 and word.text == "的"
        if not (noun or joins or (_POINTING.fullmatch(word.text) and index < len(found) - 1)):
            return False
    return True


@functools.cache
def verb_pattern(kind: str) -> re.Pattern[str]:
    """Compile "verb 了" for the verbs of a kind, the longest first."""
    verbs = sorted(read_table("zh_voice")[kind], key=lambda verb: (-len(verb), verb))
    return re.compile(f"(?P<verb>{'|'.join(verbs)})了")


def moves(passage: Passage, start: int, end: int) -> bool:
    """Say whether a range can move as it is: no span sticks out of it."""
    return not any(
        span.start < start < span.end or span.start < end < span.end
        for span in (*passage.keep, *passage.leave)
    )


def transitive(passage: Passage, text: str, kind: str) -> tuple[str, str, str, str, int, int] | None:
    """Find the first clause "subject verb 了 object" with a verb of a kind.

    Parameters
    ----------
    passage : Passage
    text : str
        Its text with literals as blocks.
    kind : str
        Key of the table of verbs.

    Returns
    -------
    tuple or None
        Subject, verb, object, what follows the object (吗 or ""), start and end of the clause.
    """
    for clause in re.finditer(r"[^，,。！？!?；;：:、\n]+", text):
        match = verb_pattern(kind).search(clause.group())
        # A clause joined to others could lose what its neighbours refer to.
        if not match or text[clause.end() : clause.end() + 1] in ("，", ",", "、", "：", ":"):
            continue
        if clause.start() and text[clause.start() - 1] in "，,、":
            continue
        start, end = clause.span()
        end -= len(clause.group()) - len(clause.group().rstrip())
        tail = "吗" if text[start:end].endswith("吗") else ""
        verb, last = start + match.start(), start + match.end()
        # Cut apart: the whole may give "风吹|走".
        subject, thing = words(text[start:verb]), words(text[last : end - len(tail)])
        if not (is_thing(subject) and is_thing(thing)):
            continue
        if (
            _WHOLE.search(text[last:end])
            or touches(passage, verb, last)
            or not (moves(passage, start, verb) and moves(passage, last, end))
        ):
            continue
        raw = passage.text
        return raw[start:verb], match.group("verb"), raw[last : end - len(tail)], tail, start, end
    return None
