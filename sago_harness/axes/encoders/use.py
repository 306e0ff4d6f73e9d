"""The packaged multilingual sentence encoder, seen as an encoder of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sago_harness.axes.encoders.base import FloatArray, Reading
from sago_harness.axes.encoders.sentence import SentenceEncoder

#: Ids of the package's sentencepiece vocabulary: unknown, begin and end.
_UNKNOWN = 0
_FRAME = 2


class UseEncoder(SentenceEncoder):
    """Universal Sentence Encoder, multilingual (Yang et al. 2020, arXiv 1907.04307).

    Sixteen languages; takes texts of any length.

    Parameters
    ----------
    name : str
        Name for signatures and for the table of baselines.
    model : Any
        What :func:`sago_harness.models.use.load_use` returned.
    weights : str
        What identifies the weights.
    """

    max_tokens = None

    def __init__(self, name: str, model: Any, weights: str) -> None:
        self.name = name
        self._model = model
        self._weights = weights
        self._tokenizer = model._package_encoder._tokenizer

    @property
    def weights(self) -> str:
        """What identifies the weights."""
        return self._weights

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Tokenise texts that are valid Unicode."""
        readings = []
        for text, ids in zip(texts, self._tokenizer.encode(list(texts)), strict=True):
            # A text that is dropped whole is given as one unknown token.
            readings.append(Reading(text, tuple(ids), len(ids) - _FRAME, ids[1:-1].count(_UNKNOWN), False))
        return readings

    def embed(self, readings: Sequence[Reading]) -> list[FloatArray]:
        """Return one unit vector of shape (512,) per reading."""
        return list(self._model.encode([reading.text for reading in readings]))
