"""Scores of all models of a data set with the influence of every document on them.

One :class:`Quantity` is one column of a leaderboard: a measure's relative instability, an axis,
``sago``. The influence values carry the uncertainty of the chance level (delta method), so every
interval and test works on them (``scores/composite.py`` has the formulas for one model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sago_harness.scores.chance import chance_influence
from sago_harness.scores.composite import CHANCE_OVER_FLOOR, COMPOSITES, NO_CHANCE, RIGID_CHANCE
from sago_harness.stats.means import known_mean, root_mean
from sago_harness.stats.reduce import MIRRORING, MeasureValues
from sago_harness.stats.rich import Rich
from sago_harness.stats.table import Doubles, Flags, Places

AXES: tuple[str, ...] = ("generation", "activation", "confidence", "mirroring")

#: Why r has no value; the first: it has one.
UNSCORED = ("", "no_document_with_chance", "rigid", "chance_near_noise")


@dataclass(frozen=True)
class Quantity(Rich):
    """One score of M models on D documents.

    Attributes
    ----------
    name : str
        ``x_bleu`` ..., ``sago_generation`` ..., ``sago`` ...
    kind : {"measure", "axis", "composite"}
    higher_is_better : bool
    values : ndarray of shape (M,)
        NaN where unscored.
    influence : ndarray of shape (M, D)
        u(i) / n: what a document contributes to the error; 0 where it is not part.
    counts : ndarray of shape (M,)
        Documents that form the value.
    reasons : tuple of str
        Why a value is NaN, "" where it is not.
    """

    name: str
    kind: str
    higher_is_better: bool
    values: Doubles
    influence: Doubles
    counts: npt.NDArray[np.intp]
    reasons: tuple[str, ...]

    @property
    def stderr(self) -> Doubles:
        """Standard errors, n / (n - 1) corrected, of shape (M,); NaN under two documents."""
        return standard_error(self.influence, self.counts, self.values)

    def __str__(self) -> str:
        shown = ", ".join(f"{v:.3f}" if np.isfinite(v) else "-" for v in self.values)
        return f"{self.name}: {shown}"


def standard_error(influence: Doubles, counts: npt.ArrayLike, values: Doubles) -> Doubles:
    """Return sqrt(n / (n - 1) sum (u(i) / n)^2), NaN under two documents or where there is no value.

    Examples
    --------
    >>> standard_error(np.array([[-0.5, 0.5]]), [2], np.array([2.0])).tolist()
    [1.0]
    """
    n = np.asarray(counts, dtype=np.float64)
    known = (n >= 2) & np.isfinite(values)
    scale = np.divide(n, n - 1.0, out=np.full(n.shape, np.nan), where=known)
    error: Doubles = np.sqrt(scale * np.square(influence).sum(axis=-1))
    return error


def quantities(reduced: Mapping[str, MeasureValues], keep: Flags | None = None) -> dict[str, Quantity]:
    """Return the measures, axes and composites of a data set, in table order.

    Parameters
    ----------
    reduced : dict of str to MeasureValues
        Of :func:`sago_harness.stats.reduce.reduce_task`.
    keep : ndarray of shape (D,) or (M, D), optional
        Documents that may enter, for all measures.

    Returns
    -------
    dict of str to Quantity
        Of r unclipped for measures (``x_mr``: mean document mirroring); r is held to [0, 1] where
        an axis is formed. An axis is unscored unless all its measures are scored.
    """
    found: dict[str, Quantity] = {}
    for name, values in reduced.items():
        squares = values.squares()
        if keep is not None:
            squares = np.where(keep, squares, np.nan)
        if name == MIRRORING:
            found[name] = mean_quantity(name, squares)
        else:
            least = RIGID_CHANCE.get(name, 0.0)
            found[name] = relative_quantity(
                name, squares, values.chances, values.floors, least, values.controls, values.partners
            )
    return found | combined(found, {name: values.axis for name, values in reduced.items()})


def relative_quantity(
    name: str,
    squares: Doubles,
    chances: Doubles,
    floors: Doubles,
    least_chance: float = 0.0,
    controls: Doubles | None = None,
    partners: Places | None = None,
) -> Quantity:
    """Return r = sqrt(mean q_s / mean q_c) of every model over the documents that have both.

    Parameters
    ----------
    name : str
    squares, chances, floors : ndarray of shape (M, D)
        Mean squared distances of variants, chance controls and canonical repeats.
    least_chance : float
        Chance level under which a model counts as rigid.
    controls : ndarray of shape (M, D, K), optional
        Squared distances of the single chance controls; ``chances`` are their means.
    partners : ndarray of int of shape (M, D, K), optional
        Place of each control's own document, -1 where it is none of the D. With both, a document
        answers for the controls that it is asked as, too
        (:func:`sago_harness.scores.chance.chance_influence`).

    Returns
    -------
    Quantity
        Unscored with the reasons of :func:`sago_harness.scores.composite.relative_instability`.

    Examples
    --------
    >>> s, c, f = np.array([[0.25, 0.25]]), np.array([[1.0, 1.0]]), np.full((1, 2), np.nan)
    >>> relative_quantity("x_bleu", s, c, f).values.tolist()
    [0.5]
    """
    one = _relative(squares, chances, root_mean(floors), least_chance)
    moved = one.fine & (one.values > 0.0)
    by = 2.0 * one.values * one.mean_c * np.maximum(one.counts, 1)
    scale = np.divide(1.0, by, out=np.zeros(by.shape), where=moved)
    ratio = np.where(one.fine, one.squared, 0.0)[:, None]
    if controls is None or partners is None:
        own = one.s - ratio * one.c
    else:
        own = one.s - one.mean_s[:, None] - ratio * chance_influence(controls, partners, one.both)
    influence = np.where(one.both, own * scale[:, None], 0.0)
    reasons = tuple(UNSCORED[which] for which in one.which)
    return Quantity(name, "measure", False, one.values, influence, np.where(one.fine, one.counts, 0), reasons)


@dataclass(frozen=True, slots=True)
class _Relative:
    """r of M models, and what the influence of documents on it is made of.

    ``both`` (M, D): documents that form r; ``s``, ``c`` (M, D): their mean squares, 0 for the others;
    ``counts``, ``mean_s``, ``mean_c``, ``squared`` (r^2), ``values`` (r) and ``which`` (place in
    :data:`UNSCORED`), of shape (M,).
    """

    both: Flags
    s: Doubles
    c: Doubles
    counts: npt.NDArray[np.intp]
    mean_s: Doubles
    mean_c: Doubles
    squared: Doubles
    values: Doubles
    which: npt.NDArray[np.intp]

    @property
    def fine(self) -> Flags:
        """Return which models have a value, of shape (M,)."""
        fine: Flags = self.which == 0
        return fine


def _relative(squares: Doubles, chances: Doubles, noise: Doubles, least_chance: float) -> _Relative:
    """Form r; ``noise`` of shape (M,): root mean square of the canonical repeats, NaN without any."""
    both: Flags = np.isfinite(squares) & np.isfinite(chances)
    n = np.count_nonzero(both, axis=1)
    s, c = np.where(both, squares, 0.0), np.where(both, chances, 0.0)
    count = np.maximum(n, 1)
    mean_s, mean_c = s.sum(axis=1) / count, c.sum(axis=1) / count
    level = np.sqrt(mean_c)
    rigid = level < max(least_chance, NO_CHANCE)
    which = np.select([n == 0, rigid, level < CHANCE_OVER_FLOOR * noise], [1, 2, 3], default=0)
    r2 = np.divide(mean_s, mean_c, out=np.full(mean_s.shape, np.nan), where=which == 0)
    return _Relative(both, s, c, n, mean_s, mean_c, r2, np.sqrt(r2), which)


def mean_quantity(name: str, values: Doubles, kind: str = "measure", higher: bool = False) -> Quantity:
    """Return the mean of every model over its scored documents; ``values`` of shape (M, D).

    Examples
    --------
    >>> mean_quantity("x_mr", np.array([[1.0, 3.0, np.nan]])).stderr.tolist()
    [1.0]
    """
    known = np.isfinite(values)
    n = known.sum(axis=1)
    mean = known_mean(values, known)
    influence = np.where(known, values - mean[:, None], 0.0) / np.maximum(n, 1)[:, None]
    reasons = tuple("" if count else "no_scored_document" for count in n)
    return Quantity(name, kind, higher, mean, influence, n, reasons)


def measure_values(values: MeasureValues, squares: Doubles, keep: Flags | None = None) -> Doubles:
    """Return the values that :func:`quantities` gives for one measure, without their influence.

    Parameters
    ----------
    values : MeasureValues
    squares : ndarray of shape (M, D)
        Of the same documents: ``values.squares()``, or what stands in its place.
    keep : ndarray of shape (D,) or (M, D), optional
        Documents that may enter.

    Returns
    -------
    ndarray of shape (M,)
        r unclipped, or mean mirroring; NaN where unscored.
    """
    if keep is not None:
        squares = np.where(keep, squares, np.nan)
    if values.measure == MIRRORING:
        return known_mean(squares)
    least = RIGID_CHANCE.get(values.measure, 0.0)
    return _relative(squares, values.chances, values.noise, least).values


def combined_values(measured: Mapping[str, Doubles], axis_of: Mapping[str, str]) -> dict[str, Doubles]:
    """Form axes and composites from the measures' values alone.

    Parameters
    ----------
    measured : dict of str to ndarray of shape (M,)
        Measure -> r, or mean mirroring; held to [0, 1] here. NaN where unscored.
    axis_of : dict of str to str

    Returns
    -------
    dict of str to ndarray of shape (M,)
        By axis (``generation`` ...; those that have a measure), then by composite. NaN unless all
        parts are scored.

    Examples
    --------
    >>> held = {"x_bleu": np.array([1.5]), "x_mr": np.array([0.5])}
    >>> combined_values(held, {"x_bleu": "generation", "x_mr": "mirroring"})["sago_text"].tolist()
    [0.25]
    """
    models = len(next(iter(measured.values()))) if measured else 0
    found: dict[str, Doubles] = {}
    for axis in AXES:
        parts = [np.clip(values, 0.0, 1.0) for name, values in measured.items() if axis_of[name] == axis]
        if parts:
            found[axis] = np.mean(parts, axis=0)
    missing = np.full(models, np.nan)
    made = {
        name: 1.0 - np.mean([found.get(axis, missing) for axis in needed], axis=0)
        for name, needed in COMPOSITES.items()
    }
    return found | made


def composite_values(
    reduced: Mapping[str, MeasureValues],
    squares: Mapping[str, Doubles] | None = None,
    keep: Flags | None = None,
) -> dict[str, Doubles]:
    """Return the values of the composites as :func:`quantities` gives them, without their influence.

    Several times faster where nothing but an order of models is looked at.

    Parameters
    ----------
    reduced : dict of str to MeasureValues
    squares : dict of str to ndarray of shape (M, D), optional
        What stands in the place of the mean squares of each measure.
    keep : ndarray of shape (D,) or (M, D), optional
        Documents that may enter.

    Returns
    -------
    dict of str to ndarray of shape (M,)
        Higher = more stable; NaN where unscored.
    """
    measured = {
        name: measure_values(values, values.squares() if squares is None else squares[name], keep)
        for name, values in reduced.items()
    }
    formed = combined_values(measured, {name: values.axis for name, values in reduced.items()})
    return {name: formed[name] for name in COMPOSITES}


def combined(relative: Mapping[str, Quantity], axis_of: Mapping[str, str]) -> dict[str, Quantity]:
    """Form axes and composites from the measures."""
    values = combined_values({name: quantity.values for name, quantity in relative.items()}, axis_of)
    models, documents = next(iter(relative.values())).influence.shape if relative else (0, 0)
    missing = Quantity(
        "", "axis", False, np.full(models, np.nan), np.zeros((models, documents)),
        np.zeros(models, dtype=np.intp), ("not_measured",) * models,
    )  # fmt: skip
    axes: dict[str, Quantity] = {}
    for axis in AXES:
        parts = {name: q for name, q in relative.items() if axis_of[name] == axis}
        if parts:
            axes[axis] = _of_parts(f"sago_{axis}", "axis", values[axis], parts)
    made = {axis_q.name: axis_q for axis_q in axes.values()}
    for name, needed in COMPOSITES.items():
        of = {axis: axes.get(axis, missing) for axis in needed}
        one = _of_parts(name, "composite", values[name], of)
        made[name] = replace(one, higher_is_better=True, influence=-one.influence)
    return made


def _of_parts(name: str, kind: str, values: Doubles, parts: Mapping[str, Quantity]) -> Quantity:
    """Return values with the mean influence of their parts over the same documents.

    Where values are held to [0, 1], the influence stays as it is.
    """
    scored = np.isfinite(values)
    influence = np.zeros(next(iter(parts.values())).influence.shape)
    for quantity in parts.values():
        influence += quantity.influence
    influence /= len(parts)
    influence[~scored] = 0.0
    counts = np.where(scored, np.min([q.counts for q in parts.values()], axis=0), 0)
    reasons = [""] * len(values)
    for i in np.flatnonzero(~scored):
        bad = (f"{n}: {q.reasons[i]}" for n, q in parts.items() if not np.isfinite(q.values[i]))
        reasons[i] = next(bad, "")
    return Quantity(name, kind, False, values, influence, counts, tuple(reasons))
