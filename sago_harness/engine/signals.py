"""Log-probabilities and entropies from raw logits.

A few positions at a time, so that what is made on the way stays in the processor's cache:
one exponential a logit, and no distribution is kept that nobody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

FloatArray = npt.NDArray[np.float32]

#: Takes tokens where they are not the most likely ones.
Choose = Callable[[torch.Tensor, list[int], int], list[int]]

#: Logits that are read at a time, elsewhere and on a processor.
_AT_A_TIME = (2**26, 2**20)


@dataclass(frozen=True, slots=True)
class Read:
    """What is read off N distributions.

    Attributes
    ----------
    best : list of int
        The token that decoding takes from each: mostly the most likely one.
    best_logprob, entropy : ndarray of shape (N,), float32, nats
    """

    best: list[int]
    best_logprob: FloatArray
    entropy: FloatArray
    _logits: torch.Tensor
    _log_total: torch.Tensor

    def p(self, places: slice) -> torch.Tensor:
        """Return probabilities, shape (positions, vocabulary), float32; made when they are asked for."""
        return (self._logits[places].float() - self._log_total[places].unsqueeze(-1)).exp_()

    def logprob(self, places: slice, tokens: Sequence[int]) -> FloatArray:
        """Return the log-probabilities of given tokens at the first of some places.

        Parameters
        ----------
        places : slice
        tokens : sequence of int
            At most as many as there are places.
        """
        targets = torch.tensor(list(tokens), dtype=torch.long, device=self._logits.device).unsqueeze(-1)
        picked = self._logits[places][: len(tokens)].gather(-1, targets).squeeze(-1).float()
        found: FloatArray = (picked - self._log_total[places][: len(tokens)]).cpu().numpy()
        return found

    def finite(self, places: slice) -> bool:
        """Are all entropies at these places finite?"""
        return bool(np.isfinite(self.entropy[places]).all())


def read(logits: torch.Tensor, choose: Choose | None = None) -> Read:
    """Read distributions off logits.

    Parameters
    ----------
    logits : Tensor of shape (N, vocabulary)
    choose : callable or None
        (logits, most likely tokens, number of the first) -> the tokens that decoding takes,
        where these are others.

    Returns
    -------
    Read
        With d = z - max z: log sum exp z = max z + log sum exp d, and the entropy is
        log sum exp d - sum exp(d) d / sum exp d.

    Examples
    --------
    >>> found = read(torch.tensor([[0.0, 0.0, 1.0]]))
    >>> found.best, round(float(found.logprob(slice(0, 1), [0])[0]), 4)
    ([2], -1.5514)
    """
    rows = max(1, _AT_A_TIME[logits.device.type == "cpu"] // logits.shape[-1])
    best: list[int] = []
    log_totals, best_logprobs, entropies = [], [], []
    for first in range(0, len(logits), rows):
        z = logits[first : first + rows].float()
        top, most = z.max(dim=-1)
        below = z - top.unsqueeze(-1)
        share = below.exp()
        total = share.sum(dim=-1)
        # Added up pairwise: a dot product would lose two digits here.
        mean = (share * below).sum(dim=-1)
        log_sum = total.log()
        entropy = log_sum - mean / total
        odd = torch.isnan(entropy) & torch.isfinite(top) & torch.isfinite(total)
        if bool(odd.any()):
            # A logit of minus infinity: 0 times it counts as nothing.
            entropy[odd] = torch.special.entr(share[odd] / total[odd].unsqueeze(-1)).sum(-1)
        taken, logprob = most.tolist(), -log_sum
        if choose is not None:
            taken = choose(z, taken, first)
            places = torch.tensor(taken, device=z.device).unsqueeze(-1)
            logprob = below.gather(-1, places).squeeze(-1) - log_sum
        best += taken
        log_totals.append(top + log_sum)
        best_logprobs.append(logprob)
        entropies.append(entropy)
    return Read(
        best,
        torch.cat(best_logprobs).cpu().numpy(),
        torch.cat(entropies).cpu().numpy(),
        logits,
        torch.cat(log_totals),
    )
