"""One forward pass over rows of any lengths: all tokens in one sequence, nothing padded.

Positions are given, attention keeps the rows apart, logits are made at the asked places
only, and hooks pick up the hidden states that are wanted. The model's own code runs from
the embedding to the logits, so that whatever it does there is done here too.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from sago_harness.backends.blocks import Pool, collecting, text_config
from sago_harness.backends.compat import cache_argument
from sago_harness.engine.attention import NO_MASK, Attended, CannotAttend, Group, attending
from sago_harness.engine.slots import Slots

#: Rows are attended to together if the longest has at most this many times the tokens of the shortest.
_ALIKE = 1.3


@dataclass(slots=True)
class Piece:
    """What one row brings to a pass.

    Attributes
    ----------
    slot : int
    start : int
        Tokens that its slot holds already.
    tokens : sequence of int
    logits_from : int
        Logits are made from this token on.
    pooled : sequence of int
        Tokens whose hidden states are averaged; empty = none wanted.
    """

    slot: int
    start: int
    tokens: Sequence[int]
    logits_from: int = 0
    pooled: Sequence[int] = ()


@dataclass(slots=True)
class Passed:
    """What a pass gave.

    Attributes
    ----------
    logits : Tensor of shape (positions, vocabulary)
        Of all pieces, one after the other.
    spans : list of slice
        Each piece's positions.
    states : dict of int to ndarray of shape (L + 1, D)
        Piece -> its pooled states, where wanted.
    """

    logits: torch.Tensor
    spans: list[slice]
    states: dict[int, npt.NDArray[np.float32]] = field(default_factory=dict)


class PackedPool(Pool):
    """Pools states of a packed sequence, for the rows that want it."""

    def add(self, states: torch.Tensor) -> None:
        """Pool one layer's output of shape (1, N, D)."""
        pooled = [
            states[0, columns[0]].float()
            if len(columns) == 1
            else states[0, list(columns)].float().mean(dim=0)
            for columns in self.columns
        ]
        self.layers.append(torch.stack(pooled).cpu().numpy())


class RaggedPass:
    """Runs passes of one model.

    Parameters
    ----------
    model : Module
        What is called: under an adapter the wrapper, so that the adapter acts.
    inner : Module
        The causal language model inside.
    device : device
        Of the inputs.
    """

    def __init__(self, model: Any, inner: Any, device: torch.device) -> None:
        self._model = model
        self._head = inner.get_output_embeddings()
        self._device = device
        config = inner.config
        text = text_config(config)
        self._configs = [config] if text is config else [config, text]
        self._cache_name = cache_argument(inner)

    def run(self, slots: Slots, pieces: Sequence[Piece], layers: str, *, together: int) -> Passed:
        """Run one pass.

        Parameters
        ----------
        slots : Slots
        pieces : sequence of Piece
            The first ``together`` of them in the order of their slots.
        layers : {"blocks", "attention"}
            Whose outputs are pooled.
        together : int
            How many of the pieces, from the first on, are attended to in one call.
        """
        real = sum(len(piece.tokens) - piece.logits_from for piece in pieces)
        if sum(len(piece.tokens) for piece in pieces) == 1:
            pieces = [_doubled(pieces[0])]
        offsets = np.cumsum([0, *(len(piece.tokens) for piece in pieces)]).tolist()
        positions = [p for piece in pieces for p in range(piece.start, piece.start + len(piece.tokens))]
        owners = [piece.slot for piece in pieces for _ in piece.tokens]
        slots.write_at(
            torch.tensor(owners, device=self._device), torch.tensor(positions, device=self._device)
        )
        asked = [
            offset + k
            for offset, piece in zip(offsets, pieces, strict=False)
            for k in range(piece.logits_from, len(piece.tokens))
        ]
        ends = np.cumsum([0, *(len(piece.tokens) - piece.logits_from for piece in pieces)]).tolist()
        # One row through the output layer is a product of its own kind as well.
        asked = asked[:real] if real > 1 else asked[:1] * 2
        ends = [min(end, real) for end in ends]
        wanted = [k for k, piece in enumerate(pieces) if piece.pooled]
        pool = PackedPool([[offsets[k] + column for column in pieces[k].pooled] for k in wanted])
        attended = Attended(slots, group(pieces, offsets, together))
        ids = torch.tensor([[token for piece in pieces for token in piece.tokens]], device=self._device)
        pick = torch.tensor(asked, device=self._device)

        def at_the_asked(_module: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
            return (args[0].index_select(1, pick.to(args[0].device)), *args[1:])

        hook = self._head.register_forward_pre_hook(at_the_asked)
        try:
            with (
                attending(self._configs, attended),
                collecting(self._model, pool, layers) if wanted else nullcontext(),
            ):
                logits = self._model(
                    input_ids=ids,
                    # Four dimensions: taken as it is, and read by nobody.
                    attention_mask=torch.ones(NO_MASK, dtype=torch.bool, device=self._device),
                    position_ids=torch.tensor([positions], device=self._device),
                    use_cache=True,
                    **{self._cache_name: slots},
                ).logits[0]
        finally:
            hook.remove()
        if attended.calls != len(slots):
            raise CannotAttend("layers that do not go through the library's attention table")
        if len(logits) != len(asked):
            raise CannotAttend("an output layer that does not make the logits")
        found = Passed(logits[:real], [slice(a, b) for a, b in itertools.pairwise(ends)])
        if wanted:
            found.states = dict(zip(wanted, pool.states(), strict=True))
        return found


def _doubled(piece: Piece) -> Piece:
    """Bring a single token twice; what it says the second time is left out, and overwritten.

    One token is a product of a matrix and a vector, whose rounding on a processor depends on where
    in memory the weights begin: not the same in one process, which reads them in place, and in
    several. Products of two or more rows do not.
    """
    return replace(piece, tokens=[*piece.tokens, *piece.tokens])


def group(pieces: Sequence[Piece], offsets: Sequence[int], together: int) -> list[Group]:
    """Put pieces into groups of neighbouring slots.

    Parameters
    ----------
    pieces : sequence of Piece
    offsets : sequence of int
        Where each piece's tokens begin in the pass.
    together : int
        The first so many pieces are one group, whatever slots lie between them.

    Examples
    --------
    >>> made = group([Piece(0, 4, [1]), Piece(2, 9, [1]), Piece(1, 0, [1, 2, 3])], [0, 1, 2, 5], 2)
    >>> [(g.first, g.last, g.counts) for g in made]
    [(0, 3, [1, 0, 1]), (1, 2, [3])]
    """
    groups: list[Group] = []
    if together:
        first, last = pieces[0].slot, pieces[together - 1].slot + 1
        starts, counts = [0] * (last - first), [0] * (last - first)
        for piece in pieces[:together]:
            starts[piece.slot - first], counts[piece.slot - first] = piece.start, len(piece.tokens)
        groups.append(Group(first, last, slice(0, offsets[together]), max(counts), starts, counts))
    for k in range(together, len(pieces)):
        piece, tokens = pieces[k], slice(offsets[k], offsets[k + 1])
        before = groups[-1] if k > together else None
        lengths = [*before.counts, len(piece.tokens)] if before else []
        if before and before.last == piece.slot and max(lengths) <= _ALIKE * min(lengths):
            before.last += 1
            before.tokens = slice(before.tokens.start, tokens.stop)
            before.width = max(lengths)
            before.starts.append(piece.start)
            before.counts = lengths
        else:
            groups.append(
                Group(
                    piece.slot, piece.slot + 1, tokens, len(piece.tokens), [piece.start], [len(piece.tokens)]
                )
            )
    return groups
