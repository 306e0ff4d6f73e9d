"""One sentence of two clauses as two sentences."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import PARSER, must_be_short
from sago_harness.variants.grammar.sentences import Sentence, sentences, upper_first
from sago_harness.variants.guarded import Guarded

_SUBJECTS = ("nsubj", "nsubjpass", "expl")
_LOOSE = ("advcl", "mark", "ccomp", "parataxis", "dep", "csubj", "preconj", "intj")


class Split(Guarded):
    """Ends the sentence at ", and", ", but" or ", so", where a whole clause stands on either side.

    Not under a condition: in "If A, B, and C." both hang on it.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> told = Passage("Tom has a dog, and Anna has a cat.")
    >>> absent = missing(Split.requires)
    >>> "Tom has a dog. Anna has a cat." if absent else Split().apply(told, random.Random(1))
    'Tom has a dog. Anna has a cat.'
    """

    name = "split"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = PARSER

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Split every statement that can be."""
        del rng
        must_be_short(passage.text)
        parts: list[str] = []
        at = 0
        for sentence in sentences(passage.text):
            try:
                new = _split(sentence)
            except Refused:
                continue
            parts += [passage.text[at : sentence.start], new]
            at = sentence.end
        if not parts:
            raise Refused("no sentence of two clauses")
        return "".join([*parts, passage.text[at:]])


def _split(sentence: Sentence) -> str:
    if not sentence.text.endswith("."):
        raise Refused("no statement")
    doc = sentence.doc()
    root = next(token for token in doc if token.dep_ == "ROOT")
    links = [child for child in root.children if child.dep_ == "cc" and doc[child.i - 1].text == ","]
    others = [child for child in root.children if child.dep_ == "conj"]
    if len(links) != 1 or len(others) != 1 or links[0].lower_ not in ("and", "but", "so"):
        raise Refused("no sentence of two clauses")
    link, other = links[0], others[0]
    _check_clause(root, 0)
    _check_clause(other, link.i + 1)
    second = doc[link.i + 1 :].text
    if link.lower_ != "and":
        return f"{doc[: link.i - 1].text}. {upper_first(link.text)} {second}"
    return f"{doc[: link.i - 1].text}. {upper_first(second)}"


def _check_clause(verb: Any, start: int) -> None:
    """Check that a finite clause with its own subject begins at ``start``."""
    subjects = [child for child in verb.children if child.dep_ in _SUBJECTS]
    helpers = [child for child in verb.children if child.dep_ in ("aux", "auxpass")]
    finite = [token for token in (verb, *helpers) if token.tag_ in ("VBD", "VBZ", "VBP", "MD")]
    if not subjects or subjects[0].left_edge.i != start or not finite:
        raise Refused("no whole clause")
    if any(child.dep_ in _LOOSE for child in verb.children):
        raise Refused("no whole clause")
    if subjects[0].lower_ in ("who", "which", "that", "what"):
        raise Refused("no whole clause")
