"""A personal frame around the request: how it came up."""

from __future__ import annotations

from typing import ClassVar

from sago_harness.variants.parts.phrased import Phrased


class Framing(Phrased):
    """Tells how the request came to mind; 1 a clause, 2 an occasion, 3 a small story.

    The frame claims no profession, no knowledge and no expected answer.

    Examples
    --------
    >>> import random
    >>> from sago_harness.variants.base import Passage
    >>> Framing(2, "prefix").apply(Passage("Who wrote Emma?"), random.Random(0))
    'My sister brought this up last night: Who wrote Emma?'
    """

    name = "framing"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix", "suffix")
    strengths = (1, 2, 3)
    feature = "first_person"
    tables: ClassVar[tuple[str, ...]] = ("framing",)
