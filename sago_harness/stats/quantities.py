"""Scores of all models of a data set with the influence of every document on them.

One :class:`Quantity` is one column of a leaderboard: a measure's relative instability, an axis,
``sago``. The influence values carry the uncertainty of the chance level (delta method), so every
interval and test works on them (``scores/composite.py`` has the formulas for one model).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sago_harness.scores.chance import chance_influence
from sago_harness.scores.composite import CHANCE_OVER_FLOOR, COMPOSITES, RIGID_CHANCE
from sago_harness.stats.means import known_mean
from sago_harness.stats.reduce import MIRRORING, MeasureValues
from sago_harness.stats.table import Doubles, Flags, Places

AXES: tuple[str, ...] = ("generation", "activation", "confidence", "mirroring")


@dataclass(frozen=True)
class Quantity:
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
        shown = ", ".join(f"{v:.3f}" for v in self.values)
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
    both = np.isfinite(squares) & np.isfinite(chances)
    n = both.sum(axis=1)
    s, c = np.where(both, squares, 0.0), np.where(both, chances, 0.0)
    count = np.maximum(n, 1)
    mean_s, mean_c = s.sum(axis=1) / count, c.sum(axis=1) / count
    known = np.isfinite(floors)
    floor = np.sqrt(np.where(known, floors, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))
    level = np.sqrt(mean_c)
    rigid = (mean_c <= 0.0) | (level < least_chance)
    near = known.any(axis=1) & (level < CHANCE_OVER_FLOOR * floor)
    reasons = np.select(
        [n == 0, rigid, near], ["no_document_with_chance", "rigid", "chance_near_noise"], default=""
    )
    fine = reasons == ""
    r2 = np.divide(mean_s, mean_c, out=np.full(mean_s.shape, np.nan), where=fine)
    r = np.sqrt(r2)
    moved = fine & (r > 0.0)
    scale = np.divide(1.0, 2.0 * r * mean_c * count, out=np.zeros(r.shape), where=moved)
    ratio = np.where(fine, r2, 0.0)[:, None]
    if controls is None or partners is None:
        own = s - ratio * c
    else:
        own = s - mean_s[:, None] - ratio * chance_influence(controls, partners, both)
    influence = np.where(both, own * scale[:, None], 0.0)
    return Quantity(name, "measure", False, r, influence, np.where(fine, n, 0), tuple(map(str, reasons)))


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


def combined(relative: Mapping[str, Quantity], axis_of: Mapping[str, str]) -> dict[str, Quantity]:
    """Form axes and composites from the measures."""
    models, documents = next(iter(relative.values())).influence.shape if relative else (0, 0)
    missing = Quantity(
        "", "axis", False, np.full(models, np.nan), np.zeros((models, documents)),
        np.zeros(models, dtype=np.intp), ("not_measured",) * models,
    )  # fmt: skip
    axes: dict[str, Quantity] = {}
    for axis in AXES:
        parts = {name: _held(q) for name, q in relative.items() if axis_of[name] == axis}
        if parts:
            axes[axis] = _mean_of(f"sago_{axis}", "axis", parts)
    made = {axis_q.name: axis_q for axis_q in axes.values()}
    for name, needed in COMPOSITES.items():
        mean = _mean_of(name, "composite", {axis: axes.get(axis, missing) for axis in needed})
        made[name] = Quantity(
            name, "composite", True, 1.0 - mean.values, -mean.influence, mean.counts, mean.reasons
        )
    return made


def _held(quantity: Quantity) -> Quantity:
    """Hold values to [0, 1]; the influence stays as it is."""
    values = np.clip(quantity.values, 0.0, 1.0)
    return Quantity(
        quantity.name, quantity.kind, quantity.higher_is_better, values,
        quantity.influence, quantity.counts, quantity.reasons,
    )  # fmt: skip


def _mean_of(name: str, kind: str, parts: Mapping[str, Quantity]) -> Quantity:
    """Return the mean of quantities over the same documents; unscored unless all are scored."""
    values = np.mean([q.values for q in parts.values()], axis=0)
    scored = np.isfinite(values)
    influence = np.where(scored[:, None], np.mean([q.influence for q in parts.values()], axis=0), 0.0)
    counts = np.where(scored, np.min([q.counts for q in parts.values()], axis=0), 0)
    reasons = []
    for i, fine in enumerate(scored):
        bad = next((f"{n}: {q.reasons[i]}" for n, q in parts.items() if not np.isfinite(q.values[i])), "")
        reasons.append("" if fine else bad)
    return Quantity(name, kind, False, values, influence, counts, tuple(reasons))
