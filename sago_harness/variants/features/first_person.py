"""How much a text speaks of the one who writes it."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature
from sago_harness.variants.features.markers import straighten

_PATTERNS = {
    "zh": re.compile(r"(?<!自)(?P<own>我)(?![们們国國])"),
    # A capital I after a capitalised word inside a sentence numbers a king or a war: read, not counted.
    "en": re.compile(
        r"(?<=[a-z,] )[A-Z][a-z]+ I\b"
        r"|(?<![\w'.\-])(?P<own>I(?![\w\-]|\.\w)|(?:[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b)"
    ),
}


class FirstPerson(Feature):
    """Pronouns of the first person singular per 100 characters.

    Examples
    --------
    >>> FirstPerson().value("I'm with my friend.!")
    10.0
    """

    name = "first_person"
    minimum = 0.2
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the language's pronouns; the English ones for a language without a list."""
        if not text:
            return 0.0
        found = _PATTERNS.get(language, _PATTERNS["en"]).finditer(straighten(text))
        return 100.0 * sum(match["own"] is not None for match in found) / len(text)
