"""The request as a statement of what is wanted."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import INFLECTOR
from sago_harness.variants.grammar.requests import TABLES, read_request
from sago_harness.variants.grammar.sentences import replaced, with_stop
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table


class Declarative(Guarded):
    """Makes a question or an order a statement: "I would like to know who wrote Emma."

    Where the text has other sentences, they stay as they are.

    Examples
    --------
    >>> Declarative().apply(Passage("Explain gravity."), random.Random(1))
    'I would like you to explain gravity.'
    """

    name = "declarative"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = INFLECTOR
    tables: ClassVar[tuple[str, ...]] = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Say what is to be known, or to be done."""
        request = read_request(passage)
        if request.form == "declarative":
            raise Refused("already a statement")
        table = read_table("forms")
        if request.kind == "question":
            new = f"{rng.choice(table['declarative'])} {request.body}"
        else:
            body = f"tell me {request.body}" if request.kind == "naming" else request.body
            new = f"{rng.choice(table['declarative_order'])} {body}"
        return replaced(passage, request.sentence, with_stop(new))
