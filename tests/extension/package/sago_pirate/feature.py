"""A feature of another package."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature


class Arrs(Feature):
    """Arrs per 100 characters."""

    name = "arrs"
    minimum = 0.1
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count them."""
        return 100.0 * len(re.findall(r"\bA?rr+!", text)) / len(text) if text else 0.0
