"""What stands where: the parts of the report, their figures and their tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of the report.

    Attributes
    ----------
    id : str
    title : str
    lead : str
        What is to be seen, before the figures.
    kinds : tuple of str
        Kinds of figures (:data:`sago_harness.figures.FIGURES`).
    tables : tuple of str
        Names of tables (:data:`sago_harness.report.compared.TABLES`).
    """

    id: str
    title: str
    lead: str
    kinds: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.title


PARTS: tuple[Part, ...] = (
    Part(
        "models",
        "Each model",
        "How far rewording moves a model on each of the four axes, as a share of how far an unrelated "
        "question "
        "moves it. On an axis 0 is best; a score is 1 minus the mean of its axes, so there 1 is best.",
        ("standing", "profile"),
        ("answers", "leaderboard", "weighted", "measures"),
    ),
    Part(
        "datasets",
        "Data set by data set",
        "A mean over data sets can hide that the order of the models is another one on each of them. A "
        "reversal is confirmed only where both models are ahead of each other beyond what the documents "
        "leave open.",
        ("datasets", "bump"),
        ("ranking", "pairs", "reversals", "where-reversed", "agreement", "tau"),
    ),
    Part(
        "chance",
        "Beyond chance and noise",
        "A distance means something only beside two others: how far an unrelated question moves the model "
        "(chance), "
        "and how far asking the very same again does (noise).",
        ("unstable",),
        ("unstable",),
    ),
    Part(
        "origins",
        "Where instability comes from",
        "Which changes of the prompt move a model, how strong they must be, in which layers they show, "
        "and how "
        "much of all movement belongs to the document rather than to the change.",
        ("operators", "dose", "layers", "variance"),
        ("dose", "variance", "apart"),
    ),
    Part(
        "axes",
        "Axes and accuracy",
        "Whether the axes catch different failures, and whether a model that is right is also steady.",
        ("independence", "accuracy"),
        ("independence",),
    ),
    Part(
        "care",
        "What to be careful with",
        "A model that hardly answers looks stable. And a ranking is worth as much as it survives being "
        "looked at otherwise.",
        ("health",),
        ("firmness", "seeds", "schemes"),
    ),
)

#: Kind -> figures that are seen at once; of others it is one. The rest is in a fold below them.
SEEN = {"profile": 4}

#: For figures of other packages, and tables that no part names.
REST = Part("further", "Further results", "")

#: Shown beside the document browser.
WITH_DOCUMENTS = ("worst",)


def parts_of(kinds: Iterable[str], tables: Iterable[str]) -> list[Part]:
    """Return the parts, with a last one for what no part names, if there is any.

    Parameters
    ----------
    kinds, tables : iterable of str
        All that there are.

    Examples
    --------
    >>> [part.id for part in parts_of(["bump", "rose"], [])][-1]
    'further'
    """
    kinds_placed = {kind for part in PARTS for kind in part.kinds}
    tables_placed = {name for part in PARTS for name in part.tables} | set(WITH_DOCUMENTS)
    left = _left(kinds, kinds_placed), _left(tables, tables_placed)
    rest = [Part(REST.id, REST.title, REST.lead, *left)] if any(left) else []
    return [*PARTS, *rest]


def _left(names: Iterable[str], placed: set[str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name not in placed)


#: Term -> what it means, for a reader who has not seen such a report.
READING: Sequence[tuple[str, str]] = (
    (
        "Variants",
        "Every prompt (the canonical one) is asked again in other words, with other manners, with typing "
        "noise, in "
        "another layout. The meaning stays, so a stable model should not move.",
    ),
    (
        "Axes",
        "Generation: the text of the answer. Activation: the hidden states. Confidence: the probabilities "
        "of one "
        "fixed answer. Mirroring: whether the answer takes over the prompt's change of manner.",
    ),
    (
        "Relative instability",
        "How far variants move the model, divided by how far an unrelated question does (chance). 0: "
        "nothing moves. "
        "1: as far as for another question. It can be more.",
    ),
    (
        "Scores",
        "sago is 1 minus the mean of all four axes, sago_core leaves out mirroring, sago_text takes what "
        "models that "
        "give text alone can have. Higher is more stable.",
    ),
    (
        "Intervals",
        "They cover the true value with the confidence that is named, over documents like these. "
        "Documents are "
        "the unit, never variants.",
    ),
    (
        "Rank sets",
        "The true ranks of all models lie in their sets at once, with the confidence that is named. "
        "Models whose "
        "sets overlap are not told apart by these data.",
    ),
    (
        "Reversals",
        "Confirmed: both models are ahead of each other somewhere, by tests corrected for all pairs. Not "
        "shown: the "
        "data leave it open. Cannot be shown: these data could not have shown it.",
    ),
    (
        "A dash",
        "Not measured, or not to be formed from these data. It is never a zero.",
    ),
)
