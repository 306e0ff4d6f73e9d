"""Few-shot examples, drawn once per task.

The host's sampler draws new examples for every document from one generator, so that two
variants would differ in more than the variant. Here the examples are the first k of an
order keyed by (few-shot seed, task), the same for every document, variant, control and
rank; a document is never its own example, and neither is a copy of it under another id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lm_eval.api.samplers import ContextSampler

from sago_harness.errors import SagoError


class TaskSampler(ContextSampler):  # type: ignore[misc]
    """A fixed order over the pool, minus the document at hand and its copies.

    Parameters
    ----------
    df : sequence of dict
        The pool; every row has an id under ``id_key``.
    task : str
    id_key : str
    content : callable
        Row -> what is compared to find copies; None for a row that cannot be an example.
    in_order : bool
        Keep the pool's own order (a task that asks for ``first_n``).
    """

    def __init__(
        self,
        df: Sequence[Mapping[str, Any]],
        *,
        task: str,
        id_key: str,
        content: Callable[[Mapping[str, Any]], Any],
        in_order: bool = False,
    ) -> None:
        super().__init__(df, rnd=None)
        self._task = task
        self._id_key = id_key
        self._content = content
        self._in_order = in_order
        self.seed: int | None = None
        self._exclude: tuple[str | None, Any] = (None, None)
        self._ordered: list[Mapping[str, Any]] | None = None
        self._contents: dict[int, Any] = {}

    def set_rnd(self, rnd: int | None) -> TaskSampler:
        """Set the few-shot seed."""
        self.seed = rnd
        self._ordered = None
        return self

    def leave_out(self, document_id: str | None, content: Any) -> None:
        """Name the document that must not be among the examples, and its content as it was read."""
        self._exclude = (document_id, content)

    def sample(self, n: int, eval_doc: Any = None, df: Any = None, **kwargs: Any) -> list[Mapping[str, Any]]:
        """Return the first n of the order without the document.

        Raises
        ------
        SagoError
            If the pool is too small.
        """
        if self._ordered is None:
            self._ordered = list(self.df) if self._in_order else sorted(self.df, key=self._rank)
            self._contents.clear()
        document_id, own = self._exclude
        chosen: list[Mapping[str, Any]] = []
        for position, row in enumerate(self._ordered):
            if len(chosen) == n:
                break
            # One by one: a pool may hold ten thousands of rows, and few are looked at.
            if position not in self._contents:
                self._contents[position] = self._content(row)
            content = self._contents[position]
            itself = document_id is not None and row.get(self._id_key) == document_id
            if content is not None and content != own and not itself:
                chosen.append(row)
        if len(chosen) < n:
            raise SagoError(
                f"task {self._task!r}: --num_fewshot {n}, but only {len(chosen)} other examples "
                "with an answer are there"
            )
        return chosen

    def _rank(self, row: Mapping[str, Any]) -> str:
        content = f"{self.seed}|{self._task}|{row.get(self._id_key)}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
