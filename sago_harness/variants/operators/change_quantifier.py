"""A quantifier replaced by one of another range."""

from __future__ import annotations

from sago_harness.variants.parts.contrary import WordSwap


class ChangeQuantifier(WordSwap):
    """Replaces one quantifier: all, some; every, no; always, sometimes.

    Examples
    --------
    >>> import random
    >>> from sago_harness.variants.base import Passage
    >>> ChangeQuantifier().apply(Passage("Do all birds fly?"), random.Random(0))
    'Do some birds fly?'
    """

    name = "change_quantifier"
    section = "quantifier"
