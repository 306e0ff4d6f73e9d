"""Arrow arrays as NumPy arrays, without the import of pandas that Arrow's own conversion costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.stats.table import Doubles, Flags, Places

_KINDS = {
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "float": np.float32, "double": np.float64,
}  # fmt: skip


def doubles(column: Any) -> Doubles:
    """Return a column of numbers, NaN where null.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Of integers, floating numbers or truth values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> doubles(pa.chunked_array([[1, None], [3]])).tolist()
    [1.0, nan, 3.0]
    """
    found: list[Doubles] = []
    for chunk in column.chunks:
        if str(chunk.type) not in _KINDS:
            found.append(np.asarray(chunk.to_numpy(zero_copy_only=False), dtype=np.float64))
            continue
        values = _values(chunk).astype(np.float64)
        if chunk.null_count:
            values[~_known(chunk)] = np.nan
        found.append(values)
    return found[0] if len(found) == 1 else np.concatenate([*found, np.zeros(0)])


def codes(array: Any) -> Places:
    """Return an array of integers, -1 where null.

    Parameters
    ----------
    array : pyarrow.Array

    Examples
    --------
    >>> import pyarrow as pa
    >>> codes(pa.array([5, None, 0], pa.int32())[1:]).tolist()
    [-1, 0]
    """
    values = _values(array).astype(np.intp)
    if array.null_count:
        values[~_known(array)] = -1
    return values


def places(rows: Places) -> Any:
    """Return rows as Arrow takes them.

    Examples
    --------
    >>> places(np.array([2, 0])).to_pylist()
    [2, 0]
    """
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows.astype(np.int64))])


def _values(array: Any) -> npt.NDArray[Any]:
    kind = np.dtype(_KINDS[str(array.type)])
    if not len(array):
        return np.zeros(0, dtype=kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def _known(array: Any) -> Flags:
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    known = np.unpackbits(bits, count=array.offset + len(array), bitorder="little")
    return known[array.offset :].astype(bool)
