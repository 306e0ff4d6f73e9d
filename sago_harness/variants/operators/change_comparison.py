"""A comparison turned round."""

from __future__ import annotations

from sago_harness.variants.parts.contrary import WordSwap


class ChangeComparison(WordSwap):
    """Replaces one comparison by its opposite: more, less; before, after; largest, smallest.

    Examples
    --------
    >>> import random
    >>> from sago_harness.variants.base import Passage
    >>> ChangeComparison().apply(Passage("Which city is larger?"), random.Random(0))
    'Which city is smaller?'
    """

    name = "change_comparison"
    section = "comparison"
