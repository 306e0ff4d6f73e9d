"""The table of operators: name -> class."""

from __future__ import annotations

from sago_harness.registry import Table
from sago_harness.variants.base import Operator

_HERE = "sago_harness.variants.operators"

OPERATORS: Table[type[Operator]] = Table(
    "operators",
    "operator",
    {
        "politeness": f"{_HERE}.politeness:Politeness",
        "casual": f"{_HERE}.casual:Casual",
        "hedging": f"{_HERE}.hedging:Hedging",
        "spaces": f"{_HERE}.spaces:Spaces",
        "punctuation": f"{_HERE}.punctuation:Punctuation",
        "case": f"{_HERE}.case:Case",
        "typos": f"{_HERE}.typos:Typos",
        "width": f"{_HERE}.width:Width",
        "label": f"{_HERE}.label:Label",
        "request": f"{_HERE}.request:Request",
        "separators": f"{_HERE}.separators:Separators",
        "linebreaks": f"{_HERE}.linebreaks:LineBreaks",
    },
)
