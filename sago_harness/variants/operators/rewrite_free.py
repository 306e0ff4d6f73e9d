"""The same text in other words, by a language model."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.rewriter.checks import find_form
from sago_harness.variants.rewriter.rewrite import rewrite


class RewriteFree(Guarded):
    """Paraphrases the text; the strengths 1 to 3 are three independent paraphrases.

    Examples
    --------
    >>> RewriteFree(2).variant_id
    'rewrite_free2'
    """

    name = "rewrite_free"
    family = "structure"
    languages = ("en", "zh")
    strengths = (1, 2, 3)
    tables: ClassVar[tuple[str, ...]] = ("rewriter", "meaning")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Ask for a paraphrase; a question stays one."""
        asks = find_form(passage.text, passage.language) == "interrogative"

        def own_fault(text: str) -> str:
            return "" if (find_form(text, passage.language) == "interrogative") == asks else "form"

        return rewrite(passage, rng, "free", "free", own_fault)
