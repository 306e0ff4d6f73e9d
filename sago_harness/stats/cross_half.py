"""Cross-half correlations of one model's axes or measures over documents, and their resamples.

Pairs over the same documents are worked on at once: what the bootstrap needs is a few sums of
products over halves, weighted by how often each document is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sago_harness.stats.halves import FLAT, standard_ranks
from sago_harness.stats.resampling import Singles
from sago_harness.stats.table import Doubles, Flags

#: An axis that agrees less with itself between halves cannot be compared with another.
LEAST_RELIABILITY = 0.4

#: Under so many documents no interval is given.
LEAST_DOCUMENTS = 10

#: Self-agreement of a bootstrap sample is held above this, so that its square root exists.
_HELD = 0.05

#: A measure or an axis: ("measure", "x_act"), ("axis", "activation").
Unit = tuple[str, str]

Pair = tuple[Unit, Unit]

_Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Correlation:
    """How two units of a model go together over documents.

    Attributes
    ----------
    statistic : float
        Disattenuated; NaN for a reason.
    cross : float
    reliability : tuple of float
    documents : int
    drawn : ndarray of shape (B,), optional
        The statistic of each bootstrap sample, float32.
    reason : str
    """

    statistic: float = math.nan
    cross: float = math.nan
    reliability: tuple[float, float] = (math.nan, math.nan)
    documents: int = 0
    drawn: Singles | None = None
    reason: str = ""


def correlations(
    values: Mapping[Unit, Doubles], pairs: Sequence[Pair], weights: Singles
) -> dict[Pair, Correlation]:
    """Return the cross-half correlation of each pair over the documents that both have.

    Parameters
    ----------
    values : mapping of Unit to ndarray of shape (S, 2, D)
        A model's documents on the halves; NaN = not part of the split.
    pairs : sequence of Pair
    weights : ndarray of shape (D, B)
        How often each document is drawn in each bootstrap sample.

    Returns
    -------
    dict of Pair to Correlation
        Reasons: ``too_few_documents``, ``constant``, ``reliability``.

    Examples
    --------
    >>> x = np.tile(np.arange(12.0), (3, 2, 1))
    >>> a, b = ("axis", "a"), ("axis", "b")
    >>> correlations({a: x, b: -x}, [(a, b)], np.ones((12, 5), dtype=np.float32))[a, b].statistic
    -1.0
    """
    known = {unit: np.isfinite(values[unit]).all(axis=1) for unit in _units(pairs)}
    shared = {}
    for pair in pairs:
        valid = known[pair[0]] & known[pair[1]]
        shared[pair] = valid & (valid.sum(axis=1) >= LEAST_DOCUMENTS)[:, None]
    found: dict[Pair, Correlation] = {}
    for valid, over in _alike(shared):
        if not valid.any():
            found |= dict.fromkeys(over, Correlation(reason="too_few_documents"))
            continue
        units = _units(over)
        place = {unit: i for i, unit in enumerate(units)}
        z, fine = standard_ranks(np.stack([values[unit] for unit in units]), valid)
        kept = {(a, b): fine[place[a]] & fine[place[b]] for a, b in over}
        for splits, rest in _alike(kept):
            if not splits.any():
                found |= dict.fromkeys(rest, Correlation(reason="constant"))
                continue
            at = [(place[a], place[b]) for a, b in rest]
            part_z, part_valid = (z, valid) if splits.all() else (z[:, splits], valid[splits])
            found |= zip(rest, _correlated(part_z, at, part_valid, weights), strict=True)
    return found


def _units(pairs: Sequence[Pair]) -> list[Unit]:
    return list(dict.fromkeys(unit for pair in pairs for unit in pair))


def _alike(flags: Mapping[Pair, Flags]) -> list[tuple[Flags, list[Pair]]]:
    """Return pairs with equal flags together."""
    together: dict[bytes, list[Pair]] = {}
    for pair, flag in flags.items():
        together.setdefault(flag.tobytes(), []).append(pair)
    return [(flags[over[0]], over) for over in together.values()]


def _correlated(
    z: Doubles, pairs: Sequence[tuple[int, int]], valid: Flags, weights: Singles
) -> list[Correlation]:
    """Correlate units, standard ranks z of shape (U, S, 2, D), over the valid documents (S, D)."""
    total = int(valid.sum())
    documents = round(total / len(valid))
    left, right = (z[:, :, h].reshape(len(z), -1) for h in (0, 1))
    between = (left @ right.T / total).tolist()
    found = []
    for a, b in pairs:
        cross = (between[a][b] + between[b][a]) / 2.0
        own = between[a][a], between[b][b]
        if min(own) < LEAST_RELIABILITY:
            found.append(Correlation(math.nan, cross, own, documents, reason="reliability"))
        else:
            statistic = min(1.0, max(-1.0, cross / math.sqrt(own[0] * own[1])))
            found.append(Correlation(statistic, cross, own, documents))
    given = [p for p, one in enumerate(found) if not one.reason]
    if given:
        units = sorted({unit for p in given for unit in pairs[p]})
        drawn = _drawn(
            z if len(units) == len(z) else z[units],
            np.searchsorted(units, [pairs[p] for p in given]),
            valid,
            weights,
        )
        for p, row in zip(given, drawn, strict=True):
            found[p] = replace(found[p], drawn=row)
    return found


def _drawn(z: Doubles, pairs: npt.NDArray[np.intp], valid: Flags, weights: Singles) -> Singles:
    """Return the statistics of all bootstrap samples, of shape (P, B).

    Sums of products about the means of a sample are sums of products, less the product of the sums
    over the sample's size. Splits are added up before anything is divided.
    """
    units, splits, _, documents = z.shape
    weighted = z.astype(np.float32).reshape(-1, documents) @ weights
    weighted = weighted.reshape(units, splits, 2, -1)
    weighted /= np.sqrt(_sizes(valid, weights))[:, None]
    about = _products(z, pairs).astype(np.float32) @ weights
    about -= _products(weighted, pairs)
    spread = about[: 2 * units].reshape(units, 2, -1)
    agree = about[2 * units : 3 * units]
    cross = about[3 * units :].reshape(len(pairs), 2, -1)
    first, second = pairs.T
    across = _correlation(cross, spread[first], spread[second, ::-1]).mean(axis=1)
    within = np.maximum(_correlation(agree, spread[:, 0], spread[:, 1]), _HELD)
    drawn: Singles = np.clip(across / np.sqrt(within[first] * within[second]), -1.0, 1.0)
    return drawn


def _sizes(valid: Flags, weights: Singles) -> Singles:
    """Return how many valid documents each sample has, at least 1, of shape (S, B), or (1, 1) for all."""
    if valid.all():
        return np.full((1, 1), len(weights), dtype=np.float32)
    sizes: Singles = np.maximum(valid.astype(np.float32) @ weights, 1.0)
    return sizes


def _products(x: _Floats, pairs: npt.NDArray[np.intp]) -> _Floats:
    """Return products of units' halves, x of shape (U, S, 2, N), summed over splits.

    Returns
    -------
    ndarray of shape (3 U + 2 P, N)
        For each unit each half with itself, for each unit both halves, for each pair the first's half
        1 with the second's half 2 and the first's half 2 with the second's half 1.
    """
    units, _, _, size = x.shape
    found = np.empty((3 * units + 2 * len(pairs), size), dtype=x.dtype)
    np.einsum("ushn,ushn->uhn", x, x, out=found[: 2 * units].reshape(units, 2, size))
    np.einsum("usn,usn->un", x[:, :, 0], x[:, :, 1], out=found[2 * units : 3 * units])
    for (a, b), row in zip(pairs, found[3 * units :].reshape(len(pairs), 2, size), strict=True):
        np.einsum("shn,shn->hn", x[a], x[b, :, ::-1], out=row)
    return found


def _correlation(shared: _Floats, first: _Floats, second: _Floats) -> _Floats:
    spread = np.sqrt(np.maximum(first * second, 0.0))
    found: _Floats = np.divide(shared, spread, out=np.zeros_like(shared), where=spread > FLAT)
    return found
