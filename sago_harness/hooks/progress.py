"""One progress bar over all bundles of a run.

What came from a cache is done from the start and counts for nothing in the time left.
Where standard error is not a terminal, a line in the log takes the bar's place, at most
once a minute; processes other than the first show nothing.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from tqdm import tqdm

from sago_harness.backends.base import Spent

log = logging.getLogger(__name__)

#: Seconds between two lines in the log.
EVERY = 60.0


class Progress:
    """Counts documents, responses and steps; use it as a context.

    Parameters
    ----------
    documents, responses : int
        All that are asked for.
    found : (int, int)
        Of these, documents and responses that came from a cache.
    steps : int
        Steps that the backend takes for a response.
    spent : Spent
        The backend's counters.
    rank : int
        Number of the process; all but 0 are quiet.
    stream : text file, optional
        Standard error.
    clock : callable
        Seconds, for tests.

    Examples
    --------
    >>> import io
    >>> with Progress(2, 8, (1, 4), 2, Spent(), stream=io.StringIO()) as progress:
    ...     progress.step(4, "generate")
    ...     progress.done(4)
    ...     progress.words()
    '2/2 documents, 8/8 responses'
    """

    def __init__(
        self,
        documents: int,
        responses: int,
        found: tuple[int, int],
        steps: int,
        spent: Spent,
        *,
        rank: int = 0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._all = (documents, responses)
        self._documents, self._responses = found
        self._steps = steps
        self._spent = spent
        self._clock = clock
        self._start = self._told = clock()
        #: Steps of the responses that are computed here: those taken, and all of them.
        self._taken = 0
        self._total = steps * (responses - found[1])
        #: Steps of the documents that are complete.
        self._settled = 0
        self._lines = 0
        stream = sys.stderr if stream is None else stream
        terminal = bool(getattr(stream, "isatty", lambda: False)())
        self._logs = rank == 0 and not terminal
        self._bar: tqdm[Any] | None = None
        if rank == 0 and terminal:
            self._bar = tqdm(
                total=steps * responses,
                # Left out of the rate, and so of the time left.
                initial=steps * found[1],
                file=stream,
                # An average: two kinds of steps, of different lengths, alternate.
                smoothing=0,
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
                desc=self._title(),
            )

    def __enter__(self) -> Progress:
        if self._logs and self._total:
            log.info("sago: %s, %d to be computed", self.words(), self._all[1] - self._responses)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._lines:
            log.info("sago: %s", self.words())

    def step(self, count: int, name: str) -> None:
        """Take the backend's word that it has worked on ``count`` more responses."""
        # A backend may take other steps than it was thought to; the end of a document settles it.
        self._move(min(self._taken + count, self._total), name)

    def done(self, responses: int) -> None:
        """Count a document that was computed."""
        self._documents += 1
        self._responses += responses
        self._settled += self._steps * responses
        self._move(max(self._taken, self._settled), "")

    def settle(self) -> None:
        """Close a bundle: exactly the steps of complete documents have been taken."""
        self._move(self._settled, "")

    def found(self, responses: int) -> None:
        """Count a document that came from the cache after all."""
        self._documents += 1
        self._responses += responses
        self._total -= self._steps * responses
        if self._bar is not None:
            self._bar.initial += self._steps * responses
            self._bar.n += self._steps * responses
        self._move(self._taken, "")

    def words(self) -> str:
        """Return what is done, in words."""
        documents, responses = self._all
        words = f"{self._documents}/{documents} documents, {self._responses}/{responses} responses"
        if self._spent.verified:
            words += f", {self._spent.verified} tokens saved by verification"
        return words

    def left(self) -> float | None:
        """Return the seconds left if the rest takes as long as what was computed here so far."""
        if not self._taken:
            return None
        return (self._clock() - self._start) / self._taken * (self._total - self._taken)

    def _title(self, step: str = "") -> str:
        return f"sago: {self.words()}" + (f" [{step}]" if step else "")

    def _move(self, taken: int, name: str) -> None:
        moved, self._taken = taken - self._taken, taken
        if self._bar is not None:
            self._bar.set_description_str(self._title(name), refresh=False)
            self._bar.update(moved)
            return
        now = self._clock()
        if self._logs and now - self._told >= EVERY:
            self._told = now
            self._lines += 1
            left = self.left()
            rest = "" if left is None else f", {tqdm.format_interval(left)} left"
            log.info("sago: %s%s", self.words(), rest)
