"""Fixtures that every part of the suite shares."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import tiny

# No test reaches a hub; what is not on this machine is not at hand.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@pytest.fixture(autouse=True)
def _host_log() -> Iterator[None]:
    """Undo the host's set-up of its log: its handler would outlive the captured stream."""
    yield
    if (host := sys.modules.get("lm_eval.utils")) is not None and host._LOGGING_CONFIGURED:
        for name in ("lm_eval", "sago_harness"):
            logger = logging.getLogger(name)
            for handler in list(logger.handlers):
                logger.removeHandler(handler)
            logger.propagate = True
            logger.setLevel(logging.NOTSET)
        host._LOGGING_CONFIGURED = False


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny random Llama with a chat template."""
    return tiny.save(tmp_path_factory.mktemp("tiny-llama"))


@pytest.fixture(scope="session")
def tiny_lm(tiny_folder: Path) -> Any:
    """The same, loaded by the host, batch size 4, float32, CPU."""
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=str(tiny_folder), device="cpu", dtype="float32", batch_size=4)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the public data sets (``SAGO_DATA_DIR``); skips where it is absent."""
    named = os.environ.get("SAGO_DATA_DIR")
    beside = Path(__file__).parents[2] / "shared" / "data"
    for folder in (Path(named) if named else beside, beside):
        if folder.is_dir():
            return folder
    pytest.skip("the public data sets are not here: set SAGO_DATA_DIR to their folder")


def packaged(name: str) -> Path:
    """Folder of a packaged model; skips where it has not been fetched."""
    from sago_harness.models import resolve

    folder = resolve(name)
    if folder is None:
        pytest.skip(f"model {name} is not here: run `sago models get {name}`")
    return folder


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Folder of SmolLM2-135M-Instruct."""
    return packaged("smollm2")


@pytest.fixture(scope="session")
def minilm() -> Path:
    """Folder of all-MiniLM-L6-v2."""
    return packaged("minilm")
