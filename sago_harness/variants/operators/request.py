"""The same request in another sentence form."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import is_question, put_after, put_before


class Request(Guarded):
    """Wraps the text in an imperative or a declarative sentence.

    Examples
    --------
    >>> Request(position="prefix").apply(Passage("Who wrote Emma?"), random.Random(1))
    'I want to know the answer to this: Who wrote Emma?'
    """

    name = "request"
    family = "structure"
    languages = ("en", "zh")
    positions = ("prefix", "suffix")
    version = 2
    tables: ClassVar[tuple[str, ...]] = ("request",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose a sentence for the kind of text; a text of several lines begins a new line."""
        kind = "question" if is_question(passage.text) else "other"
        phrase: str = rng.choice(read_table("request")[passage.language][self.position][kind])
        if self.position == "suffix":
            return put_after(passage, phrase)
        return put_before(passage, phrase + "\n" if "\n" in passage.text.strip() else phrase)
