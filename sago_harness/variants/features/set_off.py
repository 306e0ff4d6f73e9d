"""Finds words that marks set off from the sentence around them."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BEFORE = r"(?:\A|[.,;:!?…\n，。；：！？、](?:[^\S\n]|[\"'“”‘’])*)"
_AFTER = r"(?=[^\S\n]*(?:[.,;:!?…，。；：！？、]|\Z))"


def set_off(words: Iterable[str]) -> str:
    """Return a pattern of words that stand between two marks, or a mark and an end of the text.

    Examples
    --------
    >>> found = re.compile(set_off(["well", "you know"]))
    >>> len(found.findall("It is, well, you know, late; do you know well?"))
    2
    """
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return rf"{_BEFORE}(?:{'|'.join(map(re.escape, ordered))}){_AFTER}"
