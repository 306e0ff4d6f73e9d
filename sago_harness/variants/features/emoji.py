"""How many emoji a text has."""

from __future__ import annotations

import re

from sago_harness.variants.features.marker_rate import MarkerRate

# Characters that are drawn as emoji by default (Unicode property Emoji_Presentation, by ranges),
# or by a variation selector; a flag, and a sequence joined by U+200D, is one.
_ONE = (
    r"(?:[\U0001F1E6-\U0001F1FF]{2}"
    r"|[\U0001F300-\U0001F64F\U0001F680-\U0001F6FF\U0001F7E0-\U0001F7EB\U0001F90C-\U0001FAFF"
    r"\u231A\u231B\u23E9-\u23EC\u23F0\u23F3\u25FD\u25FE\u2614\u2615\u2648-\u2653\u267F\u2693\u26A1"
    r"\u26AA\u26AB\u26BD\u26BE\u26C4\u26C5\u26CE\u26D4\u26EA\u26F2\u26F3\u26F5\u26FA\u26FD\u2705"
    r"\u270A\u270B\u2728\u274C\u274E\u2753-\u2755\u2757\u2795-\u2797\u27B0\u27BF\u2B1B\u2B1C\u2B50\u2B55]"
    r"[\uFE0F\U0001F3FB-\U0001F3FF]*|[^\w\s]\uFE0F\u20E3?|[0-9#*]\uFE0F?\u20E3)"
)
_EMOJI = re.compile(rf"{_ONE}(?:\u200D{_ONE})*")


class EmojiRate(MarkerRate):
    """Emoji per 100 characters; a sequence that is drawn as one sign counts one.

    Examples
    --------
    >>> EmojiRate().value("12345678🙂✨")
    20.0
    """

    name = "emoji"

    def pattern(self, language: str) -> re.Pattern[str]:
        """Return the one pattern of all languages."""
        del language
        return _EMOJI
