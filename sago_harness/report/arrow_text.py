"""Many cells as text at once: Arrow writes a number in a tenth of the time that Python takes.

Every number is written as ``repr`` writes it, so that a table reads the same however it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

#: Numbers between these that are not whole are written alike by Arrow and by ``repr``: the shortest
#: digits that give the same number again, and no exponent.
_PLAIN = (1e-4, 1e9)


def texts(words: Sequence[str]) -> Any:
    """Return texts as an Arrow array. (Arrow's own conversion of a list imports pandas.)

    Parameters
    ----------
    words : sequence of str
        Without lone surrogates.

    Examples
    --------
    >>> texts(["a", "", "中"]).to_pylist()
    ['a', '', '中']
    """
    import pyarrow as pa

    encoded = [word.encode() for word in words]
    ends = np.zeros(len(encoded) + 1, dtype=np.int32)
    np.cumsum([len(word) for word in encoded], out=ends[1:])
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    )


def taken(words: Any, codes: npt.NDArray[np.integer[Any]]) -> Any:
    """Return the texts of codes.

    Examples
    --------
    >>> taken(texts(["a", "b"]), np.array([1, 1, 0], dtype=np.int32)).to_pylist()
    ['b', 'b', 'a']
    """
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(codes, dtype=np.int32))
    return words.take(pa.Array.from_buffers(pa.int32(), len(codes), [None, buffer]))


def number_texts(values: npt.NDArray[np.float64], other: Callable[[float], str]) -> Any:
    """Return numbers as Arrow texts.

    Parameters
    ----------
    values : ndarray of shape (N,)
    other : callable
        Gives the text of a number that Arrow would write otherwise, or that is none; ``repr`` of
        those that are finite.

    Examples
    --------
    >>> number_texts(np.array([0.1, 1.0, -1e-7, np.nan]), repr).to_pylist()
    ['0.1', '1.0', '-1e-07', 'nan']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = np.ascontiguousarray(values, dtype=np.float64)
    size = np.abs(values)
    with np.errstate(invalid="ignore"):
        plain = (size >= _PLAIN[0]) & (size < _PLAIN[1]) & (values != np.rint(values))
    array = pa.Array.from_buffers(pa.float64(), len(values), [None, pa.py_buffer(values)])
    if plain.all():
        return array.cast(pa.string())
    # By their bits: 0 and -0 are not written alike.
    distinct, codes = np.unique(values[~plain].view(np.int64), return_inverse=True)
    said = taken(texts([other(value) for value in distinct.view(np.float64).tolist()]), codes.reshape(-1))
    if not plain.any():
        return said
    return pc.replace_with_mask(array.cast(pa.string()), _mask(~plain), said)


def replaced(words: Any, where: npt.NDArray[np.bool_], by: str) -> Any:
    """Return texts with some of them, of shape (N,), replaced by one and the same.

    Examples
    --------
    >>> replaced(texts(["a", "b"]), np.array([False, True]), "null").to_pylist()
    ['a', 'null']
    """
    import pyarrow.compute as pc

    if not where.any():
        return words
    said = taken(texts([by]), np.zeros(np.count_nonzero(where), dtype=np.int32))
    return pc.replace_with_mask(words, _mask(where), said)


def together(parts: Sequence[Any]) -> Any:
    """Return the texts of each row joined: an Arrow array of N texts.

    Parameters
    ----------
    parts : sequence of str or Arrow array
        Of a row, in their order: a text that is the same in all rows, or the texts of N rows; at least
        one of the latter.

    Examples
    --------
    >>> together(["<", texts(["a", "b"]), ">"]).to_pylist()
    ['<a>', '<b>']
    """
    import pyarrow.compute as pc

    # A word as it is would be converted by Arrow, which imports pandas for that.
    words = texts([part for part in parts if isinstance(part, str)] + [""])
    scalars = iter(words)
    given = [next(scalars) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*given, words[len(words) - 1])


def joined(parts: Sequence[Any]) -> str:
    """Return the texts of all rows one after another; ``parts`` as for :func:`together`.

    Examples
    --------
    >>> joined(["<", texts(["a", "b"]), ">"])
    '<a><b>'
    """
    made = together(parts)
    if not len(made):
        return ""
    _, ends, data = made.buffers()
    first, last = np.frombuffer(ends, np.int32)[[made.offset, made.offset + len(made)]]
    return str(memoryview(data)[first:last], "utf-8") if data is not None else ""


def _mask(where: npt.NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    bits = pa.py_buffer(np.packbits(where, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(where), [None, bits])
