"""Measures over a whole data set: how alike the hidden states of two ways of asking lie to each other.

One line per measure; ``--metadata representation=`` takes their names without ``x_``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sago_harness.registry import Table

if TYPE_CHECKING:
    from sago_harness.axes.representation.base import Representation

REPRESENTATIONS: Table[type[Representation]] = Table(
    "representations",
    "representation measure",
    {
        "x_cka": "sago_harness.axes.representation.cka:Cka",
        "x_procrustes": "sago_harness.axes.representation.procrustes:Procrustes",
        "x_pwcca": "sago_harness.axes.representation.pwcca:Pwcca",
    },
)
