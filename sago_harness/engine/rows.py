"""A row: one prompt that is being answered, and what it has so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

FloatArray = npt.NDArray[np.float32]


@dataclass(slots=True)
class Draft:
    """A canonical response, which a row forces and which is the draft of its own.

    Attributes
    ----------
    tokens : tuple of int
        As generated, up to and with what ended it.
    kept : int
        How many of them count; those are forced.
    p : Tensor of shape (min(kept, 32), vocabulary), float32
        Distributions after the canonical prompt.
    """

    tokens: tuple[int, ...]
    kept: int
    p: torch.Tensor


@dataclass(slots=True, eq=False)
class Row:
    """One prompt in the engine.

    Attributes
    ----------
    key : str
        Identifies the request.
    document : int
    ids : tuple of int
        The prompt.
    limit : int
        Most tokens of the response.
    canonical : bool
        Does its response become its document's draft?
    generates : bool
        False: only forced, another row of the same request has the response.
    donor : str
        Request whose prompt it may copy keys and values from ("" = none).
    pooled : tuple of int
        Columns of the prompt whose states are wanted.
    """

    key: str
    document: int
    ids: tuple[int, ...]
    limit: int
    canonical: bool = False
    generates: bool = True
    donor: str = ""
    pooled: tuple[int, ...] = ()
    # While it runs.
    slot: int = -1
    text: int = -1
    out: list[int] = field(default_factory=list)
    own_logprob: list[float] = field(default_factory=list)
    own_entropy: list[float] = field(default_factory=list)
    p: list[torch.Tensor] = field(default_factory=list)
    fit: int = 0
    finite: bool = True
    alone: bool = False  # takes no drafts: behind one it was not finite
    done: bool = False
    # What it gives.
    states: npt.NDArray[np.float32] | None = None
    forced_logprob: FloatArray | None = None
    forced_entropy: FloatArray | None = None
    forced_jsd: npt.NDArray[np.float64] | None = None

    @property
    def held(self) -> int:
        """Tokens whose keys and values are in the slot: all but the last one written."""
        return len(self.ids) + len(self.out) - 1

    def reset(self) -> None:
        """Begin anew: its slot is gone."""
        self.slot = self.text = -1
        self.out, self.own_logprob, self.own_entropy, self.p = [], [], [], []
        self.fit, self.finite, self.alone, self.states = 0, True, False, None
        self.forced_logprob = self.forced_entropy = self.forced_jsd = None
