"""The request as a question."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.grammar.english import INFLECTOR
from sago_harness.variants.grammar.inversion import make_direct
from sago_harness.variants.grammar.requests import TABLES, read_request
from sago_harness.variants.grammar.sentences import replaced
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table


class Interrogative(Guarded):
    """Makes an order a question ("Could you explain gravity?"), and an indirect question direct.

    Examples
    --------
    >>> Interrogative().apply(Passage("Explain gravity."), random.Random(1))
    'Could you explain gravity?'
    """

    name = "interrogative"
    family = "structure"
    languages = ("en",)
    requires: ClassVar[tuple[str, ...]] = INFLECTOR
    tables: ClassVar[tuple[str, ...]] = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Ask for what is wanted."""
        if not passage.text.rstrip().endswith((".", "?")) or "?" in passage.text[:-1].rstrip("?"):
            raise Refused("not one request")
        request = read_request(passage)
        if request.kind == "order" and request.form != "interrogative":
            new = f"{rng.choice(read_table('forms')['interrogative_order'])} {request.body}?"
        elif request.kind == "question" and not _is_direct(request.sentence.text):
            new = make_direct(request.body)
        else:
            raise Refused("already a question")
        return replaced(passage, request.sentence, new)


def _is_direct(text: str) -> bool:
    """Say whether a sentence is a question of its own, not "Could you tell me ...?"."""
    return text.endswith("?") and " you tell me " not in text
