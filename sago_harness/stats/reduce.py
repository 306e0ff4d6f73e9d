"""From a block of distances to the mean squares of every model and document.

The same reduction as a run's own table (``scores/reduce.py``), over all models at once and over
the variants that every one of them was scored on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sago_harness.scores.reduce import required_counts
from sago_harness.stats.means import divided
from sago_harness.stats.table import Doubles, Flags, Places, TaskTable

MIRRORING = "x_mr"


@dataclass(frozen=True)
class MeasureValues:
    """One measure on all documents of a data set.

    Attributes
    ----------
    measure, axis : str
    sums : ndarray of shape (M, D, O)
        Sum over an operator's variants of the squared distance; for ``x_mr`` of mirroring less its floor.
    counts : ndarray of shape (M, D, O)
        Variants in each sum.
    family_of : ndarray of shape (O,)
        Place of each operator's family.
    needed : ndarray of shape (F,)
        Scored variants that a document needs in each family.
    chances, floors : ndarray of shape (M, D)
        Mean squared distance of the chance controls and of the canonical repeats; NaN without any.
    left_out : ndarray of shape (M,)
        Variants that were scored for this model but not for every other one.
    controls : ndarray of shape (M, D, K), optional
        Squared distances of the single chance controls; None where nobody knows whose prompts they are.
    partners : ndarray of int of shape (M, D, K), optional
        Place of each control's own document, -1 where it is none of the D.
    """

    measure: str
    axis: str
    sums: Doubles
    counts: Doubles
    family_of: npt.NDArray[np.intp]
    needed: npt.NDArray[np.intp]
    chances: Doubles
    floors: Doubles
    left_out: npt.NDArray[np.intp]
    controls: Doubles | None = None
    partners: Places | None = None

    def squares(self, weights: Doubles | None = None) -> Doubles:
        """Return q_s of shape (M, D): mean over families of the mean over the family's variants.

        NaN where a family has too few variants. For ``x_mr`` the mean over variants. Not to be
        written to.

        Parameters
        ----------
        weights : ndarray of shape (F,), optional
            Weights of the families in place of equal ones.
        """
        return self._plain if weights is None else self._squares(weights)

    @cached_property
    def _plain(self) -> Doubles:
        # Most statistics begin with them.
        squares = self._squares(None)
        squares.flags.writeable = False
        return squares

    def _squares(self, weights: Doubles | None) -> Doubles:
        if self.measure == MIRRORING:
            return divided(self.sums.sum(axis=2), self.counts.sum(axis=2))
        families = np.eye(len(self.needed))[self.family_of]
        counts = self.counts @ families
        means = divided(self.sums @ families, counts)
        enough = np.all(counts >= self.needed, axis=2)
        share = np.ones(len(self.needed)) if weights is None else weights
        share = np.where(self.needed > 0, share, 0.0)
        value = np.where(self.needed > 0, means, 0.0) @ (share / share.sum()) if share.sum() else means.sum(2)
        return np.where(enough & (self.needed.sum() > 0), value, np.nan)

    def without_operator(self, place: int) -> MeasureValues:
        """Return the values without one operator; families that it leaves empty are dropped."""
        keep = np.arange(len(self.family_of)) != place
        left = np.bincount(self.family_of[keep], minlength=len(self.needed)) > 0
        needed = np.where(left, np.minimum(self.needed, self.most(keep)), 0)
        return replace(
            self,
            sums=self.sums[:, :, keep],
            counts=self.counts[:, :, keep],
            family_of=self.family_of[keep],
            needed=needed,
        )

    def most(self, keep: Flags) -> npt.NDArray[np.intp]:
        """Return the largest number of variants that any document has in each family, of shape (F,)."""
        families = np.eye(len(self.needed))[self.family_of[keep]]
        if not keep.any() or not self.counts.size:
            return np.zeros(len(self.needed), dtype=np.intp)
        most: npt.NDArray[np.intp] = (self.counts[:, :, keep] @ families).max(axis=(0, 1)).astype(np.intp)
        return most

    def of_models(self, at: npt.NDArray[np.intp] | list[int]) -> MeasureValues:
        """Return the values of some models alone."""
        names = ("sums", "counts", "chances", "floors", "left_out")
        less = {name: getattr(self, name)[at] for name in names}
        if self.controls is not None and self.partners is not None:
            less |= {"controls": self.controls[at], "partners": self.partners[at]}
        return replace(self, **less)


def reduce_task(
    table: TaskTable, *, distances: Mapping[str, Doubles] | None = None
) -> dict[str, MeasureValues]:
    """Reduce all measures of a data set that are part of a score, ``x_mr`` last.

    Parameters
    ----------
    table : TaskTable
    distances : dict of str to ndarray of shape (M, D, V), optional
        In place of the table's own for the measures named, such as those of the first tokens.

    Returns
    -------
    dict of str to MeasureValues
    """
    given = {**table.distances, **(distances or {})}
    found = {}
    for name, axis in table.measures.items():
        if axis and name in given:
            found[name] = _reduced(table, name, axis, np.square(given[name]))
    if MIRRORING in given:
        net = given[MIRRORING] - given["x_mr_floor"]
        found[MIRRORING] = _reduced(table, MIRRORING, "mirroring", net)
    return found


def common_variants(scored: Flags, enters: Flags) -> Flags:
    """Return the variants of each document that every model was scored on.

    Models that a document does not enter for take nothing from the others.

    Parameters
    ----------
    scored : ndarray of shape (M, D, V)
    enters : ndarray of shape (M, D)

    Returns
    -------
    ndarray of shape (D, V)

    Examples
    --------
    >>> scored = np.array([[[True, True]], [[True, False]], [[False, False]]])
    >>> common_variants(scored, np.array([[True], [True], [False]])).tolist()
    [[True, False]]
    """
    everyone: Flags = np.all(scored | ~enters[:, :, None], axis=0)
    found: Flags = everyone & (enters.sum(axis=0) > 0)[:, None]
    return found


def _reduced(table: TaskTable, name: str, axis: str, values: Doubles) -> MeasureValues:
    place, family_of = table.operator_of, table.family_of
    inside = place >= 0
    onehot = np.zeros((len(place), len(family_of)))
    onehot[np.flatnonzero(inside), place[inside]] = 1.0
    required = required_counts(table.families)
    needed = np.array([required.get(family, 0) for family in table.families], dtype=np.intp)
    scored: Flags = np.isfinite(values) & inside
    families = np.eye(len(needed))[family_of] if len(family_of) else np.zeros((0, len(needed)))
    if name == MIRRORING:
        enters: Flags = scored.sum(axis=2) > 0
    else:
        enters = np.all((scored.astype(np.float64) @ onehot) @ families >= needed, axis=2)
    controls = None if table.partners is None else table.controls.get(name)
    common = common_variants(scored, enters)
    used = scored & common & enters[:, :, None]
    return MeasureValues(
        name,
        axis,
        sums=np.where(used, values, 0.0) @ onehot,
        counts=used.astype(np.float64) @ onehot,
        family_of=family_of,
        needed=needed,
        chances=_mean_square(table.controls.get(name), table),
        floors=_mean_square(table.repeats.get(name), table),
        left_out=np.where(enters[:, :, None], scored & ~used, False).sum(axis=(1, 2)),
        controls=None if controls is None else np.square(controls),
        partners=None if controls is None else table.partners,
    )


def _mean_square(values: Doubles | None, table: TaskTable) -> Doubles:
    shape = table.shape[:2]
    if values is None or values.shape[2] == 0:
        return np.full(shape, np.nan)
    known = np.isfinite(values)
    return divided(np.where(known, np.square(values), 0.0).sum(axis=2), known.sum(axis=2).astype(np.float64))
