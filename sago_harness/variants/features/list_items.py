"""How many lines are items of a list."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature

_ITEM = re.compile(r"^[ \t]*(?:[-*•·–]|\d{1,2}[.)])[ \t]+\S", re.M)


class ListItems(Feature):
    r"""Lines that begin with a bullet or a number of a list, per 100 characters.

    Examples
    --------
    >>> ListItems().value("Buy:\n- an egg\n- milk")
    10.0
    """

    name = "list_items"
    minimum = 0.5
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the same way in every language."""
        del language
        if not text:
            return 0.0
        return 100.0 * sum(1 for _ in _ITEM.finditer(text)) / len(text)
