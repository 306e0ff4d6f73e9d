"""Finds English short forms ("what's", "don't") that have one full form only."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

from sago_harness.variants.phrases import read_table

_SHORT = re.compile(r"(?<![\w'’\-])([A-Za-z]+?)(n['’]t|['’](?:s|re|ve|ll|m))(?![\w'’\-])", re.I)
_NEXT = re.compile(r"[^\S\n]+([A-Za-z]+)")
_LAST_WORD = re.compile(r"([\w'’]+)([^\w'’]*)\Z")
_SENTENCE_END = re.compile(r"[.?!。？！](?!\w)")

_DOES = re.compile(r"\b(?:go|goes|from|work|do|say|mean|cost|want|need|for|know)\s*\?\s*\Z")
_ENDINGS = {"'s": "is", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}


def full_forms(text: str) -> Iterator[tuple[int, int, str]]:
    """Find what can be written out: start, end and the full form of each.

    Where a question turns subject and verb round, "not" goes behind the pronoun ("isn't it",
    "is it not"); before another subject the short form stays. A possessive, a short "has" or
    "does", and 'd, which may be "had" or "would", stay too.

    Parameters
    ----------
    text : str

    Yields
    ------
    tuple of (int, int, str)
        In order, non-overlapping.

    Examples
    --------
    >>> list(full_forms("What's Anna's cat?")), list(full_forms("Isn't it so?"))
    ([(0, 6, 'What is')], [(0, 8, 'Is it not')])
    """
    if "'" not in text and "’" not in text:
        return
    for match in _SHORT.finditer(text):
        word, ending = match[1], match[2].lower().replace("’", "'")
        follower = _NEXT.match(text, match.end())
        if ending == "n't":
            made = _negated(text, match, follower)
        else:
            full = _verb(text, word.lower(), ending, match.end(), follower)
            made = (match.end(), f"{word} {_like(match[2], full)}") if full else None
        if made:
            yield match.start(), *made


def _negated(text: str, match: re.Match[str], follower: re.Match[str] | None) -> tuple[int, str] | None:
    words, lower = _words(), match[1].lower()
    irregular: dict[str, str] = words["not_irregular"]
    if lower not in words["not"] and lower not in irregular:
        return None
    verb, negation = irregular.get(lower, lower), _like(match[2], "not")
    full = match[1] if verb == lower else _like(match[2], verb)
    if match[1][0].isupper():
        full = full[0].upper() + full[1:]
    before, at_border = _before(text, match.start())
    nearest = follower[1].lower() if follower else ""
    if follower and (
        nearest in words["subjects"]
        or (
            nearest in words["either"]
            and (at_border or before in words["asking"] or before in words["joining"])
        )
    ):
        return follower.end(), f"{full}{follower[0]} {negation}"
    if before in words["asking"]:
        return None
    if nearest in words["either"] and before not in (
        *words["subjects"],
        *words["either"],
        *words["is"],
        "this",
    ):
        return None
    asks = _sentence(text, match.end()).endswith(("?", "？"))
    if at_border and (asks or verb != "do"):
        return None
    # "Which foods don't cats eat?", "... but isn't the sky blue?": the subject follows.
    plural = verb in ("do", "did") and nearest.endswith("s") and not nearest.endswith("ss")
    if asks and (plural or (nearest in words["determiners"] and before in words["joining"])):
        return None
    return match.end(), full + ("" if verb == "can" else " ") + negation


def _verb(text: str, word: str, ending: str, end: int, follower: re.Match[str] | None) -> str:
    words = _words()
    if ending == "'s" and word in words["us"]:
        return "us"
    full = _ENDINGS[ending]
    fits = word in words[full] and (full != "is" or _reads_is(text, word, end, follower))
    return full if fits else ""


def _reads_is(text: str, word: str, end: int, follower: re.Match[str] | None) -> bool:
    words = _words()
    if follower is None:
        # Nothing to lean on; a number or a quotation may follow, but "there's 3" hides a plural.
        return word != "there" and text[end : end + 1] == " " and not text[end : end + 2].isspace()
    nearest, at = follower[1].lower(), follower.end()
    while nearest in words["adverbs"]:
        beyond = _NEXT.match(text, at)
        if beyond is None:
            break
        nearest, at = beyond[1].lower(), beyond.end()
    if nearest in words["placed"]:
        return True
    if nearest in words["named"]:
        return word in ("it", "what", "that")
    ends = nearest.endswith(("ed", "en")) and nearest not in words["no_participles"]
    if ends or nearest in words["participles"]:
        return False
    if word == "there":
        return nearest in words["singular"]
    if word not in words["asking"]:
        return True
    if nearest in words["pronouns"]:
        # "What's it like", but "what's it do".
        second = _NEXT.match(text, follower.end())
        return second is None or second[1].lower() in ("like", "called", "about")
    return not _DOES.search(_sentence(text, end))


def _before(text: str, start: int) -> tuple[str, bool]:
    """Return the word before, and whether a mark or the text's edge stands in between."""
    found = _LAST_WORD.search(text[max(0, start - 40) : start])
    if found is None:
        return "", True
    return found[1].lower(), bool(found[2].strip()) or "\n" in found[2]


def _sentence(text: str, at: int) -> str:
    """Return the rest of the sentence, its closing mark included."""
    mark = _SENTENCE_END.search(text, at)
    return text[at : mark.end()] if mark else text[at:]


def _like(model: str, word: str) -> str:
    """Return the word in capitals if the model's letters are."""
    return word.upper() if model.upper() == model else word


@functools.cache
def _words() -> dict[str, Any]:
    table = read_table("full_forms")
    return {name: frozenset(words) if isinstance(words, list) else words for name, words in table.items()}
