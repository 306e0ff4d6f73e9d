"""Encoders: how similar two texts are, beyond shared words.

Importing this loads no model library.
"""

from sago_harness.axes.encoders.base import Encoder, Missing, Similarity
from sago_harness.axes.encoders.baseline import baseline
from sago_harness.axes.encoders.load import load_encoder

__all__ = ["Encoder", "Missing", "Similarity", "baseline", "load_encoder"]
