"""What an encoder is: it says how similar two texts are, for many pairs at once."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sago_harness.axes.script import is_empty, is_valid_unicode

FloatArray = npt.NDArray[np.floating[Any]]

#: A text with a larger share of unknown tokens is unscored.
UNKNOWN_LIMIT = 0.05

#: Pairs per window, in batches; bounds how many embeddings are held at a time.
_WINDOW = 16

Progress = Callable[[int, int], Any]


@dataclass(frozen=True, slots=True)
class Similarity:
    """How similar two texts are to an encoder.

    Attributes
    ----------
    value : float or None
        BERTScore F1 or cosine, not rescaled; at most 1 but for rounding. None with a reason.
    reason : str
        ``"encoder_language"`` (over 5 % of a text's tokens are unknown to the encoder),
        ``"encoder_no_tokens"`` (it drops all of a text, as BERT does with control
        characters), ``"encoder_nan"``, ``"empty"``, ``"invalid_unicode"``; else ``""``.
    truncated : bool
        A text was longer than the encoder takes, and only its start was compared.
    """

    value: float | None
    reason: str = ""
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands for an encoder that cannot be had; what it would have measured is unscored.

    Attributes
    ----------
    reason : str
        ``"encoder_unavailable"``.
    message : str
        One line: what is missing and how to get it.
    """

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as the encoder's tokenizer reads it.

    Attributes
    ----------
    text : str
    ids : tuple of int
        Token ids as embedded: truncated, special tokens included.
    content : int
        Tokens of the whole text, special ones left out.
    unknown : int
        How many of them are unknown to the encoder.
    truncated : bool
    """

    text: str
    ids: tuple[int, ...]
    content: int
    unknown: int
    truncated: bool


class Encoder(abc.ABC):
    """Compares texts by their embeddings.

    Attributes
    ----------
    name : str
        Name for signatures and for the table of baselines.
    layer : int or None
        Block whose output is used; None for sentence encoders.
    kind : {"token", "sentence"}
        BERTScore F1 of token embeddings, or cosine of sentence embeddings.
    max_tokens : int or None
        Longest text in tokens, special ones included; None = any length.
    """

    name: str
    layer: int | None
    kind: Literal["token", "sentence"]
    max_tokens: int | None

    @property
    @abc.abstractmethod
    def weights(self) -> str:
        """What identifies the weights: ``"sha256:..."`` or ``"commit:..."``."""

    @abc.abstractmethod
    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Tokenise texts that are valid Unicode."""

    @abc.abstractmethod
    def embed(self, readings: Sequence[Reading]) -> list[FloatArray]:
        """Embed one batch in one forward pass; unit vectors, one array per reading."""

    @abc.abstractmethod
    def similarity(self, a: Reading, b: Reading, of_a: FloatArray, of_b: FloatArray) -> float:
        """Compare two embedded texts."""

    def compare(
        self,
        pairs: Sequence[tuple[str, str]],
        batch_size: int = 64,
        progress: Progress | None = None,
    ) -> list[Similarity]:
        """Return the similarity of each pair, in order.

        Each distinct text is embedded once per call. Pairs of identical texts are 1.0
        without being embedded, and so are pairs that the tokenizer cannot tell apart.

        Parameters
        ----------
        pairs : sequence of (str, str)
        batch_size : int
            Texts per forward pass.
        progress : callable or None
            Called with (texts embedded so far, texts to embed).

        Returns
        -------
        list of Similarity
        """
        results = [_trivial(a, b) for a, b in pairs]
        open_pairs = [at for at, result in enumerate(results) if result is None]
        texts = list(dict.fromkeys(text for at in open_pairs for text in pairs[at]))
        readings = dict(zip(texts, self.read(texts), strict=True)) if texts else {}
        for at in open_pairs:
            results[at] = _readable(readings[pairs[at][0]], readings[pairs[at][1]])
        open_pairs = [at for at in open_pairs if results[at] is None]

        read_pairs = [(readings[pairs[at][0]], readings[pairs[at][1]]) for at in open_pairs]
        for at, (a, b), value in zip(
            open_pairs, read_pairs, self._values(read_pairs, batch_size, progress), strict=True
        ):
            truncated = a.truncated or b.truncated
            if math.isfinite(value):
                results[at] = Similarity(value, truncated=truncated)
            else:
                results[at] = Similarity(None, "encoder_nan", truncated)
        return [result for result in results if result is not None]

    def _values(
        self, pairs: Sequence[tuple[Reading, Reading]], batch_size: int, progress: Progress | None
    ) -> Iterator[float]:
        """Embed window by window and forget an embedding after its last pair."""
        last = {reading.text: at for at, pair in enumerate(pairs) for reading in pair}
        held: dict[str, FloatArray] = {}
        done = 0
        size = _WINDOW * batch_size
        for start in range(0, len(pairs), size):
            window = pairs[start : start + size]
            wanted = {r.text: r for pair in window for r in pair if r.text not in held}
            # Equal lengths side by side keep padding, and so time, small.
            order = sorted(wanted.values(), key=lambda reading: len(reading.ids), reverse=True)
            for at in range(0, len(order), batch_size):
                batch = order[at : at + batch_size]
                held.update(zip((r.text for r in batch), self.embed(batch), strict=True))
                done += len(batch)
                if progress is not None:
                    progress(done, len(last))
            for a, b in window:
                yield self.similarity(a, b, held[a.text], held[b.text])
            held = {text: vectors for text, vectors in held.items() if last[text] >= start + size}


def _trivial(a: str, b: str) -> Similarity | None:
    """Answer what can be said without a tokenizer."""
    if not (is_valid_unicode(a) and is_valid_unicode(b)):
        return Similarity(None, "invalid_unicode")
    if a == b:
        return Similarity(1.0)
    if is_empty(a) or is_empty(b):
        return Similarity(None, "empty")
    return None


def _readable(a: Reading, b: Reading) -> Similarity | None:
    """Answer what can be said without the model."""
    truncated = a.truncated or b.truncated
    if not (a.content and b.content):
        return Similarity(None, "encoder_no_tokens", truncated)
    if any(reading.unknown > UNKNOWN_LIMIT * reading.content for reading in (a, b)):
        return Similarity(None, "encoder_language", truncated)
    if a.ids == b.ids:
        return Similarity(1.0, truncated=truncated)
    return None
