"""Work on several data sets at once, in threads, and the time that each part of it takes.

NumPy and Arrow let other threads run while they compute, so that threads are enough.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

#: Data sets that are worked on at once, at most: each takes memory of its own.
MOST_WORKERS = 4

#: Seconds for which a thread keeps Python's lock while another waits for it.
_TURN = 2e-4

Item = TypeVar("Item")
Made = TypeVar("Made")


def processors() -> int:
    """Return how many processors this process may use, up to :data:`MOST_WORKERS`."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, MOST_WORKERS)


def each(work: Callable[[Item], Made], items: Sequence[Item], workers: int) -> Iterator[Made]:
    """Yield what work makes of each item, in their order, several of them at once.

    Examples
    --------
    >>> list(each(abs, [-3, 2, -1], 2))
    [3, 2, 1]
    """
    if workers < 2 or len(items) < 2:
        yield from map(work, items)
        return
    from threadpoolctl import threadpool_limits

    # One thread of linear algebra for each of ours: more of them than processors wait for each other.
    with (
        threadpool_limits(1, user_api="blas"),
        _quick_turns(),
        ThreadPoolExecutor(min(workers, len(items))) as pool,
    ):
        yield from pool.map(work, items)


@contextmanager
def _quick_turns() -> Iterator[None]:
    """Let a thread that comes out of NumPy have Python's lock back sooner than after 5 ms.

    Each of many short operations would wait so long for a thread that runs plain Python.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, _TURN))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Clock:
    """Adds up the seconds of each part, by the clock and of the processor, over all threads.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock("sums"):
    ...     total = sum(range(10))
    >>> list(clock.seconds), list(clock.processor)
    (['sums'], ['sums'])
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Time what is done inside."""
        start, busy = time.perf_counter(), time.thread_time()
        try:
            yield
        finally:
            passed, busy = time.perf_counter() - start, time.thread_time() - busy
            with self._lock:
                self.seconds[part] = self.seconds.get(part, 0.0) + passed
                self.processor[part] = self.processor.get(part, 0.0) + busy

    def timed(self, part: str, work: Callable[[Item], Made]) -> Callable[[Item], Made]:
        """Return a function whose time is that of a part."""

        def inside(item: Item) -> Made:
            with self(part):
                return work(item)

        return inside
