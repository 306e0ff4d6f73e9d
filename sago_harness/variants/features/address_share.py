"""How politely a Chinese text says "you"."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature

_SINGULAR = re.compile(r"(?<!迷)[你妳您](?!们|們)")


class AddressShare(Feature):
    """Polite 您 minus plain 你, as a share of both; 0 for a text that has neither.

    Examples
    --------
    >>> AddressShare().value("您知道你们的首都吗？", "zh"), AddressShare().value("你好", "zh")
    (1.0, -1.0)
    """

    name = "address_share"
    minimum = 0.5
    unit = "share of words for you"

    def value(self, text: str, language: str = "zh") -> float:
        """Count the singular words of address, whatever the language."""
        found = _SINGULAR.findall(text)
        polite = found.count("您")
        return (2 * polite - len(found)) / len(found) if found else 0.0
