"""The promises every negative control keeps: the text is another one, and still well formed."""

from __future__ import annotations

import abc
import functools
import random
import re
import unicodedata
from typing import ClassVar

from sago_harness.variants.base import Operator, Passage, Refused
from sago_harness.variants.parts.within import overlaps
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.graphemes import is_boundary

#: Kinds of literal whose inside is no running text, so that a change there is no change of meaning.
_CLOSED = frozenset(
    (
        "code",
        "latex",
        "email",
        "url",
        "path",
        "placeholder",
        "ip",
        "version",
        "option",
        "cue",
        "label",
        "token",
    )
)

Change = tuple[int, int, str]


class Contrary(Operator):
    """An operator that changes what is asked; subclasses find the places where they can.

    The output differs from the input and is in normal form C if the input is. Literal spans
    such as numbers may change, code, addresses, options and cues do not.
    """

    family = "control"
    languages = ("en", "zh")
    tables: ClassVar[tuple[str, ...]] = ("controls",)

    def apply(self, passage: Passage, rng: random.Random) -> str:
        """Return the text with one change; see :meth:`Operator.apply`."""
        text = passage.text
        if not text.strip():
            raise Refused("empty text")
        if passage.language not in self.languages:
            raise Refused(f"not for language {passage.language}")
        closed = [(span.start, span.end) for span in passage.keep if span.kind in _CLOSED]
        found = [
            (start, end, new)
            for start, end, new in self.changes(passage, rng)
            if is_boundary(text, start) and is_boundary(text, end) and not overlaps(closed, start, end)
        ]
        if not found:
            raise Refused("nothing to change")
        varied = self.write(text, found, rng)
        if varied == text:
            raise Refused("nothing to change")
        if unicodedata.is_normalized("NFC", text) and not unicodedata.is_normalized("NFC", varied):
            raise Refused("would leave normal form C")
        return varied

    @abc.abstractmethod
    def changes(self, passage: Passage, rng: random.Random) -> list[Change]:
        """Return the possible changes, (start, end, new text), in the order of the text."""

    def write(self, text: str, found: list[Change], rng: random.Random) -> str:
        """Make one of the changes, chosen by chance."""
        start, end, new = rng.choice(found)
        return text[:start] + new + text[end:]


class WordSwap(Contrary):
    """Replaces one word or phrase by what the section ``table`` says, where its neighbours allow it."""

    section: ClassVar[str]

    def changes(self, passage: Passage, rng: random.Random) -> list[Change]:
        """Look every word of the section up."""
        rules = read_table("controls")[self.section][passage.language]
        pattern = _pattern(self.section, passage.language)
        found = []
        for match in pattern.finditer(passage.text):
            word = match.group().lower()
            start, end = match.span()
            # Neighbours further away than this never decide, and long texts stay cheap.
            before, after = passage.text[max(0, start - 24) : start], passage.text[end : end + 24]
            if _fits(rules, word, before, after):
                found.append((*match.span(), match_case(match.group(), rules["swap"][word])))
        return found


def match_case(old: str, new: str) -> str:
    """Return a word in the letter case of the one it replaces.

    Examples
    --------
    >>> match_case("More", "less"), match_case("MORE", "less"), match_case("more", "less")
    ('Less', 'LESS', 'less')
    """
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


@functools.cache
def _pattern(section: str, language: str) -> re.Pattern[str]:
    words = sorted(read_table("controls")[section][language]["swap"], key=lambda word: (-len(word), word))
    body = "|".join(map(re.escape, words))
    # No part of a longer word, nor of a hyphenated or shortened one.
    return re.compile(body if language == "zh" else rf"(?<![\w'’\-])(?:{body})(?![\w'’]|-\w)", re.I | re.A)


@functools.cache
def _beside(words: str, behind: bool) -> re.Pattern[str]:
    if behind:
        # A digit or a Han character may touch the word, a word may not.
        body = rf"(?:{words})" if words.startswith(("\\d", "[")) else rf"(?<!\w)(?:{words})"
        return re.compile(rf"{body}[\s\-]*\Z", re.I)
    return re.compile(rf"\s+(?:{words})(?!\w)", re.I)


def _fits(rules: dict[str, dict[str, str]], word: str, before: str, after: str) -> bool:
    if (no := rules.get("not_after", {}).get(word)) and _beside(no, True).search(before):
        return False
    if (no := rules.get("not_before", {}).get(word)) and _beside(no, False).match(after):
        return False
    only = rules.get("only_after", {})
    need = only.get(word, only.get("*"))
    return need is None or _beside(need, True).search(before) is not None
