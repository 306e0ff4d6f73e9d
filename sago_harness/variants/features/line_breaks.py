"""How many line breaks a text has."""

from __future__ import annotations

from sago_harness.variants.base import Feature


class LineBreaks(Feature):
    r"""Line breaks per 100 characters.

    Examples
    --------
    >>> LineBreaks().value("ab\ncd\n\nefg")
    30.0
    """

    name = "line_breaks"
    minimum = 0.5
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the same way in every language."""
        del language
        return 100.0 * text.count("\n") / len(text) if text else 0.0
