"""Batches: slices of work under a size that memory bears, and padding.

An out-of-memory slice is halved and tried again; nothing is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from accelerate.utils.memory import should_reduce_batch_size

log = logging.getLogger(__name__)


def in_batches(
    work: Sequence[Any],
    call: Callable[[Sequence[Any]], list[Any]],
    size: int,
    tell: Callable[[int, int], None],
    *,
    device: str,
    autocast: torch.dtype | None,
) -> list[Any]:
    """Call over slices of ``work``, without gradients, and return the results in order.

    Parameters
    ----------
    work : sequence
    call : callable
        Slice -> one result an item.
    size : int
        Items a slice, at first.
    tell : callable
        Called with (first item, number of items) after each slice.
    device : str
        Device type, for autocast.
    autocast : dtype or None
        The host's ``mixed_precision_dtype``.

    Examples
    --------
    >>> in_batches([1, 2, 3], lambda part: [2 * x for x in part], 2, lambda *_: None,
    ...            device="cpu", autocast=None)
    [2, 4, 6]
    """
    results: list[Any] = []
    at = 0
    while at < len(work):
        part = work[at : at + size]
        try:
            with without_gradients(device, autocast):
                results.extend(call(part))
        except Exception as error:
            # Only memory is worth another try, and only while there is something to halve.
            if len(part) == 1 or not out_of_memory(error):
                raise
            size = len(part) // 2
        else:
            tell(at, len(part))
            at += len(part)
            continue
        # Out here the error is gone, and with it the tensors that its traceback held.
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        log.warning("out of memory: going on with batches of %d", size)
    return results


@contextmanager
def without_gradients(device: str, autocast: torch.dtype | None) -> Iterator[None]:
    """Run a model as the host does.

    Inference mode would mark what the model keeps between calls.

    Parameters
    ----------
    device : str
        Device type.
    autocast : dtype or None
        The host's ``mixed_precision_dtype``.
    """
    with torch.no_grad(), torch.autocast(device, dtype=autocast, enabled=autocast is not None):
        yield


def out_of_memory(error: Exception) -> bool:
    """Return whether an error says that memory ran out."""
    return isinstance(error, torch.OutOfMemoryError) or should_reduce_batch_size(error)


def pad(
    sequences: Sequence[Sequence[int]], side: str, pad_id: int | None, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad to one width, the mask apart: a pad id may be a real token's id as well.

    Parameters
    ----------
    sequences : sequence of sequence of int
    side : {"left", "right"}
    pad_id : int or None
    device : device

    Returns
    -------
    ids, mask : Tensor of shape (rows, width)

    Examples
    --------
    >>> ids, mask = pad([[5], [6, 7]], "left", 0, torch.device("cpu"))
    >>> ids.tolist(), mask.tolist()
    ([[0, 5], [6, 7]], [[0, 1], [1, 1]])
    """
    width = max(1, *(len(s) for s in sequences))
    ids = torch.full((len(sequences), width), pad_id or 0, dtype=torch.long)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    for row, sequence in enumerate(sequences):
        place = slice(width - len(sequence), width) if side == "left" else slice(0, len(sequence))
        ids[row, place] = torch.tensor(list(sequence), dtype=torch.long)
        mask[row, place] = 1
    return ids.to(device), mask.to(device)
