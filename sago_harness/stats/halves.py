"""Documents' values on random halves of the variants, and their ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.stats.means import divided
from sago_harness.stats.table import Doubles, Flags, TaskTable

#: Variance of ranks under which a half does not vary.
FLAT = 1e-12

#: Steps up to the largest value. Values of one step are equal: they may have been summed in another order.
_STEPS = 10**12

#: Bits that are left for a place beside a step of either sign, in 64.
_PLACE_BITS = 23


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
    distances : ndarray of shape (..., D, V)
        NaN = unscored.
    masks : ndarray of shape (S, 2, V)
    families : ndarray of shape (V,)
        Place of each variant's family; -1 = beside the score.

    Returns
    -------
    ndarray of shape (..., S, 2, D)
        NaN where a family that the half has is unscored for the document.

    Examples
    --------
    >>> masks = np.array([[[True, True, False, False], [False, False, True, True]]])
    >>> d = np.array([[0.6, 0.8, 0.5, np.nan]])
    >>> half_values(d, masks, np.array([0, 0, 0, 0]))[0, :, 0].round(4).tolist()
    [0.7071, 0.5]
    """
    places = np.arange(int(families.max(initial=-1)) + 1)
    chosen = (masks & (families == places[:, None])[:, None, None, :]).astype(np.float64)
    sizes = chosen.sum(axis=3)
    used = (sizes > 0).sum(axis=0)
    share = (chosen / np.maximum(sizes, 1.0)[..., None]).sum(axis=0) / np.maximum(used, 1)[..., None]

    def with_gaps(squares: Doubles) -> Doubles:
        known = np.isfinite(squares)
        filled = np.where(known, squares, 0.0)
        total = np.zeros((*masks.shape[:2], len(squares)))
        whole = np.ones(total.shape, dtype=bool)
        for family, size in zip(chosen, sizes, strict=True):
            counts = _on_halves(family, known)
            total += _on_halves(family, filled) / np.maximum(counts, 1.0)
            whole &= (counts > 0) | (size == 0)[:, :, None]
        return np.where(whole, divided(total, used[:, :, None]), np.nan)

    mean = _mean(np.square(distances), share, with_gaps)
    return np.sqrt(mean, out=mean)


def half_means(values: Doubles, masks: Flags) -> Doubles:
    """Return the mean of each document's scored variants on each half; shapes as :func:`half_values`.

    Examples
    --------
    >>> masks = np.array([[[True, True, False], [False, False, True]]])
    >>> half_means(np.array([[0.25, 0.75, np.nan]]), masks)[0, :, 0].tolist()
    [0.5, nan]
    """
    chosen = masks.astype(np.float64)

    def with_gaps(values: Doubles) -> Doubles:
        known = np.isfinite(values)
        return divided(_on_halves(chosen, np.where(known, values, 0.0)), _on_halves(chosen, known))

    return _mean(values, chosen / np.maximum(chosen.sum(axis=2, keepdims=True), 1.0), with_gaps)


def _mean(values: Doubles, share: Doubles, with_gaps: Callable[[Doubles], Doubles]) -> Doubles:
    """Return the sums of values (..., D, V) with each variant's share (S, 2, V), of shape (..., S, 2, D).

    NaN where a half has no variant. Shares hold where all variants of a document are scored; the others
    are left to ``with_gaps``, from (G, V) to (S, 2, G).
    """
    entering = share.any(axis=(0, 1))
    used = values if entering.all() else values[..., entering]
    known = np.isfinite(used)
    complete = bool(known.all())
    sums = _on_halves(share[:, :, entering], used if complete else np.where(known, used, 0.0))
    sums[..., ~share.any(axis=2), :] = np.nan
    if not complete:
        gaps: Flags = np.asarray(~known.all(axis=-1))
        for at in np.ndindex(gaps.shape[:-1]):
            if gaps[at].any():
                sums[at][..., gaps[at]] = with_gaps(values[at][gaps[at]])
    return sums


def _on_halves(chosen: Doubles, values: Doubles | Flags) -> Doubles:
    """Return the sums of values (..., D, V) over the chosen ones (S, 2, V), of shape (..., S, 2, D)."""
    splits, sides, columns = chosen.shape
    turned = values.astype(np.float64, copy=False).swapaxes(-1, -2)
    sums: Doubles = chosen.reshape(splits * sides, columns) @ turned
    return sums.reshape(*values.shape[:-2], splits, sides, values.shape[-2])


def standard_ranks(values: Doubles, valid: Flags) -> tuple[Doubles, Flags]:
    """Return ranks over the valid documents with mean 0 and variance 1, 0 for the others.

    Parameters
    ----------
    values : ndarray of shape (..., S, 2, D)
    valid : ndarray of shape (S, D)

    Returns
    -------
    z : ndarray of shape (..., S, 2, D)
        Mean ranks for ties; 0 throughout where a half does not vary.
    fine : ndarray of shape (..., S)
        Splits in which both halves vary.

    Examples
    --------
    >>> z, fine = standard_ranks(np.array([[[5.0, 7.0, 9.0], [1.0, 1.0, 1.0]]]), np.ones((1, 3), dtype=bool))
    >>> z[0, 0].round(3).tolist(), fine.tolist()
    ([-1.225, 0.0, 1.225], [False])
    """
    size = values.shape[-1]
    everyone = bool(valid.all())
    count = valid.sum(axis=1)[:, None, None]
    order, placed = _placed(_steps(values, None if everyone else valid[:, None, :]))
    # The ranks 1 to n have the mean (n + 1) / 2, ties or not; places are from 0.
    centred = placed - (count - 1) / 2.0
    if not everyone:
        centred = np.where(np.arange(size) < count, centred, 0.0)
    variance = np.square(centred).sum(axis=-1, keepdims=True) / np.maximum(count, 1)
    varies = variance > FLAT
    scaled = np.divide(centred, np.sqrt(variance), out=np.zeros(centred.shape), where=varies)
    z = _put(order, scaled)
    fine: Flags = np.asarray(np.broadcast_to(varies[..., 0], values.shape[:-1]).all(axis=-1))
    return z, fine


def mean_ranks(values: Doubles) -> Doubles:
    """Return ranks along the last axis, from 1, mean ranks for ties; no NaN.

    Examples
    --------
    >>> mean_ranks(np.array([[0.3, 0.1, 0.3], [2.0, 3.0, 1.0]])).tolist()
    [[2.5, 1.0, 2.5], [2.0, 3.0, 1.0]]
    """
    order = np.argsort(values, axis=-1)
    return _put(order, _places(np.take_along_axis(values, order, axis=-1)) + 1.0)


def _steps(values: Doubles, mask: Flags | None) -> npt.NDArray[np.int64]:
    """Return values in whole steps of each block (S, 2, D), those outside the mask beyond the last one."""
    if mask is not None:
        values = np.where(mask, values, 0.0)
    axes = (-3, -2, -1)
    largest = values.max(axis=axes, keepdims=True, initial=0.0)
    scale = np.maximum(largest, -values.min(axis=axes, keepdims=True, initial=0.0))
    scale[scale == 0.0] = 1.0
    share = values / scale
    share *= _STEPS
    steps = np.rint(share, out=share).astype(np.int64)
    return steps if mask is None else np.where(mask, steps, _STEPS + 1)


def _placed(steps: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], Doubles]:
    """Return the order of steps along the last axis, and the place of each in that order.

    Places are the mean ones for ties, from 0; of shape (D,) where nothing is tied.
    """
    size = steps.shape[-1]
    bits = size.bit_length()
    if bits > _PLACE_BITS:
        order = np.argsort(steps, axis=-1)
        return order, _places(np.take_along_axis(steps, order, axis=-1))
    # A step and its place in one number: sorting those is many times faster than sorting places.
    packed = steps << bits
    packed |= np.arange(size)
    packed.sort(axis=-1)
    placed = _places(packed >> bits)
    packed &= (1 << bits) - 1
    return packed, placed


def _places(ordered: npt.NDArray[Any]) -> Doubles:
    """Return the mean place, from 0, of each of the ordered values among its equals.

    Of shape (D,) where no two are equal.

    Examples
    --------
    >>> _places(np.array([[1, 4, 4], [2, 2, 2]])).tolist()
    [[0.0, 1.5, 1.5], [1.0, 1.0, 1.0]]
    """
    size = ordered.shape[-1]
    first = np.ones(ordered.shape, dtype=bool)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    if first.all():
        return np.arange(size, dtype=np.float64)
    starts = np.flatnonzero(first)
    lengths = np.diff(starts, append=first.size)
    places: Doubles = np.repeat(starts % size + (lengths - 1) / 2.0, lengths).reshape(ordered.shape)
    return places


def _put(order: npt.NDArray[np.int64], values: Doubles) -> Doubles:
    """Return values, broadcast to the shape of order, put along the last axis where order says."""
    size = order.shape[-1]
    rows = size * np.arange(math.prod(order.shape[:-1])).reshape(*order.shape[:-1], 1)
    found = np.empty(order.size)
    found[order + rows] = values
    return found.reshape(order.shape)
