"""Figures of a study: kind -> function that makes them from its results.

A figure is a Vega-Lite specification with its table and its description
(:class:`sago_harness.figures.figure.Figure`). The report shows it in a browser, ``sago plot`` draws it
to a file (:mod:`sago_harness.figures.draw`): the same specification both times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sago_harness.figures.figure import Drawn, Figure, NotDrawn
from sago_harness.registry import Table
from sago_harness.report.changes import escape_line

if TYPE_CHECKING:
    from sago_harness.report.study import Study

__all__ = ["FIGURES", "KINDS", "Drawn", "Figure", "NotDrawn", "figures"]

Maker = Callable[["Study"], "list[Drawn]"]

#: Kind -> function, in the order in which a reader needs them.
FIGURES: Table[Maker] = Table(
    "figures",
    "kind of figure",
    {
        "standing": "sago_harness.figures.standing:standing",
        "profile": "sago_harness.figures.profile:profile",
        "datasets": "sago_harness.figures.datasets:datasets",
        "bump": "sago_harness.figures.bump:bump",
        "operators": "sago_harness.figures.operators:operators",
        "dose": "sago_harness.figures.dose:dose",
        "layers": "sago_harness.figures.layers:layers",
        "independence": "sago_harness.figures.independence:independence",
        "accuracy": "sago_harness.figures.accuracy:accuracy",
        "unstable": "sago_harness.figures.unstable:unstable",
        "variance": "sago_harness.figures.variance:variance",
        "health": "sago_harness.figures.health:health",
    },
)

#: Kind -> what it shows, in a few words.
KINDS: dict[str, str] = {
    "standing": "leaderboard: scores with intervals, rank ranges, chance and noise",
    "profile": "the four axes of each model, with intervals, chance and noise",
    "datasets": "scores and axes of all models on each data set",
    "bump": "ranks across data sets, and reversals by their certainty",
    "operators": "heat map of operators and models",
    "dose": "distance against strength, operator by operator",
    "layers": "relative instability layer by layer",
    "independence": "correlations of the axes over documents",
    "accuracy": "accuracy (canonical, mean, worst) against stability",
    "unstable": "distances beside chance and noise floor, measure by measure",
    "variance": "shares of variance: document, family, operator, variant",
    "health": "shares of empty, short, truncated, refused, stock and unscored",
}

#: Characters of a title or a description.
_LONGEST = 2000

_ENDLESS = re.compile(r"\S{81,}")


def figures(study: Study, kinds: Sequence[str] | None = None) -> list[Drawn]:
    """Return the figures of a study.

    Parameters
    ----------
    study : Study
    kinds : sequence of str, optional
        Those alone, in this order; default: all.

    Returns
    -------
    list of Figure or NotDrawn
        For each kind at least one; names are unique.

    Raises
    ------
    SagoError
        For a kind that there is none of.
    """
    made: list[Drawn] = []
    taken: set[str] = set()
    makers = [FIGURES.load(kind) for kind in (FIGURES if kinds is None else dict.fromkeys(kinds))]
    for maker in makers:
        for one in maker(study):
            made.append(_seen(replace(one, name=_free(one.name, taken))))
            taken.add(made[-1].name)
    return made


def _seen(one: Drawn) -> Drawn:
    """Return a figure in whose words every character can be seen; names of models are part of them."""
    if isinstance(one, NotDrawn):
        return replace(one, title=_short(one.title), reason=_short(one.reason))
    notes = tuple(map(_short, one.notes))
    return replace(one, title=_short(one.title), description=_short(one.description), notes=notes)


def _short(text: str) -> str:
    """Return words in one line; endless names lose their middle."""
    line = escape_line(_ENDLESS.sub(lambda match: f"{match[0][:40]}…{match[0][-20:]}", text))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def _free(name: str, taken: set[str]) -> str:
    """Return the name, numbered where it is taken: two data sets may look alike in a file name."""
    number = 1
    found = name
    # Some file systems do not tell upper from lower case.
    lower = {one.lower() for one in taken}
    while found.lower() in lower:
        number += 1
        found = f"{name}-{number}"
    return found
