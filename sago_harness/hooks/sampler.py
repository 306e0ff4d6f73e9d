"""Few-shot examples, drawn once per task.

The host's sampler draws new examples for every document from one generator, so that two
variants would differ in more than the variant. Here the examples are the first k of an
order keyed by (few-shot seed, task), the same for every document, variant, control and
rank; a document is never its own example.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.api.samplers import ContextSampler

from sago_harness.errors import SagoError


class TaskSampler(ContextSampler):  # type: ignore[misc]
    """A fixed order over the pool, minus the document at hand.

    Parameters
    ----------
    df : sequence of dict
        The pool; every row has an id under ``id_key``.
    task : str
    id_key : str
    in_order : bool
        Keep the pool's own order (a task that asks for ``first_n``).
    """

    def __init__(
        self, df: Sequence[Mapping[str, Any]], *, task: str, id_key: str, in_order: bool = False
    ) -> None:
        super().__init__(df, rnd=None)
        self._task = task
        self._id_key = id_key
        self._in_order = in_order
        self.seed: int | None = None
        self._exclude: str | None = None
        self._ordered: list[Mapping[str, Any]] | None = None

    def set_rnd(self, rnd: int | None) -> TaskSampler:
        """Set the few-shot seed."""
        self.seed = rnd
        self._ordered = None
        return self

    def leave_out(self, document_id: str | None) -> None:
        """Name the document that must not be among the examples."""
        self._exclude = document_id

    def sample(self, n: int, eval_doc: Any = None, df: Any = None, **kwargs: Any) -> list[Mapping[str, Any]]:
        """Return the first n of the order without the document.

        Raises
        ------
        SagoError
            If the pool is too small.
        """
        if self._ordered is None:
            rows = list(self.df)
            self._ordered = rows if self._in_order else sorted(rows, key=self._rank)
        chosen: list[Mapping[str, Any]] = []
        for row in self._ordered:
            if len(chosen) == n:
                break
            if row.get(self._id_key) != self._exclude or self._exclude is None:
                chosen.append(row)
        if len(chosen) < n:
            raise SagoError(
                f"task {self._task!r}: --num_fewshot {n}, but only {len(chosen)} other examples are there"
            )
        return chosen

    def _rank(self, row: Mapping[str, Any]) -> str:
        content = f"{self.seed}|{self._task}|{row.get(self._id_key)}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
