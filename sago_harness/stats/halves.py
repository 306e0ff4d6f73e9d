"""Cross-half: documents' values on random halves of the variants, their ranks, their resamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.stats.means import divided
from sago_harness.stats.resampling import Singles
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: Variance of ranks under which a half does not vary.
FLAT = 1e-12

#: A measure or an axis: ("measure", "x_act"), ("axis", "activation").
Unit = tuple[str, str]


def halves(table: TaskTable, splits: int, rng: np.random.Generator) -> Flags:
    """Return random halves of the scored variants, each family halved.

    Returns
    -------
    ndarray of shape (splits, 2, V)
        Halves differ by at most one variant, in a family and in all. Variants beside the score
        are in neither.
    """
    inside = np.flatnonzero(table.operator_of >= 0)
    family = table.family_of[table.operator_of[inside]]
    masks = np.zeros((splits, 2, len(table.variants)), dtype=bool)
    for split in range(splits):
        shuffled = rng.permutation(len(inside))
        order = rng.permutation(int(family.max()) + 1) if len(inside) else np.zeros(0, dtype=np.intp)
        # Dealt out in turn, family after family, so that odd families even out.
        dealt = inside[shuffled[np.argsort(order[family[shuffled]], kind="stable")]]
        start = int(rng.integers(2))
        masks[split, start, dealt[::2]] = True
        masks[split, 1 - start, dealt[1::2]] = True
    return masks


def half_values(distances: Doubles, masks: Flags, families: npt.NDArray[np.intp]) -> Doubles:
    """Return the root mean square of each document on each half, families balanced.

    Parameters
    ----------
    distances : ndarray of shape (D, V)
        NaN = unscored.
    masks : ndarray of shape (S, 2, V)
    families : ndarray of shape (V,)
        Place of each variant's family; -1 = beside the score.

    Returns
    -------
    ndarray of shape (S, 2, D)
        NaN where a family that the half has is unscored for the document.

    Examples
    --------
    >>> masks = np.array([[[True, True, False, False], [False, False, True, True]]])
    >>> d = np.array([[0.6, 0.8, 0.5, np.nan]])
    >>> half_values(d, masks, np.array([0, 0, 0, 0]))[0, :, 0].round(4).tolist()
    [0.7071, 0.5]
    """
    known = np.isfinite(distances)
    complete = bool(known.all())
    squares = np.where(known, np.square(distances), 0.0)
    total = np.zeros((*masks.shape[:2], len(distances)))
    used = np.zeros(masks.shape[:2])
    whole = np.ones(total.shape, dtype=bool)
    for family in range(int(families.max(initial=-1)) + 1):
        chosen = (masks & (families == family)).astype(np.float64)
        sums = _on_halves(chosen, squares)
        counts = chosen.sum(axis=2, keepdims=True) if complete else _on_halves(chosen, known)
        total += sums / np.maximum(counts, 1.0)
        has = chosen.any(axis=2)
        used += has
        whole &= (counts > 0) | ~has[:, :, None]
    fine = whole & (used > 0)[:, :, None]
    mean = np.divide(total, used[:, :, None], out=np.full(total.shape, np.nan), where=fine)
    root: Doubles = np.sqrt(mean)
    return root


def half_means(values: Doubles, masks: Flags) -> Doubles:
    """Return the mean of each document's scored variants on each half; shapes as :func:`half_values`.

    Examples
    --------
    >>> masks = np.array([[[True, True, False], [False, False, True]]])
    >>> half_means(np.array([[0.25, 0.75, np.nan]]), masks)[0, :, 0].tolist()
    [0.5, nan]
    """
    known = np.isfinite(values)
    chosen = masks.astype(np.float64)
    counts = _on_halves(chosen, known)
    sums = _on_halves(chosen, np.where(known, values, 0.0))
    return divided(sums, counts)


def _on_halves(chosen: Doubles, values: Doubles | Flags) -> Doubles:
    """Return the sums of each document's values (D, V) over the chosen ones (S, 2, V), of shape (S, 2, D)."""
    splits, sides, columns = chosen.shape
    sums: Doubles = chosen.reshape(splits * sides, columns) @ values.T.astype(np.float64)
    return sums.reshape(splits, sides, len(values))


@dataclass(frozen=True)
class Moments:
    """Standardised ranks of a unit over given documents, and what the bootstrap needs of them.

    Attributes
    ----------
    z : ndarray of shape (S, 2, D)
        0 for documents that are not part.
    means : ndarray of shape (S, 2, B)
        Weighted sums.
    spread : ndarray of shape (2, B)
        Weighted sums of squares about the weighted mean, summed over splits.
    shared : ndarray of shape (B,)
        The same of the products of both halves.
    """

    z: Doubles
    means: Singles
    spread: Singles
    shared: Singles


class Ranked:
    """Ranks of one model's units, each formed once for each set of documents.

    Parameters
    ----------
    values : mapping of Unit to ndarray of shape (S, 2, D)
    weights : ndarray of shape (B, D)
        How often each document is drawn in each bootstrap sample.
    """

    def __init__(self, values: Mapping[Unit, Doubles], weights: Singles) -> None:
        self.values = values
        self.weights = weights
        self._known: dict[Any, Any] = {}

    def ranks(self, unit: Unit, valid: Flags) -> tuple[Doubles, Flags]:
        """Return :func:`standard_ranks` of a unit over the valid documents, (S, D)."""
        key = ("ranks", unit, valid.tobytes())
        if key not in self._known:
            self._known[key] = standard_ranks(self.values[unit], valid)
        found: tuple[Doubles, Flags] = self._known[key]
        return found

    def sizes(self, valid: Flags) -> Singles:
        """Return how many valid documents each sample has, of shape (S, B), at least 1."""
        key = ("sizes", valid.tobytes())
        if key not in self._known:
            self._known[key] = np.maximum(valid.astype(np.float32) @ self.weights.T, 1.0)
        found: Singles = self._known[key]
        return found

    def moments(self, unit: Unit, valid: Flags) -> Moments:
        """Return what the bootstrap needs of a unit over the valid documents, (S, D)."""
        key = ("moments", unit, valid.tobytes())
        if key not in self._known:
            z, _ = self.ranks(unit, valid)
            small = z.astype(np.float32)
            splits, _, documents = z.shape
            sizes = self.sizes(valid)
            means = (small.reshape(2 * splits, documents) @ self.weights.T).reshape(splits, 2, -1)
            products = np.stack([small[:, 0] ** 2, small[:, 1] ** 2, small[:, 0] * small[:, 1]]).sum(axis=1)
            sums = products @ self.weights.T
            spread = sums[:2] - np.stack([(means[:, h] ** 2 / sizes).sum(axis=0) for h in (0, 1)])
            shared = sums[2] - (means[:, 0] * means[:, 1] / sizes).sum(axis=0)
            self._known[key] = Moments(z, means, spread, shared)
        found: Moments = self._known[key]
        return found


def standard_ranks(values: Doubles, valid: Flags) -> tuple[Doubles, Flags]:
    """Return ranks over the valid documents with mean 0 and variance 1, 0 for the others.

    Parameters
    ----------
    values : ndarray of shape (S, 2, D)
    valid : ndarray of shape (S, D)

    Returns
    -------
    z : ndarray of shape (S, 2, D)
        Mean ranks for ties; 0 throughout where a half does not vary.
    fine : ndarray of shape (S,)
        Splits in which both halves vary.

    Examples
    --------
    >>> z, fine = standard_ranks(np.array([[[5.0, 7.0, 9.0], [1.0, 1.0, 1.0]]]), np.ones((1, 3), dtype=bool))
    >>> z[0, 0].round(3).tolist(), fine.tolist()
    ([-1.225, 0.0, 1.225], [False])
    """
    mask = np.broadcast_to(valid[:, None, :], values.shape)
    scale = np.abs(values if valid.all() else values[mask]).max(initial=0.0) or 1.0
    # Equal distances may have been summed in another order.
    rounded = np.round(np.where(mask, values, np.inf) / scale, 12)
    ranks = np.where(mask, mean_ranks(rounded), 0.0)
    count = np.maximum(mask.sum(axis=2, keepdims=True), 1)
    centred = np.where(mask, ranks - ranks.sum(axis=2, keepdims=True) / count, 0.0)
    variance = np.square(centred).sum(axis=2, keepdims=True) / count
    varies = variance > FLAT
    z = np.divide(centred, np.sqrt(variance), out=np.zeros(values.shape), where=varies)
    return z, varies[:, :, 0].all(axis=1)


def mean_ranks(values: Doubles) -> Doubles:
    """Return ranks along the last axis, from 1, mean ranks for ties; no NaN.

    Examples
    --------
    >>> mean_ranks(np.array([[0.3, 0.1, 0.3], [2.0, 3.0, 1.0]])).tolist()
    [[2.5, 1.0, 2.5], [2.0, 3.0, 1.0]]
    """
    size = values.shape[-1]
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    places = np.arange(size, dtype=np.float64)
    placed = np.broadcast_to(places + 1.0, values.shape)
    fresh: Flags = ordered[..., 1:] != ordered[..., :-1]
    if not fresh.all():
        edge = np.ones((*values.shape[:-1], 1), dtype=bool)
        first = np.maximum.accumulate(np.where(np.concatenate([edge, fresh], axis=-1), places, 0.0), axis=-1)
        ends = np.where(np.concatenate([fresh, edge], axis=-1), places, size)
        last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
        placed = (first + last) / 2.0 + 1.0
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, placed, axis=-1)
    return ranks
