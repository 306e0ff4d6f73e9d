"""Wording about time before or after the request."""

from __future__ import annotations

from typing import ClassVar

from sago_harness.variants.parts.phrased import Phrased


class Urgency(Phrased):
    """Says how soon; 1 at leisure, 2 urgent, 3 at once.

    It hurries the reply and asks for no other length or form of it.

    Examples
    --------
    >>> import random
    >>> from sago_harness.variants.base import Passage
    >>> Urgency(2, "suffix").apply(Passage("Who wrote Emma?"), random.Random(1))
    'Who wrote Emma? I need this as soon as possible.'
    """

    name = "urgency"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix")
    strengths = (1, 2, 3)
    feature = "urgency_markers"
    tables: ClassVar[tuple[str, ...]] = ("urgency",)
