"""Puts a phrase before or after a passage without disturbing what it asks."""

from __future__ import annotations

import re

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.text.graphemes import extends

# A last line such as "Answer:" is where the model goes on; nothing may come after it.
_CUE = re.compile(r"\n[^\n]{0,40}[:：]\s*\Z")
_END_MARKS = ".!?:;。！？：；…\"”'’」』）)]"
_SPACELESS = ("zh", "ja")


def body_end(passage: Passage) -> int:
    r"""Return the offset at which a closing phrase belongs.

    Before trailing white space and before a closing cue ("Answer:") on a line of its own,
    never inside a kept span.

    Raises
    ------
    Refused
        If the whole text is a cue, so that nothing can follow it.

    Examples
    --------
    >>> body_end(Passage("Who?\nAnswer:"))
    4
    """
    text = passage.text
    cue = _CUE.search(text)
    end = len(text[: cue.start()].rstrip()) if cue else 0
    if end == 0:
        end = len(text.rstrip())
        if text[:end].endswith((":", "：")):
            raise Refused("ends with a cue")
    for span in passage.keep:
        if span.start < end < span.end:
            end = span.end
    return end


def put_before(passage: Passage, phrase: str) -> str:
    """Return the text with a phrase in front.

    Raises
    ------
    Refused
        If the text begins with a mark that would join the phrase.

    Examples
    --------
    >>> put_before(Passage("Who is it?"), "Hello!")
    'Hello! Who is it?'
    """
    text = passage.text
    if extends(text[0]):
        raise Refused("begins with a combining mark")
    if phrase[-1].isspace() or text[0].isspace() or passage.language in _SPACELESS:
        return phrase + text
    return f"{phrase} {text}"


def put_after(passage: Passage, phrase: str) -> str:
    r"""Return the text with a phrase behind its body.

    A body that ends without a mark, or with an option or a formula, gets the phrase on a
    new line, so that it does not become a part of the last sentence or option.

    Raises
    ------
    Refused
        If nothing can follow the text.

    Examples
    --------
    >>> put_after(Passage("Who is it?\nAnswer:"), "Thank you.")
    'Who is it? Thank you.\nAnswer:'
    """
    text, end = passage.text, body_end(passage)
    if end < len(text) and extends(text[end]):
        raise Refused("ends with a combining mark")
    literal = any(
        span.end == end and span.kind in ("option", "code", "latex", "url", "path") for span in passage.keep
    )
    if literal or text[end - 1] not in _END_MARKS:
        glue = "\n"
    else:
        glue = "" if passage.language in _SPACELESS and not text[end - 1].isascii() else " "
    return text[:end] + glue + phrase + text[end:]


def is_question(text: str) -> bool:
    """Say whether a text asks something with a question mark.

    Examples
    --------
    >>> is_question("Who?"), is_question("谁？"), is_question("Translate this.")
    (True, True, False)
    """
    return any(mark in text for mark in "?？؟")
