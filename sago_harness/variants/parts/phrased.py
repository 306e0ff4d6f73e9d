"""What operators have in common that put one phrase of a table before or after the text."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import put_after, put_before


class Phrased(Guarded):
    """Adds a phrase of its first table: language, position, strength -> phrases.

    Examples
    --------
    >>> class Greeting(Phrased):
    ...     name, family, languages = "greeting", "register", ("en",)
    ...     positions, strengths, tables = ("prefix",), (1,), ("interjection",)
    >>> Greeting().apply(Passage("Who wrote Emma?"), random.Random(1))
    'Hmm. Who wrote Emma?'
    """

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose a phrase of the step and put it in its place."""
        steps = read_table(self.tables[0])[passage.language][self.position]
        phrase = rng.choice(steps[f"{self.strength:g}"])
        return put_before(passage, phrase) if self.position == "prefix" else put_after(passage, phrase)
