"""A subordinate clause or a phrase of time or place at the other end of its sentence."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.grammar.english import PARSER
from sago_harness.variants.grammar.fronting import TABLES, moved
from sago_harness.variants.grammar.sentences import replaced, the_question, the_statement
from sago_harness.variants.guarded import Guarded


class Fronting(Guarded):
    """Moves a clause ("if ...") or a phrase ("in 1969") to the front, or from there to the end.

    A sentence with a pronoun of the third person is left alone: it might mean another thing
    once its order has changed.

    Examples
    --------
    >>> from sago_harness.variants.needs import missing
    >>> asked = Passage("What happens if you swallow gum?")
    >>> absent = missing(Fronting.requires)
    >>> "If you swallow gum, what happens?" if absent else Fronting().apply(asked, random.Random(1))
    'If you swallow gum, what happens?'
    """

    name = "fronting"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = PARSER
    tables: ClassVar[tuple[str, ...]] = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Move the first part at the front to the end, or else the last one to the front."""
        del rng
        sentence = the_question(passage) if "?" in passage.text else the_statement(passage)
        return replaced(passage, sentence, moved(sentence.doc()))
