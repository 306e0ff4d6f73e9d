"""The table of published variants that people wrote: name -> class."""

from __future__ import annotations

from sago_harness.registry import Table
from sago_harness.variants.people.base import People

_HERE = "sago_harness.variants.people"

PEOPLE: Table[type[People]] = Table(
    "people",
    "people's variants",
    {
        "noiseqa": f"{_HERE}.noiseqa:NoiseQA",
        "disfl_qa": f"{_HERE}.disfl_qa:DisflQA",
        "pararel": f"{_HERE}.pararel:ParaRel",
        "mgsm": f"{_HERE}.mgsm:MGSM",
    },
)
