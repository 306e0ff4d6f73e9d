"""Greedy decoding under a repetition penalty, which many chat models set in their defaults.

A token that stands in the prompt or in the response so far is made less likely: a positive
logit is divided by the penalty, a negative one multiplied (Keskar et al. 2019, CTRL, in the
library's form). Own and forced values are those of the raw logits, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Context:
    """What a position has read: its row's prompt and response, and a part of its draft."""

    row: tuple[Sequence[int], Sequence[int]]
    draft: Sequence[int]

    def tokens(self) -> set[int]:
        """Return the distinct tokens."""
        return {*self.row[0], *self.row[1], *self.draft}


def penalised_best(
    logits: torch.Tensor, best: Sequence[int], contexts: Sequence[Context], penalty: float
) -> list[int]:
    """Return the most likely token of each position after the penalty.

    Parameters
    ----------
    logits : Tensor of shape (N, vocabulary)
        Raw.
    best : sequence of int
        Most likely tokens before it.
    contexts : sequence of Context
        For each position what stands before it.
    penalty : float
        Above 0; 1 changes nothing.

    Returns
    -------
    list of int

    Examples
    --------
    >>> penalised_best(torch.tensor([[2.0, 1.5, -1.0]]), [0], [Context(([0], []), [0])], 2.0)
    [1]
    """
    chosen = []
    for row, token, context in zip(logits, best, contexts, strict=True):
        before = context.tokens()
        seen = torch.tensor(sorted(before), device=row.device)
        picked = row[seen].float()
        lowered = torch.where(picked < 0, picked * penalty, picked / penalty)
        if penalty > 1 and token not in before:
            chosen.append(token)  # others only fell
            continue
        whole = row.float().clone()
        whole[seen] = lowered
        chosen.append(int(whole.argmax()))
    return chosen
