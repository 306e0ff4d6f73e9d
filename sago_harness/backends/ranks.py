"""Processes of one run: which one this is, how they are joined, whose documents come first.

The host takes a process's index on its own machine for its rank, and joins processes on
GPUs only. Here the index over all machines counts, and processes without a GPU are joined
as well. Nothing heavy is imported before processes are joined.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sago_harness.errors import SagoError

# What launchers call them: torchrun and accelerate, then the flavours of MPI.
_RANK = ("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")
_WORLD = ("WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")

#: A process may wait for another's share of the documents for as long as that takes.
_PATIENCE = timedelta(weeks=52)


@dataclass(frozen=True, slots=True)
class Place:
    """A process among those of its run.

    Attributes
    ----------
    rank : int
        Index over all machines, from 0. The first one writes the results.
    world : int
        Processes of the run, on all machines.
    """

    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        """Whether this process writes files and prints tables."""
        return self.rank == 0

    def __str__(self) -> str:
        """Count from 1, for people."""
        return f"process {self.rank + 1} of {self.world}"


def place(environment: Mapping[str, str] = os.environ) -> Place:
    """Read a process's place from what its launcher set.

    Parameters
    ----------
    environment : mapping of str to str
        The process's environment.

    Returns
    -------
    Place
        The only one, where no launcher set anything.

    Raises
    ------
    SagoError
        If a launcher's variable is no number.

    Examples
    --------
    >>> place({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4"})
    Place(rank=3, world=4)
    >>> place({})
    Place(rank=0, world=1)

    A scheduler may set MPI's variables for tasks that know nothing of each other:

    >>> place({"PMI_RANK": "1", "PMI_SIZE": "2"})
    Place(rank=0, world=1)
    """
    if "MASTER_ADDR" not in environment and "RANK" not in environment:
        return Place()
    return Place(_number(environment, _RANK, 0), _number(environment, _WORLD, 1))


def _number(environment: Mapping[str, str], names: Sequence[str], default: int) -> int:
    for name in names:
        if name in environment:
            try:
                return int(environment[name])
            except ValueError as error:
                raise SagoError(f"{name}={environment[name]!r} in the environment: it is a number") from error
    return default


def join(device: str | None) -> Place:
    """Join the processes that a launcher started; alone, nothing happens.

    Parameters
    ----------
    device : str or None
        What ``--device`` says: with ``cpu``, or on a machine without an accelerator,
        processes are joined over gloo and compute on the processor.

    Returns
    -------
    Place
        This process's place.

    Raises
    ------
    SagoError
        If they cannot be joined.
    """
    ours = place()
    if ours.world <= 1:
        return ours
    from accelerate import PartialState

    on_processor = str(device).startswith("cpu") or not _has_accelerator()
    try:
        state = PartialState(cpu=on_processor, timeout=_PATIENCE)
    except (RuntimeError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise SagoError(f"{ours.world} processes could not be joined ({reason[:160]})") from error
    if state.num_processes != ours.world:
        raise SagoError(
            f"{ours.world} processes were started, but accelerate has joined {state.num_processes}: "
            "start them with torchrun or accelerate launch, and make no Accelerator before the model"
        )
    return Place(state.process_index, state.num_processes)


def _has_accelerator() -> bool:
    """Whether accelerate joins processes over a device of this machine."""
    import torch
    from accelerate.utils import is_hpu_available, is_npu_available, is_xpu_available

    return bool(torch.cuda.is_available() or is_npu_available() or is_xpu_available() or is_hpu_available())


def leave() -> None:
    """Take the processes apart at the end of a run, if they were joined."""
    import torch.distributed

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def lost(error: BaseException) -> bool:
    """Say whether an error is that of a call between processes: mostly, another one has ended."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(Path(frame.filename).name == "distributed_c10d.py" for frame in frames)


def in_document_order(gathered: list[Any]) -> list[Any]:
    """Put the samples of all processes into the order that one process gives them.

    Parameters
    ----------
    gathered : list
        One object a process. Those that map a task to its samples are put in order; any
        other object is left as it is.

    Returns
    -------
    list
        As many objects: the first holds every task's samples, by filter and document, the
        others none. The host strings them together.

    Examples
    --------
    >>> def sample(number):
    ...     return {"doc_id": number, "filter": "none"}
    >>> found = in_document_order([{"t": [sample(0), sample(3)]}, {"t": [sample(1), sample(2)]}])
    >>> [s["doc_id"] for s in found[0]["t"]], found[1]
    ([0, 1, 2, 3], {'t': []})
    >>> in_document_order([{"t": 1}, {"t": 2}])
    [{'t': 1}, {'t': 2}]
    """
    if not all(_holds_samples(item) for item in gathered):
        return gathered
    tasks = list(gathered[0])
    joined = {}
    for task in tasks:
        samples = [sample for item in gathered for sample in item[task]]
        filters = list(dict.fromkeys(sample["filter"] for sample in samples))
        joined[task] = sorted(samples, key=lambda s: (filters.index(s["filter"]), s["doc_id"]))
    return [joined, *({task: [] for task in tasks} for _ in gathered[1:])]


def _holds_samples(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and bool(item)
        and all(isinstance(samples, list) for samples in item.values())
        and all(_is_sample(sample) for samples in item.values() for sample in samples)
    )


def _is_sample(item: Any) -> bool:
    return isinstance(item, dict) and {"doc_id", "filter"} <= item.keys()
