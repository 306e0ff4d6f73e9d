"""Arrow arrays as NumPy arrays, without the import of pandas that Arrow's own conversion costs."""

from __future__ import annotations

import itertools
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

    Returns
    -------
    ndarray of shape (N,)
        Not to be written to: it may be Arrow's own.

    Examples
    --------
    >>> import pyarrow as pa
    >>> doubles(pa.chunked_array([[1, None], [3]])).tolist()
    [1.0, nan, 3.0]
    """
    found: list[Doubles] = []
    plain = str(column.type) in _KINDS
    for chunk in column.chunks:
        if not plain:
            found.append(np.asarray(chunk.to_numpy(zero_copy_only=False), dtype=np.float64))
        elif chunk.null_count:
            found.append(np.where(_known(chunk), _values(chunk), np.nan).astype(np.float64, copy=False))
        else:
            found.append(_values(chunk).astype(np.float64, copy=False))
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


def coded(column: Any) -> tuple[Places, list[str]]:
    """Return codes of texts, -1 for null, and the distinct ones in order of appearance.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Of text, as a dictionary or plain.

    Raises
    ------
    ValueError
        If it holds anything else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found, texts = coded(pa.chunked_array([["a", None], ["b", "a"]]))
    >>> found.tolist(), texts
    ([0, -1, 1, 0], ['a', 'b'])
    """
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise ValueError(f"{kind} in the place of text")
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = _whole(column.unify_dictionaries() if column.num_chunks > 1 else column)
    return codes(whole.indices), whole.dictionary.to_pylist()


def filled_lists(column: Any, rows: Places) -> dict[int, tuple[str, ...]]:
    """Return row -> texts of some rows, those alone whose list is not empty.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Of lists of text.
    rows : ndarray of shape (R,)

    Examples
    --------
    >>> import pyarrow as pa
    >>> filled_lists(pa.chunked_array([[["a"], [], None], [["b", "c"]]]), np.array([1, 2, 3]))
    {3: ('b', 'c')}
    """
    import pyarrow as pa

    if not pa.types.is_list(column.type):
        said = column.take(places(rows)).to_pylist()
        return {row: tuple(texts) for row, texts in zip(rows.tolist(), said, strict=True) if texts}
    whole = _whole(column)
    if not len(whole):
        return {}
    ends = np.frombuffer(whole.buffers()[1], np.int32, whole.offset + len(whole) + 1)[whole.offset :]
    starts, stops = ends[rows], ends[rows + 1]
    filled = stops > starts
    if whole.null_count:
        filled &= _known(whole)[rows]
    # A list at a time would make an object of every list.
    spans = list(zip(rows[filled].tolist(), starts[filled].tolist(), stops[filled].tolist(), strict=True))
    inside = [place for _, start, stop in spans for place in range(start, stop)]
    texts = iter(whole.values.take(places(np.array(inside, dtype=np.intp))).to_pylist())
    return {row: tuple(itertools.islice(texts, stop - start)) for row, start, stop in spans}


def places(rows: Places) -> Any:
    """Return rows as Arrow takes them.

    Examples
    --------
    >>> places(np.array([2, 0])).to_pylist()
    [2, 0]
    """
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows.astype(np.int64))])


def _whole(column: Any) -> Any:
    """Return a column as one array."""
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        return whole.chunk(0) if whole.num_chunks else pa.array([], whole.type)
    return whole


def _values(array: Any) -> npt.NDArray[Any]:
    kind = np.dtype(_KINDS[str(array.type)])
    if not len(array):
        return np.zeros(0, dtype=kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def _known(array: Any) -> Flags:
    bits = np.frombuffer(array.buffers()[0], np.uint8)
    known = np.unpackbits(bits, count=array.offset + len(array), bitorder="little")
    return known[array.offset :].astype(bool)
