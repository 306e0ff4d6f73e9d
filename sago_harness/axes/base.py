"""What a measure is: a distance between two responses, with its mathematics as data."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from sago_harness.axes.encoders.base import Encoder, Missing
    from sago_harness.data import Response

AXES: tuple[str, ...] = ("generation", "activation", "confidence", "mirroring")


@dataclass(frozen=True, slots=True)
class Scored:
    """A distance, or NaN with the reason; flags are facts that do not unscore."""

    value: float
    reason: str = ""
    flags: tuple[str, ...] = ()
    raw: float | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What text measures need beside the texts: the encoder and its baseline."""

    encoder: Encoder | Missing | None = None
    baseline: float | None = None
    language: str = "en"


class Measure(abc.ABC):
    """How far behaviour moved from the canonical prompt to another.

    Class attributes state the mathematics; contract tests draw random inputs and check
    each claim. A measure that requires more than ``"text"`` runs where the model's arrays
    are, the others later, over all documents at once.
    """

    name: ClassVar[str]
    #: One of AXES, or "" for a measure that is recorded and in no axis.
    axis: ClassVar[str]
    #: Signals of a Response it reads: "text", "forced", "hidden".
    requires: ClassVar[tuple[str, ...]]
    #: d(a, b) = d(b, a)?
    symmetric: ClassVar[bool]
    reference: ClassVar[str]
    version: ClassVar[int] = 1
    #: Encoder kind that it needs: "token", "sentence" or "".
    encoder: ClassVar[str] = ""

    @abc.abstractmethod
    def distances(self, pairs: Sequence[tuple[Response, Response]], context: Context) -> list[Scored]:
        """Return the distance of each pair (canonical, other).

        Parameters
        ----------
        pairs : sequence of (Response, Response)
        context : Context

        Returns
        -------
        list of Scored
            In [0, 1], 0 = nothing moved; NaN with a reason where a signal is missing.
        """

    def missing(self, canonical: Response, other: Response) -> str:
        """Return why a required signal of either response is missing, "" if none is."""
        for signal in self.requires:
            for response in (canonical, other):
                reason = response.reasons.get(signal, "")
                if reason:
                    return reason
        return ""
