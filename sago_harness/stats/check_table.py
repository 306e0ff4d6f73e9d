"""What a data set's blocks must be before anything is computed from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sago_harness.errors import SagoError

if TYPE_CHECKING:
    from sago_harness.stats.table import Doubles, TaskTable

#: The one block whose values may be negative: mirroring tells the direction.
SIGNED = ("x_mr", "x_mr_floor")

#: No measure comes near it, and squares of what is far beyond it overflow.
LARGEST = 1e6

#: What the values of a block are called in a message.
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
    for name, block, last in _blocks(table):
        kinds, called = _KINDS.get(name.partition("[")[0], _REAL)
        if not isinstance(block, np.ndarray) or (name != "responses" and block.dtype.kind not in kinds):
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
    for kind in ("distances", "controls", "repeats", "first", "first_controls", "raw"):
        blocks: Mapping[str, Doubles] = getattr(table, kind)
        for measure, block in blocks.items():
            least = -LARGEST if measure in SIGNED or kind == "raw" else 0.0
            # Flips are yes or no.
            most = 1.0 if measure == "flip" else LARGEST
            _check_range(table, kind, measure, block, least, most)
    if table.correct is not None:
        _check_range(table, "correct", "correct", table.correct, 0.0, 1.0)
    if table.tokens is not None:
        _check_range(table, "tokens", "tokens", table.tokens, 0.0, math.inf)


def _check_range(table: TaskTable, kind: str, name: str, block: Doubles, least: float, most: float) -> None:
    if not block.size:
        return
    # NaN is unscored; comparing with it is False.
    low, high = np.fmin.reduce(block, axis=None), np.fmax.reduce(block, axis=None)
    if np.isnan(low) or (low >= least and high <= most and np.isfinite(high)):
        return
    wrong = (block < least) | (block > most) | np.isinf(block)
    m, d, *_ = at = tuple(np.argwhere(wrong)[0])
    span = f"from {least:g} to {most:g}" if math.isfinite(most) else f"from {least:g} on"
    source = f" ({table.sources[m]})" if table.sources else ""
    raise SagoError(
        f"{table.task}: {name} of model {table.models[m]} on document {table.documents[d]} is "
        f"{block[at]:g}: {_CALLED[kind]} is a number {span}, or NaN where it is unscored{source}"
    )


def _once(table: TaskTable, kind: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise SagoError(f"{table.task}: {kind} {twice} comes twice")


def _blocks(table: TaskTable) -> Iterator[tuple[str, npt.NDArray[np.generic], int | None]]:
    """Yield every block with the length of its third axis; None without one, -1 for any."""
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
            yield f"{kind}[{name!r}]", block, last
    for name, last in (
        ("correct", variants + 1),
        ("responses", None),
        ("tokens", None),
        ("partners", -1),
        ("made", variants),
    ):
        block = getattr(table, name)
        if block is not None:
            yield name, block, last
