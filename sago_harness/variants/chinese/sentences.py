"""Sentences and clauses of a Chinese text, with literal spans seen as one block."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from sago_harness.variants.base import Passage

#: Stands for every character of a literal span: no mark or word in one is seen.
BLOCK = "\ue000"
_SENTENCE = re.compile(r"([^。！？!?；;…\n]+)([。！？!?；;…]?)")
_LEAD = re.compile(r"\s*(?:[^，,：:\s]{1,6}[：:]\s*)?")
#: Words that make a question ask for something other than yes or no.
ASKING = re.compile(
    r"什么|谁|哪|怎么|怎样|怎麼|什麼|為何|为何|何时|何地|何处|何人|多少|几[^乎何]|多(?:大|高|长|远|久|重|深|快|宽|厚)|是否|是不是"
    r"|有没有|会不会|能不能|可不可以|要不要|还是"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without its lead ("问题：") and its mark.

    Attributes
    ----------
    start, end : int
        Range in the passage.
    text : str
        The words, literal spans as blocks.
    mark : str
        The closing mark, "" if there is none.
    """

    start: int
    end: int
    text: str
    mark: str

    @property
    def asks(self) -> bool:
        """Whether it ends with a question mark."""
        return self.mark in ("？", "?")


@functools.lru_cache(maxsize=4096)
def masked(passage: Passage) -> str:
    """Return the text with every character of a literal span as :data:`BLOCK`.

    Examples
    --------
    >>> from sago_harness.variants.base import Span
    >>> masked(Passage("有3只", "zh", (Span(1, 2, "number"),))) == "有" + BLOCK + "只"
    True
    """
    chars = list(passage.text)
    for span in passage.keep:
        chars[span.start : span.end] = BLOCK * (span.end - span.start)
    return "".join(chars)


@functools.lru_cache(maxsize=4096)
def sentences(passage: Passage) -> tuple[Sentence, ...]:
    """Return the sentences that have words outside literal spans.

    Examples
    --------
    >>> [(item.text, item.mark) for item in sentences(Passage("问题：天是蓝的。草呢？", "zh"))]
    [('天是蓝的', '。'), ('草呢', '？')]
    """
    text, found = masked(passage), []
    for match in _SENTENCE.finditer(text):
        lead = _LEAD.match(text, match.start(), match.end(1))
        start = lead.end() if lead else match.start()
        end = match.end(1)
        while end > start and text[end - 1].isspace():
            end -= 1
        if text[start:end].strip(BLOCK):
            found.append(Sentence(start, end, text[start:end], match.group(2)))
    return tuple(found)


def last_question(passage: Passage) -> Sentence | None:
    """Return the last sentence with a question mark.

    Examples
    --------
    >>> last_question(Passage("谁？哪里？好。", "zh")).text
    '哪里'
    """
    return next((item for item in reversed(sentences(passage)) if item.asks), None)


def cuts(passage: Passage, at: int) -> bool:
    """Say whether an offset lies inside a literal or semantic span.

    Examples
    --------
    >>> from sago_harness.variants.base import Span
    >>> passage = Passage("有30只", "zh", (Span(1, 3, "number"),))
    >>> [at for at in range(5) if cuts(passage, at)]
    [2]
    """
    return any(span.start < at < span.end for span in (*passage.keep, *passage.leave))


def touches(passage: Passage, start: int, end: int) -> bool:
    """Say whether a range overlaps a literal or semantic span."""
    return any(span.start < end and start < span.end for span in (*passage.keep, *passage.leave))
