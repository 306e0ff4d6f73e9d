"""Closed classes of English words, and the forms of a verb."""

from __future__ import annotations

import functools
from typing import Any

from sago_harness.variants.base import Refused
from sago_harness.variants.phrases import read_table

TABLE = "grammar"


@functools.cache
def words(name: str) -> frozenset[str]:
    """Return a list of ``tables/grammar.json`` as a set."""
    return frozenset(read_table(TABLE)[name])


@functools.cache
def _inflections(lemma: str, tag: str) -> tuple[str, ...]:
    from lemminflect import getInflection

    return tuple(getInflection(lemma, tag, inflect_oov=False))


def inflect(lemma: str, tag: str) -> str:
    """Return a form of a verb, by its Penn tag ("VBD", "VBZ", "VBN", "VBG").

    Raises
    ------
    Refused
        The dictionary does not have the verb, or its past form depends on the sense.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> inflect("go", "VBD") if not missing(["lemminflect"]) else "went"
    'went'
    """
    if lemma in words("many_pasts") and tag in ("VBD", "VBN"):
        raise Refused("a verb with more than one past")
    if tag == "VB" or tag == "VBP":
        return lemma
    forms = _inflections(lemma, tag)
    if not forms:
        raise Refused("a verb without known forms")
    return forms[0]


def kind_of_aux(token: Any) -> str:
    """Return "be", "do", "have" or "modal" for a form that can stand before a subject, else ""."""
    lower = token.lower_
    for kind in ("be", "do", "have", "modal"):
        if lower in words(kind):
            return kind
    return ""


def be_form(token: Any) -> str:
    """Return a short form of "be" written out.

    Examples
    --------
    >>> from types import SimpleNamespace as Token
    >>> be_form(Token(text="'s", lower_="'s")), be_form(Token(text="was", lower_="was"))
    ('is', 'was')
    """
    lower: str = token.lower_
    return {"'s": "is", "'re": "are"}.get(lower.replace("’", "'"), lower)
