"""Two processes, played by two threads: the host's gather gives one process's numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from sago_harness.backends.ranks import in_document_order
from tests.hooks.hosts import Scripted, evaluate, records, values

TASKS = ["sago_demo_facts", "sago_demo_reasoning"]


def answer(prompt: str) -> str:
    return f"Let me see, {prompt[-70:-3].lower()} makes {len(prompt)}."


class Meeting:
    """Where ranks exchange objects."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.barrier = threading.Barrier(size, timeout=120)
        self.table: dict[int, Any] = {}

    def exchange(self, rank: int, item: Any) -> list[Any]:
        """Give one, get all, in the order of ranks."""
        self.table[rank] = item
        self.barrier.wait()
        found = [self.table[k] for k in range(self.size)]
        self.barrier.wait()
        return found


class Ranked(Scripted):
    """One of several processes."""

    def __init__(self, answer: Callable[[str], str], rank: int, meeting: Meeting) -> None:
        super().__init__(answer)
        self._rank, self._world_size, self._meeting = rank, meeting.size, meeting
        self._device = torch.device("cpu")

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """One number a rank."""
        return torch.stack(self._meeting.exchange(self._rank, tensor))

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        """All objects on rank 0, samples in the order of documents."""
        found = self._meeting.exchange(self._rank, obj)
        return in_document_order(found) if self._rank == dst else None

    def barrier(self) -> None:
        """Wait for the others."""
        self._meeting.exchange(self._rank, None)


def run_ranks(size: int, **options: Any) -> tuple[dict[str, Any], list[Ranked]]:
    meeting = Meeting(size)
    models = [Ranked(answer, rank, meeting) for rank in range(size)]
    results: dict[int, Any] = {}

    def work(rank: int) -> None:
        try:
            results[rank] = evaluate(models[rank], TASKS, **options)
        except BaseException as error:
            results[rank] = error
            meeting.barrier.abort()

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=240)
    for rank in range(size):
        if isinstance(results[rank], BaseException):
            raise results[rank]
    assert [results[rank] is None for rank in range(size)] == [False] + [True] * (size - 1)
    return results[0], models


def test_two_processes_give_the_numbers_of_one(minilm: Path) -> None:
    alone = evaluate(Scripted(answer), TASKS, limit=5)
    joined, models = run_ranks(2, limit=5)
    for task in TASKS:
        one, two = values(alone, task), values(joined, task)
        assert list(one) == list(two)
        # To the last digit: sums do not depend on the order of documents.
        assert {n: v for n, v in two.items() if v == v} == {n: v for n, v in one.items() if v == v}
        before, after = records(alone, task), records(joined, task)
        assert list(before) == list(after)
        for document, rows in before.items():
            assert [(r["variant"], r["text"], r["response_hash"]) for r in rows] == [
                (r["variant"], r["text"], r["response_hash"]) for r in after[document]
            ]
    # Nothing is sent twice, to even out three documents against two or for another reason.
    for model in models:
        assert len(model.sent) == len(set(model.sent)) > 0
    assert isinstance(values(joined, TASKS[0])["sago_text"], float)
