"""Words that address the reader before or after the request."""

from __future__ import annotations

from typing import ClassVar

from sago_harness.variants.parts.phrased import Phrased


class Addressing(Phrased):
    """Addresses the reader in a sentence of its own; 1 neutral, 2 warm.

    Examples
    --------
    >>> import random
    >>> from sago_harness.variants.base import Passage
    >>> Addressing(1, "suffix").apply(Passage("Who wrote Emma?"), random.Random(1))
    'Who wrote Emma? This is for you, assistant.'
    """

    name = "addressing"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix")
    strengths = (1, 2)
    feature = "address_words"
    tables: ClassVar[tuple[str, ...]] = ("addressing",)
