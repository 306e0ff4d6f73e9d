"""Small talk before the request."""

from __future__ import annotations

import random
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.phrases import read_table
from sago_harness.variants.wrap import put_before


class Talkative(Guarded):
    """Chats first; the strength is the number of sentences, which belong together.

    No chat is used whose topic the text touches: it could be taken for a fact of the question.

    Examples
    --------
    >>> Talkative(2).apply(Passage("Who wrote Emma?"), random.Random(2))
    'It looks like rain again. I left my umbrella at home. Who wrote Emma?'
    """

    name = "talkative"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix",)
    strengths = (1, 2, 3)
    feature = "small_talk"
    version = 2
    tables: ClassVar[tuple[str, ...]] = ("talkative",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Choose a chat by chance and say its first sentences."""
        lowered = passage.text.lower()
        chats: list[dict[str, list[str]]] = read_table("talkative")[passage.language]
        apart = [chat["said"] for chat in chats if not any(word in lowered for word in chat["topics"])]
        if not apart:
            raise Refused("every topic is touched")
        glue = "" if passage.language == "zh" else " "
        return put_before(passage, glue.join(rng.choice(apart)[: int(self.strength or 0)]))
