"""What a data set's blocks must be before anything is computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sago_harness.errors import SagoError
from sago_harness.scores.composite import SIGNED

if TYPE_CHECKING:
    from sago_harness.stats.table import Doubles, TaskTable

#: No measure comes near it, and squares of what is far beyond it overflow.
LARGEST = 1e6

#: Kinds of blocks whose values have a range, and what they are called in a message.
_CALLED = {
    "distances": "a distance",
    "controls": "a distance",
    "repeats": "a distance",
    "first": "a distance",
    "first_controls": "a distance",
    "raw": "a raw delta",
    "correct": "right or wrong",
    "tokens": "a length in tokens",
}

#: Kinds of numbers (:attr:`numpy.dtype.kind`) that a block may hold; what is in no row may hold anything.
_KINDS = {"flags": ("b", "truth values"), "made": ("b", "truth values"), "partners": ("iu", "whole numbers")}
_REAL = ("fiub", "numbers")


def check_shapes(table: TaskTable) -> None:
    """Refuse blocks that do not fit their axes.

    Parameters
    ----------
    table : TaskTable

    Raises
    ------
    SagoError
        If a block has another shape or kind of values than its axes say, a name comes twice, the strength
        of a variant is no number, or a chance control is the prompt of a document that there is not.
    """
    _once(table, "model", table.models)
    _once(table, "document", table.documents)
    _once(table, "variant", [key.id for key in table.variants])
    models, documents, variants = table.shape
    for key in table.variants:
        if key.strength is not None and not (isinstance(key.strength, Real) and math.isfinite(key.strength)):
            raise SagoError(
                f"{table.task}: the strength of variant {key.id} is {key.strength!r}, and no number"
            )
    for kind, of, block, last in blocks_of(table):
        name = f"{kind}[{of!r}]" if of else kind
        kinds, called = _KINDS.get(kind, _REAL)
        if not isinstance(block, np.ndarray) or (kind != "responses" and block.dtype.kind not in kinds):
            held = f"an array of {block.dtype}" if isinstance(block, np.ndarray) else type(block).__name__
            raise SagoError(f"{table.task}: {name} is {held}, and an array of {called} is needed")
        expected = (models, documents) if last is None else (models, documents, last)
        if last == -1:
            fits = block.ndim == 3 and block.shape[:2] == (models, documents)
            said = f"({models}, {documents}, any)"
        else:
            fits, said = block.shape == expected, str(expected)
        if not fits:
            raise SagoError(
                f"{table.task}: {name} has shape {block.shape}, and {said} is what "
                f"{models} models, {documents} documents and {variants} variants make"
            )
    for name in ("signatures", "sources", "mixed"):
        value = getattr(table, name)
        if value and len(value) != models:
            raise SagoError(f"{table.task}: {name} has {len(value)} entries for {models} models")
    for name, counts in table.reasons.items():
        if len(counts) != models:
            raise SagoError(f"{table.task}: reasons[{name!r}] has {len(counts)} entries for {models} models")
    _check_partners(table)


def _check_partners(table: TaskTable) -> None:
    """Refuse partners that are not those of the controls, or no document."""
    partners = table.partners
    if partners is None:
        return
    for name, block in table.controls.items():
        if block.shape != partners.shape:
            raise SagoError(
                f"{table.task}: partners has shape {partners.shape}, and controls[{name!r}] {block.shape}: "
                "each chance control has one"
            )
    documents = len(table.documents)
    wrong = (partners < -1) | (partners >= documents)
    if wrong.any():
        m, d, k = np.argwhere(wrong)[0]
        raise SagoError(
            f"{table.task}: partners of model {table.models[m]} on document {table.documents[d]}: "
            f"{partners[m, d, k]} is the place of no document (from 0 to {documents - 1}, -1 for none)"
        )


def check_values(table: TaskTable) -> None:
    """Refuse numbers that cannot be what they stand for: a negative distance, a length past all bounds.

    Parameters
    ----------
    table : TaskTable

    Raises
    ------
    SagoError
        Names the measure, the model and the document; or if there is no model or no measure.
    """
    for what, there in (("model", table.models), ("measure", table.distances)):
        if not there:
            raise SagoError(f"{table.task}: there is no {what} to compare")
    for kind, measure, block, _ in blocks_of(table):
        if kind in _CALLED:
            _check_range(table, kind, measure, block)


def _range(kind: str, measure: str) -> tuple[float, float]:
    if kind == "tokens":
        return 0.0, math.inf
    # Answers and flips are yes or no.
    if kind == "correct" or measure == "flip":
        return 0.0, 1.0
    return (-LARGEST if kind == "raw" or measure in SIGNED else 0.0), LARGEST


def _check_range(table: TaskTable, kind: str, measure: str, block: Doubles) -> None:
    if not block.size:
        return
    least, most = _range(kind, measure)
    # NaN is unscored; comparing with it is False.
    low, high = np.fmin.reduce(block, axis=None), np.fmax.reduce(block, axis=None)
    if np.isnan(low) or (low >= least and high <= most and np.isfinite(high)):
        return
    wrong = (block < least) | (block > most) | np.isinf(block)
    m, d, *_ = at = tuple(np.argwhere(wrong)[0])
    span = f"from {least:g} to {most:g}" if math.isfinite(most) else f"from {least:g} on"
    source = f" ({table.sources[m]})" if table.sources else ""
    raise SagoError(
        f"{table.task}: {measure or kind} of model {table.models[m]} on document {table.documents[d]} is "
        f"{block[at]:g}: {_CALLED[kind]} is a number {span}, or NaN where it is unscored{source}"
    )


def _once(table: TaskTable, kind: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise SagoError(f"{table.task}: {kind} {twice} comes twice")


def blocks_of(table: TaskTable) -> Iterator[tuple[str, str, npt.NDArray[Any], int | None]]:
    """Yield every block that there is: its kind, its measure or flag, and the length of its third axis.

    Parameters
    ----------
    table : TaskTable

    Yields
    ------
    tuple of (str, str, ndarray, int or None)
        The name is "" where a kind is one block; the length None without a third axis, -1 for any.
    """
    variants = len(table.variants)
    for kind, last in (
        ("distances", variants),
        ("controls", -1),
        ("repeats", -1),
        ("raw", variants),
        ("first", variants),
        ("first_controls", -1),
        ("flags", None),
    ):
        blocks: dict[str, Doubles] = getattr(table, kind)
        for name, block in blocks.items():
            yield kind, name, block, last
    for kind, last in (
        ("correct", variants + 1),
        ("responses", None),
        ("tokens", None),
        ("partners", -1),
        ("made", variants),
    ):
        block = getattr(table, kind)
        if block is not None:
            yield kind, "", block, last
