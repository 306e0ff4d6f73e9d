"""The same text in fewer or more words, by a language model."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.rewriter.checks import find_form, length_ratio
from sago_harness.variants.rewriter.rewrite import rewrite


class RewriteLength(Guarded):
    """Rewrites the text to about ``strength`` times its length, white space not counted.

    An output within a factor of 1.25 of that length is taken (``length_tolerance`` in
    ``tables/rewriter.json``); a question stays one. A recipe that asks for 0.25 needs its
    ``length`` constraint to allow ratios from 0.2.

    Examples
    --------
    >>> RewriteLength(0.5).variant_id
    'rewrite_length0.5'
    """

    name = "rewrite_length"
    family = "structure"
    languages = ("en", "zh")
    strengths = (0.25, 0.5, 1.5, 2, 3)
    feature = "log_length"
    tables: ClassVar[tuple[str, ...]] = ("rewriter", "meaning")

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Ask for a shorter or a longer text."""
        factor = float(self.strength or 1)
        tolerance = read_table("rewriter")["length_tolerance"]
        asks = find_form(passage.text, passage.language) == "interrogative"

        def own_fault(text: str) -> str:
            if (find_form(text, passage.language) == "interrogative") != asks:
                return "form"
            return "" if factor / tolerance <= length_ratio(passage, text) <= factor * tolerance else "length"

        task = "shorter" if factor < 1 else "longer"
        return rewrite(passage, rng, "length", task, own_fault, factor)
