"""From a block of distances to the mean squares of every model and document.

The same reduction as a run's own table (``scores/reduce.py``), over all models at once and over
the variants that every one of them was scored on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sago_harness.scores.composite import NO_CHANCE
from sago_harness.scores.reduce import required_counts
from sago_harness.stats.means import divided, root_mean
from sago_harness.stats.planes import grouped, variants_first
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
        Variants in each sum. Not to be written to.
    family_of : ndarray of shape (O,)
        Place of each operator's family; -1 for an operator that is left out.
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
    def noise(self) -> Doubles:
        """Root mean square of the canonical repeats of each model, of shape (M,); NaN without any."""
        return root_mean(self.floors)

    @cached_property
    def _plain(self) -> Doubles:
        # Most statistics begin with them.
        squares = self._squares(None)
        squares.flags.writeable = False
        return squares

    def _squares(self, weights: Doubles | None) -> Doubles:
        if self.measure == MIRRORING:
            inside = self.family_of >= 0
            return _unless_rounding(
                divided(_added(self.sums, inside), _added(self._fewer_counts, inside)), NO_CHANCE
            )
        share = np.where(self.needed > 0, 1.0 if weights is None else weights, 0.0)
        if not share.any():
            return np.full(self.sums.shape[:2], np.nan)
        share = share / share.sum()
        total = np.zeros(self.sums.shape[:2])
        enough: Flags = np.ones((1, 1), dtype=bool)
        for family in np.flatnonzero(self.needed):
            own = self.family_of == family
            counts = _added(self._fewer_counts, own)
            total += _added(self.sums, own) / np.maximum(counts, 1.0) * share[family]
            enough = enough & (counts >= self.needed[family])
        total = _unless_rounding(total)
        return total if enough.all() else np.where(enough, total, np.nan)

    @property
    def _fewer_counts(self) -> Doubles:
        """Return the counts, of shape (1, 1, O) where those of all documents are one and the same."""
        return self.counts[:1, :1] if self.counts.strides[:2] == (0, 0) else self.counts

    def without_operator(self, place: int) -> MeasureValues:
        """Return the values without one operator; families that it leaves empty are dropped."""
        family_of = self.family_of.copy()
        family_of[place] = -1
        keep: Flags = family_of >= 0
        left = np.bincount(family_of[keep], minlength=len(self.needed)) > 0
        needed = np.where(left, np.minimum(self.needed, self.most(keep)), 0)
        return replace(self, family_of=family_of, needed=needed)

    def most(self, keep: Flags) -> npt.NDArray[np.intp]:
        """Return the largest number of variants that any document has in each family, of shape (F,)."""
        most = np.zeros(len(self.needed), dtype=np.intp)
        if self.counts.size:
            for family in range(len(most)):
                own = keep & (self.family_of == family)
                most[family] = _added(self._fewer_counts, own).max()
        return most

    def of_models(self, at: npt.NDArray[np.intp] | list[int]) -> MeasureValues:
        """Return the values of some models alone."""
        names = ("sums", "counts", "chances", "floors", "left_out")
        less = {name: getattr(self, name)[at] for name in names}
        if self.controls is not None and self.partners is not None:
            less |= {"controls": self.controls[at], "partners": self.partners[at]}
        return replace(self, **less)


def _added(blocks: Doubles, chosen: Flags) -> Doubles:
    """Return the sum over the chosen operators of blocks of shape (M, D, O)."""
    total = np.zeros(blocks.shape[:2])
    for place in np.flatnonzero(chosen):
        total += blocks[:, :, place]
    return total


@dataclass(frozen=True)
class VariantValues:
    """One measure variant by variant: what it is reduced from.

    Attributes
    ----------
    measure : str
    values : ndarray of shape (V, M, D)
        Squared distance, or mirroring less its floor; 0 where unscored.
    scored : ndarray of bool of shape (V, M, D), optional
        None where everything is.
    columns : ndarray of shape (V,)
        The variants' places in the table: those of families that form the score.
    """

    measure: str
    values: Doubles
    scored: Flags | None
    columns: npt.NDArray[np.intp]


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
    axes = {name: axis for name, axis in table.measures.items() if axis and name in given}
    if MIRRORING in given:
        axes[MIRRORING] = "mirroring"
    found = {}
    for name, axis in axes.items():
        controls = None if table.partners is None else table.controls.get(name)
        sums, counts, needed, left_out = _reduced(table, by_variant(table, name, given))
        found[name] = MeasureValues(
            name,
            axis,
            sums,
            counts,
            table.family_of,
            needed,
            chances=_mean_square(table.controls.get(name), table),
            floors=_mean_square(table.repeats.get(name), table),
            left_out=left_out,
            controls=None if controls is None else _unless_rounding(np.square(controls)),
            partners=None if controls is None else table.partners,
        )
    return found


def by_variant(table: TaskTable, name: str, distances: Mapping[str, Doubles] | None = None) -> VariantValues:
    """Return the values of one measure before they are reduced.

    Parameters
    ----------
    table : TaskTable
    name : str
        A measure, or ``x_mr``.
    distances : dict of str to ndarray of shape (M, D, V), optional
        In place of the table's own.
    """
    given = table.distances if distances is None else distances
    columns = np.flatnonzero(table.operator_of >= 0)
    chosen: slice | Places = slice(None) if len(columns) == len(table.variants) else columns
    blocks: Iterable[Doubles]
    if name == MIRRORING:
        floors = given["x_mr_floor"]
        blocks = (own[:, chosen] - floor[:, chosen] for own, floor in zip(given[name], floors, strict=True))
    else:
        blocks = (np.square(own[:, chosen]) for own in given[name])
    values = variants_first(blocks, (*table.shape[:2], len(columns)))
    scored: Flags = np.isfinite(values)
    if scored.all():
        return VariantValues(name, values, None, columns)
    np.copyto(values, 0.0, where=~scored)
    return VariantValues(name, values, scored, columns)


def reduce_variants(
    table: TaskTable, whole: MeasureValues, single: VariantValues, keep: Flags
) -> MeasureValues:
    """Reduce a measure once more over some of the variants, as if the data set had no others.

    Parameters
    ----------
    table : TaskTable
    whole : MeasureValues
        Of :func:`reduce_task`.
    single : VariantValues
        Of :func:`by_variant`.
    keep : ndarray of shape (V,)
        Of all variants of the table.

    Returns
    -------
    MeasureValues
        That of ``table.with_variants(keep)``; operators and families that have no variant left keep
        their places.

    Examples
    --------
    >>> from sago_harness.stats.table import VariantKey
    >>> keys = (VariantKey("v", "noise", "typo"), VariantKey("w", "noise", "case"))
    >>> made = TaskTable("t", ("a",), ("d",), keys, {"x_act": "activation"}, {"noise": 2},
    ...                  {"x_act": np.array([[[0.1, 0.3]]])}, {"x_act": np.full((1, 1, 2), 0.4)})
    >>> whole, single = reduce_task(made)["x_act"], by_variant(made, "x_act")
    >>> reduce_variants(made, whole, single, np.array([False, True])).squares().round(6).tolist()
    [[0.09]]
    """
    sums, counts, needed, left_out = _reduced(table, single, keep)
    return replace(whole, sums=sums, counts=counts, needed=needed, left_out=left_out)


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


def _reduced(
    table: TaskTable, single: VariantValues, keep: Flags | None = None
) -> tuple[Doubles, Doubles, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the sums and counts of operators, what families need, and the variants left out."""
    models, documents, _ = table.shape
    chosen = np.arange(len(single.columns)) if keep is None else np.flatnonzero(keep[single.columns])
    operator = table.operator_of[single.columns[chosen]]
    operators = (len(table.family_of), models, documents)
    needed = _needed(table, keep)
    if single.scored is None:
        has = np.bincount(table.family_of[operator], minlength=len(needed)) >= needed
        used = chosen if has.all() or single.measure == MIRRORING else chosen[:0]
        operator = operator[: len(used)]
        planes: Iterable[Doubles] = (single.values[v] for v in used)
        # One count of each operator stands for those of all documents.
        each = np.bincount(operator, minlength=operators[0]).astype(np.float64)
        counts = np.broadcast_to(each, (models, documents, operators[0]))
        left_out = np.zeros(models, dtype=np.intp)
    else:
        scored = single.scored[chosen]
        enters = _enters(scored, table.family_of[operator], needed, single.measure)
        common = common_variants(np.moveaxis(scored, 0, 2), enters).T
        entering = scored & enters
        taken = entering & common[:, None]
        planes = (np.where(own, single.values[v], 0.0) for v, own in zip(chosen, taken, strict=True))
        counts = np.moveaxis(grouped(taken, operator, operators), 0, 2)
        left_out = entering.sum(axis=(0, 2)) - taken.sum(axis=(0, 2))
    sums = np.moveaxis(grouped(planes, operator, operators), 0, 2)
    return sums, counts, needed, left_out


def _enters(scored: Flags, families: Places, needed: npt.NDArray[np.intp], measure: str) -> Flags:
    """Say which documents enter for which models, of shape (M, D), of flags of shape (V, M, D)."""
    if measure == MIRRORING:
        some: Flags = np.any(scored, axis=0)
        return some
    have = grouped(scored, families, (len(needed), *scored.shape[1:]))
    every: Flags = np.all(have >= needed[:, None, None], axis=0)
    return every


def _needed(table: TaskTable, keep: Flags | None) -> npt.NDArray[np.intp]:
    """Return how many scored variants a document needs in each family, of shape (F,)."""
    counts = dict(table.families)
    if keep is not None:
        kept = Counter(variant.family for variant, stays in zip(table.variants, keep, strict=True) if stays)
        counts = {family: min(count, kept[family]) for family, count in counts.items()}
    required = required_counts(counts)
    return np.array([required.get(family, 0) for family in table.families], dtype=np.intp)


def _mean_square(values: Doubles | None, table: TaskTable) -> Doubles:
    models, documents = table.shape[:2]
    if values is None or values.shape[2] == 0:
        return np.full((models, documents), np.nan)
    squares = variants_first(map(np.square, values), (models, documents, values.shape[2]))
    known = np.isfinite(squares)
    return _unless_rounding(divided(np.where(known, squares, 0.0).sum(axis=0), known.sum(axis=0)))


def _unless_rounding(values: Doubles, least: float = NO_CHANCE**2) -> Doubles:
    """Return values with 0 in the place of what is nothing but rounding, whose ratios would overflow."""
    tiny: Flags = (values != 0.0) & (np.abs(values) < least)
    return np.where(tiny, 0.0, values) if tiny.any() else values
