"""When two words are one word with a slip of the finger."""

from __future__ import annotations

import functools
import unicodedata

from rapidfuzz.distance import OSA

from sago_harness.variants.needs import missing
from sago_harness.variants.phrases import read_table
from sago_harness.variants.text.scripts import TO_SIMPLIFIED, convert


def fold(text: str) -> str:
    """Return a text as compared.

    Width, case, look-alike letters and the apostrophe's form do not make another word.

    Examples
    --------
    >>> fold("Ｗhat’s"), fold("STRASSE") == fold("Straße")
    ("what's", True)
    """
    if text.isascii():
        return text.lower()
    plain = text.translate(_plain_letters())
    return unicodedata.normalize("NFKC", plain).casefold().replace("’", "'")


@functools.cache
def _plain_letters() -> dict[int, str]:
    """Return the look-alikes of Latin letters with the letters they look like."""
    return {ord(like): letter for letter, like in read_table("lookalikes")["en"].items()}


def edits_allowed(word: str) -> int:
    """Return how many edits leave a word recognisable: one per four letters.

    Examples
    --------
    >>> [edits_allowed(word) for word in ("Bob", "Anna", "Karenina")]
    [0, 1, 2]
    """
    return len(word) // 4


def within_edits(word: str, other: str) -> bool:
    """Say whether two folded words differ by no more than one edit per four letters.

    An edit is a letter added, lost or replaced, or two neighbours swapped (optimal string
    alignment).

    Examples
    --------
    >>> within_edits("karenina", "karneina"), within_edits("iran", "iraq"), within_edits("bob", "rob")
    (True, True, False)
    """
    if word == other:
        return True
    allowed = edits_allowed(word)
    return bool(allowed) and OSA.distance(word, other, score_cutoff=allowed) <= allowed


def one_script(text: str) -> str:
    """Return Chinese in simplified characters, where OpenCC is installed; else as it is.

    Variants in the other script come from OpenCC, so where it is missing there are none.
    """
    if text.isascii() or missing(["opencc"]):
        return text
    try:
        return convert(text, TO_SIMPLIFIED)
    except UnicodeEncodeError:  # a lone surrogate
        return text
