"""Small talk before the request."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import put_before


class Talkative(Guarded):
    """Chats first; the strength is the number of sentences.

    No sentence is used whose topic the text touches: it could be taken for a fact of the
    question.

    Examples
    --------
    >>> Talkative(1).apply(Passage("Who wrote Emma?"), random.Random(1))
    'I should really water the plants. Who wrote Emma?'
    """

    name = "talkative"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix",)
    strengths = (1, 2, 3)
    feature = "small_talk"
    tables: ClassVar[tuple[str, ...]] = ("talkative",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose different sentences, in any order."""
        count, lowered = int(self.strength or 0), passage.text.lower()
        topics: dict[str, list[str]] = read_table("talkative")[passage.language]
        apart = [said for said, words in topics.items() if not any(word in lowered for word in words)]
        if len(apart) < count:
            raise Refused("every topic is touched")
        glue = "" if passage.language == "zh" else " "
        return put_before(passage, glue.join(rng.sample(apart, count)))
