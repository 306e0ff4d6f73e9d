"""The request as an imperative sentence."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import INFLECTOR
from sago_harness.variants.grammar.requests import TABLES, read_request
from sago_harness.variants.grammar.sentences import replaced, upper_first, with_stop
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table


class Imperative(Guarded):
    """Makes a question, or a wish, an imperative: "Tell me who wrote Emma."

    Where the text has other sentences, they stay as they are.

    Examples
    --------
    >>> Imperative().apply(Passage("Could you explain gravity?"), random.Random(1))
    'Explain gravity.'
    """

    name = "imperative"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = INFLECTOR
    tables: ClassVar[tuple[str, ...]] = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Put the indirect question, or the order alone, in the sentence's place."""
        request = read_request(passage)
        if request.form == "imperative":
            raise Refused("already an imperative")
        if request.kind == "order":
            new = upper_first(request.body)
        elif request.kind == "naming":
            new = f"Tell me {request.body}"
        else:
            new = f"{rng.choice(read_table('forms')['imperative'])} {request.body}"
        return replaced(passage, request.sentence, with_stop(new))
