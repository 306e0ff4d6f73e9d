"""Reduces the logits of a forced response to the numbers that are kept.

Everything is done in float32, a few positions at a time, so that one row's distributions
are the most that is held beside the logits themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from sago_harness.axes.confidence import FORCED_TOKENS


@dataclass(frozen=True, slots=True)
class Forced:
    """One row of the forced pass.

    Attributes
    ----------
    logprob, entropy : ndarray of shape (T,), float32, nats
    head : Tensor of shape (min(T, 32), vocabulary), float32, on the CPU
        Log-probabilities of the first positions.
    hidden : ndarray of shape (L + 1, D), float32, or None
    hidden_reason : str
        Why there are no hidden states, "" if there are.
    """

    logprob: npt.NDArray[np.float32]
    entropy: npt.NDArray[np.float32]
    head: torch.Tensor
    hidden: npt.NDArray[np.float32] | None
    hidden_reason: str


def reduce_row(
    logits: torch.Tensor,
    canonical: tuple[int, ...],
    hidden: npt.NDArray[np.float32] | None,
    hidden_reason: str,
) -> Forced:
    """Take one row's log-probabilities and entropies from raw logits.

    Parameters
    ----------
    logits : Tensor of shape (T, vocabulary)
        At the positions that predict the canonical tokens.
    canonical : tuple of int
        The T canonical ids.
    hidden : ndarray of shape (L + 1, D) or None
    hidden_reason : str

    Returns
    -------
    Forced
        NaN where a distribution is not finite.

    Examples
    --------
    >>> round(float(reduce_row(torch.zeros(1, 4), (2,), None, "").entropy[0]), 4)
    1.3863
    """
    if not canonical:
        empty = np.zeros(0, dtype=np.float32)
        return Forced(empty, empty, torch.zeros(0, 0), hidden, hidden_reason)
    logprob, entropy = [], []
    head = torch.zeros(0, 0)
    targets = torch.tensor(canonical, dtype=torch.long, device=logits.device).unsqueeze(-1)
    for at in range(0, len(canonical), FORCED_TOKENS):
        log_p = torch.log_softmax(logits[at : at + FORCED_TOKENS].float(), dim=-1)
        logprob.append(log_p.gather(-1, targets[at : at + FORCED_TOKENS]).squeeze(-1))
        entropy.append(torch.special.entr(log_p.exp()).sum(-1))
        if at == 0:
            head = log_p.cpu()
    return Forced(
        torch.cat(logprob).cpu().numpy(), torch.cat(entropy).cpu().numpy(), head, hidden, hidden_reason
    )


def divergence(log_p: torch.Tensor, log_q: torch.Tensor) -> npt.NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of distributions given by log-probabilities, over ln 2.

    Parameters
    ----------
    log_p, log_q : Tensor of shape (T, vocabulary), float32

    Returns
    -------
    ndarray of shape (T,)
        See :func:`divergence_of`.

    Examples
    --------
    >>> p, q = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> divergence(p.log(), q.log()).tolist()
    [1.0]
    """
    return divergence_of(((a.exp(), b.exp()) for a, b in zip(log_p, log_q, strict=True)), len(log_p))


def divergence_of(pairs: Iterable[tuple[torch.Tensor, torch.Tensor]], count: int) -> npt.NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of pairs of distributions, over ln 2.

    As H((p + q) / 2) - (H(p) + H(q)) / 2 (Lin 1991), term by term in float32, added up in
    float64: exactly 0 for equal distributions, and several times as fast as logarithms in
    float64, which over a whole vocabulary would cost more than the model.

    Parameters
    ----------
    pairs : iterable of (Tensor, Tensor)
        Probabilities, each of shape (vocabulary,).
    count : int
        How many pairs there are.

    Returns
    -------
    ndarray of shape (count,)
        In [0, 1].

    Examples
    --------
    >>> divergence_of([(torch.tensor([0.5, 0.5]), torch.tensor([0.5, 0.5]))], 1).tolist()
    [0.0]
    """
    entr = torch.special.entr
    found = np.empty(count, dtype=np.float64)
    # Position by position: the temporaries stay in the cache.
    for t, (p, q) in enumerate(pairs):
        terms = entr((p + q) / 2) - (entr(p) + entr(q)) / 2
        found[t] = float(terms.sum(dtype=torch.float64))
    return np.clip(found / math.log(2.0), 0.0, 1.0)
