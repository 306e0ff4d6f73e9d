"""Random draws that can be made again, and p-values from them.

Documents are the unit: what is drawn, or flipped, is a whole document. All models of a data set
share the draws, so that their comparison is paired.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt

from sago_harness.errors import SagoError, unknown
from sago_harness.stats.adjust import METHODS
from sago_harness.stats.table import Doubles

Singles = npt.NDArray[np.float32]

#: Up to this many documents all sign patterns are taken, not a sample of them.
ENUMERATED = 13

#: The draw, counted from the most extreme one, at which the tail beyond the draws is anchored.
ANCHOR = 10

#: From so many draws on, p is carried on beyond them: the anchor lies in their outer tenth or so.
CARRIED = 99

#: Values held at once while resamples are made.
HELD = 20_000_000

#: Numbers that several steps go over one after the other: so many stay in the processor's cache.
NEAR = 2**16

#: Weights up to so many numbers are kept for the next score of the data set.
KEPT = 2**24

#: A difference below this share of its scale is none: 0.1 + 0.2 against 0.3.
TIE = 1e-9

#: Single precision takes equal draws for different ones below this.
SLACK = 1e-5


@dataclass(frozen=True, slots=True)
class Settings:
    """What every result depends on beside the data; printed with it.

    Attributes
    ----------
    level : float
        Error rate of tests and, as 1 - level, of intervals.
    correction : {"holm", "bh"}
        Holm holds the chance of any false finding, Benjamini-Hochberg the share of false ones.
    resamples : int
        Random draws of each test.
    seed : int
    epsilon : float
        Instability, as a share of chance, that is not worth a finding.
    control : str
        Model that the others are compared with, in place of all pairs; "" = all pairs.
    scheme : str
        How variants become a score (:mod:`sago_harness.stats.schemes`).

    Raises
    ------
    SagoError
        If a value is outside its range.

    Examples
    --------
    >>> Settings(level=5)
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: level 5 is no error rate between 0 and 0.5 (0.05 is usual)
    """

    level: float = 0.05
    correction: str = "holm"
    resamples: int = 9999
    seed: int = 0
    epsilon: float = 0.05
    control: str = ""
    scheme: str = "sago"

    def __post_init__(self) -> None:
        for name in ("level", "epsilon"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real):
                raise SagoError(f"{name} {value!r} is no number")
        # Written so that a NaN is refused as well.
        if not 0.0 < self.level < 0.5:
            raise SagoError(f"level {self.level} is no error rate between 0 and 0.5 (0.05 is usual)")
        if self.correction not in METHODS:
            raise unknown("correction", self.correction, METHODS)
        if not isinstance(self.resamples, Integral) or self.resamples < 1:
            raise SagoError(f"resamples {self.resamples!r} is no whole number from 1 on")
        if not isinstance(self.seed, Integral):
            raise SagoError(f"seed {self.seed!r} is no whole number")
        if not 0.0 <= self.epsilon < 1.0:
            raise SagoError(f"epsilon {self.epsilon} is no share of chance from 0 to under 1")

    @property
    def confidence(self) -> str:
        """Return the level of intervals in words.

        Examples
        --------
        >>> Settings().confidence, Settings(level=0.001).confidence, Settings(level=1e-9).confidence
        ('95%', '99.9%', '99.9999999%')
        """
        return f"{100.0 * (1.0 - self.level):.12g}%"


def generator(seed: int, *keys: object) -> np.random.Generator:
    """Return a generator for one purpose: the same wherever and in whatever order it is asked for.

    Examples
    --------
    >>> int(generator(0, "pairs", "gsm8k").integers(100) - generator(0, "pairs", "gsm8k").integers(100))
    0
    """
    digest = hashlib.sha256(repr((seed, *map(str, keys))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def document_weights(documents: int, resamples: int, rng: np.random.Generator) -> Singles:
    """Return how often each document is drawn, with replacement, in each bootstrap sample.

    Returns
    -------
    ndarray of shape (B, D), float32
        Rows sum to D.

    Examples
    --------
    >>> document_weights(4, 2, np.random.default_rng(0)).sum(axis=1).tolist()
    [4.0, 4.0]
    """
    weights = np.empty((resamples, documents), dtype=np.float32)
    rows = max(1, NEAR // max(1, documents))
    # The generator goes on where it stopped: the draws are those of one call.
    for start in range(0, resamples, rows):
        some = weights[start : start + rows]
        drawn = rng.integers(documents, size=some.shape)
        drawn += documents * np.arange(len(some))[:, None]
        some[:] = np.bincount(drawn.ravel(), minlength=some.size).reshape(some.shape)
    return weights


@dataclass(frozen=True, slots=True)
class Purpose:
    """What draws are for: all scores of a data set share those of one purpose.

    Attributes
    ----------
    seed : int
    name, task : str
    """

    seed: int
    name: str
    task: str

    def generator(self) -> np.random.Generator:
        """Return its generator, anew."""
        return generator(self.seed, self.name, self.task)


#: Where draws come from: a generator, which goes on, or a purpose, whose draws are always the same.
Source = np.random.Generator | Purpose


def weight_blocks(documents: int, resamples: int, source: Source, rows: int = 1) -> Iterator[Singles]:
    """Yield bootstrap weights of shape (b, D), in blocks that fit into memory; not to be written to.

    Parameters
    ----------
    documents, resamples : int
    source : Source
        The weights of a :class:`Purpose` are kept from one score to the next where they are few.
    rows : int
        Rows that are resampled with them, whose draws take memory as well.

    Examples
    --------
    >>> blocks = [list(weight_blocks(4, 3, Purpose(0, "intervals", "gsm8k"))) for _ in range(2)]
    >>> bool(np.array_equal(blocks[0][0], blocks[1][0])), blocks[0][0].shape
    (True, (3, 4))
    """
    size = max(1, HELD // max(1, documents, 4 * rows))
    starts = range(0, resamples, size)
    if isinstance(source, Purpose):
        if documents * resamples <= KEPT:
            whole = _kept(source, documents, resamples)
            yield from (whole[start : start + size] for start in starts)
            return
        source = source.generator()
    for start in starts:
        yield document_weights(documents, min(size, resamples - start), source)


@lru_cache(maxsize=4)
def _kept(purpose: Purpose, documents: int, resamples: int) -> Singles:
    weights = document_weights(documents, resamples, purpose.generator())
    weights.flags.writeable = False
    return weights


def sign_flips(documents: int, resamples: int, rng: np.random.Generator) -> Singles:
    """Return patterns of +1 and -1; all of them, the unflipped one first, where they are few.

    Returns
    -------
    ndarray of shape (B, D), float32
        B = 2^D up to :data:`ENUMERATED` documents where that is at most ``resamples``, else
        ``resamples`` drawn at random, the unflipped pattern not among them by design.

    Examples
    --------
    >>> sign_flips(2, 99, np.random.default_rng(0)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]
    """
    if enumerated(documents, resamples):
        return np.array(list(itertools.product((1.0, -1.0), repeat=documents)), dtype=np.float32)
    bits = rng.integers(2, size=(resamples, documents), dtype=np.int8)
    return (2 * bits - 1).astype(np.float32)


def enumerated(documents: int, resamples: int) -> bool:
    """Say whether all sign patterns of so many documents are taken.

    Examples
    --------
    >>> enumerated(5, 9999), enumerated(40, 9999)
    (True, False)
    """
    return documents <= ENUMERATED and 2**documents <= resamples + 1


def smallest_pvalue(documents: int, resamples: int, *, two_sided: bool = True) -> float:
    """Return the smallest p that a sign-flip test of so many documents can give.

    Examples
    --------
    >>> smallest_pvalue(5, 9999)
    0.0625
    """
    if enumerated(documents, resamples):
        return float(min(1.0, (2.0 if two_sided else 1.0) / 2**documents))
    return 0.0


def exceedance(observed: Doubles, drawn: npt.NDArray[np.floating], *, exact: bool, df: Doubles) -> Doubles:
    """Return upper p-values of observed statistics among their draws under the null hypothesis.

    p = (1 + draws at least as large) / (1 + draws), or the plain share where all patterns were
    taken. So many draws cannot tell a p-value under 1 / (1 + draws), which is too coarse for a
    correction over thousands of tests. Where fewer than :data:`ANCHOR` draws reach the observed
    value, p falls on from the ANCHOR-th largest draw as the tail of Student's t does:
    ANCHOR / (1 + draws) * P(t > observed) / P(t > that draw), never above the plain count's.

    Parameters
    ----------
    observed : ndarray of shape (K,)
        Studentised; NaN gives NaN.
    drawn : ndarray of shape (B, K)
        No NaN among them.
    exact : bool
        All sign patterns were taken, the observed one among them.
    df : ndarray of shape (K,)
        Degrees of freedom of the tail.

    Returns
    -------
    ndarray of shape (K,)

    Examples
    --------
    >>> draws = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> exceedance(np.array([2.0]), draws, exact=True, df=np.array([9.0])).tolist()
    [0.5]
    """
    draws = len(drawn)
    slack = TIE * np.maximum(1.0, np.abs(observed))
    reached, largest = _reaching(drawn, observed - slack)
    if exact:
        p = reached / draws
    else:
        p = (1.0 + reached.astype(np.float64)) / (1.0 + draws)
        far = reached < ANCHOR
        if draws >= CARRIED and far.any():
            at = _anchors(drawn, largest, far)
            beyond = beyond_anchor(observed[far], at, draws, df[far])
            # A draw of no spread has no tail to go on with.
            p[far] = np.where((at > 0.0) & np.isfinite(beyond), np.minimum(p[far], beyond), p[far])
    return np.where(np.isfinite(observed), p, np.nan)


def _reaching(
    drawn: npt.NDArray[np.floating], least: Doubles
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.floating]]:
    """Return how many draws are at least ``least`` (K,), and each block's largest one (blocks, K)."""
    with np.errstate(over="ignore"):
        limit: npt.NDArray[np.floating] = least.astype(drawn.dtype)
    # The next number of the draws' own precision: comparing them in it says the same.
    limit = np.where(limit < least, np.nextafter(limit, np.inf, dtype=drawn.dtype), limit)
    # Counts of a block fit into a byte, and enough blocks have a largest draw.
    rows = max(1, min(255, len(drawn) // (4 * ANCHOR)))
    reached, largest = np.zeros(len(least), dtype=np.intp), []
    for start in range(0, len(drawn), rows):
        block = drawn[start : start + rows]
        reached += (block >= limit).view(np.uint8).sum(axis=0, dtype=np.uint8)
        largest.append(block.max(axis=0))
    return reached, np.array(largest)


def _anchors(
    drawn: npt.NDArray[np.floating], largest: npt.NDArray[np.floating], far: npt.NDArray[np.bool_]
) -> Doubles:
    """Return the :data:`ANCHOR`-th largest draw of the columns ``far``, found without sorting all of them."""
    place = len(largest) - ANCHOR
    # ANCHOR draws reach that many blocks' largest ones, and few others do.
    limit = np.where(far, np.partition(largest, place, axis=0)[place], np.inf).astype(drawn.dtype)
    row, column = np.nonzero(drawn >= limit)
    values = drawn[row, column]
    ordered = values[np.lexsort((-values, column))].astype(np.float64)
    counts = np.bincount(column, minlength=len(far))
    found: Doubles = ordered[(np.cumsum(counts) - counts + ANCHOR - 1)[far]]
    return found


def beyond_anchor(observed: Doubles, anchor: Doubles, draws: Doubles | int, df: Doubles) -> Doubles:
    """Return upper p-values from the :data:`ANCHOR`-th largest of some draws on, as Student's t falls.

    Parameters
    ----------
    observed, anchor : ndarray of shape (K,)
        The statistic, and that draw; studentised.
    draws : ndarray of shape (K,) or int
        How many there are.
    df : ndarray of shape (K,)
        Degrees of freedom of the tail.

    Returns
    -------
    ndarray of shape (K,)
        At most ANCHOR / (1 + draws); NaN where neither has a tail left.

    Examples
    --------
    >>> beyond_anchor(np.array([3.0, 1.0]), np.array([3.0, 3.0]), 999, np.array([9.0, 9.0])).tolist()
    [0.01, 0.01]
    """
    from scipy import special

    with np.errstate(divide="ignore", invalid="ignore"):
        upper, anchored = (np.log(special.stdtr(df, -t)) for t in (observed, anchor))
        found: Doubles = ANCHOR / (1.0 + draws) * np.exp(np.minimum(upper - anchored, 0.0))
    return found
