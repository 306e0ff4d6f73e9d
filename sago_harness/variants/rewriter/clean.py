"""Takes the rewritten text out of an answer: off with fences, prefaces and outer quotes."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.phrases import read_table

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.S)
_FENCE = re.compile(r"\A```\w*\n(.*?)\n?```\Z", re.S)
_FRAME = re.compile(r"\A-{3,}[ \t]*\n|\n-{3,}[ \t]*\Z")
_QUOTES = (('"', '"'), ("“", "”"), ("「", "」"), ("『", "』"), ("'", "'"), ("‘", "’"), ("*", "*"))


def clean(answer: str, source: str, language: str = "en") -> str:
    r"""Return the rewritten text of an answer, ``""`` if nothing is left.

    Only what the source does not have itself is taken off, and only at the ends; whatever
    else a writer adds is left for the checks to reject.

    Parameters
    ----------
    answer, source, language : str

    Examples
    --------
    >>> clean('Sure! Here is the rewritten text:\n\n"Who was it that wrote Emma?"', "Who wrote Emma?")
    'Who was it that wrote Emma?'
    >>> clean("Note: who wrote it?", "Who wrote it?")
    'Note: who wrote it?'
    """
    text = _THOUGHT.sub("", answer).strip()
    # "Sure: ```text```" has one cover in another; three rounds take off what is ever seen.
    for _ in range(3):
        before = text
        if not source.lstrip().startswith("```") and (fence := _FENCE.match(text)):
            text = fence[1].strip()
        if "---" not in source:
            text = _FRAME.sub("", text).strip()
        preface = _preface(language).match(text)
        if preface and not _preface(language).match(source) and text[preface.end() :].strip():
            text = text[preface.end() :].strip()
        text = _unquote(text, source)
        if text == before:
            break
    return text


def _unquote(text: str, source: str) -> str:
    for opening, closing in _QUOTES:
        inner = text[1:-1].strip()
        if (
            text[:1] == opening
            and text[-1:] == closing
            and inner
            and not source.strip().startswith(opening)
            and opening not in inner
            and closing not in inner
        ):
            return inner
    return text


@functools.cache
def _preface(language: str) -> re.Pattern[str]:
    r"""Match a first phrase that announces the text and ends with a colon, "**" around it or not."""
    words = read_table("rewriter")["prefaces"]
    starts = "|".join(re.escape(word) for word in (*words[language], *words["en"]))
    head, tail = r"\A[*#\s]*", r"[:：]\**(?=[\s\"“「*]|[^\x00-\x7f])"
    return re.compile(rf"{head}(?:{starts})(?![A-Za-z])[^\n:：]{{0,80}}{tail}", re.I)
