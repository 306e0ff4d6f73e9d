"""Which Chinese script a text is in."""

from __future__ import annotations

from sago_harness.variants.base import Feature
from sago_harness.variants.chinese.script import traditional_share


class TraditionalShare(Feature):
    """Traditional minus simplified characters, as a share of those that tell; 0 without any.

    Examples
    --------
    >>> TraditionalShare().value("法國", "zh"), TraditionalShare().value("法国", "zh")
    (1.0, -1.0)
    """

    name = "traditional_share"
    minimum = 0.5
    unit = "share of characters of one script"

    def value(self, text: str, language: str = "zh") -> float:
        """Count the characters that only one of the scripts has."""
        return traditional_share(text)
