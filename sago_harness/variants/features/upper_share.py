"""How much of a text is in capitals."""

from __future__ import annotations

from sago_harness.variants.base import Feature


class UpperShare(Feature):
    """Share of the cased letters that are upper case, 0..1; 0.0 without cased letters.

    Examples
    --------
    >>> UpperShare().value("ABc d")
    0.5
    """

    name = "upper_share"
    minimum = 0.02
    unit = "share of letters"

    def value(self, text: str, language: str = "en") -> float:
        """Count letters that are upper or lower case; others (Han, digits) are left out."""
        del language
        upper = sum(1 for char in text if char.isupper())
        cased = upper + sum(1 for char in text if char.islower())
        return upper / cased if cased else 0.0
