"""One progress bar over all bundles of a run.

What came from a cache is done from the start and counts for nothing in the time left.
Where standard error is not a terminal there is no bar and nothing is said; the log at its
debug level has a line a minute. Processes other than the first show nothing at all.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TextIO

from tqdm import tqdm

from sago_harness.backends.base import Spent

log = logging.getLogger(__name__)

#: Seconds between two lines in the log.
EVERY = 60.0


@dataclass(frozen=True, slots=True)
class Amount:
    """How much there is, or is done.

    Attributes
    ----------
    documents : int
    variants : int
        Of them; canonical prompts, their repeats and chance controls are none.
    responses : int
        To all prompts.

    Examples
    --------
    >>> Amount(1, 6, 9) + Amount(1, 5, 8) - Amount(1, 6, 9)
    Amount(documents=1, variants=5, responses=8)
    """

    documents: int = 0
    variants: int = 0
    responses: int = 0

    def __add__(self, other: Amount) -> Amount:
        """Return both together."""
        return Amount(
            self.documents + other.documents,
            self.variants + other.variants,
            self.responses + other.responses,
        )

    def __sub__(self, other: Amount) -> Amount:
        """Return what is left."""
        return Amount(
            self.documents - other.documents,
            self.variants - other.variants,
            self.responses - other.responses,
        )


class Progress:
    """Counts documents, variants and steps; use it as a context.

    Parameters
    ----------
    asked : Amount
        All that is asked for.
    found : Amount
        What of it came from a cache.
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
    >>> one = Amount(1, 3, 4)
    >>> with Progress(one + one, one, 2, Spent(), stream=io.StringIO()) as progress:
    ...     progress.step(4, "generate")
    ...     progress.done(one)
    ...     progress.words()
    '2/2 documents, 6/6 variants'
    """

    def __init__(
        self,
        asked: Amount,
        found: Amount,
        steps: int,
        spent: Spent,
        *,
        rank: int = 0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._all, self._done = asked, found
        self._steps = steps
        self._spent = spent
        self._clock = clock
        self._start = self._told = clock()
        #: Steps of the responses that are computed here: those taken, and all of them.
        self._taken = 0
        self._total = steps * (asked - found).responses
        #: Steps of the documents that are complete.
        self._settled = 0
        self._lines = 0
        stream = sys.stderr if stream is None else stream
        terminal = bool(getattr(stream, "isatty", lambda: False)())
        self._logs = rank == 0 and not terminal
        self._bar: tqdm[Any] | None = None
        if rank == 0 and terminal:
            self._bar = tqdm(
                total=steps * asked.responses,
                # Left out of the rate, and so of the time left.
                initial=steps * found.responses,
                file=stream,
                # An average: two kinds of steps, of different lengths, alternate.
                smoothing=0,
                bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
                desc=self._title(),
            )

    def __enter__(self) -> Progress:
        if self._logs and self._total:
            left = (self._all - self._done).responses
            log.debug("sago: %s, %d responses to be computed", self.words(), left)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._lines:
            log.debug("sago: %s", self.words())

    def step(self, count: int, name: str) -> None:
        """Take the backend's word that it has worked on ``count`` more responses."""
        # A backend may take other steps than it was thought to; the end of a document settles it.
        self._move(min(self._taken + count, self._total), name)

    def done(self, amount: Amount) -> None:
        """Count a document that was computed."""
        self._done += amount
        self._settled += self._steps * amount.responses
        self._move(max(self._taken, self._settled), "")

    def settle(self) -> None:
        """Close a bundle: exactly the steps of complete documents have been taken."""
        self._move(self._settled, "")

    def found(self, amount: Amount) -> None:
        """Count a document that came from the cache after all."""
        self._done += amount
        steps = self._steps * amount.responses
        self._total -= steps
        if self._bar is not None:
            self._bar.initial += steps
            self._bar.n += steps
        self._move(self._taken, "")

    def words(self) -> str:
        """Return what is done, in words."""
        done, asked = self._done, self._all
        words = f"{done.documents}/{asked.documents} documents, {done.variants}/{asked.variants} variants"
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
            log.debug("sago: %s%s", self.words(), rest)
