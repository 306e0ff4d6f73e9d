"""`sago models`: what goes to standard output, and what is an error."""

from __future__ import annotations

import argparse
from dataclasses import replace

import pytest

from sago_harness.cli import models as command
from sago_harness.errors import SagoError

from .conftest import FakeIndex


def call(*words: str) -> int:
    parser = argparse.ArgumentParser(prog="sago models")
    command.configure(parser)
    return command.run(parser.parse_args(list(words)))


def test_get_and_path_print_the_path_alone(index: FakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    folder = index.home / "models" / "toy"
    assert call("get", "toy") == 0
    assert capsys.readouterr().out == f"{folder}\n"
    assert call("path", "toy") == 0
    assert capsys.readouterr() == (f"{folder}\n", "")


def test_path_before_get(index: FakeIndex) -> None:
    with pytest.raises(SagoError, match="toy is not here yet: run `sago models get toy`"):
        call("path", "toy")
    with pytest.raises(SagoError, match="unknown model 'toi'"):
        call("path", "toi")


def test_list(index: FakeIndex, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("list") == 0
    head, row, blank, source = capsys.readouterr().out.splitlines()
    assert (blank, source) == ("", f"toy: {index.entry.source}")
    assert head.split() == ["NAME", "KIND", "SIZE", "LICENCE", "HERE", "PATH"]
    assert row.split() == [
        "toy",
        "token",
        "encoder",
        "1",
        "MB",
        "MIT",
        "no",
        str(index.home / "models" / "toy"),
    ]
    call("get", "toy")
    capsys.readouterr()
    call("list")
    assert " yes " in capsys.readouterr().out


def test_flag_for_terms(index: FakeIndex) -> None:
    index.use(replace(index.entry, terms="https://example.org/terms"))
    with pytest.raises(SagoError, match="--accept-gemma-terms"):
        call("get", "toy")
    assert call("get", "toy", "--accept-gemma-terms") == 0


def test_no_action_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        call()
    assert caught.value.code == 2
