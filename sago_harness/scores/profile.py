"""The layer profile: in which layers do variants move the representation, and how far?

The same as the relative instability of ``x_act``, layer by layer, with the layer's angle as
the distance. Everything comes from the angles that records hold, so it can be computed from
saved records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.scores.columns import PEOPLES
from sago_harness.scores.composite import FloatArray, mean_in_any_order, relative_instability
from sago_harness.scores.reduce import Record, distance_of, document_value, required_counts, scored_families

#: The measure whose documents, variants and controls are those of the profile.
MEASURE = "x_act"


@dataclass(frozen=True, slots=True)
class LayerLevel:
    """One layer over the documents of a task.

    Attributes
    ----------
    layer : int
        0 = embedding.
    r, stderr : float
        Relative instability, 1 = as far as for an unrelated question; unclipped.
    variants, controls, noise : float
        Root mean square angle of variants, chance controls and canonical repeats, as a share
        of a right angle. The first two over the documents that have both, where there are any.
    n : int
        Documents that form r.
    reason : str
        Why r is NaN: ``unmoved`` where not even another question moves the layer (under a chat
        template the embedding of the last token), else as of ``relative_instability``.
    """

    layer: int
    r: float
    stderr: float
    variants: float
    controls: float
    noise: float
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """All layers of a task, and how many documents were left out for which reason."""

    layers: list[LayerLevel]
    unscored: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        """Return plain types."""
        return {"profile": [asdict(level) for level in self.layers], "unscored": self.unscored}


def document_layers(records: Sequence[Record], families: Mapping[str, int]) -> dict[str, Any]:
    """Return what one document adds to the profile.

    A variant takes part in every layer where its ``x_act`` is scored, and a document where
    enough of its variants do (as for ``x_act`` itself).

    Parameters
    ----------
    records : sequence of mapping
        All of the document's records; ``layers`` holds the angles of a response.
    families : mapping of str to int
        Family -> number of variants in the recipe; only these form the score.

    Returns
    -------
    dict
        ``square``, ``chance``, ``floor``: lists of L + 1 mean squares (mean over families of the
        mean square over a family's variants; of controls; of repeats), None where there is
        none; ``reason`` where ``square`` is None.

    Examples
    --------
    >>> scored = {"distances": {"x_act": 0.5}, "reasons": {}}
    >>> row = {"role": "variant", "family": "noise", "layers": [0.0, 0.5], **scored}
    >>> document_layers([row], {"noise": 1})["square"]
    [0.0, 0.25]
    """
    found = document_value(records, MEASURE, families)
    by_family = [_mean_square(records, "variant", family) for family in required_counts(families)]
    whole = not found.reason and bool(by_family) and all(values is not None for values in by_family)
    return {
        "square": _listed(np.mean([v for v in by_family if v is not None], axis=0)) if whole else None,
        "chance": _listed(_mean_square(records, "control")),
        "floor": _listed(_mean_square(records, "repeat")),
        "reason": "" if whole else found.reason or "no_layers",
    }


def _mean_square(records: Sequence[Record], role: str, family: str = "") -> npt.NDArray[np.float64] | None:
    """Return the mean squared angle of each layer; NaN where one of the angles is missing."""
    rows = [
        np.array([np.nan if angle is None else float(angle) for angle in record["layers"]])
        for record in records
        if record["role"] == role
        and (not family or record["family"] == family)
        and record.get("layers")
        and math.isfinite(distance_of(record, MEASURE))
    ]
    if len({len(row) for row in rows}) != 1:
        return None
    return np.asarray(np.mean(np.square(rows), axis=0))


def _listed(values: npt.NDArray[np.float64] | None) -> list[float | None] | None:
    return None if values is None else [float(v) if math.isfinite(v) else None for v in values]


def layer_profile(payloads: Sequence[Mapping[str, Any] | None]) -> LayerProfile:
    """Form the profile of a task from its documents.

    Parameters
    ----------
    payloads : sequence of mapping
        Of :func:`document_layers`, in any order: sums are rounded once.

    Returns
    -------
    LayerProfile
        Without layers where no document has any; ``unscored`` counts documents by reason.
    """
    known = [payload for payload in payloads if payload]
    reasons = Counter(payload["reason"] for payload in known if payload["reason"])
    unscored = dict(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])))
    columns = {name: _matrix(known, name) for name in ("square", "chance", "floor")}
    layers = columns["square"].shape[1]
    return LayerProfile(
        [_level(layer, *(columns[name][:, layer] for name in columns)) for layer in range(layers)], unscored
    )


def _matrix(payloads: Sequence[Mapping[str, Any]], name: str) -> npt.NDArray[np.float64]:
    """Return the documents' mean squares, shape (documents, L + 1); NaN where there are none."""
    width = max((len(payload[key] or ()) for payload in payloads for key in ("square", "chance")), default=0)
    rows = []
    for payload in payloads:
        values = payload[name] or [None] * width
        rows.append([np.nan if value is None else float(value) for value in values])
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def _level(layer: int, squares: FloatArray, chances: FloatArray, floors: FloatArray) -> LayerLevel:
    estimate = relative_instability(squares, chances, floors)
    # The other reasons say the same of one layer; this one is said of a model that writes.
    reason = "unmoved" if estimate.reason == "rigid" else estimate.reason
    both = np.isfinite(squares) & np.isfinite(chances)
    if not both.any():
        both = np.ones(len(squares), dtype=bool)
    return LayerLevel(
        layer,
        estimate.value,
        estimate.stderr,
        _root(squares[both]),
        _root(chances[both]),
        _root(floors),
        estimate.n,
        reason,
    )


def _root(squares: FloatArray) -> float:
    """Return the root of the known mean; NaN for none."""
    known = squares[np.isfinite(squares)]
    return math.sqrt(mean_in_any_order(known)) if len(known) else float("nan")


def profiles_of(rows: Sequence[Record]) -> dict[str, LayerProfile]:
    """Compute a task's profiles from its saved records, without a model.

    Parameters
    ----------
    rows : sequence of mapping
        Records of one task, of :func:`sago_harness.scores.table.read_samples` or ``read_parquet``.

    Returns
    -------
    dict of str to LayerProfile
        ``""`` for the score's families, where the recipe has any; beside it each family that people
        brought.
    """
    documents: dict[str, list[Record]] = {}
    for row in rows:
        documents.setdefault(row["document"], []).append(row)
    families = scored_families(next((row["families"] for row in rows if row.get("families")), {}))
    present = {row["family"] for row in rows if row["role"] == "variant"}
    wanted = {"": families} if families else {}
    wanted |= {family: {family: 1} for family in PEOPLES if family in present}
    return {
        name: layer_profile([document_layers(records, of) for records in documents.values()])
        for name, of in wanted.items()
    }
