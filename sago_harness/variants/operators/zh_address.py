"""The polite or the plain word for "you" in Chinese."""

from __future__ import annotations

import functools
import random
import re
from typing import ClassVar

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.parts.within import matches_within
from sago_harness.variants.phrases import read_table


class ZhAddress(Guarded):
    """Says 您 for every 你 (1), or 你 for every 您 (-1); plurals and set phrases stay.

    Examples
    --------
    >>> ZhAddress(1).apply(Passage("你知道你们的首都吗？", "zh"), random.Random(1))
    '您知道你们的首都吗？'
    """

    name = "zh_address"
    family = "register"
    languages = ("zh",)
    strengths = (-1, 1)
    feature = "address_share"
    tables: ClassVar[tuple[str, ...]] = ("zh_address",)

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Change every word of address outside the kept spans."""
        del rng
        said, wanted = ("你", "您") if (self.strength or 0) > 0 else ("您", "你")
        pattern, text = _pattern(said), passage.text
        parts, at = [], 0
        for match in matches_within(pattern, text, passage.free()):
            if match.lastgroup:
                parts += [text[at : match.start()], wanted]
                at = match.end()
        if not parts:
            raise Refused(f"no {said} to change")
        return "".join([*parts, text[at:]])


@functools.cache
def _pattern(said: str) -> re.Pattern[str]:
    """Match set phrases first, so that only a free word of address is in the group."""
    fixed = sorted(read_table("zh_address")["compounds"], key=lambda word: (-len(word), word))
    return re.compile("|".join([*map(re.escape, fixed), f"(?P<free>{said})"]))
