"""The document browser's program: its parts in the order in which they need each other."""

from __future__ import annotations

from pathlib import Path

#: Parts of one function: what an earlier one declares, later ones see.
PARTS = (
    "frame",
    "texts",
    "differences",
    "blocks",
    "study",
    "filters",
    "list",
    "document",
    "search",
    "opening",
)

TEMPLATES = Path(__file__).parent / "templates"


def script() -> str:
    r"""Return the whole program: one function that is called at once and leaves no name behind.

    Examples
    --------
    >>> script()[:22]
    '(() => {\n"use strict";'
    """
    parts = [(TEMPLATES / f"{name}.js").read_text(encoding="utf-8") for name in PARTS]
    return "(() => {\n" + "\n".join(parts) + "})();\n"
