"""The question before its context, or behind it."""

from __future__ import annotations

import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.sentences import Sentence, sentences
from sago_harness.variants.grammar.words import words
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# "That" before a noun points back; before a verb it mostly opens a clause.
_THAT = re.compile(
    r"\b(?:in|on|at|of|during|for|by|from|with|to|after|before|than|is|was|are|were) that\b|\bthat[?.]"
    r"|\bthat (?:day|week|month|year|night|morning|evening|time|amount|point|way|trip|one|number|period)\b",
    re.I,
)
_FIXED = ("option", "cue", "code", "task")


class Swap(Guarded):
    """Moves a closing question to the front, its context after "Here is the context:", and back.

    A question that points back ("this", "the rest", a pronoun whose noun is in the context)
    stays where it is.

    Examples
    --------
    >>> Swap().apply(Passage("How many pens has Anna? Anna has a box of pens."), random.Random(1))
    'Anna has a box of pens. How many pens has Anna?'
    """

    name = "swap"
    family = "structure"
    languages = ("en",)
    tables: ClassVar[tuple[str, ...]] = ("grammar", "joining")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Exchange the two parts, with the white space that stood between them."""
        if any(span.kind in _FIXED for span in passage.keep):
            raise Refused("has options or a cue")
        found = sentences(passage.text)
        asking = [sentence for sentence in found if sentence.asks]
        if len(asking) != 1 or len(found) < 2 or passage.text.count("?") != 1:
            raise Refused("not one question with its context")
        (question,) = asking
        if any(sentence.text[-1] not in ".!" for sentence in found if sentence is not question):
            raise Refused("not one question with its context")
        text = passage.text
        lead, trail = text[: found[0].start], text[found[-1].end :]
        if question is found[-1]:
            context = text[found[0].start : found[-2].end]
            glue = text[found[-2].end : question.start]
            _check_question(question)
            link = rng.choice(read_table("joining")["links"])
            return f"{lead}{question.text}{glue}{link} {context}{trail}"
        if question is not found[0]:
            raise Refused("the question stands in the middle")
        context = text[found[1].start : found[-1].end]
        _check_context(context)
        return f"{lead}{context}{text[question.end : found[1].start]}{question.text}{trail}"


def _check_question(question: Sentence) -> None:
    table = read_table("joining")
    spoken = [match.group() for match in _WORD.finditer(question.text)]
    lowered = [word.lower() for word in spoken]
    if not lowered or lowered[0] not in words("wh") | words("be") | words("do") | words("have") | words(
        "modal"
    ):
        raise Refused("the question does not stand alone")
    if any(word in table["back"] for word in lowered) or _THAT.search(question.text):
        raise Refused("the question points back")
    names = [number for number, word in enumerate(spoken) if number and word[0].isupper()]
    for number, word in enumerate(lowered):
        if word in table["pronouns"] and not (names and names[0] < number):
            raise Refused("the question points back")


def _check_context(context: str) -> None:
    table = read_table("joining")
    first = next((sentence.text for sentence in sentences(context)), "")
    lowered = [match.group().lower() for match in _WORD.finditer(first)]
    if not lowered or any(word in table["back"] or word in table["pronouns"] for word in lowered):
        raise Refused("the context points back")
    if lowered[0] in table["openers"] or lowered[0] in table["orders"] or first.endswith("!"):
        raise Refused("no context follows")
