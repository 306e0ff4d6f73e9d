"""Do variants move a model further than asking again does? By exchanging their labels within documents."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sago_harness.stats.resampling import HELD, SLACK, exceedance
from sago_harness.stats.table import Doubles, Flags


def relabelled(variants: Doubles, repeats: Doubles, resamples: int, rng: np.random.Generator) -> Doubles:
    """Test whether variants lie farther off than repeats, by exchanging their labels within documents.

    The statistic is the mean over documents of (mean of the variants - mean of the repeats). Its
    law under the null hypothesis, that both are exchangeable within a document, is drawn by
    giving the label "repeat" to any of the document's cells, all documents at once.

    Parameters
    ----------
    variants : ndarray of shape (M, D, V)
        Squared distances; NaN where unscored.
    repeats : ndarray of shape (M, D, R)
    resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (M,)
        One-sided p-values; 1 where all cells of each document agree, NaN for a model none of whose
        documents has both.

    Examples
    --------
    >>> moved = np.random.default_rng(0).random((1, 20, 4))
    >>> p = relabelled(moved, np.zeros((1, 20, 2)), 999, np.random.default_rng(0))
    >>> bool(p[0] < 0.001), relabelled(moved * 0, np.zeros((1, 20, 2)), 999, np.random.default_rng(0))
    (True, array([1.]))
    """
    from scipy import special

    cells = np.concatenate([variants, repeats], axis=2)
    known = np.isfinite(cells)
    v = known[:, :, : variants.shape[2]].sum(axis=2)
    r = known[:, :, variants.shape[2] :].sum(axis=2)
    both = (v > 0) & (r > 0)
    known &= both[:, :, None]
    n = np.where(both, v + r, 2)
    centred = np.where(known, cells, 0.0)
    centred = np.where(known, centred - (centred.sum(axis=2) / n)[:, :, None], 0.0)
    # Rounding leaves about 1e-17 where all cells of a document agree.
    centred[np.abs(centred) < 1e-14] = 0.0
    # A sum over the cells called repeats is all that a relabelling changes.
    share = np.where(both, 1.0 / np.maximum(v, 1) + 1.0 / np.maximum(r, 1), 0.0)
    spread = np.square(centred).sum(axis=2) * r * v / (n * (n - 1.0))
    sd = np.sqrt((np.square(share) * spread).sum(axis=1))
    go = np.flatnonzero(sd > 0.0)
    pvalue = np.where(both.any(axis=1), 1.0, np.nan)
    if not go.size:
        return pvalue
    x = centred[go] * (share[go] / sd[go][:, None])[:, :, None]
    observed = -x[:, :, variants.shape[2] :].sum(axis=(1, 2))
    drawn = -_sums_of_picks(x, known[go], r[go], resamples, rng)
    df = np.maximum(both[go].sum(axis=1) - 1.0, 1.0)
    p = exceedance(observed - SLACK * np.maximum(1.0, np.abs(observed)), drawn, exact=False, df=df)
    # No relabelling is rarer than one among all of them.
    ways = [special.gammaln(np.where(both, count, 0) + 1.0).sum(axis=1)[go] for count in (v + r, v, r)]
    pvalue[go] = np.maximum(p, np.exp(ways[1] + ways[2] - ways[0]))
    return pvalue


def _sums_of_picks(
    x: Doubles, known: Flags, sizes: npt.NDArray[np.intp], resamples: int, rng: np.random.Generator
) -> Doubles:
    """Return the sums of x over cells drawn without replacement, ``sizes`` from each document: (B, M)."""
    models, documents, columns = x.shape
    # Models that lack the same cells of a document share its draws: one matrix product for all.
    pattern = known.any(axis=0)
    like = np.all(known == pattern, axis=2)
    shared = np.where(like, sizes, 0).max(axis=0)
    like &= sizes == shared
    held = np.where(like[:, :, None], x, 0.0).astype(np.float32).reshape(models, -1).T
    order = np.argsort(~pattern, axis=1, kind="stable")
    size = max(1, HELD // max(1, documents * columns, models))
    blocks = []
    for start in range(0, resamples, size):
        b = min(size, resamples - start)
        marks = np.zeros((b, documents, columns), dtype=np.float32)
        at = np.arange(documents)
        for j, pick in enumerate(picks(pattern.sum(axis=1), int(shared.max(initial=0)), b, rng)):
            marks[np.arange(b)[:, None], at, order[at, pick]] += (j < shared).astype(np.float32)
        blocks.append((marks.reshape(b, -1) @ held).astype(np.float64))
    total: Doubles = np.concatenate(blocks)
    step = max(1, HELD // (8 * max(1, resamples)))
    for m in range(models):
        rest = ~like[m] & (sizes[m] > 0) & known[m].any(axis=1)
        n = known[m].sum(axis=1)
        for cells, r in sorted({(int(n[i]), int(sizes[m, i])) for i in np.flatnonzero(rest)}):
            at = np.flatnonzero(rest & (n == cells) & (sizes[m] == r))
            flat = x[m, at][known[m, at]]
            for part in np.split(np.arange(len(at)), range(step, len(at), step)):
                pick = picks(np.full(len(part), cells), r, resamples, rng)
                total[:, m] += flat[pick + part * cells].sum(axis=(0, 2))
    return total


def picks(
    sizes: npt.NDArray[np.intp], count: int, resamples: int, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Draw ``count`` places without replacement from each of D ranges.

    Returns
    -------
    ndarray of shape (count, resamples, D)
        Places from 0 to ``sizes`` - 1; all different as far as a range has so many.

    Examples
    --------
    >>> sorted(picks(np.array([3]), 3, 1, np.random.default_rng(0)).ravel().tolist())
    [0, 1, 2]
    """
    drawn = np.zeros((count, resamples, len(sizes)), dtype=np.intp)
    for j in range(count):
        left = np.maximum(sizes - j, 1)
        place = np.minimum((rng.random((resamples, len(sizes))) * left).astype(np.intp), left - 1)
        for before in np.sort(drawn[:j], axis=0):
            place += place >= before
        drawn[j] = np.minimum(place, np.maximum(sizes, 1) - 1)
    return drawn
