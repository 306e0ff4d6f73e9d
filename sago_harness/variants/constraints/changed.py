"""A variant must not be the canonical text."""

from __future__ import annotations

import unicodedata

from sago_harness.variants.base import Check, Constraint, Passage


class Changed(Constraint):
    r"""Passes if the text differs, also in normal form C: two spellings of one character are no change.

    Examples
    --------
    >>> Changed().check(Passage("e\u0301"), "\u00e9").passed
    False
    """

    name = "changed"

    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare code points, then normal forms."""
        same = unicodedata.normalize("NFC", canonical.text) == unicodedata.normalize("NFC", variant)
        return Check(not same, reason="the text is the canonical one" if same else "")
