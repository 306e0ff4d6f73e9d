"""The sentences of a passage, and the one that an operator may rebuild."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import parse

#: Longer sentences are parsed badly too often.
MOST_TOKENS = 40

_END = re.compile(r"[.!?](?=\s+\S|\s*\Z)")
# A stop after one of these ends no sentence.
_ABBREVIATION = re.compile(
    r"(?<![^\W_])(?:[A-Z]|[A-Z]\.[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Mt|vs|etc|e\.g|i\.e|No|Jr|Sr|Inc|Ltd|Co|Gen|Gov|[ap]\.m)\Z"
)
# Quotes, brackets, dashes, lists: what the parser or the rules cannot be trusted with. An
# apostrophe is plain only on a letter's right.
_NOT_PLAIN = re.compile(
    r"[^\w\s.,?!$%'’\-/&+°€£]|(?<![^\W_])['’]|(?<![A-Z])[.?!]{2}|[?!]{2}|[?!]\.|\.\."
    r"|\s{2}|[\n\r\t\x0b\x0c]|_|\s-\s"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a passage.

    Attributes
    ----------
    start, end : int
        Offsets in the passage's text, the closing mark inside, white space outside.
    text : str
    """

    start: int
    end: int
    text: str

    @property
    def asks(self) -> bool:
        """Does it end with a question mark?"""
        return self.text.endswith("?")

    @property
    def plain(self) -> bool:
        """Has it a capital, a closing mark, and nothing inside that the rules cannot be trusted with?"""
        text = self.text
        return text[-1] in ".!?" and text[0].isupper() and not _NOT_PLAIN.search(text)

    def doc(self) -> Any:
        """Return its parse, alone.

        Raises
        ------
        Refused
            It is not one plain sentence of at most 40 tokens with a closing mark.
        """
        if not self.plain:
            raise Refused("no plain sentence")
        # A cheap bound first: no sentence within the limit has more letters.
        if len(self.text) > MOST_TOKENS * 12:
            raise Refused("too long a sentence")
        doc = parse(self.text)
        if not 3 <= len(doc) <= MOST_TOKENS:
            raise Refused("too long a sentence" if len(doc) > 3 else "too short a sentence")
        if doc[-1].text not in (".", "!", "?") or sum(token.dep_ == "ROOT" for token in doc) != 1:
            raise Refused("no plain sentence")
        return doc


def sentences(text: str) -> list[Sentence]:
    """Split a text where a stop is followed by white space, known abbreviations apart.

    Examples
    --------
    >>> [one.text for one in sentences("Mr. Hill left. Why?")]
    ['Mr. Hill left.', 'Why?']
    """
    found: list[Sentence] = []
    at = 0
    last = len(text.rstrip())
    for match in [*_END.finditer(text), None]:
        end = len(text) if match is None else match.end()
        short = match and match.group() == "." and _ABBREVIATION.search(text[max(0, end - 9) : end - 1])
        # At the very end the stop closes the sentence all the same.
        if short and end < last:
            continue
        piece = text[at:end]
        stripped = piece.strip()
        if stripped:
            start = at + len(piece) - len(piece.lstrip())
            found.append(Sentence(start, start + len(stripped), stripped))
        at = end
    return found


def the_question(passage: Passage) -> Sentence:
    """Return the only question of a passage.

    Raises
    ------
    Refused
        There is none, or more than one.
    """
    found = [sentence for sentence in sentences(passage.text) if sentence.asks]
    if passage.text.count("?") != 1 or not found:
        raise Refused("not one question")
    return found[0]


def the_statement(passage: Passage) -> Sentence:
    """Return the sentence of a passage that is one statement or one request.

    Raises
    ------
    Refused
        The passage has more than one sentence, or asks with a question mark.
    """
    found = sentences(passage.text)
    if len(found) != 1 or "?" in passage.text:
        raise Refused("not one statement")
    return found[0]


def replaced(passage: Passage, sentence: Sentence, new: str) -> str:
    """Return the passage's text with one sentence exchanged."""
    return passage.text[: sentence.start] + new + passage.text[sentence.end :]


def with_stop(text: str) -> str:
    """Return a clause as a statement; the stop of an abbreviation closes it too.

    Examples
    --------
    >>> with_stop("I live in the U.S."), with_stop("I live here")
    ('I live in the U.S.', 'I live here.')
    """
    return text if text.endswith(".") else text + "."


def upper_first(text: str) -> str:
    """Return a text with a capital at its head.

    Examples
    --------
    >>> upper_first("where he went")
    'Where he went'
    """
    return text[:1].upper() + text[1:]


def lower_first(text: str) -> str:
    """Return a text without a capital at its head; the caller knows that it is no name.

    Examples
    --------
    >>> lower_first("Where he went"), lower_first("I went")
    ('where he went', 'I went')
    """
    if re.match(r"I\b", text):
        return text
    return text[:1].lower() + text[1:]
