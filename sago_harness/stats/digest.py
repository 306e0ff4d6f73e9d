"""A digest of all numbers of a data set: two studies of one signature have read the same ones."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

from sago_harness.stats.check_table import blocks_of

if TYPE_CHECKING:
    from sago_harness.stats.table import TaskTable

#: Kind of numbers -> as what they are hashed on every machine.
_WIDE = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "?"}


def table_digest(table: TaskTable) -> str:
    """Return the SHA-256 of a data set's names and numbers, in hexadecimal digits.

    Parameters
    ----------
    table : TaskTable

    Returns
    -------
    str
        The same on every machine, and whatever kind of file the records were read from.

    Examples
    --------
    >>> from sago_harness.stats.table import VariantKey, TaskTable
    >>> def made(value):
    ...     key, block = VariantKey("a", "noise", "typos", 1.0), np.array([[[value]]])
    ...     return TaskTable("t", ("m",), ("d",), (key,), {}, {"noise": 1}, {"x_act": block}, {})
    >>> table_digest(made(0.1)) == table_digest(made(0.1)), table_digest(made(0.1)) == table_digest(made(0.2))
    (True, False)
    """
    named = [
        table.task,
        table.models,
        table.documents,
        [(key.id, key.family, key.operator, _number(key.strength), key.position) for key in table.variants],
        table.measures,
        table.families,
    ]
    found = hashlib.sha256(json.dumps(named, default=str).encode())
    blocks = {f"{kind} {name}".rstrip(): block for kind, name, block, _ in blocks_of(table)}
    # Texts, not numbers.
    blocks.pop("responses", None)
    for name, block in sorted(blocks.items()):
        found.update(f"{name} {block.shape} {block.dtype.kind}".encode())
        # Model by model: no copy of a whole block is held.
        for values in block:
            part = np.ascontiguousarray(values, dtype=_WIDE[block.dtype.kind])
            # There are many NaN; files and Python may hold different ones.
            missing = np.isnan(part)
            found.update((np.where(missing, np.nan, part) if missing.any() else part).data)
    if table.responses is not None:
        found.update(json.dumps(table.responses.tolist(), default=str).encode())
    return found.hexdigest()


def _number(strength: float | None) -> float | None:
    return None if strength is None else float(strength)
