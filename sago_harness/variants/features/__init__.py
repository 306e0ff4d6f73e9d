"""The table of features: name -> class."""

from __future__ import annotations

from sago_harness.registry import Table
from sago_harness.variants.base import Feature

_HERE = "sago_harness.variants.features"

FEATURES: Table[type[Feature]] = Table(
    "features",
    "feature",
    {
        "politeness_markers": f"{_HERE}.politeness_markers:PolitenessMarkers",
        "casual_markers": f"{_HERE}.casual_markers:CasualMarkers",
        "hedging_markers": f"{_HERE}.hedging_markers:HedgingMarkers",
        "extra_spaces": f"{_HERE}.extra_spaces:ExtraSpaces",
        "repeated_marks": f"{_HERE}.repeated_marks:RepeatedMarks",
        "upper_share": f"{_HERE}.upper_share:UpperShare",
        "log_length": f"{_HERE}.log_length:LogLength",
        "labels": f"{_HERE}.labels:Labels",
    },
)
