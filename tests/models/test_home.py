"""Where models are kept, by platform and by environment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sago_harness.models.home import sago_home


def test_sago_home_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SAGO_HOME", str(tmp_path / "mine"))
    assert sago_home() == tmp_path / "mine"


def test_relative_and_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAGO_HOME", "here")
    assert sago_home() == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("SAGO_HOME", "~/there")
    assert sago_home() == tmp_path / "there"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, ".cache/sago-harness"),
        ("linux", {"XDG_CACHE_HOME": "{home}/xdg"}, "xdg/sago-harness"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, ".cache/sago-harness"),
        ("linux", {"SAGO_HOME": ""}, ".cache/sago-harness"),
        ("darwin", {}, "Library/Caches/sago-harness"),
        ("win32", {"LOCALAPPDATA": "{home}/Local"}, "Local/sago-harness"),
        ("win32", {}, "AppData/Local/sago-harness"),
    ],
)
def test_platforms(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("SAGO_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(home=tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    assert sago_home() == tmp_path / expected
