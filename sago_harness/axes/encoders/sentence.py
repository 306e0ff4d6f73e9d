"""Cosine of a sentence encoder, for languages without a token encoder at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from sago_harness.axes.encoders.base import Encoder, FloatArray, Reading
from sago_harness.axes.encoders.transformer import Transformer


class SentenceEncoder(Encoder):
    """Compares texts by the cosine of one vector per text; subclasses make the vector."""

    kind: Literal["token", "sentence"] = "sentence"
    layer: int | None = None

    def similarity(self, a: Reading, b: Reading, of_a: FloatArray, of_b: FloatArray) -> float:
        """Return the cosine in [-1, 1], in float64; NaN if a vector is zero."""
        one, other = of_a.astype(np.float64), of_b.astype(np.float64)
        norm = math.sqrt(float(one @ one)) * math.sqrt(float(other @ other))
        return min(1.0, max(-1.0, float(one @ other) / norm)) if norm else math.nan


class PooledEncoder(SentenceEncoder):
    """Mean of a transformer's last hidden states over all tokens (Sentence-BERT, arXiv 1908.10084).

    Special tokens count, as they do in sentence-transformers' mean pooling.

    Parameters
    ----------
    name : str
        Name for signatures and for the table of baselines.
    transformer : Transformer
        Tokenizer and whole model.
    weights : str
        What identifies the weights.
    """

    def __init__(self, name: str, transformer: Transformer, weights: str = "") -> None:
        self.name = name
        self.max_tokens = transformer.max_tokens
        self._transformer = transformer
        self._weights = weights

    @property
    def weights(self) -> str:
        """What identifies the weights."""
        return self._weights

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Tokenise texts that are valid Unicode."""
        return self._transformer.read(texts)

    def embed(self, readings: Sequence[Reading]) -> list[FloatArray]:
        """Return one vector of shape (D,) per reading."""
        return [states.mean(axis=0) for states in self._transformer.states(readings)]
