"""What the fast path holds: logits of a pass within their budget, canonical distributions within theirs."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch

from sago_harness.backends.base import Wanted
from sago_harness.backends.hf import HFBackend
from sago_harness.engine import path, room
from tests import tiny
from tests.backends.plain import PROMPTS, document

VOCABULARY = 30_011
WORDS = tiny.tokenizer()
GEN = {"until": [], "max_gen_toks": 6}


def wide() -> Any:
    """A model with a large vocabulary, of which it writes only what the tokenizer knows."""
    model = tiny.llama(VOCABULARY, layers=2)
    with torch.no_grad():
        model.lm_head.weight[len(WORDS) :] *= 0.01
    return model


def test_logits_and_distributions_stay_within_their_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    position = 4 * VOCABULARY
    monkeypatch.setattr(room, "_LOGITS", {"cpu": 12 * position, "other": 0})
    # Two documents at a time: 6 tokens each, though room for 32 is reckoned with.
    monkeypatch.setattr(path, "HELD_BUDGET", {"cpu": 2 * 32 * position, "other": 0})
    lm = tiny.host(wide(), WORDS, batch_size=8)
    backend = HFBackend(lm)
    documents = [document([text, text + " please", " ".join(PROMPTS)], GEN) for text in PROMPTS]
    assert backend.reason_for_plain(documents) == ""
    made: list[int] = []
    lm.model.register_forward_hook(lambda _module, _args, output: made.append(output.logits.shape[1]))
    held: list[int] = []

    def look(_count: int, _step: str) -> None:
        gc.collect()
        wide_ones = [
            thing
            for thing in gc.get_objects()
            if issubclass(type(thing), torch.Tensor) and thing.dim() > 0 and thing.shape[-1] == VOCABULARY
        ]
        held.append(sum(thing.numel() // VOCABULARY for thing in wide_ones))

    found = dict(backend.run(documents, Wanted(), look))
    assert len(found) == len(documents)
    assert max(made) <= 12
    # The pass's logits; of each of two documents the distributions twice, as they are put together.
    assert max(held) <= 12 + 2 * 2 * 6
