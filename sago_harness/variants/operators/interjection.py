"""An interjection before the request."""

from __future__ import annotations

from typing import ClassVar

from sago_harness.variants.parts.phrased import Phrased


class Interjection(Phrased):
    """Opens with "Oh!" or the like, 2 with two of them; the text keeps its capital.

    Examples
    --------
    >>> import random
    >>> from sago_harness.variants.base import Passage
    >>> Interjection(1).apply(Passage("Who wrote Emma?"), random.Random(1))
    'Hmm. Who wrote Emma?'
    """

    name = "interjection"
    family = "register"
    languages = ("en", "zh")
    positions = ("prefix",)
    strengths = (1, 2)
    feature = "interjection_markers"
    tables: ClassVar[tuple[str, ...]] = ("interjection",)
