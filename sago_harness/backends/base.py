"""What a backend is.

A backend gets whole documents, each a list of prompts with the canonical one first, and
yields their responses document by document, so that nothing large is held for longer than
one window of documents.
"""

from __future__ import annotations

import abc
import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sago_harness.data import Prompt, Response, Wanted

__all__ = ["Backend", "Progress", "Prompt", "Response", "Spent", "Wanted"]

#: Progress callback: how many more prompts have been worked on, and in which step.
Progress = Callable[[int, str], None]


@dataclass(slots=True)
class Spent:
    """What a backend has spent and saved so far, counted exactly.

    Attributes
    ----------
    passes : int
        Forward passes.
    tokens : int
        Tokens fed to the model, padding apart.
    shared : int
        Prompt tokens that were not fed again, because another prompt begins with them.
    verified : int
        Response tokens that came from a draft and needed no step of their own.
    """

    passes: int = 0
    tokens: int = 0
    shared: int = 0
    verified: int = 0


class Backend(abc.ABC):
    """Answers prompts; wraps one of the host's models."""

    #: What it can give, of "text", "own", "forced", "hidden".
    signals: ClassVar[tuple[str, ...]]

    @functools.cached_property
    def spent(self) -> Spent:
        """Counters, shown while a run goes on."""
        return Spent()

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

    def identify(self, prompt: Prompt, wanted: Wanted) -> str:
        """Return a hash of a prompt as it reaches the model; generation arguments apart.

        Two prompts with one hash give the same numbers. By default the prompt's JSON, with
        the span where it is pooled over; a backend that knows the token ids hashes those.

        Parameters
        ----------
        prompt : Prompt
        wanted : Wanted
        """
        content = [prompt.text, prompt.span if wanted.pooling == "span" else ""]
        return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()
