"""What an operator, a constraint and a feature are.

An operator makes one variant of a passage, a constraint says whether a variant may be
used, a feature reads the surface property that an operator moves (response mirroring
is measured with it). All three are small classes, one per file, with their facts as
class attributes.
"""

from __future__ import annotations

import abc
import random
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sago_harness.errors import SagoError

#: Families whose variants form a score, in the order of every table.
SCORED_FAMILIES: tuple[str, ...] = ("register", "noise", "structure")

#: Families with values of their own, never a part of a score.
OTHER_FAMILIES: tuple[str, ...] = ("human", "language", "control")

POSITIONS: tuple[str, ...] = ("prefix", "suffix", "both", "throughout")


class Refused(Exception):
    """An operator cannot vary this passage; ``str(error)`` is the short reason, counted."""


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range ``text[start:end]`` that must stay as it is.

    Attributes
    ----------
    start, end : int
        Offsets in code points.
    kind : str
        Why it is kept: ``"number"``, ``"url"``, ``"code"``, ``"task"`` ...
    """

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A text to be varied, with what must survive in it.

    Attributes
    ----------
    text : str
        The varied field of a document.
    language : str
        ISO 639-1 code, ``"en"`` or ``"zh"`` here.
    keep : tuple of Span
        The *literal* level. Sorted, non-overlapping; byte-identical and in the same order in
        every variant.
    leave : tuple of Span
        The *semantic* level: names, negations, comparatives, quantifiers. Sorted,
        non-overlapping, apart from ``keep``. Generators leave these words alone (operators of
        letter case, width, script and line breaks aside); the checker forgives one edit per four letters.
    """

    text: str
    language: str = "en"
    keep: tuple[Span, ...] = ()
    leave: tuple[Span, ...] = ()

    def free(self, semantic: bool = True, forms: tuple[str, ...] = ()) -> list[tuple[int, int]]:
        """Return the character ranges that an operator may change, in order.

        Parameters
        ----------
        semantic : bool
            Leave the semantic spans out too; False for operators of letter case.
        forms : tuple of str
            Kinds of semantic spans that stay in: the operator has another form with the same
            meaning for them ("do not", "don't").

        Examples
        --------
        >>> passage = Passage("a 12 b", keep=(Span(2, 4, "number"),), leave=(Span(5, 6, "name"),))
        >>> passage.free(), passage.free(semantic=False)
        ([(0, 2), (4, 5)], [(0, 2), (4, 6)])
        """
        ranges, at = [], 0
        spans: Iterable[Span] = self.keep
        if semantic and self.leave:
            left = [span for span in self.leave if span.kind not in forms] if forms else self.leave
            spans = sorted((*self.keep, *left), key=lambda span: span.start)
        for span in spans:
            if span.start > at:
                ranges.append((at, span.start))
            at = max(at, span.end)
        if at < len(self.text):
            ranges.append((at, len(self.text)))
        return ranges


class Operator(abc.ABC):
    """Makes one variant of a passage, deterministically.

    Subclasses state their facts as class attributes and implement :meth:`apply`.

    Parameters
    ----------
    strength : float or None
        A step of :attr:`strengths`; ``None`` where the operator has only one strength.
    position : str or None
        One of :attr:`positions`; ``None`` takes the first.

    Raises
    ------
    SagoError
        If the strength or the position is not one that the operator declares.
    """

    name: ClassVar[str]
    #: "register", "noise" or "structure" (or one of OTHER_FAMILIES).
    family: ClassVar[str]
    #: ISO 639-1 codes.
    languages: ClassVar[tuple[str, ...]]
    positions: ClassVar[tuple[str, ...]] = ("throughout",)
    #: The graded steps that recipes may ask for; empty = ungraded.
    strengths: ClassVar[tuple[float, ...]] = ()
    #: Name of the feature that this operator moves, read by ``x_mr``; None = it has none.
    feature: ClassVar[str | None] = None
    #: Modules that must be importable, and packaged models ("model:en-core-web-sm"); where one
    #: is missing the operator is skipped, with a count.
    requires: ClassVar[tuple[str, ...]] = ()
    #: Constraints without which a recipe may not use the operator, for all variants or in its entry.
    needs_constraints: ClassVar[tuple[str, ...]] = ()
    #: Names of the JSON tables that the output depends on; a recipe's digest covers them.
    tables: ClassVar[tuple[str, ...]] = ()
    #: Raise it with every change of output: packs and signatures carry it.
    version: ClassVar[int] = 1

    def __init__(self, strength: float | None = None, position: str | None = None) -> None:
        if self.strengths:
            strength = self.strengths[0] if strength is None else strength
            if strength not in self.strengths:
                steps = ", ".join(f"{step:g}" for step in self.strengths)
                raise SagoError(f"operator {self.name!r} has no strength {strength!r}: it has {steps}")
        elif strength is not None:
            raise SagoError(f"operator {self.name!r} has one strength only, {strength!r} was asked for")
        position = self.positions[0] if position is None else position
        if position not in self.positions:
            raise SagoError(
                f"operator {self.name!r} has no position {position!r}: it has {', '.join(self.positions)}"
            )
        self.strength = strength
        self.position = position
        #: Constraints of the recipe's entry, checked after those for all variants.
        self.constraints: tuple[Constraint, ...] = ()

    @property
    def variant_id(self) -> str:
        """Name of the variant this operator makes, unique within a recipe.

        Examples: ``"politeness+6@prefix"``, ``"typos3"``, ``"label"``.
        """
        signed = min(self.strengths, default=0) < 0
        grade = "" if self.strength is None else format(self.strength, "+g" if signed else "g")
        place = f"@{self.position}" if len(self.positions) > 1 else ""
        return f"{self.name}{grade}{place}"

    @abc.abstractmethod
    def apply(self, passage: Passage, rng: random.Random) -> str:
        """Return the varied text.

        Parameters
        ----------
        passage : Passage
            Text, language and the spans to keep.
        rng : random.Random
            The only source of chance; keyed by (seed, document id, operator).

        Returns
        -------
        str
            The whole new text, kept spans included and unchanged.

        Raises
        ------
        Refused
            If the passage gives the operator nothing to do.
        """


@dataclass(frozen=True, slots=True)
class Check:
    """Outcome of one constraint: did it pass, its value, and the reason if it did not."""

    passed: bool
    value: float | None = None
    reason: str = ""


class Constraint(abc.ABC):
    """Says whether a variant may stand for its canonical passage."""

    name: ClassVar[str]
    #: As of :class:`Operator`; a constraint that is named and cannot be checked stops the run.
    requires: ClassVar[tuple[str, ...]] = ()
    version: ClassVar[int] = 1

    @abc.abstractmethod
    def check(self, canonical: Passage, variant: str) -> Check:
        """Compare a variant with the passage it was made from."""


class Feature(abc.ABC):
    """A surface property of a text that an operator moves and a response may mirror."""

    name: ClassVar[str]
    #: Smallest change of the prompt that counts; below it mirroring is unscored.
    minimum: ClassVar[float]
    #: What one unit is, for tables: "per 100 characters", "share of letters", "log characters".
    unit: ClassVar[str]
    version: ClassVar[int] = 1

    @abc.abstractmethod
    def value(self, text: str, language: str = "en") -> float:
        """Return the feature of a text, 0.0 for an empty one."""
