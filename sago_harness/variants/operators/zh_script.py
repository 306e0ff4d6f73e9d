"""Simplified characters for traditional ones, or the other way."""

from __future__ import annotations

import random

from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.chinese.script import traditional_share
from sago_harness.variants.guarded import Guarded
from sago_harness.variants.text.scripts import TO_SIMPLIFIED, TO_TRADITIONAL, convert


class ZhScript(Guarded):
    """Writes a text in the other script, names included; literal spans stay as they are.

    Examples
    --------
    >>> ZhScript().apply(Passage("法国的首都是哪里？", "zh"), random.Random(1))
    '法國的首都是哪裡？'
    """

    name = "zh_script"
    family = "noise"
    languages = ("zh",)
    feature = "traditional_share"
    requires = ("opencc",)
    version = 2

    def vary(self, passage: Passage, rng: random.Random) -> str:
        """Convert the whole text, so that words are seen whole, and put the literals back."""
        del rng
        text = passage.text
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise Refused("has a lone surrogate")
        share = traditional_share(text)
        config = TO_TRADITIONAL if share <= 0 else TO_SIMPLIFIED
        whole = convert(text, config)
        ranges = passage.free(semantic=False)
        if len(whole) == len(text):
            turned = {span: whole[span[0] : span[1]] for span in ranges}
        else:
            turned = {span: convert(text[span[0] : span[1]], config) for span in ranges}
        parts, at = [], 0
        for (start, end), piece in turned.items():
            parts += [text[at:start], piece]
            at = end
        return "".join([*parts, text[at:]])
