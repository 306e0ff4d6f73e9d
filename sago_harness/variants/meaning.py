"""Finds the words on which meaning hangs: names, negations, comparatives, quantifiers."""

from __future__ import annotations

from sago_harness.variants.base import Span


def find_meaning(text: str, language: str = "en", keep: tuple[Span, ...] = ()) -> tuple[Span, ...]:
    """Find the semantic spans of a text, apart from the literal ones."""
    del text, language, keep
    return ()
