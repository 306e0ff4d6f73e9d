"""Own log-probabilities and entropies, read off while the model generates.

A hook on the model's forward pass sees the raw logits of every step, before temperature,
top-k or penalties. Per step one number a row is kept; the logits of one step at a time
are held until the next step tells which token was chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch


class OwnSignals:
    """Context manager around ``generate`` (greedy or sampling, one sequence a row).

    Parameters
    ----------
    model : Module
        The module whose ``generate`` is called.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        self._model = model
        self._pending: torch.Tensor | None = None
        self._logprob: list[torch.Tensor] = []
        self._entropy: list[torch.Tensor] = []
        self._handle: Any = None

    def __enter__(self) -> OwnSignals:
        self._handle = self._model.register_forward_hook(self._after, with_kwargs=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.remove()

    def _after(self, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        if self._pending is not None:
            ids = kwargs.get("decoder_input_ids")
            if ids is None:
                ids = kwargs["input_ids"] if "input_ids" in kwargs else args[0]
            self._settle(ids[:, -1])
        # A copy: a view would keep the logits of the whole prompt until the next step.
        self._pending = output.logits[:, -1].to(torch.float32, copy=True)

    def _settle(self, chosen: torch.Tensor) -> None:
        """Turn the pending step into numbers, now that the chosen tokens are known."""
        assert self._pending is not None
        log_p = torch.log_softmax(self._pending, dim=-1)
        chosen = chosen.to(log_p.device)
        self._logprob.append(log_p.gather(-1, chosen.unsqueeze(-1)).squeeze(-1))
        self._entropy.append(torch.special.entr(log_p.exp()).sum(-1))
        self._pending = None

    def values(self, sequences: torch.Tensor) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return log-probabilities and entropies, each of shape (rows, steps).

        Parameters
        ----------
        sequences : Tensor of shape (rows, prompt + steps)
            What ``generate`` returned.
        """
        # Some devices learn one step late that they may stop, and make a pass too many: its
        # value lies beyond the last step and is never kept.
        if self._pending is not None:
            self._settle(sequences[:, -1])
        rows = sequences.shape[0]
        if not self._logprob:
            empty = np.zeros((rows, 0), dtype=np.float32)
            return empty, empty
        return (
            torch.stack(self._logprob, dim=1).cpu().numpy(),
            torch.stack(self._entropy, dim=1).cpu().numpy(),
        )
