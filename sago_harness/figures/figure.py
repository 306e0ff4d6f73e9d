"""What a figure is: its drawing as data, its numbers as a table, and what is to be seen in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sago_harness.report.tables import Table


@dataclass(frozen=True)
class Figure:
    """One figure of a study.

    Attributes
    ----------
    name : str
        Safe in a file name, unique in a study, begins with the kind: ``bump-sago``.
    kind : str
        Key of :data:`sago_harness.figures.FIGURES`.
    title : str
    description : str
        One or two sentences with numbers: what is to be seen, for those who do not see it.
    spec : dict
        Vega-Lite, data inside; its title is the key of the marks. Colours of text and background are not
        part of it (:mod:`sago_harness.figures.theme`).
    table : Table
        Exactly what is drawn.
    notes : tuple of str
        What must be read with it.
    """

    name: str
    kind: str
    title: str
    description: str
    spec: dict[str, Any] = field(repr=False)
    table: Table = field(repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.title}"


@dataclass(frozen=True)
class NotDrawn:
    """A figure that a study cannot show, and why.

    Attributes
    ----------
    name, kind, title : str
        As of :class:`Figure`.
    reason : str
    """

    name: str
    kind: str
    title: str
    reason: str

    def __str__(self) -> str:
        return f"{self.title}: not drawn, {self.reason}"


Drawn = Figure | NotDrawn
