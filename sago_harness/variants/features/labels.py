"""How many lines begin with a field label."""

from __future__ import annotations

import re

from sago_harness.variants.base import Feature

# Up to three short words, then a colon that is followed by white space or the line's end
# (so that a time or a web address is none); Chinese labels need no space.
_LABEL = re.compile(
    r"^[ \t*#]*(?:[^\W\d_][\w'\-]{0,19}(?: [\w'\-]{1,20}){0,2}:[*]*(?=\s|$)|[\u3400-\u9fff]{1,8}：)", re.M
)


class Labels(Feature):
    r"""Lines that begin with a label such as "Answer:", per 100 characters.

    Examples
    --------
    >>> Labels().value("Question: who?\nAnswer: me")
    8.0
    """

    name = "labels"
    minimum = 0.2
    unit = "per 100 characters"

    def value(self, text: str, language: str = "en") -> float:
        """Count the same way in every language."""
        del language
        if not text:
            return 0.0
        return 100.0 * sum(1 for _ in _LABEL.finditer(text)) / len(text)
