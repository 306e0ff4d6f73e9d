"""What a data set's blocks must be before anything is computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def check_shapes(table: TaskTable) -> None:
    """Refuse blocks that do not fit their axes.

    Parameters
    ----------
    table : TaskTable

    Raises
    ------
    SagoError
        If a block has another shape than its axes say, or a name comes twice.
    """
    _once(table, "model", table.models)
    _once(table, "document", table.documents)
    _once(table, "variant", [key.id for key in table.variants])
    models, documents, variants = table.shape
    for name, block, last in _blocks(table):
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


def check_values(table: TaskTable) -> None:
    """Refuse distances that are none: negative ones, and those past :data:`LARGEST`.

    Parameters
    ----------
    table : TaskTable

    Raises
    ------
    SagoError
        Names the measure, the model and the document.
    """
    for blocks in (table.distances, table.controls, table.repeats):
        for measure, block in blocks.items():
            if not block.size:
                continue
            # NaN is unscored; comparing with it is False.
            low, high = np.fmin.reduce(block, axis=None), np.fmax.reduce(block, axis=None)
            least = -LARGEST if measure in SIGNED else 0.0
            if np.isnan(low) or (low >= least and high <= LARGEST):
                continue
            wrong = (block < least) | (block > LARGEST)
            m, d, v = np.argwhere(wrong)[0]
            raise SagoError(
                f"{table.task}: {measure} of model {table.models[m]} on document {table.documents[d]} is "
                f"{block[m, d, v]:g}: a distance is a number from {least:g} to {LARGEST:g}, "
                "or NaN where it is unscored"
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
