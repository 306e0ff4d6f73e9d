"""Rounding must not depend on where in memory weights begin: in one process elsewhere than in several."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests import tiny
from tests.backends.plain import document
from tests.engine.compare import GEN, WORDS, fast

#: Wide enough for the vectorised kernels of a processor.
WIDE: dict[str, Any] = {"hidden_size": 192, "intermediate_size": 256, "num_attention_heads": 6}


def laid(model: Any, offset: int) -> None:
    """Let every weight begin so many bytes behind a multiple of 64."""
    for weight in model.parameters():
        room = torch.empty(weight.numel() + 32, dtype=weight.dtype)
        begin = (-room.data_ptr() % 64 + offset) // weight.element_size()
        moved = room[begin : begin + weight.numel()].view(weight.shape)
        moved.copy_(weight.data)
        assert moved.data_ptr() % 64 == offset
        weight.data = moved


def model(offset: int) -> Any:
    import transformers

    torch.manual_seed(0)
    made = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(WORDS), num_hidden_layers=2, num_key_value_heads=2, max_position_embeddings=512,
            bos_token_id=0, eos_token_id=1, pad_token_id=2, **WIDE,
        )
    ).eval()  # fmt: skip
    laid(made, offset)
    return made


@pytest.mark.parametrize("texts", [["Question: Name a river in the south"], ["Name a river", "Which river?"]])
def test_a_row_alone_rounds_alike_wherever_weights_lie(texts: list[str]) -> None:
    given = {**GEN, "max_gen_toks": 12}
    with tiny.one_thread():
        one, other = (
            fast(tiny.host(model(offset), WORDS, batch_size=4), [document(texts, given)])[0]
            for offset in (0, 40)
        )
    for a, b in zip(one[0], other[0], strict=True):
        assert a.kept_ids == b.kept_ids
        for name in ("own_logprob", "own_entropy", "forced_logprob", "forced_entropy", "hidden"):
            assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
