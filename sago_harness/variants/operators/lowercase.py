"""Everything in lower case."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.smallcase import TABLES, small_letters


class Lowercase(Guarded):
    """Writes the text in lower case, as people do who never press the shift key.

    Words whose capital is their meaning stay as they are: "US", "WHO", "Polish", "May".

    Examples
    --------
    >>> Lowercase().apply(Passage("Who wrote Emma? I forgot."), random.Random(1))
    'who wrote emma? i forgot.'
    """

    name = "lowercase"
    family = "noise"
    languages = ("en",)
    feature = "upper_share"
    tables = TABLES

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Turn the capitals outside the kept spans."""
        del rng
        chars = small_letters(passage)
        if chars == list(passage.text):
            raise Refused("no capital to turn to lower case")
        return "".join(chars)
