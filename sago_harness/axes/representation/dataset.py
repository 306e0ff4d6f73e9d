"""Compares the canonical states of a data set's documents with those of their variants.

Pairs are formed by (document, variant id): one comparison for each variant id that at least
16 documents have, in every layer. One layer of one variant is in memory at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.axes.representation import REPRESENTATIONS
from sago_harness.axes.representation.base import (
    GROUPS,
    LEAST_DOCUMENTS,
    Doubles,
    Representation,
    Side,
    finite_rows,
    jackknife_stderr,
)
from sago_harness.axes.vectors import VectorRef
from sago_harness.data import CANONICAL
from sago_harness.documents.identity import hash_order

#: What controls (other documents' prompts) and repeats of the canonical prompt are called here.
CHANCE, REPEATS = "chance", "repeats"

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Level:
    """A distance over documents, with its standard error; NaN with a reason where unscored.

    Attributes
    ----------
    value, stderr : float
    n : int
        Documents that take part.
    reason : str
    """

    value: float
    stderr: float
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure on one data set.

    Attributes
    ----------
    value : Level
        Mean over families, then over layers 1..L.
    families : dict of str to Level
        The same for each family, ``chance`` and ``repeats``.
    layers : list of Level
        Mean over families, embedding first.
    family_layers : dict of str to list of Level
        For each family, ``chance`` and ``repeats``.
    variants : dict of str to int
        Variant ids that were compared, by family.
    too_few : dict of str to int
        Variant ids that fewer than 16 documents have.
    """

    value: Level
    families: dict[str, Level]
    layers: list[Level]
    family_layers: dict[str, list[Level]]
    variants: dict[str, int]
    too_few: dict[str, int]


def kept_states(
    document: str,
    records: Sequence[Mapping[str, Any]],
    vectors: Sequence[VectorRef | None],
    scored: Sequence[str],
) -> dict[str, Any]:
    """Return what one document hands over to the comparison of its data set.

    Parameters
    ----------
    document : str
    records : sequence of mapping
        Of the document's responses.
    vectors : sequence of (VectorRef or None)
        The prompts' hidden states.
    scored : sequence of str
        Families that form the value.

    Returns
    -------
    dict
        ``states``: variant id -> states; ``kinds``: variant id -> family, ``chance`` or
        ``repeats``; ``missing``: reason -> prompts without states that count. A prompt takes part
        where its ``x_act`` is scored: one that never reached the model is no evidence.
    """
    states: dict[str, VectorRef] = {}
    kinds: dict[str, str] = {}
    missing: Counter[str] = Counter()
    for record, vector in zip(records, vectors, strict=True):
        reason = record["reasons"].get("x_act") or record.get("document_reason")
        if reason or not vector:
            missing[str(reason or "not_kept")] += 1
            continue
        states[record["variant"]] = vector
        kinds[record["variant"]] = _kind(record)
    return {
        "document": document,
        "states": states,
        "kinds": kinds,
        "missing": dict(missing),
        "scored": list(scored),
    }


def _kind(record: Mapping[str, Any]) -> str:
    role = record["role"]
    return {"control": CHANCE, "repeat": REPEATS}.get(role) or str(record["family"])


def missing_states(items: Sequence[Item | None]) -> dict[str, int]:
    """Count the prompts without states by reason, most frequent first."""
    counted: Counter[str] = Counter()
    for item in items:
        counted.update(item["missing"] if item else {})
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def compare_documents(items: Sequence[Item | None], names: Sequence[str]) -> dict[str, Comparison]:
    """Compare canonical and other states by each measure.

    Documents are put in the order of their ids first, so that the order in which they
    arrive changes no digit.

    Parameters
    ----------
    items : sequence of (mapping or None)
        Of :func:`kept_states`; None for a document whose states were not asked for.
    names : sequence of str
        Of ``REPRESENTATIONS``.

    Returns
    -------
    dict of str to Comparison
        Unscored: ``few_documents`` under 16 documents, ``no_spread``, or the most frequent
        reason of missing states where there are none at all.
    """
    known = [item for item in items if item]
    scored = sorted({family for item in known for family in item["scored"]})
    documents = sorted(
        (item for item in known if item["states"].get(CANONICAL)), key=lambda item: str(item["document"])
    )
    reason = next(iter(missing_states(items)), "no_documents") if not documents else "few_documents"
    pairs = _pairs(documents)
    many = {key: rows for key, rows in pairs.items() if len(rows) >= LEAST_DOCUMENTS}
    few = Counter(key[0] for key in pairs if key not in many)
    found: dict[str, Comparison] = {}
    tables = _tables(documents, many, names) if many else {}
    for name in names:
        if name in tables:
            found[name] = _comparison(tables[name], scored, dict(few))
        else:
            empty = Level(float("nan"), float("nan"), len(documents), reason)
            found[name] = Comparison(empty, {}, [], {}, {}, dict(few))
    return found


def _pairs(documents: Sequence[Item]) -> dict[tuple[str, str], list[int]]:
    """Return (family, variant id) -> positions of the documents that have it."""
    found: dict[tuple[str, str], list[int]] = {}
    for place, item in enumerate(documents):
        for variant, kind in item["kinds"].items():
            if variant != CANONICAL:
                found.setdefault((kind, variant), []).append(place)
    return dict(sorted(found.items()))


@dataclass(slots=True)
class _Table:
    """Distances of one measure: sums over a family's variants, layer by layer."""

    groups: npt.NDArray[np.intp]
    count: int
    values: dict[str, list[list[float]]] = field(default_factory=dict)
    changes: dict[str, list[Doubles]] = field(default_factory=dict)
    documents: dict[str, set[int]] = field(default_factory=dict)
    reasons: dict[tuple[str, int], str] = field(default_factory=dict)
    variants: Counter[str] = field(default_factory=Counter)
    layers: int = 0

    def add(self, kind: str, layer: int, value: float, left_out: Doubles) -> None:
        """Add a variant's distance in a layer, and what it is without each group."""
        self.values[kind][layer].append(value)
        self.changes[kind][layer] += value - left_out


def _tables(
    documents: Sequence[Item], pairs: Mapping[tuple[str, str], list[int]], names: Sequence[str]
) -> dict[str, _Table]:
    layers, _ = documents[0]["states"][CANONICAL].shape
    measures = {name: REPRESENTATIONS.load(name)() for name in names}
    tables = {name: _empty(measure, documents, pairs, layers) for name, measure in measures.items()}
    for layer in range(layers):
        canonical = _stack(documents, range(len(documents)), CANONICAL, layer)
        sides: dict[bytes, Side] = {}
        for (kind, variant), places in pairs.items():
            other = _stack(documents, places, variant, layer)
            whole = finite_rows(canonical[places], other)
            rows = np.asarray(places)[whole]
            if len(rows) < LEAST_DOCUMENTS:
                _note(tables, kind, layer, "nan_hidden")
                continue
            key = rows.tobytes()
            x = sides[key] = sides.get(key) or Side(canonical[rows])
            y = Side(other[whole])
            if not (x.spread and y.spread):
                _note(tables, kind, layer, "no_spread")
                continue
            for name, measure in measures.items():
                table = tables[name]
                value = measure.compare(x, y)
                left_out = measure.left_out(x, y, table.groups[rows], table.count)
                # An unbiased estimate of a small spread can be under 0.
                if np.isfinite(value) and np.isfinite(left_out).all():
                    table.add(kind, layer, value, left_out)
                    table.documents[kind].update(rows.tolist())
                else:
                    table.reasons[kind, layer] = "no_spread"
    return tables


def _note(tables: Mapping[str, _Table], kind: str, layer: int, reason: str) -> None:
    for table in tables.values():
        table.reasons[kind, layer] = reason


def _empty(
    measure: Representation, documents: Sequence[Item], pairs: Mapping[tuple[str, str], Any], layers: int
) -> _Table:
    n = len(documents)
    if measure.one_by_one:
        groups, count = np.arange(n), n
    else:
        # By names, so that neighbours in a file do not leave together.
        order = np.asarray(hash_order([str(item["document"]) for item in documents], 0))
        groups, count = np.empty(n, dtype=np.intp), min(GROUPS, n)
        groups[order] = np.arange(n) % count
    table = _Table(groups, count, variants=Counter(kind for kind, _ in pairs), layers=layers)
    for kind in table.variants:
        table.values[kind] = [[] for _ in range(layers)]
        table.changes[kind] = [np.zeros(count) for _ in range(layers)]
        table.documents[kind] = set()
    return table


def _stack(documents: Sequence[Item], places: Sequence[int], variant: str, layer: int) -> Doubles:
    """Read one layer of one variant's states, shape (documents, D)."""
    return np.stack([documents[place]["states"][variant].layer(layer) for place in places]).astype(np.float64)


def _comparison(table: _Table, scored: Sequence[str], few: dict[str, int]) -> Comparison:
    """Form the means over variants, families and layers, with their standard errors."""
    means = {kind: _family(table, kind) for kind in table.variants}
    members = [family for family in scored if family in means]
    absent = "" if scored and len(members) == len(scored) else "few_documents"
    together = [_mean([means[kind][layer] for kind in members], absent) for layer in range(table.layers)]
    n = len(set().union(*(table.documents[kind] for kind in members)))
    return Comparison(
        _level(_mean(together[1:]), n),
        {kind: _level(_mean(layers[1:]), len(table.documents[kind])) for kind, layers in means.items()},
        [_level(part, n) for part in together],
        {
            kind: [_level(part, len(table.documents[kind])) for part in layers]
            for kind, layers in means.items()
        },
        dict(table.variants),
        few,
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """A value, what leaving out each group takes from it, and why it is NaN."""

    value: float
    changes: Doubles | None
    reason: str = ""


def _family(table: _Table, kind: str) -> list[_Part]:
    """Return a family's mean over its variants, layer by layer."""
    parts = []
    for layer, (values, changes) in enumerate(zip(table.values[kind], table.changes[kind], strict=True)):
        if values:
            parts.append(_Part(float(np.mean(values)), changes / len(values)))
        else:
            parts.append(_Part(float("nan"), None, table.reasons[kind, layer]))
    return parts


def _mean(parts: Sequence[_Part], absent: str = "") -> _Part:
    """Return the mean of parts; unscored unless all are there."""
    reason = absent or next((part.reason for part in parts if part.changes is None), "")
    known = [part.changes for part in parts if part.changes is not None]
    if reason or not known:
        return _Part(float("nan"), None, reason or "no_layers")
    return _Part(float(np.mean([part.value for part in parts])), np.mean(known, axis=0))


def _level(part: _Part, n: int) -> Level:
    if part.changes is None:
        return Level(float("nan"), float("nan"), n, part.reason)
    return Level(part.value, jackknife_stderr(part.changes), n)
