"""Log-probabilities and entropies from raw logits, many rows at a time.

The softmax is made once; what else is wanted follows from it and the logits, so that a
position costs about what greedy decoding alone would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Read:
    """What is read off N distributions.

    Attributes
    ----------
    best : list of int
        The token that decoding takes from each: mostly the most likely one.
    best_logprob, entropy : ndarray of shape (N,), float32, nats
    p : Tensor of shape (N, vocabulary), float32
    """

    best: list[int]
    best_logprob: FloatArray
    entropy: FloatArray
    p: torch.Tensor
    _z: torch.Tensor
    _log_total: torch.Tensor

    def logprob(self, places: slice, tokens: Sequence[int]) -> FloatArray:
        """Return the log-probabilities of given tokens at the first of some places.

        Parameters
        ----------
        places : slice
        tokens : sequence of int
            At most as many as there are places.
        """
        count = len(tokens)
        targets = torch.tensor(list(tokens), dtype=torch.long, device=self._z.device).unsqueeze(-1)
        picked = self._z[places][:count].gather(-1, targets).squeeze(-1)
        found: FloatArray = (picked - self._log_total[places][:count]).cpu().numpy()
        return found

    def finite(self, places: slice) -> bool:
        """Are all entropies at these places finite?"""
        return bool(np.isfinite(self.entropy[places]).all())


def read(logits: torch.Tensor, choose: Callable[[torch.Tensor, list[int]], list[int]] | None = None) -> Read:
    """Read distributions off logits.

    Parameters
    ----------
    logits : Tensor of shape (N, vocabulary)
    choose : callable or None
        (logits, most likely tokens) -> the tokens that decoding takes, where these are others.

    Returns
    -------
    Read
        The entropy is ``log sum exp z - sum p z``, shifted by the largest logit.

    Examples
    --------
    >>> found = read(torch.tensor([[0.0, 0.0, 1.0]]))
    >>> found.best, round(float(found.logprob(slice(0, 1), [0])[0]), 4)
    ([2], -1.5514)
    """
    z = logits.float()
    top, best = z.max(dim=-1)
    p = torch.softmax(z, dim=-1)
    # p of the most likely token is at least 1 / vocabulary: its logarithm is exact enough.
    top_logprob = p.gather(-1, best.unsqueeze(-1)).squeeze(-1).log()
    log_total = top - top_logprob
    entropy = (top - torch.linalg.vecdot(p, z)) - top_logprob
    taken, taken_logprob = best.tolist(), top_logprob
    if choose is not None:
        taken = choose(z, taken)
        places = torch.tensor(taken, device=z.device).unsqueeze(-1)
        taken_logprob = z.gather(-1, places).squeeze(-1) - log_total
    odd = ~torch.isfinite(entropy) & torch.isfinite(top_logprob)
    if bool(odd.any()):
        # A logit of minus infinity: 0 times it counts as nothing.
        entropy[odd] = torch.special.entr(p[odd]).sum(-1)
    return Read(taken, taken_logprob.cpu().numpy(), entropy.cpu().numpy(), p, z, log_total)


def divergence(p: torch.Tensor, q: torch.Tensor) -> npt.NDArray[np.float64]:
    """Return the Jensen-Shannon divergence of each pair of distributions, over ln 2.

    Parameters
    ----------
    p, q : Tensor of shape (T, vocabulary), float32
        Probabilities.

    Returns
    -------
    ndarray of shape (T,)
        In [0, 1]; H((p + q) / 2) - (H(p) + H(q)) / 2 (Lin 1991), added up term by term, so that
        equal distributions give exactly 0.

    Examples
    --------
    >>> divergence(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])).tolist()
    [1.0]
    """
    entr = torch.special.entr
    found = np.empty(len(p), dtype=np.float64)
    # Position by position: the temporaries stay in the cache.
    for t, (a, b) in enumerate(zip(p, q, strict=True)):
        terms = entr((a + b) / 2) - (entr(a) + entr(b)) / 2
        found[t] = float(terms.sum(dtype=torch.float64))
    return np.clip(found / math.log(2.0), 0.0, 1.0)
