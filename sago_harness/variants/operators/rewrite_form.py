"""The same request as an order, a question or a statement, by a language model."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.rewriter.checks import find_form
from sago_harness.variants.rewriter.rewrite import rewrite


class RewriteForm(Guarded):
    """Rewrites the last sentence of the text, its request, in another form.

    The ``position`` is the form. An output is taken if its last sentence ends with a question
    mark, or begins with a phrase that tells an order or a statement of what is wanted from an
    answer (``openers`` in ``tables/rewriter.json``).

    Examples
    --------
    >>> RewriteForm(position="declarative").variant_id
    'rewrite_form@declarative'
    """

    name = "rewrite_form"
    family = "structure"
    languages = ("en", "zh")
    positions = ("imperative", "interrogative", "declarative")
    tables: ClassVar[tuple[str, ...]] = ("rewriter", "meaning")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Ask for the form, unless the request has it or does not stand last."""
        if any(span.kind in ("option", "cue") for span in passage.keep):
            raise Refused("the request is not the last sentence")
        form = find_form(passage.text, passage.language)
        if not form:
            raise Refused("unclear form")
        if form == self.position:
            raise Refused(f"already {form}")

        def own_fault(text: str) -> str:
            if find_form(text, passage.language) != self.position:
                return "form"
            asks = any(mark in text for mark in "?？")
            return "form" if asks and self.position != "interrogative" else ""

        return rewrite(passage, rng, "form", self.position, own_fault)
