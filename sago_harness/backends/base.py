"""What a backend is asked and what it answers.

A backend gets whole documents, each a list of prompts with the canonical one first, and
yields their responses document by document, so that nothing large is held for longer than
one window of documents.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

Role = Literal["canonical", "variant", "control", "repeat"]

#: Progress callback: how many more prompts have been worked on, and in which step.
Progress = Callable[[int, str], None]


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
    """Which signals a run asks for (measures.md 2).

    Attributes
    ----------
    pooling : {"last", "span"}
        Hidden state at the last prompt token, or the mean over the varied span.
    layers : {"blocks", "attention"}
        Outputs of the blocks or of their attention sub-blocks.
    seed : int
        For sampling and for the order of repeats.
    """

    pooling: str = "last"
    layers: str = "blocks"
    seed: int = 0


@dataclass(slots=True)
class Response:
    """What came back for one prompt. Missing signals are None, with a reason in ``reasons``.

    Attributes
    ----------
    text : str
        Visible response, cut as the host cuts it.
    kept_ids : tuple of int
        The response's own token ids up to the cut, reasoning included, end-of-sequence not.
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
        ``truncated`` (no room left), ``straddle`` (the last kept token crosses the cut),
        ``prompt_truncated`` ...
    reasons : dict of str to str
        Signal (``text``, ``own``, ``forced``, ``hidden``) -> why it is missing.
    """

    text: str = ""
    kept_ids: tuple[int, ...] = ()
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


class Backend(abc.ABC):
    """Answers prompts; wraps one of the host's models."""

    #: What it can give, of "text", "own", "forced", "hidden".
    signals: ClassVar[tuple[str, ...]]

    @abc.abstractmethod
    def run(
        self, documents: Sequence[Sequence[Prompt]], wanted: Wanted, progress: Progress
    ) -> Iterator[tuple[int, list[Response]]]:
        """Answer every prompt of every document.

        Parameters
        ----------
        documents : sequence of sequence of Prompt
            Each document's prompts, the canonical one first.
        wanted : Wanted
        progress : callable

        Yields
        ------
        index, responses
            Index of the document and its responses in the order of its prompts; the
            documents may come in any order, each exactly once.
        """

    @abc.abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what identifies the model's numbers: dtype, attention, batch size, template ..."""
