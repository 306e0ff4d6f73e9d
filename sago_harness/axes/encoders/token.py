"""BERTScore F1 of a token encoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from sago_harness.axes.encoders.base import Encoder, FloatArray, Reading
from sago_harness.axes.encoders.transformer import Transformer


class TokenEncoder(Encoder):
    """BERTScore F1 (Zhang et al. 2020, arXiv 1904.09675), not rescaled, without idf.

    Each token takes its best cosine among the tokens of the other text; precision and
    recall are the means over each side, F1 their harmonic mean. As in bert-score 0.3.13 the
    class and separator tokens have weight 0 in the means but may be a best match.
    Equal to bert-score within 1e-5, but for two things: a padded batch there raises a
    negative best match to 0, here nothing depends on the batch; and byte-level
    tokenizers always get the space before the first word that bert-score asks for,
    which transformers 5 no longer adds on its request.

    Parameters
    ----------
    name : str
        Name for signatures and for the table of baselines.
    transformer : Transformer
        Tokenizer and model, cut after the layer to be used.
    weights : str
        What identifies the weights.
    """

    kind: Literal["token", "sentence"] = "token"

    def __init__(self, name: str, transformer: Transformer, weights: str = "") -> None:
        self.name = name
        self.layer = transformer.layer
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
        """Return unit token vectors, shape (tokens, D) per reading."""
        return [
            states / np.linalg.norm(states, axis=1, keepdims=True)
            for states in self._transformer.states(readings)
        ]

    def similarity(self, a: Reading, b: Reading, of_a: FloatArray, of_b: FloatArray) -> float:
        """Return the F1 of two embedded texts; NaN if all that is left of one has weight 0."""
        counted_a, counted_b = self._counted(a), self._counted(b)
        if not (any(counted_a) and any(counted_b)):
            return math.nan
        cosines = of_a @ of_b.T
        one = float(cosines.max(axis=1)[counted_a].mean())
        other = float(cosines.max(axis=0)[counted_b].mean())
        # bert-score takes 0 / 0 as 0.
        return 2.0 * one * other / (one + other) if one + other else 0.0

    def _counted(self, reading: Reading) -> list[bool]:
        return [token not in self._transformer.framing for token in reading.ids]
