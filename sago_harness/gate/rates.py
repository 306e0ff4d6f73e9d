"""Shares of documents, document by document: answers and the health of responses."""

from __future__ import annotations

import numpy as np

from sago_harness.scores.document import NOT_GIVEN
from sago_harness.scores.reduce import required_counts
from sago_harness.stats.means import known_mean
from sago_harness.stats.reduce import MIRRORING
from sago_harness.stats.scored import ScoredTask
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: Answers: what is right, and what changes.
ANSWERS = ("acc", "acc_mean", "acc_worst", "flip")

#: Beside the flags of a response: equal to another document's or empty, and not scored on every measure.
BESIDE = ("stock", "unscored")


def answers(table: TaskTable) -> dict[str, Doubles]:
    """Return accuracy and flips of every document, of shape (M, D); NaN where there is none.

    Parameters
    ----------
    table : TaskTable
        Of one model, or of two that are compared: of a document's variants those count then that
        both models were scored on.

    Returns
    -------
    dict of str to ndarray of shape (M, D)
        ``acc`` and ``acc_worst`` are 0 or 1; ``acc_mean`` and ``flip`` are shares of a document's variants.
        A document needs as many scored variants of each family as it does for scores
        (:func:`sago_harness.scores.reduce.required_counts`), and for ``acc_worst`` all that were made of it:
        the one that is missing might be the wrong one.
    """
    found: dict[str, Doubles] = {}
    inside = table.operator_of >= 0
    if table.correct is not None:
        each = np.where(inside, table.correct[:, :, 1:], np.nan)
        variants = _shared(each)
        known = np.isfinite(variants)
        lacks = (rows_of_variants(table) & inside & ~np.isfinite(each)).any(axis=2)
        least = np.where(known, variants, np.inf).min(axis=2, initial=np.inf)
        found["acc"] = table.correct[:, :, 0]
        found["acc_mean"] = np.where(_enough(table, known), known_mean(variants), np.nan)
        found["acc_worst"] = np.where(known.any(axis=2) & ~lacks, least, np.nan)
    if "flip" in table.distances:
        flips = _shared(np.where(inside, table.distances["flip"], np.nan))
        found["flip"] = np.where(_enough(table, np.isfinite(flips)), known_mean(flips), np.nan)
    return {name: values for name, values in found.items() if np.isfinite(values).any()}


def rows_of_variants(table: TaskTable) -> Flags:
    """Return which variants there are records of, of shape (M, D, V).

    Where a table has numbers alone, those with any number.
    """
    if table.made is not None:
        return table.made
    made: Flags = np.zeros(table.shape, dtype=bool)
    for block in table.distances.values():
        made |= np.isfinite(block)
    if table.correct is not None:
        made |= np.isfinite(table.correct[:, :, 1:])
    return made


def health(table: TaskTable, scored: ScoredTask) -> dict[str, Doubles]:
    """Return what is wrong with the canonical response of every document, 0 or 1, of shape (M, D).

    Returns
    -------
    dict of str to ndarray of shape (M, D)
        ``empty``, ``short``, ``truncated``, ``refused``, ``stock``: NaN for documents without a
        response. ``unscored``: of all documents.
    """
    found: dict[str, Doubles] = {}
    given: Flags = np.ones(table.shape[:2], dtype=bool)
    if table.responses is not None:
        given = np.array([[one is not None for one in row] for row in table.responses], dtype=bool)
        given = given.reshape(table.shape[:2])
        found["stock"] = np.where(given, scored.stock_of, np.nan)
    for name, flags in table.flags.items():
        found[name] = np.where(given, flags, np.nan)
    if scored.reduced:
        found["unscored"] = (~complete(table, scored)).astype(np.float64)
    return {name: values for name, values in found.items() if np.isfinite(values).any()}


def complete(table: TaskTable, scored: ScoredTask) -> Flags:
    """Return which documents have every measure that a model can give, of shape (M, D)."""
    whole: Flags = np.ones(table.shape[:2], dtype=bool)
    for name, values in scored.reduced.items():
        if name == MIRRORING:
            continue
        known = np.isfinite(values.squares())
        for m, row in enumerate(known):
            reasons = table.reasons.get(name)
            never = not row.any() and (not reasons or not set(reasons[m]) - set(NOT_GIVEN))
            whole[m] &= row | never
    return whole


def _enough(table: TaskTable, known: Flags) -> Flags:
    """Say which documents have the scored variants of each family that scores ask for, of shape (M, D)."""
    enough: Flags = np.ones(known.shape[:2], dtype=bool)
    for family, count in required_counts(table.families).items():
        of_it = np.array([key.family == family for key in table.variants], dtype=bool)
        enough &= known[:, :, of_it].sum(axis=2) >= count
    return enough


def _shared(variants: Doubles) -> Doubles:
    """Leave the variants that all models were scored on."""
    return np.where(np.isfinite(variants).all(axis=0), variants, np.nan)
