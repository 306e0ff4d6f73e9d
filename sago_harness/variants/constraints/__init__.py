"""The table of constraints: name -> class."""

from __future__ import annotations

from sago_harness.registry import Table
from sago_harness.variants.base import Constraint

_HERE = "sago_harness.variants.constraints"

CONSTRAINTS: Table[type[Constraint]] = Table(
    "constraints",
    "constraint",
    {
        "changed": f"{_HERE}.changed:Changed",
        "literals": f"{_HERE}.literals:Literals",
        "semantic": f"{_HERE}.semantic:Semantic",
        "length": f"{_HERE}.length:Length",
    },
)
