"""What crosses a border between two stages, in the order of the flow.

document -> VariantSet -> Prompt -> Response -> record (a row of the score table)

Everything is frozen. Numbers that are missing are ``None`` or NaN with a reason beside
them, never 0 and never left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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
    checks : mapping of str to (float or None)
        Constraint -> its value; None where the constraint has no number, or none here.
    """

    id: str
    family: str
    operator: str
    fields: Mapping[str, str]
    strength: float | None = None
    position: str | None = None
    feature: str | None = None
    checks: Mapping[str, float | None] = field(default_factory=dict, compare=False)

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


Role = Literal["canonical", "variant", "control", "repeat"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request.

    Attributes
    ----------
    text : str or object
        The rendered prompt; chat APIs take the host's own JSON object instead of a string.
    role : {"canonical", "variant", "control", "repeat"}
    gen_kwargs : mapping
        The host's generation arguments (``until``, ``max_gen_toks``, ``do_sample`` ...).
    span : str
        The varied span as it stands in the prompt; read by span pooling.
    repeat : int
        Number of the repeat, 0 otherwise; part of what makes two requests identical.
    """

    text: Any
    role: Role
    gen_kwargs: Mapping[str, Any]
    span: str = ""
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which signals a run asks for.

    Attributes
    ----------
    pooling : {"last", "span"}
        Hidden state at the last prompt token, or the mean over the varied span.
    layers : {"blocks", "attention"}
        Outputs of the blocks or of their attention sub-blocks.
    seed : int
        For sampling and for the order of repeats.
    vectors : bool
        Are the pooled hidden states themselves kept, for measures over a whole data set?
    """

    pooling: str = "last"
    layers: str = "blocks"
    seed: int = 0
    vectors: bool = False


@dataclass(slots=True)
class Response:
    """What came back for one prompt. Missing signals are None, with a reason in ``reasons``.

    Attributes
    ----------
    text : str
        Visible response, cut as the host cuts it.
    kept_ids : tuple of int
        The response's own token ids up to the cut, reasoning included, end-of-sequence not.
    head : int or None
        Characters of ``text`` that its first 16 tokens give, reasoning not among them; None where token
        ids are not known.
    own_logprob, own_entropy : ndarray of shape (T,), float32, nats
        Of the response's own tokens after its own prompt.
    forced_logprob, forced_entropy : ndarray of shape (T0,), float32, nats
        Of the canonical response's tokens after this prompt.
    forced_jsd : ndarray of shape (min(T0, 32),), float64
        Jensen-Shannon divergence from the canonical prompt's distributions, over ln 2.
    hidden : ndarray of shape (L + 1, D), float32
        Pooled hidden states, embedding first.
    prompt_ids_digest : str
        Identifies the prompt as sent (its token ids): a variant with the canonical prompt's
        digest never reached the model and is unscored, so every backend must fill it.
    prompt_tokens : int or None
    flags : tuple of str
        ``truncated`` (ran into the token limit), ``straddle`` (the last kept token crosses the cut),
        ``prompt_truncated`` ...
    reasons : dict of str to str
        Signal (``text``, ``own``, ``forced``, ``hidden``) -> why it is missing.
    """

    text: str = ""
    kept_ids: tuple[int, ...] = ()
    head: int | None = None
    own_logprob: npt.NDArray[np.float32] | None = None
    own_entropy: npt.NDArray[np.float32] | None = None
    forced_logprob: npt.NDArray[np.float32] | None = None
    forced_entropy: npt.NDArray[np.float32] | None = None
    forced_jsd: npt.NDArray[np.float64] | None = None
    hidden: npt.NDArray[np.float32] | None = None
    prompt_ids_digest: str = ""
    prompt_tokens: int | None = None
    flags: tuple[str, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)
