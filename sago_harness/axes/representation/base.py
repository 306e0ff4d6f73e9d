"""What a measure over a data set is, and the one layer of states that it looks at."""

from __future__ import annotations

import abc
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating]
Doubles = npt.NDArray[np.float64]

#: Under this many documents nothing is scored.
LEAST_DOCUMENTS = 16

#: Groups of documents that are left out in turn, where leaving out single ones would cost too much.
GROUPS = 10

#: States whose spread is under this share of their size are one point: rounding is all that differs.
_NO_SPREAD = 1e-12


class Side:
    """The states of n documents in one layer, centred; what several comparisons need is computed once.

    Parameters
    ----------
    states : ndarray of shape (n, D)
        Finite.
    documents : int, optional
        How many there were before some were left out.

    Examples
    --------
    >>> Side(np.array([[1.0, 5.0], [3.0, 5.0]])).centred.tolist()
    [[-0.5, 0.0], [0.5, 0.0]]
    """

    def __init__(self, states: FloatArray, documents: int | None = None) -> None:
        values = np.asarray(states, dtype=np.float64)
        # Taking the first one away first makes equal states exactly 0.
        moved = values - values[:1]
        moved -= moved.mean(axis=0)
        #: Do the states differ at all?
        self.spread = bool(np.linalg.norm(moved) > _NO_SPREAD * np.linalg.norm(values))
        # A power of two rounds nothing, and squares of squares stay far from overflow.
        self.centred: Doubles = np.ldexp(moved, -int(np.frexp(np.abs(moved).max(initial=0.0))[1]))
        self.documents = documents or len(values)

    @property
    def n(self) -> int:
        """Documents."""
        return len(self.centred)

    @cached_property
    def gram(self) -> Doubles:
        """Inner products of the centred states, shape (n, n)."""
        return np.asarray(self.centred @ self.centred.T)

    @cached_property
    def coordinates(self) -> Doubles:
        """The centred states in at most n coordinates: a rotation of them, shape (n, min(n, D))."""
        if self.centred.shape[1] <= self.n:
            return self.centred
        return np.linalg.qr(self.centred.T).R.T


class Representation(abc.ABC):
    """A distance between two sets of states of the same documents.

    Class attributes state the mathematics; contract tests check each claim. None of them
    changes with a rotation, a common scale or a shift of either set.
    """

    name: ClassVar[str]
    #: d(x, y) = d(y, x)?
    symmetric: ClassVar[bool]
    #: Is [0, 1] the range, or can an estimate leave it?
    bounded: ClassVar[bool]
    reference: ClassVar[str]
    version: ClassVar[int] = 1
    #: Are documents left out one by one, or in ``GROUPS`` groups?
    one_by_one: ClassVar[bool] = False

    @abc.abstractmethod
    def compare(self, x: Side, y: Side) -> float:
        """Return the distance of two sets of states of the same n documents.

        Parameters
        ----------
        x, y : Side
            Canonical and other states, with spread.

        Returns
        -------
        float
            0 = the same up to rotation, scale and shift; NaN where it is not defined.
        """

    def left_out(self, x: Side, y: Side, groups: npt.NDArray[np.intp], count: int) -> Doubles:
        """Return the distance without each group of documents.

        Parameters
        ----------
        x, y : Side
        groups : ndarray of shape (n,), int
            The group of each document, in 0 to ``count`` - 1.
        count : int

        Returns
        -------
        ndarray of shape (count,)
            The distance itself where no document is in the group.
        """
        whole = self.compare(x, y)
        found = np.full(count, whole)
        for group in np.unique(groups):
            rest = groups != group
            found[group] = self.compare(
                Side(x.coordinates[rest], x.documents), Side(y.coordinates[rest], y.documents)
            )
        return found


def distance(measure: Representation, x: FloatArray, y: FloatArray) -> tuple[float, str]:
    """Return the distance of two sets of states, or NaN with the reason.

    Parameters
    ----------
    measure : Representation
    x, y : ndarray of shape (n, D)
        Canonical and other states of the same documents, row by row. Rows with a NaN or an
        infinity on either side are left out.

    Returns
    -------
    value, reason
        ``few_documents`` under 16 whole rows, ``no_spread`` where all states of a side are one
        point (under a chat template the embedding of the last token is).

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> from sago_harness.axes.representation.cka import Cka
    >>> distance(Cka(), np.zeros((9, 2)), np.ones((9, 2)))
    (nan, 'few_documents')
    """
    if x.shape != y.shape:
        raise ValueError(f"states of shapes {x.shape} and {y.shape} cannot be compared")
    whole = finite_rows(x, y)
    if whole.sum() < LEAST_DOCUMENTS:
        return float("nan"), "few_documents"
    left, right = Side(x[whole]), Side(y[whole])
    if not (left.spread and right.spread):
        return float("nan"), "no_spread"
    value = measure.compare(left, right)
    return value, "" if np.isfinite(value) else "no_spread"


def finite_rows(x: FloatArray, y: FloatArray) -> npt.NDArray[np.bool_]:
    """Mark the documents whose states are finite on both sides."""
    return np.asarray(np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1))


def jackknife_stderr(changes: FloatArray) -> float:
    """Return the standard error from what leaving out each group changes (delete-a-group jackknife).

    sqrt((G - 1) / G sum (c_g - mean c)^2); with groups of one document Tukey's jackknife.

    Parameters
    ----------
    changes : ndarray of shape (G,)
        Value minus value without the group.

    Returns
    -------
    float
        NaN under two groups.

    Examples
    --------
    >>> values = np.array([1.0, 3.0, 8.0])
    >>> changes = values.mean() - np.array([values[[1, 2]].mean(), values[[0, 2]].mean(), values[:2].mean()])
    >>> bool(np.isclose(jackknife_stderr(changes), values.std(ddof=1) / np.sqrt(3)))
    True
    """
    count = len(changes)
    if count < 2:
        return float("nan")
    values = np.asarray(changes, dtype=np.float64)
    return float(np.sqrt((count - 1) / count * np.square(values - values.mean()).sum()))
