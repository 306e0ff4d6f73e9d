"""Fixtures of the host integration."""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sago_harness.logs import warn_once
from tests import tiny


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    with tiny.one_thread():
        yield


@pytest.fixture(autouse=True)
def _fresh_warnings() -> Iterator[None]:
    """Let every test see the warnings that are given once a process."""
    warn_once.cache_clear()
    yield
    warn_once.cache_clear()


@pytest.fixture(scope="session")
def english_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a tiny random Llama that can only write ASCII: every encoder knows its script."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token=None))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "</s>", "<pad>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>"],
        initial_alphabet=[*string.ascii_letters, *string.digits, *string.punctuation, "\u0120", "\u010a"],
        show_progress=False,
    )
    made.train_from_iterator([text for text in tiny.corpus() if text.isascii()], trainer)
    words = PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>", model_max_length=10**30
    )
    words.chat_template = tiny.CHAT_TEMPLATE
    folder = tmp_path_factory.mktemp("tiny-english")
    tiny.llama(len(words), seed=3).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def english_lm(english_folder: Path) -> Any:
    """The same, loaded by the host."""
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=str(english_folder), device="cpu", dtype="float32", batch_size=8)


@pytest.fixture
def no_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No packaged model is here."""
    monkeypatch.setenv("SAGO_HOME", str(tmp_path / "empty"))
