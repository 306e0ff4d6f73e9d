"""A field label before the text."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import is_question, put_before


class Label(Guarded):
    """Puts a label such as "Question:" or "Task:" in front, never one that is there already.

    Examples
    --------
    >>> Label().apply(Passage("Who wrote Emma?"), random.Random(1))
    'Q: Who wrote Emma?'
    """

    name = "label"
    family = "structure"
    languages = ("en", "zh")
    positions = ("prefix",)
    feature = "labels"
    tables: ClassVar[tuple[str, ...]] = ("labels",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose a label that fits: for a question, or for any request."""
        table = read_table("labels")[passage.language]
        head = _words(passage.text)
        fitting = [
            label
            for label in table["question" if is_question(passage.text) else "other"]
            if not head.startswith(_words(label))
        ]
        if not fitting:
            raise Refused("has every label")
        return put_before(passage, rng.choice(fitting))


def _words(text: str) -> str:
    """Return the text as compared: case, colon and white space do not make another label."""
    return "".join(text.casefold().replace("：", ":").split())
