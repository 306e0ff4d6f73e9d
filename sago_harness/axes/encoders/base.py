"""What an encoder is: it says how similar two texts are, for many pairs at once."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sago_harness.axes.script import is_empty, is_valid_unicode

FloatArray = npt.NDArray[np.floating[Any]]

#: A text with a larger share of unknown tokens is unscored.
UNKNOWN_LIMIT = 0.05

#: Tokens whose embeddings are held at a time, but for texts that come back later.
_WINDOW = 2**15

#: Tokens per forward pass, padding included; more only costs memory.
_PASS = 2**11

#: Tokens of padding that cost as much as one more forward pass (MiniLM on a processor).
_PADDING = 48

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
        Nothing is kept from call to call: what shares a forward pass may move the last digit
        of an embedding, and a value must not depend on what was measured before.

        Parameters
        ----------
        pairs : sequence of (str, str)
        batch_size : int
            At most this many texts per forward pass; fewer where they are long or of
            different lengths.
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

        # Many variants have the same response.
        distinct = list(dict.fromkeys(pairs[at] for at in open_pairs))
        read_pairs = [(readings[a], readings[b]) for a, b in distinct]
        values = dict(zip(distinct, self._values(read_pairs, batch_size, progress), strict=True))
        for at in open_pairs:
            a, b = pairs[at]
            truncated = readings[a].truncated or readings[b].truncated
            if math.isfinite(values[a, b]):
                results[at] = Similarity(values[a, b], truncated=truncated)
            else:
                results[at] = Similarity(None, "encoder_nan", truncated)
        return [result for result in results if result is not None]

    def _values(
        self, pairs: Sequence[tuple[Reading, Reading]], batch_size: int, progress: Progress | None
    ) -> Iterator[float]:
        """Embed window by window and forget an embedding after its last pair."""
        last = {reading.text: at for at, pair in enumerate(pairs) for reading in pair}
        held: dict[str, FloatArray] = {}
        done = start = 0
        while start < len(pairs):
            end, wanted = _window(pairs, start, held)
            for batch in _batches(wanted, batch_size):
                held.update(zip((reading.text for reading in batch), self.embed(batch), strict=True))
                done += len(batch)
                if progress is not None:
                    progress(done, len(last))
            for a, b in pairs[start:end]:
                yield self.similarity(a, b, held[a.text], held[b.text])
            held = {text: vectors for text, vectors in held.items() if last[text] >= end}
            start = end


def _window(
    pairs: Sequence[tuple[Reading, Reading]], start: int, held: Container[str]
) -> tuple[int, list[Reading]]:
    """Return where the window that begins at ``start`` ends, and what is to be embedded for it."""
    wanted: dict[str, Reading] = {}
    tokens = 0
    for at in range(start, len(pairs)):
        new = {r.text: r for r in pairs[at] if r.text not in held and r.text not in wanted}
        tokens += sum(len(reading.ids) for reading in new.values())
        if tokens > _WINDOW and at > start:
            return at, list(wanted.values())
        wanted |= new
    return len(pairs), list(wanted.values())


def _batches(readings: Sequence[Reading], batch_size: int) -> Iterator[list[Reading]]:
    """Yield the readings by falling length; a batch ends where its padding would cost a pass of its own."""
    batch: list[Reading] = []
    padding = 0
    for reading in sorted(readings, key=lambda reading: len(reading.ids), reverse=True):
        width = len(batch[0].ids) if batch else 0
        padding += max(0, width - len(reading.ids))
        full = len(batch) == batch_size or (len(batch) + 1) * width > _PASS
        if batch and (full or padding > _PADDING):
            yield batch
            batch, padding = [], 0
        batch.append(reading)
    if batch:
        yield batch


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
