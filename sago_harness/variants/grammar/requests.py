"""What a sentence asks for, whatever its form: a question, or something to be done."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import parse
from sago_harness.variants.grammar.fronting import moved
from sago_harness.variants.grammar.questions import read_question
from sago_harness.variants.grammar.sentences import (
    Sentence,
    lower_first,
    sentences,
    the_question,
)
from sago_harness.variants.grammar.words import words
from sago_harness.variants.phrases import read_table

TABLES: tuple[str, ...] = ("forms", "fronting", "grammar")


@dataclass(frozen=True, slots=True)
class Request:
    """One sentence that asks for something.

    Attributes
    ----------
    sentence : Sentence
    form : str
        "imperative", "interrogative" (a direct question or "Could you ...?") or "declarative".
    kind : str
        "question", with ``body`` an indirect question; "naming", with ``body`` a noun phrase to be
        told; "order", with ``body`` the verb and what follows it.
    body : str
        Without a closing mark.
    """

    sentence: Sentence
    form: str
    kind: str
    body: str


@functools.cache
def _patterns() -> list[tuple[str, str, re.Pattern[str]]]:
    orders = "|".join(read_table("forms")["orders"])
    asking = "|".join(sorted(words("wh") - {"whose"}))
    order = rf"(?P<body>(?:please )?(?:{orders}) \S.*)"
    indirect = rf"(?P<body>(?:whether|{asking}) \S.*)"
    wish = r"I (?:would like|want|wish)"
    table = [
        ("interrogative", "question", rf"(?:Can|Could|Would|Will) you tell me {indirect}\?"),
        ("interrogative", "order", rf"(?:Can|Could|Would|Will) you {order}\?"),
        ("declarative", "question", rf"{wish} to know {indirect}\."),
        ("declarative", "question", rf"{wish} you to tell me {indirect}\."),
        ("declarative", "order", rf"{wish} you to {order}\."),
        ("imperative", "question", rf"(?:Tell me|Let me know) {indirect}\."),
    ]
    return [(form, kind, re.compile(pattern)) for form, kind, pattern in table] + [
        ("imperative", "order", re.compile(rf"{order}\.", re.I))
    ]


def read_request(passage: Passage) -> Request:
    """Find the sentence of a passage that asks, and what it asks for.

    Raises
    ------
    Refused
        There is no such sentence, or more than one, or it is not plain.

    Examples
    --------
    >>> request = read_request(Passage("Could you explain gravity?"))
    >>> request.kind, request.body
    ('order', 'explain gravity')
    """
    if "?" in passage.text:
        sentence = the_question(passage)
    else:
        found = sentences(passage.text)
        if len(found) != 1:
            raise Refused("not one request")
        sentence = found[0]
    if not sentence.plain:
        raise Refused("no plain sentence")
    for form, kind, pattern in _patterns():
        match = pattern.fullmatch(sentence.text)
        if match:
            body = match["body"]
            if re.search(r"[.,;] (?:and|but|then|or)\b|, please\Z", body):
                raise Refused("more than one clause")
            return Request(sentence, form, kind, lower_first(body) if kind == "order" else body)
    if not sentence.asks:
        raise Refused("not a request")
    if re.match(r"(?:Can|Could|Would|Will) you (?:please|tell|help)\b", sentence.text):
        raise Refused("not a plain request")
    doc = sentence.doc()
    if doc[0].lower_ in (*read_table("fronting")["clauses"], *read_table("fronting")["phrases"]) and any(
        token.text == "," for token in doc
    ):
        # "If A, tell me B" would make the telling hang on A, so the clause goes to the end first.
        doc = parse(moved(doc))
    question = read_question(doc)
    if question.named:
        return Request(sentence, "interrogative", "naming", question.named)
    return Request(sentence, "interrogative", "question", question.indirect)
