"""Refusals: does a response begin by declining? A health figure, not a measure."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

#: A refusal says so at once.
_HEAD = 80


@cache
def _phrases() -> tuple[str, ...]:
    table = json.loads((files("sago_harness.axes") / "tables" / "refusals.json").read_text(encoding="utf-8"))
    return tuple(phrase for phrases in table.values() for phrase in phrases)


def is_refusal(text: str) -> bool:
    """Say whether a response opens with one of the listed phrases of declining.

    Examples
    --------
    >>> is_refusal("I'm sorry, but I can't help with that."), is_refusal("The capital is Rome.")
    (True, False)
    """
    head = text.strip()[:_HEAD].casefold().replace("’", "'").replace(",我", "，我")
    return any(phrase in head for phrase in _phrases())
