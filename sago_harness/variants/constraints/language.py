"""The variant must be in the canonical text's language."""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter

from sago_harness.variants.base import Check, Constraint, Passage
from sago_harness.variants.constraints.options import check_number
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.alike import fold
from sago_harness.variants.text.meaning import WORD


class Language(Constraint):
    """Passes if the scripts are the same and no other language's function words prevail.

    A rewriting model that slips into another language is what it is there for. Languages in
    Latin letters are told apart by their commonest function words; a text with too few of them
    is not judged. The value is the share of letters in a script that the canonical text has.

    Parameters
    ----------
    minimum : float
        Smallest share of letters in the canonical scripts; full-width and look-alike letters
        are noise, not another language.

    Raises
    ------
    SagoError
        If an option is out of range.

    Examples
    --------
    >>> Language().check(Passage("Who wrote the book?"), "谁写了这本书？").passed
    False
    >>> Language().check(Passage("Who wrote the book?"), "Wer hat das Buch geschrieben?").passed
    False
    """

    name = "language"

    def __init__(self, minimum: float = 0.6) -> None:
        check_number(self.name, "minimum", minimum, 0, 1)
        self.minimum = minimum

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare scripts, then function words."""
        before, after = _scripts(canonical.text), _scripts(variant)
        letters = sum(after.values())
        value = sum(after[script] for script in before) / letters if letters and before else 1.0
        if value < self.minimum:
            return Check(False, value, f"{1 - value:.0%} of the letters are in another script")
        there = _function_words(variant)
        here = _function_words(canonical.text) or canonical.language
        if there and here != there:
            return Check(False, value, f"reads as {there}, the canonical text as {here}")
        return Check(True, value)


def _scripts(text: str) -> Counter[str]:
    """Count letters by script; the script is the first word of a character's name."""
    if text.isascii():
        letters = sum(map(str.isalpha, text))
        return Counter({"LATIN": letters} if letters else {})
    return Counter(_script(char) for char in unicodedata.normalize("NFKC", text) if char.isalpha())


@functools.lru_cache(maxsize=4096)
def _script(char: str) -> str:
    return unicodedata.name(char, "?").partition(" ")[0]


def _function_words(text: str) -> str:
    """Return the language that at least three function words, and twice as many as any other's, speak for."""
    counts = Counter(
        language for match in WORD.finditer(text) for language in _languages().get(fold(match.group()), ())
    )
    best = counts.most_common(2)
    if not best or best[0][1] < 3 or (len(best) > 1 and best[0][1] < 2 * best[1][1]):
        return ""
    return best[0][0]


@functools.cache
def _languages() -> dict[str, tuple[str, ...]]:
    """Return, for each function word, the languages that have it."""
    found: dict[str, list[str]] = {}
    for language, words in read_table("function_words").items():
        for word in words:
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}
