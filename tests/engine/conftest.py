"""Models run on one thread here: on a busy machine, handing out the work takes longer than doing it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sago_harness.logs import say_once
from tests import tiny


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with tiny.one_thread():
        yield


@pytest.fixture(autouse=True)
def _said_anew() -> None:
    say_once.cache_clear()
