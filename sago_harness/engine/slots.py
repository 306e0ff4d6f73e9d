"""Keys and values of the rows that are being worked on, one slot a row.

A row's tokens lie at columns 0, 1, 2 ... of its slot, so that a rejected draft is simply
overwritten and nothing is ever cropped or moved to make room. A cache as the library passes
it through its models: what it gets is written to the slots, and attention reads it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers.cache_utils import Cache


class Slots(Cache):  # type: ignore[misc]
    """A cache of ``count`` slots.

    Parameters
    ----------
    count : int
        Rows at a time.
    columns : int
        Tokens a row can have.

    Notes
    -----
    Made as a model writes to it, layer by layer, on each layer's own device and in its own
    type. Zeros, not whatever was in memory: a masked NaN is still a NaN.
    """

    def __init__(self, count: int, columns: int) -> None:
        # Nothing of the base class is used but its name: models ask what type they were given.
        self.layers: list[Any] = []
        self.offloading = False
        self.count = count
        self.columns = columns
        self.keys: list[torch.Tensor] = []
        self.values: list[torch.Tensor] = []
        self.layer = 0
        self._places = torch.zeros(0, dtype=torch.long)

    def __len__(self) -> int:
        return len(self.keys)

    def write_at(self, slots: torch.Tensor, columns: torch.Tensor) -> None:
        """Say where the tokens of the next pass go.

        Parameters
        ----------
        slots, columns : Tensor of shape (N,), int64
        """
        self._places = slots * self.columns + columns

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one layer's keys and values, of shape (1, heads, N, width), to their slots."""
        self.layer = layer_idx
        for store, states in ((self.keys, key_states), (self.values, value_states)):
            if layer_idx == len(store):
                shape = (self.count, self.columns, states.shape[1], states.shape[3])
                store.append(torch.zeros(shape, dtype=states.dtype, device=states.device))
            rows = states[0].transpose(0, 1).flatten(1)
            flat = store[layer_idx].view(self.count * self.columns, -1)
            flat.index_copy_(0, self._places.to(states.device), rows)
        return key_states, value_states

    def copy(self, source: int, target: int, columns: int) -> None:
        """Give one slot the first columns of another."""
        for store in (*self.keys, *self.values):
            store[target, :columns] = store[source, :columns]

    def take(self, slot: int, columns: int) -> list[torch.Tensor]:
        """Return a copy of a slot's first columns, layer by layer."""
        return [store[slot, :columns].clone() for store in (*self.keys, *self.values)]

    def put(self, kept: Sequence[torch.Tensor], slot: int, columns: int) -> None:
        """Write the first columns of what :meth:`take` gave to a slot."""
        for store, part in zip((*self.keys, *self.values), kept, strict=True):
            store[slot, :columns] = part[:columns]

    def clear(self, slot: int, first: int = 0) -> None:
        """Set a slot to zero from a column on: after a NaN, masked columns would spread it."""
        for store in (*self.keys, *self.values):
            store[slot, first:].zero_()

    # What models ask of a cache before they look at the mask and positions they were given.

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Return 0: positions are given with every pass."""
        return 0

    def get_mask_sizes(self, query_length: Any, layer_idx: int = 0) -> tuple[int, int]:
        """Return a size for a mask that nobody reads."""
        length = query_length if isinstance(query_length, int) else int(query_length.shape[0])
        return length, 0

    def get_max_length(self, layer_idx: int | None = None) -> int:
        """Return the number of columns."""
        return self.columns

    @property
    def is_compileable(self) -> bool:
        """No: rows come and go."""
        return False

    @property
    def is_sliding(self) -> list[bool]:
        """No layer has a window."""
        return [False] * max(1, len(self.keys))
