"""Clauses with a plain subject, verb and object, in the active or the passive voice."""

from __future__ import annotations

from typing import Any

from sago_harness.variants.base import Refused
from sago_harness.variants.grammar.words import words
from sago_harness.variants.phrases import read_table

_PLAIN = frozenset(["nsubj", "nsubjpass", "dobj", "aux", "auxpass", "agent", "punct", "prep", "advmod"])
_TAIL = ("prep",)


def plain_parts(doc: Any) -> dict[str, Any]:
    """Return the main verb's children by label, and the verb as "verb".

    Raises
    ------
    Refused
        Anything but one subject, one object or agent, auxiliaries and adverbials hangs on the verb.
    """
    verb = next(token for token in doc if token.dep_ == "ROOT")
    parts: dict[str, Any] = {"verb": verb}
    if not verb.tag_.startswith("VB") or any(token.text == "," for token in doc):
        raise Refused("no plain clause")
    for child in verb.children:
        if child.dep_ not in _PLAIN or (
            child.dep_ in parts and child.dep_ not in (*_TAIL, "punct", "advmod")
        ):
            raise Refused("no plain clause")
        # The adverb that asks is no adverb of manner.
        if child.dep_ == "advmod" and child.tag_ == "WRB":
            continue
        parts[child.dep_] = child
    table = read_table("passive_verbs")
    if any(token.lower_ in table["scope"] and token.lower_ not in ("a", "an") for token in doc):
        raise Refused("a quantity or a negation")
    if any(token.tag_ in ("JJS", "RBS") for token in doc):
        raise Refused("a quantity or a negation")
    return parts


def noun_phrase(doc: Any, head: Any) -> str:
    """Return the text of a plain noun phrase, with its article as it is.

    Raises
    ------
    Refused
        It is a pronoun, a clause, coordinated, or not contiguous.
    """
    left, right = head.left_edge.i, head.right_edge.i
    span = doc[left : right + 1]
    if head.tag_ not in ("NN", "NNS", "NNP") or len(list(head.subtree)) != len(span):
        raise Refused("no plain noun phrase")
    if any(
        token.tag_ in ("PRP", "PRP$", "CC", "WDT", "WP", "VB", "VBD", "VBZ", "VBP", "VBG") for token in span
    ):
        raise Refused("no plain noun phrase")
    text: str = span.text
    if left == 0:
        first = doc[0]
        if first.lower_ in words("closed"):
            text = text[0].lower() + text[1:]
        elif first.tag_ != "NNP":
            raise Refused("a doubtful capital")
    return text


def is_plural(head: Any) -> bool:
    """Say whether a plain noun is in the plural."""
    return bool(head.tag_ == "NNS")


def tail_after(doc: Any, verb: Any, at: int) -> str:
    """Return what stands from ``at`` to the closing mark, if it is adverbials of the verb.

    Raises
    ------
    Refused
        Something else stands there.
    """
    rest = doc[at : len(doc) - 1]
    tops = [token for token in rest if token.head.i < at or token.head == token]
    if any(token.head != verb or token.dep_ != "prep" for token in tops) or len(tops) > 1:
        raise Refused("no plain clause")
    if any(token.tag_ in ("RP", "VB", "VBG", "WDT", "WP") for token in rest):
        raise Refused("no plain clause")
    # A phrase of place beside a noun may belong to it; one of time hardly ever does.
    if len(rest):
        first = rest[0].lower_
        dated = first in ("in", "on") and any(token.text.isdigit() for token in rest)
        if not dated and first not in ("during", "after", "before"):
            raise Refused("no plain clause")
    return str(rest.text)
