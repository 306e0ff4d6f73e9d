"""Hidden states that are kept until a data set is complete: compact bytes in a file of the process.

Measures over a whole data set compare the states of all documents, layer by layer, so the
states cannot go when a document is done. They wait on disk, in half precision, and travel
between processes only with the host's own gather of a task's values.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sago_harness.errors import SagoError
from sago_harness.logs import warn_once

FloatArray = npt.NDArray[np.floating]

#: Folder of the file, where the system's own is too small.
FOLDER_VARIABLE = "SAGO_VECTORS_DIR"

_MAGIC = b"SGV1"
_HEADER = struct.Struct("<4sII")

#: A layer's largest value is brought to this power of two: far from overflow, and 2^28 above underflow.
_TOP = 15


def pack(states: FloatArray) -> bytes:
    """Return a prompt's hidden states as bytes, in half precision with a scale for each layer.

    The scales are powers of two, so that only the rounding to 11 bits changes a value; what
    is 2^28 times smaller than the largest value of its layer loses bits, and then becomes 0.

    Parameters
    ----------
    states : ndarray of shape (L + 1, D), float32
        Embedding first. NaN and infinities are kept.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        If there are not two axes.

    Examples
    --------
    >>> unpack(pack(np.array([[1.0, -0.5], [3e38, 0.0]], dtype=np.float32))).shape
    (2, 2)
    """
    if states.ndim != 2:
        raise ValueError(f"hidden states have shape {states.shape}, not (layers, width)")
    values = np.asarray(states, dtype=np.float64)
    size = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1, initial=0.0)
    powers = np.where(size > 0.0, np.frexp(size)[1] - _TOP, 0).astype("<i2")
    with np.errstate(under="ignore"):
        halves = np.ldexp(values, -powers[:, None].astype(np.int32)).astype("<f2")
    return _HEADER.pack(_MAGIC, *values.shape) + powers.tobytes() + halves.tobytes()


def unpack(blob: bytes) -> npt.NDArray[np.float32]:
    """Return the hidden states that :func:`pack` wrote.

    Parameters
    ----------
    blob : bytes

    Returns
    -------
    ndarray of shape (L + 1, D), float32

    Raises
    ------
    ValueError
        If the bytes are not of :func:`pack`, or not all of them.

    Examples
    --------
    >>> unpack(pack(np.array([[0.5, 70000.0]]))).tolist()
    [[0.5, 70016.0]]
    """
    if len(blob) < _HEADER.size or blob[:4] != _MAGIC:
        raise ValueError("these bytes are no packed hidden states")
    _, layers, width = _HEADER.unpack_from(blob)
    start = _HEADER.size + 2 * layers
    if len(blob) != start + 2 * layers * width:
        raise ValueError(f"{len(blob)} bytes are not {layers} layers of width {width}")
    powers = np.frombuffer(blob, dtype="<i2", count=layers, offset=_HEADER.size).astype(np.int32)
    halves = np.frombuffer(blob, dtype="<f2", offset=start).reshape(layers, width)
    return _widened(halves, powers[:, None])


def _widened(halves: npt.NDArray[np.float16], powers: Any) -> npt.NDArray[np.float32]:
    values = np.ldexp(halves.astype(np.float64), powers)
    # The largest values of all may have been rounded up to 2^128.
    most = float(np.finfo(np.float32).max)
    held = np.where(np.isfinite(values), np.clip(values, -most, most), values)
    return np.asarray(held, dtype=np.float32)


class VectorFile:
    """A temporary file of packed hidden states: append only, gone with the process.

    It has no name that another process could take, and the system frees it even when the
    process is killed. Equal states are written once.

    Parameters
    ----------
    folder : str, optional
        ``SAGO_VECTORS_DIR``, else the system's folder for temporary files.

    Raises
    ------
    SagoError
        If no file can be made in the folder.

    Examples
    --------
    >>> ref = VectorFile().put(pack(np.ones((2, 3))))
    >>> ref.load().tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """

    _here: VectorFile | None = None
    _making = threading.Lock()

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder or os.environ.get(FOLDER_VARIABLE) or tempfile.gettempdir()
        try:
            # Unbuffered: a full disk must be told where the states are written, not later.
            self._file = tempfile.TemporaryFile(  # noqa: SIM115
                prefix="sago-vectors-", dir=self._folder, buffering=0
            )
        except OSError as error:
            raise SagoError(
                f"hidden states cannot be kept in {self._folder}: {error.strerror or error}; "
                f"name another folder by {FOLDER_VARIABLE}, or give representation=off in --metadata"
            ) from error
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._places: dict[str, tuple[int, int]] = {}
        self._end = 0

    @classmethod
    def here(cls) -> VectorFile:
        """Return the file of this process; a forked one gets its own."""
        with cls._making:
            if cls._here is None or cls._here._process != os.getpid():
                cls._here = cls()
            return cls._here

    def put(self, blob: bytes) -> VectorRef:
        """Append packed hidden states and return where they are.

        Parameters
        ----------
        blob : bytes
            Of :func:`pack`; none at all for states that could not be kept.

        Returns
        -------
        VectorRef
            The empty one, after a warning, where the disk is full: a run of hours is worth
            more than the measures that need the states.
        """
        if not blob:
            return VectorRef("", self)
        name = hashlib.sha256(blob).hexdigest()[:16]
        with self._lock:
            if name not in self._places:
                try:
                    self._write(blob)
                except OSError as error:
                    warn_once(
                        f"hidden states cannot be kept in {self._folder}: {error.strerror or error}; what is "
                        f"measured over the data set will miss them: name another folder by {FOLDER_VARIABLE}"
                    )
                    return VectorRef("", self)
                self._places[name] = (self._end, len(blob))
                self._end += len(blob)
        return VectorRef(name, self)

    def _write(self, blob: bytes) -> None:
        self._file.seek(self._end)
        rest = memoryview(blob)
        while rest:
            rest = rest[self._file.write(rest) :]

    def get(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Return the bytes that stand under a name, or a part of them.

        Parameters
        ----------
        name : str
        start : int
            First byte.
        length : int, optional
            All of the rest by default.

        Raises
        ------
        KeyError
            If nothing was written under the name.
        """
        place, whole = self._places[name]
        length = whole - start if length is None else min(length, whole - start)
        start += place
        with self._lock:
            self._file.seek(start)
            parts = []
            while length:
                part = self._file.read(length)
                if not part:
                    raise OSError(f"the file of hidden states in {self._folder} has become shorter")
                parts.append(part)
                length -= len(part)
        return b"".join(parts)


class VectorRef(str):
    """Names packed hidden states by a hash of their bytes; what a samples file shows of them.

    Pickled, it carries the bytes, and it arrives as a reference into the receiver's own file.
    The empty one stands for states that could not be kept.
    """

    _file: VectorFile

    def __new__(cls, name: str, file: VectorFile) -> VectorRef:
        """Make the name and remember the file."""
        made = super().__new__(cls, name)
        made._file = file
        return made

    def blob(self) -> bytes:
        """Return the packed bytes; none for the empty reference."""
        return self._file.get(str(self)) if self else b""

    def load(self) -> npt.NDArray[np.float32]:
        """Return the hidden states, shape (L + 1, D)."""
        return unpack(self.blob())

    @property
    def shape(self) -> tuple[int, int]:
        """Layers, embedding included, and width."""
        _, layers, width = _HEADER.unpack(self._file.get(str(self), 0, _HEADER.size))
        return layers, width

    def layer(self, number: int) -> npt.NDArray[np.float32]:
        """Return one layer's state, shape (D,); only its own bytes are read.

        Parameters
        ----------
        number : int
            0 = embedding.

        Raises
        ------
        IndexError
            If there is no such layer.

        Examples
        --------
        >>> VectorFile().put(pack(np.array([[1.0, 2.0], [3.0, 4.0]]))).layer(1).tolist()
        [3.0, 4.0]
        """
        layers, width = self.shape
        if not 0 <= number < layers:
            raise IndexError(f"layer {number} of {layers}")
        (power,) = struct.unpack("<h", self._file.get(str(self), _HEADER.size + 2 * number, 2))
        start = _HEADER.size + 2 * layers + 2 * number * width
        halves = np.frombuffer(self._file.get(str(self), start, 2 * width), dtype="<f2")
        return _widened(halves, power)

    def __reduce__(self) -> tuple[Callable[[bytes], VectorRef], tuple[Any, ...]]:
        """Travel with the bytes."""
        return (_arrived, (self.blob(),))

    def __copy__(self) -> VectorRef:
        """Stay the same: the bytes never change."""
        return self

    def __deepcopy__(self, memo: Any) -> VectorRef:
        """Stay the same: the bytes never change."""
        return self


def _arrived(blob: bytes) -> VectorRef:
    """Keep bytes that came from another process, and return the reference to them."""
    return VectorFile.here().put(blob)
