"""From document values to relative instability, axes, ``sago`` and their standard errors.

Everything works on influence values, so that the uncertainty of the chance level is part
of every standard error (delta method).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.scores.chance import chance_influence

FloatArray = npt.NDArray[np.floating]

#: A measure is unscored where its chance level is under this many times its noise floor.
CHANCE_OVER_FLOOR = 3.0

#: Chance level (root mean square) under which there is none: rounding alone leaves more, and ratios overflow.
NO_CHANCE = 1e-12

#: Distances that may be negative: mirroring tells the direction.
SIGNED = ("x_mr", "x_mr_floor")

#: Key of a payload under which the document's single controls are.
CONTROLS = "controls"

#: A model whose chance level of ``x_bleu`` is under this answers everything alike.
RIGID_CHANCE = {"x_bleu": 0.05}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its influence on each document.

    Attributes
    ----------
    value : float
        NaN where unscored.
    influence : ndarray of shape (N,)
        u(i) / n: a document's contribution to the error, 0 where it is not part of it.
    n : int
        Documents that were scored.
    reason : str
    """

    value: float
    influence: FloatArray
    n: int
    reason: str = ""

    @property
    def stderr(self) -> float:
        """Standard error, n / (n - 1) corrected; NaN under two documents."""
        if self.n < 2 or not math.isfinite(self.value):
            return float("nan")
        return math.sqrt(self.n / (self.n - 1) * math.fsum(np.square(self.influence)))

    def __str__(self) -> str:
        return f"{self.value:.4f} +- {self.stderr:.4f} (n={self.n})" if self.n else f"unscored: {self.reason}"


def mean_in_any_order(values: FloatArray) -> float:
    """Return the mean, rounded once: ranks hand documents over in another order than one process.

    Parameters
    ----------
    values : ndarray of shape (N,)
        Finite, at least one.

    Examples
    --------
    >>> mean_in_any_order(np.array([1e16, 1.0, -1e16])) == mean_in_any_order(np.array([1e16, -1e16, 1.0]))
    True
    """
    return math.fsum(values) / len(values)


def _known_mean(values: FloatArray) -> float:
    known = np.asarray(values, dtype=np.float64)
    return mean_in_any_order(known[np.isfinite(known)])


def mean_estimate(values: FloatArray) -> Estimate:
    """Return the mean of the scored documents; its standard error is s / sqrt(n).

    Examples
    --------
    >>> str(mean_estimate(np.array([1.0, 3.0, np.nan])))
    '2.0000 +- 1.0000 (n=2)'
    """
    values = np.asarray(values, dtype=np.float64)
    scored = np.isfinite(values)
    n = int(scored.sum())
    influence = np.zeros(values.shape)
    if n == 0:
        return Estimate(float("nan"), influence, 0, "no_scored_document")
    mean = mean_in_any_order(values[scored])
    influence[scored] = (values[scored] - mean) / n
    return Estimate(mean, influence, n)


def relative_instability(
    squares: FloatArray,
    chances: FloatArray,
    floors: FloatArray | None = None,
    least_chance: float = 0.0,
    controls: FloatArray | None = None,
    partners: npt.NDArray[np.integer] | None = None,
) -> Estimate:
    """Return r = sqrt(mean q_s / mean q_c) over the documents that have both.

    0 = nothing moves, 1 = a variant moves the model as much as a different question does.
    Unclipped; mean squares on both sides.

    Parameters
    ----------
    squares, chances : ndarray of shape (N,)
        Mean squared distance of the variants and of the chance controls.
    floors : ndarray of shape (N,), optional
        Mean squared distance of canonical repeats.
    least_chance : float
        Chance level (root mean square) below which the model counts as rigid.
    controls : ndarray of shape (N, K), optional
        Squared distances of the single chance controls, NaN where missing; ``chances`` are their means.
    partners : ndarray of int of shape (N, K), optional
        Place of each control's own document among the N, -1 where it is none of them.

    Returns
    -------
    Estimate
        u(i) = (q_s(i) - r^2 q_c(i)) / mean q_c for r^2, divided by 2 r for r. With controls and
        partners, c(i) of :func:`sago_harness.scores.chance.chance_influence` is in the place of
        q_c(i) - mean q_c: neighbours share controls, and the error must count that. Unscored:
        ``no_document_with_chance``, ``rigid`` (the model answers everything alike),
        ``chance_near_noise`` (chance under 3 times the noise floor, on the scale of the
        distances).

    Examples
    --------
    >>> relative_instability(np.array([0.25, 0.25]), np.array([1.0, 1.0])).value
    0.5
    """
    s = np.asarray(squares, dtype=np.float64)
    c = np.asarray(chances, dtype=np.float64)
    both = np.isfinite(s) & np.isfinite(c)
    n = int(both.sum())
    influence = np.zeros(s.shape)
    if n == 0:
        return Estimate(float("nan"), influence, 0, "no_document_with_chance")
    mean_c = mean_in_any_order(c[both])
    if math.sqrt(mean_c) < max(least_chance, NO_CHANCE):
        return Estimate(float("nan"), influence, 0, "rigid")
    if floors is not None and np.isfinite(floors).any():
        floor = math.sqrt(_known_mean(floors))
        if math.sqrt(mean_c) < CHANCE_OVER_FLOOR * floor:
            return Estimate(float("nan"), influence, 0, "chance_near_noise")
    r2 = mean_in_any_order(s[both]) / mean_c
    r = math.sqrt(r2)
    if r > 0.0:
        if controls is None or partners is None:
            own = s - r2 * c
        else:
            shared = chance_influence(controls[None], partners[None], both[None])[0]
            own = s - mean_in_any_order(s[both]) - r2 * shared
        influence[both] = own[both] / (mean_c * 2.0 * r * n)
    return Estimate(r, influence, n)


def excess(squares: FloatArray, floors: FloatArray) -> float:
    """Return how far the variants move beyond the noise of repeating the canonical prompt.

    sqrt(max(0, mean d^2 of variants - mean d^2 of repeats)), over documents that have both.

    Parameters
    ----------
    squares, floors : ndarray of shape (N,)
        Mean squared distance of the variants and of the canonical repeats.

    Returns
    -------
    float
        In [0, 1] for distances in [0, 1]; NaN without repeats.

    Examples
    --------
    >>> excess(np.array([0.25, 0.25]), np.array([0.09, 0.09]))
    0.4
    """
    s = np.asarray(squares, dtype=np.float64)
    f = np.asarray(floors, dtype=np.float64)
    both = np.isfinite(s) & np.isfinite(f)
    if not both.any():
        return float("nan")
    return math.sqrt(max(0.0, mean_in_any_order(s[both]) - mean_in_any_order(f[both])))


def clipped(estimate: Estimate) -> Estimate:
    """Hold a value to [0, 1] where an axis is formed; the influence stays as it is."""
    if not math.isfinite(estimate.value):
        return estimate
    value = min(1.0, max(0.0, estimate.value))
    return Estimate(value, estimate.influence, estimate.n, estimate.reason)


def mean_of(parts: Mapping[str, Estimate]) -> Estimate:
    """Return the mean of estimates over the same documents; unscored unless all are scored.

    Raises
    ------
    ValueError
        For no parts.

    Examples
    --------
    >>> a, b = mean_estimate(np.array([1.0, 3.0])), mean_estimate(np.array([3.0, 1.0]))
    >>> str(mean_of({"a": a, "b": b}))
    '2.0000 +- 0.0000 (n=2)'
    """
    if not parts:
        raise ValueError("a mean of no estimates")
    shape = next(iter(parts.values())).influence.shape
    for name, part in parts.items():
        if not math.isfinite(part.value):
            return Estimate(float("nan"), np.zeros(shape), 0, f"{name}: {part.reason}")
    value = float(np.mean([part.value for part in parts.values()]))
    influence = np.mean([part.influence for part in parts.values()], axis=0)
    return Estimate(value, influence, min(part.n for part in parts.values()))


def stability(parts: Mapping[str, Estimate]) -> Estimate:
    """Return 1 - mean of axes: ``sago``, ``sago_core`` or ``sago_text``, higher = more stable."""
    mean = mean_of(parts)
    return Estimate(1.0 - mean.value, -mean.influence, mean.n, mean.reason)


@dataclass(frozen=True, slots=True)
class TaskScores:
    """All scores of one model on one task.

    Attributes
    ----------
    relative : dict of str to Estimate
        r of each measure, unclipped; ``x_mr`` = mean document mirroring.
    axes : dict of str to Estimate
        ``generation``, ``activation``, ``confidence``, ``mirroring``; lower = more stable.
    sago, sago_core, sago_text : Estimate
    noise : dict of str to (float, float)
        Measure -> (noise floor, excess over it), where the canonical prompt was repeated.
    stock_share : float
        Share of documents whose canonical response equals another document's, or is empty.
    """

    relative: dict[str, Estimate]
    axes: dict[str, Estimate]
    sago: Estimate
    sago_core: Estimate
    sago_text: Estimate
    noise: dict[str, tuple[float, float]]
    stock_share: float

    def __str__(self) -> str:
        return f"sago {self.sago}, core {self.sago_core}, text {self.sago_text}"


#: What the composite scores are made of.
COMPOSITES: dict[str, tuple[str, ...]] = {
    "sago": ("generation", "activation", "confidence", "mirroring"),
    "sago_core": ("generation", "activation", "confidence"),
    "sago_text": ("generation", "mirroring"),
}


def task_scores(payloads: Sequence[Payload], measures: Mapping[str, str]) -> TaskScores:
    """Form all scores of a task from its documents' payloads.

    Parameters
    ----------
    payloads : sequence of mapping
        One a document (``scores/document.py``), in any order; None values are missing.
    measures : mapping of str to str
        Measure -> axis, in table order; those with axis ``""`` form no score.

    Returns
    -------
    TaskScores
        Influence values stand in the order of the documents' ids, where the payloads say them.
    """
    # Processes hand documents over in another order than one does; sums must come out the same.
    payloads = sorted(payloads, key=_document)
    partners = _partners(payloads)
    relative: dict[str, Estimate] = {}
    noise: dict[str, tuple[float, float]] = {}
    for name, axis in measures.items():
        if axis:
            squares, chances, floors = (_column(payloads, name, k) for k in range(3))
            if np.isfinite(floors).any():
                noise[name] = (math.sqrt(_known_mean(floors)), excess(squares, floors))
            least = RIGID_CHANCE.get(name, 0.0)
            controls = None if partners is None else _controls(payloads, name, partners.shape[1])
            relative[name] = relative_instability(squares, chances, floors, least, controls, partners)
    mirrored = any("x_mr" in p for p in payloads)
    if mirrored:
        relative["x_mr"] = mean_estimate(np.array([_number(p.get("x_mr")) for p in payloads]))
    axes: dict[str, Estimate] = {}
    for axis in dict.fromkeys(a for a in measures.values() if a):
        axes[axis] = mean_of({n: clipped(relative[n]) for n, a in measures.items() if a == axis})
    if mirrored:
        axes["mirroring"] = clipped(relative["x_mr"])
    missing = Estimate(float("nan"), np.zeros(len(payloads)), 0, "not_measured")
    made = {
        name: stability({axis: axes.get(axis, missing) for axis in parts})
        for name, parts in COMPOSITES.items()
    }
    stock = stock_share([p.get("response") for p in payloads])
    return TaskScores(relative, axes, **made, noise=noise, stock_share=stock)


Payload = Mapping[str, object]


def _column(payloads: Sequence[Payload], measure: str, k: int) -> FloatArray:
    values = []
    for p in payloads:
        triple = p.get(measure)
        values.append(_number(triple[k]) if isinstance(triple, (list, tuple)) else float("nan"))
    return np.array(values, dtype=np.float64)


def _asked(payload: Payload) -> Mapping[str, Any]:
    found = payload.get(CONTROLS)
    return found if isinstance(found, Mapping) else {}


def _document(payload: Payload) -> str:
    return str(_asked(payload).get("document", ""))


def _partners(payloads: Sequence[Payload]) -> npt.NDArray[np.intp] | None:
    """Return the places of the controls' documents, (N, K); None where no payload names any."""
    place = {_document(p): i for i, p in enumerate(payloads)}
    named = [_asked(p).get("partners", ()) for p in payloads]
    width = max(map(len, named), default=0)
    found = np.full((len(payloads), width), -1, dtype=np.intp)
    for row, names in zip(found, named, strict=True):
        row[: len(names)] = [-1 if name is None else place.get(name, -1) for name in names]
    return found if (found >= 0).any() else None


def _controls(payloads: Sequence[Payload], measure: str, width: int) -> FloatArray:
    """Return the squared distances of the controls, (N, width); NaN where there are none."""
    found = np.full((len(payloads), width), np.nan)
    for row, payload in zip(found, payloads, strict=True):
        squares = _asked(payload).get("squares", {}).get(measure, ())
        row[: len(squares)] = [_number(square) for square in squares]
    return found


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else float("nan")


def stock_share(responses: Sequence[object]) -> float:
    """Return the share of documents whose canonical response another one shares, or is empty.

    Parameters
    ----------
    responses : sequence
        Any key of the canonical response; "" for an empty one, None where there is none.

    Returns
    -------
    float
        In [0, 1]; NaN without responses.

    Examples
    --------
    >>> stock_share(["a", "b", "a", ""])
    0.75
    """
    marks = stock_documents(responses)
    known = [mark for mark, response in zip(marks, responses, strict=True) if response is not None]
    return float(np.mean(known)) if known else float("nan")


def stock_documents(responses: Sequence[object]) -> list[bool]:
    """Mark the documents with a stock answer."""
    counts: dict[object, int] = {}
    for response in responses:
        counts[response] = counts.get(response, 0) + 1
    return [r is not None and (r == "" or counts[r] > 1) for r in responses]
