"""How many rows and tokens at a time: from the batch size, or from the memory that is free."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from sago_harness.backends.blocks import text_config

#: Bytes of float32 logits that one pass may make.
_LOGITS = {"cpu": 64 * 2**20, "other": 1024 * 2**20}

#: Tokens of one pass, at most: beyond, time grows with them in proportion.
_TOKENS = {"cpu": 1024, "other": 8192}

#: A pass without any token takes as long as this many tokens: weights are read once a pass.
_PASS = {"cpu": 60.0, "other": 512.0}

#: Share of the free memory that keys and values may take.
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Room:
    """What one pass may hold.

    Attributes
    ----------
    rows : int
        Rows at a time.
    tokens, positions : int
        Tokens and logits of a pass, at most (one row is always let in).
    pass_tokens : float
        A pass without any token takes as long as this many tokens.
    """

    rows: int
    tokens: int
    positions: int
    pass_tokens: float

    def halved(self) -> Room:
        """Return half as much.

        Examples
        --------
        >>> Room(8, 1024, 300, 60.0).halved().rows
        4
        """
        return replace(
            self,
            rows=max(1, self.rows // 2),
            tokens=max(1, self.tokens // 2),
            positions=max(1, self.positions // 2),
        )


def room_for(lm: Any, vocabulary: int, columns: int) -> Room:
    """Return the room of a model's passes.

    Parameters
    ----------
    lm : HFLM
        With ``batch_size`` "auto" the rows are as many as their keys and values leave half of
        the free memory, at most the host's ``max_batch_size``.
    vocabulary : int
    columns : int
        Tokens that a row can have.
    """
    kind = "cpu" if lm.device.type == "cpu" else "other"
    rows = int(lm.batch_size) if lm.batch_size != "auto" else _rows_that_fit(lm, columns)
    return Room(max(1, rows), _TOKENS[kind], max(1, _LOGITS[kind] // (4 * vocabulary)), _PASS[kind])


def _rows_that_fit(lm: Any, columns: int) -> int:
    if getattr(lm.model, "_tp_size", None):
        # Its processes must agree, and each sees its own memory only.
        return int(lm.max_batch_size)
    free = _free_bytes(lm.device)
    bytes_a_row = columns * _bytes_a_token(lm.model)
    return max(1, min(int(lm.max_batch_size), int(_SHARE * free) // max(1, bytes_a_row)))


def _bytes_a_token(model: Any) -> int:
    """Keys and values of one token in all layers."""
    config = model.config
    text = text_config(config)
    heads = getattr(text, "num_attention_heads", 1)
    width = getattr(text, "head_dim", None) or text.hidden_size // heads
    key_heads = getattr(text, "num_key_value_heads", None) or heads
    size = torch.empty((), dtype=getattr(model, "dtype", torch.float32)).element_size()
    return int(2 * text.num_hidden_layers * key_heads * width * size)


def _free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        # What torch holds and nobody uses is free as well.
        idle = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + idle
    import psutil

    return int(psutil.virtual_memory().available)
