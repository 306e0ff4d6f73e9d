"""An enumeration as a list, or a list as an enumeration."""

from __future__ import annotations

import random
import re
from typing import Any, ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import PARSER, must_be_short
from sago_harness.variants.grammar.sentences import Sentence, sentences
from sago_harness.variants.guarded import Guarded

#: Fewer items are no list, longer ones no enumeration.
LEAST_ITEMS = 3
MOST_WORDS = 6

_BEFORE_A_LIST = ("of", "with", "including", "for")
# From the head of a line, and with one way only to read a run of blanks: long texts stay cheap.
_BULLETS = re.compile(
    r"^(?P<lead>[^\n]*[^\s:]):[ \t]*\n(?P<items>(?:[ \t]*[-*•][ \t][^\n]++(?:\n|\Z)){3,})", re.M
)
_NOT_IN_ITEMS = ("CC", ",", "WDT", "WP", "VBD", "VBZ", "VBP", "TO", "RB")
_BULLET = re.compile(r"[-*•][ \t]([^\n]+)")


class Listing(Guarded):
    r"""Makes three or more short items at the end of a statement a list, one a line, and back.

    Examples
    --------
    >>> Listing().apply(Passage("Tom bought:\n- apples\n- pears\n- figs"), random.Random(1))
    'Tom bought: apples, pears and figs.'
    """

    name = "listing"
    family = "structure"
    languages = ("en",)
    feature = "list_items"
    requires: ClassVar[tuple[str, ...]] = PARSER

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Change the first list, or else the first enumeration."""
        del rng
        found = _BULLETS.search(passage.text)
        if found:
            return _to_prose(passage.text, found)
        must_be_short(passage.text)
        for sentence in sentences(passage.text):
            try:
                new = _to_list(sentence)
            except Refused:
                continue
            after = passage.text[sentence.end :]
            rest = "\n" + after.lstrip() if after.strip() else after
            return passage.text[: sentence.start] + new + rest
        raise Refused("no enumeration")


def _to_prose(text: str, found: re.Match[str]) -> str:
    items = [item.strip() for item in _BULLET.findall(found["items"])]
    items = [item.removesuffix(",").removesuffix(";") for item in items]
    if not all(items):
        raise Refused("an empty item")
    if any(len(item.split()) > MOST_WORDS or re.search(r"[.,;:!?()]", item) for item in items):
        raise Refused("no short items")
    if any(item.split()[0].lower() in ("and", "or") for item in items):
        raise Refused("no short items")
    prose = f"{found['lead']}: {', '.join(items[:-1])} and {items[-1]}."
    after = text[found.end() :]
    return text[: found.start()] + prose + ("\n" + after if after else "")


def _to_list(sentence: Sentence) -> str:
    if not sentence.text.endswith("."):
        raise Refused("no statement")
    doc = sentence.doc()
    for head in doc:
        after = head.head
        if head.dep_ == "pobj":
            if after.lower_ not in _BEFORE_A_LIST:
                continue
        elif head.dep_ not in ("dobj", "attr") or after.pos_ not in ("VERB", "AUX"):
            continue
        items = _chain(head)
        if len(items) < LEAST_ITEMS:
            continue
        spans = _spans(doc, items)
        if spans and spans[0][0] == head.head.i + 1:
            lead: str = doc[: spans[0][0]].text
            return lead + ":" + "".join(f"\n- {doc[start:end].text}" for start, end in spans)
    raise Refused("no enumeration")


def _chain(head: Any) -> list[Any]:
    items = [head]
    while True:
        following = [child for child in items[-1].children if child.dep_ == "conj"]
        if len(following) != 1:
            return items if not following else []
        items.append(following[0])


def _spans(doc: Any, items: list[Any]) -> list[tuple[int, int]]:
    """Return the items' token ranges, [] unless they are short nouns between commas and one "and"."""
    spans: list[tuple[int, int]] = []
    start = items[0].left_edge.i
    for item, following in zip(items, [*items[1:], None], strict=True):
        end = len(doc) - 1 if following is None else following.left_edge.i
        while following is not None and doc[end - 1].lower_ in (",", "and"):
            end -= 1
        span = doc[start:end]
        if item not in span or not 0 < len(span) <= MOST_WORDS or item.pos_ not in ("NOUN", "PROPN"):
            return []
        if any(
            token.tag_ in _NOT_IN_ITEMS or (token.tag_ == "IN" and token.lower_ != "of") for token in span
        ):
            return []
        spans.append((start, end))
        if following is not None:
            gap = [token.lower_ for token in doc[end : following.left_edge.i]]
            last = following is items[-1]
            if gap not in ([["and"], [",", "and"]] if last else [[","]]):
                return []
            start = following.left_edge.i
    return spans
