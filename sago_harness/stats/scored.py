"""A data set after reduction: small enough to keep, and all that most statistics look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.scores.composite import stock_documents
from sago_harness.scores.document import NOT_GIVEN
from sago_harness.stats.means import known_mean
from sago_harness.stats.operators import variants_of_operators
from sago_harness.stats.planes import variants_first
from sago_harness.stats.quantities import Quantity, mean_quantity, quantities
from sago_harness.stats.reduce import MeasureValues, reduce_task
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: Above this share of stock answers a model is left out of ranks.
STOCK_LIMIT = 0.1


@dataclass(frozen=True)
class ScoredTask:
    """One data set of a study.

    Attributes
    ----------
    task : str
    models : tuple of str
        M names.
    documents : tuple of str
        D ids.
    reduced : dict of str to MeasureValues
        Every measure that is part of a score.
    quantities : dict of str to Quantity
        Measures, axes and composites, over the documents of each model.
    beside : dict of str to Quantity
        ``acc``, ``acc_mean``, ``acc_worst``, ``flip``: what stands beside the scores.
    stock : ndarray of shape (M,)
        Share of documents with a stock answer; NaN where responses are unknown.
    stock_of : ndarray of shape (M, D)
        The documents themselves.
    health : dict of str to ndarray of shape (M,)
        Share of documents whose canonical response is ``empty``, ``short`` ...
    tokens : ndarray of shape (M,)
        Mean length of canonical responses.
    scored : ndarray of shape (M,)
        Documents of which every measure that this model can give is scored.
    mixed : tuple of bool
        Models read with ``allow_mixed``.
    operators : dict of (str, str) to int
        (family, operator) -> variants that it has of a document, in the order of ``reduced``.
    sampling : ndarray of shape (M,)
        Models whose responses were drawn at random (:func:`samples`); empty where none was.
    """

    task: str
    models: tuple[str, ...]
    documents: tuple[str, ...]
    reduced: Mapping[str, MeasureValues]
    quantities: Mapping[str, Quantity]
    beside: Mapping[str, Quantity] = field(default_factory=dict)
    stock: Doubles = field(default_factory=lambda: np.zeros(0))
    stock_of: Flags = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    health: Mapping[str, Doubles] = field(default_factory=dict)
    tokens: Doubles = field(default_factory=lambda: np.zeros(0))
    scored: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    mixed: Sequence[bool] = ()
    operators: Mapping[tuple[str, str], int] = field(default_factory=dict)
    sampling: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))

    @property
    def ranked(self) -> Flags:
        """Return which models may be ranked, of shape (M,): none that gives stock answers, or samples."""
        fine: Flags = ~(self.stock > STOCK_LIMIT)
        return fine & ~self.sampling if self.sampling.size else fine

    @property
    def samplers(self) -> tuple[str, ...]:
        """Return the models whose runs sample."""
        return tuple(m for m, drawn in zip(self.models, self.sampling.tolist(), strict=False) if drawn)

    def of(self, keep: Flags) -> dict[str, Quantity]:
        """Return the quantities over some documents alone; ``keep`` of shape (D,) or (M, D)."""
        return quantities(self.reduced, keep)


def score_task(table: TaskTable) -> ScoredTask:
    """Reduce a data set and form all its scores."""
    reduced = reduce_task(table)
    shape = table.shape[:2]
    complete: Flags = np.ones(shape, dtype=bool)
    for values in reduced.values():
        if values.measure != "x_mr":
            known: Flags = np.isfinite(values.squares())
            complete &= known | _never_given(table, values.measure, known)[:, None]
    stock_of = np.zeros(shape, dtype=bool)
    stock = np.full(shape[0], np.nan)
    if table.responses is not None:
        for m, responses in enumerate(table.responses):
            stock_of[m] = stock_documents(list(responses))
            given = np.array([response is not None for response in responses], dtype=bool)
            stock[m] = stock_of[m][given].mean() if given.any() else np.nan
    return ScoredTask(
        table.task,
        table.models,
        table.documents,
        reduced,
        quantities(reduced),
        _beside(table),
        stock,
        stock_of,
        {name: values.mean(axis=1) for name, values in table.flags.items()},
        known_mean(table.tokens) if table.tokens is not None else np.full(shape[0], np.nan),
        complete.sum(axis=1) if reduced else np.zeros(shape[0], dtype=np.intp),
        table.mixed,
        variants_of_operators(table),
        np.array([samples(signature) for signature in table.signatures], dtype=bool),
    )


def samples(signature: Mapping[str, Any]) -> bool:
    """Say whether a run's responses were drawn at random.

    Such a run's score is partly its sampling, so that it is not ranked like a greedy one. A run that does
    not state its generation arguments (records without their results file) is taken as greedy.

    Parameters
    ----------
    signature : mapping
        Of a run (:class:`sago_harness.signature.Signature`): ``do_sample`` among ``generation``, with
        no temperature of 0.

    Examples
    --------
    >>> samples({"generation": {"do_sample": True, "temperature": 0.7}})
    True
    >>> samples({"generation": {"do_sample": False}}), samples({})
    (False, False)
    """
    generation = signature.get("generation")
    if not isinstance(generation, Mapping):
        return False
    return bool(generation.get("do_sample")) and generation.get("temperature") != 0


def _never_given(table: TaskTable, measure: str, known: Flags) -> Flags:
    """Say which models can never give a measure: that does not count against their documents."""
    counts = table.reasons.get(measure)
    given: Flags = known.sum(axis=1) > 0
    excused = [not set(counts[m]) - set(NOT_GIVEN) if counts else True for m in range(len(given))]
    never: Flags = ~given & np.array(excused, dtype=bool)
    return never


def _beside(table: TaskTable) -> dict[str, Quantity]:
    found = {}
    if table.correct is not None:
        correct = table.correct
        variants = _inside(table, correct[:, :, 1:])
        known = np.isfinite(variants)
        some = known.any(axis=2)
        worst = np.where(some, np.where(known, variants, np.inf).min(axis=2, initial=np.inf), np.nan)
        for name, values in (
            ("acc", correct[:, :, 0]),
            ("acc_mean", known_mean(variants)),
            ("acc_worst", worst),
        ):
            if np.isfinite(values).any():
                found[name] = mean_quantity(name, values, "beside", higher=True)
    if "flip" in table.distances:
        flips = known_mean(_inside(table, table.distances["flip"]))
        if np.isfinite(flips).any():
            found["flip"] = mean_quantity("flip", flips, "beside")
    return found


def _inside(table: TaskTable, values: Doubles) -> Doubles:
    """Return the values of the variants that form the score, of shape (M, D, V), laid out in planes."""
    inside = np.flatnonzero(table.operator_of >= 0)
    blocks = (own[:, inside] for own in values)
    return np.moveaxis(variants_first(blocks, (*table.shape[:2], len(inside))), 0, 2)
