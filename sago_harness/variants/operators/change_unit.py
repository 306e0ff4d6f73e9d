"""A unit replaced by another one of the same kind."""

from __future__ import annotations

import random
import re

from sago_harness.variants.base import Passage
from sago_harness.variants.parts.contrary import Change, WordSwap

_SIGN = re.compile(r"[$€£](?=\d)")
_OTHER = {"$": "€", "€": "$", "£": "$"}


class ChangeUnit(WordSwap):
    """Replaces one unit beside its amount: miles, kilometers; dollars, euros; hours, minutes.

    Examples
    --------
    >>> from sago_harness.variants.base import Passage
    >>> ChangeUnit().apply(Passage("How many miles is it?"), random.Random(0))
    'How many kilometers is it?'
    """

    name = "change_unit"
    section = "unit"

    def changes(self, passage: Passage, rng: random.Random) -> list[Change]:
        """Add the signs of currencies to the words."""
        signs = [(*match.span(), _OTHER[match.group()]) for match in _SIGN.finditer(passage.text)]
        return sorted([*super().changes(passage, rng), *signs])
