"""Greedy decoding under a repetition penalty, which many chat models set in their defaults.

A token that stands in the prompt or in the response so far is made less likely: a positive
logit is divided by the penalty, a negative one multiplied (Keskar et al. 2019, CTRL, in the
library's form). Own and forced values are those of the raw logits, as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch


def penalised_best(
    logits: torch.Tensor, best: Sequence[int], contexts: Sequence[Sequence[int]], penalty: float
) -> list[int]:
    """Return the most likely token of each position after the penalty.

    Parameters
    ----------
    logits : Tensor of shape (N, vocabulary)
        Raw.
    best : sequence of int
        Most likely tokens before it.
    contexts : sequence of sequence of int
        For each position all tokens up to it, prompt included.
    penalty : float
        Above 0; 1 changes nothing.

    Returns
    -------
    list of int

    Examples
    --------
    >>> penalised_best(torch.tensor([[2.0, 1.5, -1.0]]), [0], [[0, 0]], 2.0)
    [1]
    """
    chosen = []
    for row, token, context in zip(logits, best, contexts, strict=True):
        seen = torch.tensor(sorted(set(context)), device=row.device)
        picked = row[seen].float()
        lowered = torch.where(picked < 0, picked * penalty, picked / penalty)
        if penalty > 1 and token not in context:
            chosen.append(token)  # others only fell
            continue
        whole = row.float().clone()
        whole[seen] = lowered
        chosen.append(int(whole.argmax()))
    return chosen
