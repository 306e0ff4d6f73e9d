"""What crosses a border between two stages, in the order of the flow.

document -> VariantSet -> Response -> Measured -> (rows of the score table)

Everything is frozen. Numbers that are missing are ``None`` or NaN with a reason beside
them, never 0 and never left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.floating]

CANONICAL = "canonical"


@dataclass(frozen=True, slots=True)
class Document:
    """One row of a task's data set, as far as varying it needs it.

    Attributes
    ----------
    id : str
        The task's ``id_field``, else a hash of the declared fields; a duplicate gets ``#k``.
    fields : mapping of str to str
        The varied fields, in the task's order.
    language : str
        ISO 639-1 code.
    cluster : str or None
        Documents with the same cluster are never each other's chance control.
    keep : tuple of str
        Literal strings that the task wants kept besides those the span finder finds.
    own : tuple of Variant
        Variants that came with the document (written by people).
    reason : str
        Why the document cannot be varied; empty if it can.
    """

    id: str
    fields: Mapping[str, str]
    language: str = "en"
    cluster: str | None = None
    keep: tuple[str, ...] = ()
    own: tuple[Variant, ...] = ()
    reason: str = ""

    @property
    def text(self) -> str:
        """The varied span: the fields, joined by line breaks."""
        return "\n".join(self.fields.values())


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of saying what a document says.

    Attributes
    ----------
    id : str
        Unique within the set; ``"canonical"`` for the document's own text.
    family, operator : str
        Where it comes from; ``operator`` is ``""`` for the canonical one.
    strength : float or None
    position : str or None
    feature : str or None
        Surface feature that the operator moves, read by ``x_mr``.
    fields : mapping of str to str
        The varied fields with their new text.
    """

    id: str
    family: str
    operator: str
    fields: Mapping[str, str]
    strength: float | None = None
    position: str | None = None
    feature: str | None = None

    @property
    def text(self) -> str:
        """The varied span: the fields, joined by line breaks."""
        return "\n".join(self.fields.values())


@dataclass(frozen=True, slots=True)
class Reject:
    """A variant that was not made or not let through, and why."""

    id: str
    family: str
    operator: str
    reason: str


@dataclass(frozen=True, slots=True)
class VariantSet:
    """A document's variants; ``variants[0]`` is the canonical one."""

    document: Document
    variants: tuple[Variant, ...]
    rejects: tuple[Reject, ...] = ()
