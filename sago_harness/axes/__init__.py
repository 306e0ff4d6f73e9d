"""Axes: what a response is compared by. One line per measure; columns follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sago_harness.registry import Table

if TYPE_CHECKING:
    from sago_harness.axes.base import Measure

MEASURES: Table[type[Measure]] = Table(
    "measures",
    "measure",
    {
        "x_bleu": "sago_harness.axes.measures:Bleu",
        "x_bert": "sago_harness.axes.measures:Bert",
        "x_sem": "sago_harness.axes.measures:Sem",
        "x_act": "sago_harness.axes.measures:Act",
        "x_prob": "sago_harness.axes.measures:Prob",
        "x_ent": "sago_harness.axes.measures:Ent",
        "x_jsd": "sago_harness.axes.measures:Jsd",
    },
)


def measures_for(encoder_kind: str) -> list[Measure]:
    """Return the measures of a task, in table order.

    Parameters
    ----------
    encoder_kind : {"token", "sentence"}
        ``x_bert`` or ``x_sem``: one of the two, never mixed.

    Examples
    --------
    >>> [m.name for m in measures_for("token")]
    ['x_bleu', 'x_bert', 'x_act', 'x_prob', 'x_ent', 'x_jsd']
    """
    made = [MEASURES.load(name)() for name in MEASURES]
    return [m for m in made if m.encoder in ("", encoder_kind)]
