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
        "edits": f"{_HERE}.edits:Edits",
        "language": f"{_HERE}.language:Language",
        "answer_type": f"{_HERE}.answer_type:AnswerType",
        "similarity": f"{_HERE}.similarity:Similarity",
        "entailment": f"{_HERE}.entailment:Entailment",
        "equivalence": f"{_HERE}.equivalence:Equivalence",
    },
)
