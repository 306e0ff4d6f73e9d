"""How many written abbreviations a text has."""

from __future__ import annotations

import functools
import re

from sago_harness.variants.features.marker_rate import MarkerRate
from sago_harness.variants.phrases import read_table


class Abbreviations(MarkerRate):
    """Abbreviations of office and chat per 100 characters, in every language.

    Examples
    --------
    >>> Abbreviations().value("are ppl w/o govt ok?")
    20.0
    """

    name = "abbreviations"

    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the one pattern of all languages."""
        del language
        return _pattern()


@functools.cache
def _pattern() -> re.Pattern[str]:
    forms: dict[str, None] = {}
    for words in read_table("abbreviations").values():
        for form in words.values():
            # A stop may have run together with the sentence's own.
            short = form.removesuffix(".")
            forms[short] = None
            if len(short) > 2:
                forms[short[0].upper() + short[1:]] = None
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    # Letter case counts: "U" is a name, "u" the pronoun.
    return re.compile(rf"(?<![\w.'\-/])(?:{'|'.join(map(re.escape, ordered))})(?![\w'\-]|\.\w)")
