"""A transformers model as an encoder uses it: texts in, hidden states of one layer out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from sago_harness.axes.encoders.base import Reading
from sago_harness.errors import SagoError

#: Taken where neither the tokenizer nor the model states a limit (relative positions).
_DEFAULT_LIMIT = 512

#: transformers writes "no limit" as 1e30.
_NO_LIMIT = 1_000_000


def position_limit(model: Any, tokenizer: Any) -> int:
    """Return how many tokens fit, special ones included.

    The smaller of the tokenizer's limit and the model's number of positions. RoBERTa's
    position table begins after its padding index, so two of its 514 rows are never used.
    """
    limits = []
    if 0 < tokenizer.model_max_length < _NO_LIMIT:
        limits.append(int(tokenizer.model_max_length))
    table = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if isinstance(table, torch.nn.Embedding):
        unused = 0 if table.padding_idx is None else table.padding_idx + 1
        limits.append(table.num_embeddings - unused)
    else:
        stated = getattr(model.config, "max_position_embeddings", None)
        if isinstance(stated, int) and stated > 0:
            limits.append(stated)
    return min(limits, default=_DEFAULT_LIMIT)


def _keep_blocks(model: Any, layer: int) -> bool:
    """Cut the model after block ``layer``; False if its blocks cannot be told apart.

    What follows the blocks (a final norm) stays, as it does in bert-score.
    """
    depth = model.config.num_hidden_layers
    found = [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if isinstance(child, torch.nn.ModuleList) and len(child) == depth
    ]
    if len(found) != 1:
        return False
    parent, name, blocks = found[0]
    setattr(parent, name, blocks[:layer])
    return True


class Transformer:
    """Tokenizer and model, in evaluation mode and float32, cut after one layer.

    Parameters
    ----------
    tokenizer, model : Any
        As :mod:`transformers` loads them. The model is changed in place: blocks after
        ``layer`` are dropped, of an encoder-decoder only the encoder is used.
    layer : int or None
        1 to the number of blocks; None takes the last.
    max_tokens : int or None
        A tighter limit than the model's own.
    device : str

    Raises
    ------
    SagoError
        If the model has no such layer.
    """

    def __init__(
        self,
        tokenizer: Any,
        model: Any,
        layer: int | None = None,
        max_tokens: int | None = None,
        device: str = "cpu",
    ) -> None:
        if hasattr(model, "decoder") and hasattr(model, "encoder"):
            model = model.encoder
        depth = int(model.config.num_hidden_layers)
        layer = depth if layer is None else layer
        if not 1 <= layer <= depth:
            raise SagoError(f"the encoder has no layer {layer}: take one of 1 to {depth}")
        self.layer = layer
        self.tokenizer = tokenizer
        self.max_tokens = min(limit for limit in (max_tokens, position_limit(model, tokenizer)) if limit)
        self.model = model.eval().to(device=device, dtype=torch.float32)
        self.device = device
        self._whole = layer < depth and not _keep_blocks(self.model, layer)
        #: Class and separator token, also where the text itself spells them.
        self.framing = frozenset({tokenizer.cls_token_id, tokenizer.sep_token_id} - {None})
        self._added = tokenizer.num_special_tokens_to_add(pair=False)

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Tokenise; the share of unknown tokens is that of the whole text."""
        stripped = [text.strip() for text in texts]
        unknown = self.tokenizer.unk_token_id
        readings = []
        # verbose=False: a text over the limit is cut below, no warning needed.
        encoded = self.tokenizer(stripped, add_special_tokens=True, verbose=False)["input_ids"]
        for text, clean, ids in zip(texts, stripped, encoded, strict=True):
            truncated = len(ids) > self.max_tokens
            kept = (
                self.tokenizer.encode(
                    clean, add_special_tokens=True, truncation=True, max_length=self.max_tokens
                )
                if truncated
                else ids
            )
            strange = 0 if unknown is None else ids.count(unknown)
            content = min(len(ids) - self._added, sum(token not in self.framing for token in ids))
            readings.append(Reading(text, tuple(kept), content, strange, truncated))
        return readings

    def states(self, readings: Sequence[Reading]) -> list[npt.NDArray[np.float32]]:
        """Return the layer's hidden states, shape (tokens, D) per reading, special tokens included."""
        width = max(len(reading.ids) for reading in readings)
        ids = torch.full((len(readings), width), self.tokenizer.pad_token_id or 0, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, reading in enumerate(readings):
            ids[row, : len(reading.ids)] = torch.tensor(reading.ids, dtype=torch.long)
            mask[row, : len(reading.ids)] = 1
        with torch.inference_mode():
            out = self.model(
                input_ids=ids.to(self.device),
                attention_mask=mask.to(self.device),
                output_hidden_states=self._whole,
            )
            hidden = out.hidden_states[self.layer] if self._whole else out.last_hidden_state
            hidden = hidden.float().cpu().numpy()
        return [hidden[row, : len(reading.ids)] for row, reading in enumerate(readings)]
