"""The score table: what models did on the variants of the same documents.

Statistics see nothing else. A table is a number of data sets (:class:`TaskTable`), each a block
of numbers over models, documents and variants; they are read one at a time, so that a study of
many models needs the memory of its largest data set only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.stats.check_table import check_shapes

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class VariantKey:
    """One column of a block: a way of saying things, the same for all documents.

    Attributes
    ----------
    id : str
        Unique within the data set.
    family, operator : str
    strength : float or None
    position : str or None
    """

    id: str
    family: str
    operator: str
    strength: float | None = None
    position: str | None = None


@dataclass(frozen=True)
class TaskTable:
    """What M models did on V variants of D documents of one data set; NaN = unscored, or not made.

    Attributes
    ----------
    task : str
    models : tuple of str
        M names, sorted.
    documents : tuple of str
        D ids, sorted.
    variants : tuple of VariantKey
        V columns: everything but the canonical prompt, chance controls and repeats.
    measures : dict of str to str
        Measure -> axis ("" for those in no score), in table order, ``x_mr`` not among them.
    families : dict of str to int
        Families that form a score -> number of the recipe's variants.
    distances : dict of str to ndarray of shape (M, D, V)
        Measure -> distance from the canonical response, in [0, 1]; beside the measures ``x_mr``
        (in [-1, 1]), ``x_mr_floor`` and ``flip``.
    controls, repeats : dict of str to ndarray of shape (M, D, K), (M, D, R)
        Distances of chance controls, and of the canonical prompt sent again.
    raw : dict of str to ndarray of shape (M, D, V)
        Deltas of the published scheme: ``x_bleu``, ``x_bert``, ``x_act``, ``x_prob``, ``x_ent``,
        ``mirroring``.
    first : dict of str to ndarray of shape (M, D, V)
        ``x_bleu``, ``x_bert`` or ``x_sem``, ``x_prob``, ``x_ent`` over the first 16 tokens alone; NaN for
        models that give no token ids, and in records of older versions, which lack those of texts.
    first_controls : dict of str to ndarray of shape (M, D, K)
    correct : ndarray of shape (M, D, V + 1)
        1 = right, 0 = wrong; the canonical response first.
    responses : ndarray of shape (M, D) of object
        Key of the canonical response, "" for an empty one, None where none was given.
    tokens : ndarray of shape (M, D)
        Length of the canonical response.
    flags : dict of str to ndarray of shape (M, D)
        ``empty``, ``short``, ``truncated``, ``refused``: the canonical response is so.
    reasons : dict of str to list of Counter
        Measure -> for each model, how many variants are unscored for which reason.
    signatures : tuple of dict
        For each model, what identifies its numbers.
    sources : tuple of str
        For each model, the file that its records came from.
    mixed : tuple of bool
        Models whose signature differs where it should not (read with ``allow_mixed``).
    partners : ndarray of int of shape (M, D, K), optional
        For each chance control, the place of the document whose prompt it is; -1 where that is none
        of the D documents, or not known. Errors count with them that documents share controls.
    made : ndarray of bool of shape (M, D, V), optional
        Variants that there are records of, scored or not; None where only numbers are known.

    Raises
    ------
    SagoError
        If a block has another shape than its axes say, or a name comes twice.
    """

    task: str
    models: tuple[str, ...]
    documents: tuple[str, ...]
    variants: tuple[VariantKey, ...]
    measures: Mapping[str, str]
    families: Mapping[str, int]
    distances: Mapping[str, Doubles]
    controls: Mapping[str, Doubles]
    repeats: Mapping[str, Doubles] = field(default_factory=dict)
    raw: Mapping[str, Doubles] = field(default_factory=dict)
    first: Mapping[str, Doubles] = field(default_factory=dict)
    first_controls: Mapping[str, Doubles] = field(default_factory=dict)
    correct: Doubles | None = None
    responses: npt.NDArray[np.object_] | None = None
    tokens: Doubles | None = None
    flags: Mapping[str, Flags] = field(default_factory=dict)
    reasons: Mapping[str, Sequence[Counter[str]]] = field(default_factory=dict)
    signatures: tuple[Mapping[str, Any], ...] = ()
    sources: tuple[str, ...] = ()
    mixed: tuple[bool, ...] = ()
    partners: Places | None = None
    made: Flags | None = None

    def __post_init__(self) -> None:
        check_shapes(self)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return (M, D, V)."""
        return len(self.models), len(self.documents), len(self.variants)

    @cached_property
    def operators(self) -> tuple[tuple[str, str], ...]:
        """Return (family, operator) of the scored families, in order of appearance, sorted by family."""
        seen = dict.fromkeys((v.family, v.operator) for v in self.variants if v.family in self.families)
        order = list(self.families)
        return tuple(sorted(seen, key=lambda pair: order.index(pair[0])))

    @cached_property
    def operator_of(self) -> npt.NDArray[np.intp]:
        """Return, for each variant, the place of its operator; -1 for families beside the score."""
        place = {pair: i for i, pair in enumerate(self.operators)}
        return np.array([place.get((v.family, v.operator), -1) for v in self.variants], dtype=np.intp)

    @cached_property
    def family_of(self) -> npt.NDArray[np.intp]:
        """Return, for each operator, the place of its family."""
        order = {family: i for i, family in enumerate(self.families)}
        return np.array([order[family] for family, _ in self.operators], dtype=np.intp)

    def with_variants(self, keep: Flags) -> TaskTable:
        """Return the table with some of its variants alone.

        Parameters
        ----------
        keep : ndarray of shape (V,), or of shape (D, V)
            With the second shape, variants of a document that are not kept count as unscored.
        """
        blocks = ("distances", "raw", "first")
        if keep.ndim == 2:
            blank: dict[str, Any] = {
                n: {k: np.where(keep[None], a, np.nan) for k, a in getattr(self, n).items()} for n in blocks
            }
            made = None if self.made is None else self.made & keep[None]
            return replace(self, **blank, made=made)
        less: dict[str, Any] = {n: {k: a[:, :, keep] for k, a in getattr(self, n).items()} for n in blocks}
        variants = tuple(v for v, kept in zip(self.variants, keep, strict=True) if kept)
        correct = self.correct
        if correct is not None:
            correct = correct[:, :, np.concatenate([[True], keep])]
        families = Counter(v.family for v in variants if v.family in self.families)
        counts = {f: min(n, families[f]) for f, n in self.families.items() if families[f]}
        made = None if self.made is None else self.made[:, :, keep]
        return replace(self, **less, variants=variants, correct=correct, families=counts, made=made)

    def with_documents(self, keep: Flags) -> TaskTable:
        """Return the table with some of its documents alone; ``keep`` of shape (D,)."""
        documents = tuple(d for d, kept in zip(self.documents, keep, strict=True) if kept)
        less = self._cut((slice(None), keep))
        if self.partners is not None:
            place = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1)
            less["partners"] = place[less["partners"]]
        return replace(self, **less, documents=documents)

    def with_models(self, names: Sequence[str]) -> TaskTable:
        """Return the table with some of its models alone, in the order of ``names``."""
        at = [self.models.index(name) for name in names]
        less = self._cut(at)
        for name in ("signatures", "sources", "mixed"):
            value = getattr(self, name)
            less[name] = tuple(value[i] for i in at) if value else ()
        less["reasons"] = {k: [v[i] for i in at] for k, v in self.reasons.items()}
        return replace(self, **less, models=tuple(names))

    def _cut(self, index: Any) -> dict[str, Any]:
        """Return all that has models and documents as its first axes, indexed."""
        blocks = ("distances", "controls", "repeats", "raw", "first", "first_controls", "flags")
        less: dict[str, Any] = {n: {k: a[index] for k, a in getattr(self, n).items()} for n in blocks}
        for name in ("correct", "responses", "tokens", "partners", "made"):
            value = getattr(self, name)
            less[name] = None if value is None else value[index]
        return less

    def __str__(self) -> str:
        m, d, v = self.shape
        return f"{self.task}: {m} models x {d} documents x {v} variants"


@dataclass(frozen=True)
class ScoreTable:
    """Data sets of a study, each loaded when it is asked for and not kept.

    Attributes
    ----------
    tasks : tuple of str
        Data sets, sorted.
    models : tuple of str
        All models, sorted; a data set may lack some.
    notes : tuple of str
        What a reader of any table must know: lines that were skipped, runs that were left out.
    packs : dict of int to ScoreTable
        Seed -> the same models on variants made with another seed, as far as there are any.
    repeated : dict of str to str
        Data sets that are the responses of another one once more, read by another filter -> that one.
        They have results of their own, and no part in what spans data sets.
    """

    tasks: tuple[str, ...]
    models: tuple[str, ...]
    load: Callable[[str], TaskTable] = field(repr=False)
    notes: tuple[str, ...] = ()
    packs: Mapping[int, ScoreTable] = field(default_factory=dict, repr=False)
    repeated: Mapping[str, str] = field(default_factory=dict)

    @property
    def spanning(self) -> tuple[str, ...]:
        """Return the data sets that enter what spans data sets: each with responses of its own."""
        return tuple(task for task in self.tasks if task not in self.repeated)

    def __iter__(self) -> Iterator[TaskTable]:
        for task in self.tasks:
            yield self.load(task)

    def __len__(self) -> int:
        return len(self.tasks)

    @classmethod
    def of(
        cls,
        tables: Sequence[TaskTable],
        notes: Sequence[str] = (),
        repeated: Mapping[str, str] | None = None,
    ) -> ScoreTable:
        """Return a score table of data sets that are in memory.

        Raises
        ------
        ValueError
            If a data set comes twice.
        """
        named = {table.task: table for table in tables}
        if len(named) < len(tables):
            raise ValueError("a data set comes twice")
        models = sorted({model for table in tables for model in table.models})
        return cls(
            tuple(sorted(named)),
            tuple(models),
            named.__getitem__,
            tuple(notes),
            repeated=dict(repeated or {}),
        )

    def __str__(self) -> str:
        return f"{len(self.models)} models on {len(self.tasks)} data sets"
