"""Attention of packed rows: each row's queries over its own slot, in as few calls as lengths allow.

Registered with the library under a name of its own, next to ``sdpa``. Heads that share keys
are laid behind one another in the query instead of repeating keys and values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from sago_harness.engine.slots import Slots

#: Name under which the library knows this attention.
NAME = "sago_ragged"

#: Shape of the mask that stands for none.
NO_MASK = (1, 1, 1, 1)

#: Places of a mask that are made at a time: a long prompt is attended from part by part.
_MASK = 2**25


class CannotAttend(RuntimeError):
    """The model's attention has a part that this one does not compute."""


@dataclass(slots=True)
class Group:
    """Rows in neighbouring slots that are attended to in one call.

    Attributes
    ----------
    first, last : int
        Slots first .. last - 1.
    tokens : slice
        Their tokens in the pass, row after row.
    width : int
        Most tokens a row.
    starts, counts : list of int
        For each slot, how many tokens it had before and how many are new; 0 = not in this pass.
    """

    first: int
    last: int
    tokens: slice
    width: int
    starts: list[int]
    counts: list[int]
    _made: dict[Any, Any] = field(default_factory=dict)

    @property
    def columns(self) -> int:
        """Columns that some row attends to."""
        return max(s + c for s, c in zip(self.starts, self.counts, strict=True))

    def gather(self, device: torch.device) -> torch.Tensor | None:
        """Positions in the pass of the padded queries, shape (rows * width,); None if nothing is padded."""
        if ("gather", device) not in self._made:
            places, at = [], self.tokens.start
            for count in self.counts:
                places += [at + min(k, max(0, count - 1)) for k in range(self.width)]
                at += count
            even = all(count == self.width for count in self.counts)
            limit = self.tokens.stop - 1
            self._made["gather", device] = (
                None if even else torch.tensor([min(p, limit) for p in places], device=device)
            )
        found: torch.Tensor | None = self._made["gather", device]
        return found

    def scatter(self, device: torch.device) -> torch.Tensor | None:
        """Rows of the padded output that are real, in the order of the pass; None for all of them."""
        if ("scatter", device) not in self._made:
            places = [row * self.width + k for row, count in enumerate(self.counts) for k in range(count)]
            even = all(count == self.width for count in self.counts)
            self._made["scatter", device] = None if even else torch.tensor(places, device=device)
        found: torch.Tensor | None = self._made["scatter", device]
        return found

    def mask(self, shared: int, first: int, count: int, device: torch.device) -> torch.Tensor:
        """What some queries see, from ``first`` on: (rows, 1, shared * count, columns), True = seen."""
        key = ("mask", shared, device)
        if key in self._made and count == self.width:
            found: torch.Tensor = self._made[key]
            return found
        starts = torch.tensor(self.starts, device=device).view(-1, 1, 1)
        steps = torch.arange(first, first + count, device=device).view(1, -1, 1)
        # Padding sees the first column, so that no row of the softmax is empty.
        seen = torch.arange(self.columns, device=device).view(1, 1, -1) <= starts + steps
        rows = seen.shape[0]
        seen = seen.unsqueeze(1).expand(rows, shared, count, self.columns)
        seen = seen.reshape(rows, 1, shared * count, self.columns)
        if count == self.width:
            self._made[key] = seen
        return seen


@dataclass(slots=True)
class Attended:
    """What the attention function reads during one pass; ``calls`` counts the layers that asked."""

    slots: Slots
    groups: Sequence[Group]
    calls: int = 0


_current: ContextVar[Attended | None] = ContextVar("sago_attended", default=None)


def ragged_attention(
    module: Any,  # noqa: ARG001
    query: torch.Tensor,
    key: torch.Tensor,  # noqa: ARG001
    value: torch.Tensor,  # noqa: ARG001
    attention_mask: Any,
    dropout: float = 0.0,  # noqa: ARG001
    scaling: float | None = None,
    **extra: Any,
) -> tuple[torch.Tensor, None]:
    """Attend from the tokens of a pass to their rows' slots.

    Parameters
    ----------
    module : Module
    query : Tensor of shape (1, heads, N, width)
    key, value : Tensor of shape (1, key heads, N, width)
        Of the new tokens; they are in the slots already.
    attention_mask : Tensor
        Of shape ``NO_MASK``: a model that makes a mask of its own cannot be served.
    dropout : float
    scaling : float or None
    **extra
        What other kinds of attention take.

    Returns
    -------
    Tensor of shape (1, N, heads, width), None

    Raises
    ------
    CannotAttend
        If the model asks for something that is not computed here (soft caps, sinks, short windows).
    """
    step = _current.get()
    if step is None:
        raise CannotAttend("called outside a pass")
    if attention_mask is None or attention_mask.shape != NO_MASK or attention_mask.dtype != torch.bool:
        raise CannotAttend("a mask of the model's own")
    for name in ("softcap", "s_aux", "position_bias", "sinks"):
        if extra.get(name) is not None:
            raise CannotAttend(f"attention with {name}")
    window = extra.get("sliding_window")
    # No row is longer: every token sees all before it, window or not.
    if window is not None and window < step.slots.columns:
        raise CannotAttend("attention with a sliding_window shorter than a row")
    step.calls += 1
    keys, values = step.slots.keys[step.slots.layer], step.slots.values[step.slots.layer]
    heads, total, width = query.shape[1:]
    key_heads = keys.shape[2]
    shared = heads // key_heads
    packed = query[0]
    out = query.new_empty(total, heads, values.shape[3])
    for group in step.groups:
        rows = group.last - group.first
        places = group.gather(query.device)
        picked = packed[:, group.tokens] if places is None else packed.index_select(1, places)
        # (heads, rows * n, width) -> (rows, key heads, shared * n, width)
        grouped = picked.reshape(key_heads, shared, rows, group.width, width).permute(2, 0, 1, 3, 4)
        held_keys = keys[group.first : group.last, : group.columns].transpose(1, 2)
        held_values = values[group.first : group.last, : group.columns].transpose(1, 2)
        at_a_time = max(1, _MASK // (rows * shared * group.columns))
        parts = []
        for first in range(0, group.width, at_a_time):
            some = grouped[:, :, :, first : first + at_a_time]
            found = scaled_dot_product_attention(
                some.reshape(rows, key_heads, -1, width),
                held_keys,
                held_values,
                attn_mask=group.mask(shared, first, some.shape[3], query.device),
                scale=scaling,
            )
            parts.append(found.reshape(rows, key_heads, shared, some.shape[3], -1))
        back = (parts[0] if len(parts) == 1 else torch.cat(parts, dim=3)).permute(0, 3, 1, 2, 4)
        flat = back.reshape(rows * group.width, heads, -1)
        real = group.scatter(query.device)
        out[group.tokens] = flat if real is None else flat.index_select(0, real)
    return out.unsqueeze(0), None


@contextmanager
def attending(configs: Sequence[Any], attended: Attended) -> Iterator[None]:
    """Let a model use this attention, over these slots, inside the context.

    Parameters
    ----------
    configs : sequence of config
        Those that the model's attention modules read.
    attended : Attended
    """
    AttentionInterface.register(NAME, ragged_attention)
    token = _current.set(attended)
    before = [config._attn_implementation_internal for config in configs]
    try:
        for config in configs:
            config._attn_implementation_internal = NAME
        yield
    finally:
        for config, name in zip(configs, before, strict=True):
            config._attn_implementation_internal = name
        _current.reset(token)
