"""Prompts that are there already, so that a row that begins alike copies instead of computing.

A canonical prompt stays in its slot while its row runs, and is set aside when the slot is
given away, for as long as some row waits that may copy from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from sago_harness.engine.rows import Row
from sago_harness.engine.slots import Slots

#: A row waits one pass for another that it shares this many tokens more with.
WORTH_WAITING = 32


def shared_length(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many tokens two prompts have in common from the start.

    Examples
    --------
    >>> shared_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    for position, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return position
    return min(len(a), len(b))


class Prompts:
    """Where prompts lie.

    Parameters
    ----------
    slots : Slots
    rows : iterable of Row
        All rows to come: says how long a prompt is needed.
    """

    def __init__(self, slots: Slots, rows: Iterable[Row]) -> None:
        self._slots = slots
        self._running: dict[str, Row] = {}
        self._aside: dict[str, tuple[tuple[int, ...], list[torch.Tensor]]] = {}
        self._needed: dict[str, int] = {}
        for row in rows:
            if row.donor:
                self._needed[row.donor] = self._needed.get(row.donor, 0) + 1

    def most(self, row: Row) -> int:
        """Return how many tokens of a row's prompt may come from elsewhere.

        Never the last one, whose logits are wanted, nor any whose state is.
        """
        return min(len(row.ids) - 1, *row.pooled) if row.pooled else len(row.ids) - 1

    def best(self, row: Row) -> tuple[str, int]:
        """Return the prompt that a row can copy most from, and how many tokens."""
        most = self.most(row)
        if row.canonical:
            known = [(key, other.ids) for key, other in self._running.items()]
            known += [(key, ids) for key, (ids, _) in self._aside.items()]
        elif row.donor in self._running:
            known = [(row.donor, self._running[row.donor].ids)]
        elif row.donor in self._aside:
            known = [(row.donor, self._aside[row.donor][0])]
        else:
            known = []
        lengths = [(min(most, shared_length(row.ids, ids)), key) for key, ids in known]
        length, key = max(lengths, key=lambda pair: pair[0], default=(0, ""))
        return (key, length) if length else ("", 0)

    def fill(self, row: Row, key: str, length: int) -> None:
        """Copy the first tokens of a prompt into a row's slot."""
        if not length:
            return
        if key in self._running:
            self._slots.copy(self._running[key].slot, row.slot, length)
        else:
            self._slots.put(self._aside[key][1], row.slot, length)

    def begun(self, row: Row) -> None:
        """Note that a row's prompt is in its slot now."""
        # Of a prompt with a NaN, the tokens before it are spoilt too: masked, it is still a NaN.
        if row.canonical and row.finite:
            self._running[row.key] = row
        if row.donor:
            self._needed[row.donor] -= 1
            if not self._needed[row.donor]:
                self._aside.pop(row.donor, None)

    def ended(self, row: Row) -> None:
        """Set a prompt aside before its slot is given away, if it is still needed."""
        if self._running.pop(row.key, None) and self._needed.get(row.key):
            self._aside[row.key] = (row.ids, self._slots.take(row.slot, len(row.ids)))
