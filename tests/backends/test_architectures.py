"""Every kind of model the host runs: states are the library's, and batches change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests import tiny
from tests.backends.plain import PROMPTS, answer, final_norm, forced, host_texts, library_states

WORDS = tiny.tokenizer()
GEN = {"until": ["\n\n"], "max_gen_toks": 8}
LONG = (*PROMPTS, "List the names of all the rivers in the south that are longer than a thousand miles")


@pytest.fixture(params=sorted(tiny.ARCHITECTURES), scope="module")
def case(request: pytest.FixtureRequest) -> tuple[str, Any, list[Any]]:
    torch.set_num_threads(1)
    model = tiny.architecture(request.param, len(WORDS))
    return request.param, model, answer(tiny.host(model, WORDS, batch_size=1), LONG, GEN)


@pytest.mark.parametrize(("batch_size", "padding_side"), [(3, "left"), (6, "right")])
def test_batches_change_nothing(case: tuple[str, Any, list[Any]], batch_size: int, padding_side: str) -> None:
    name, model, alone = case
    lm = tiny.host(model, WORDS, batch_size=batch_size)
    lm.sago_padding_side = padding_side
    found = answer(lm, LONG, GEN)
    for one, other in zip(alone, found, strict=True):
        assert one.text == other.text
        assert one.kept_ids == other.kept_ids
        for signal in ("own_logprob", "own_entropy", "forced_logprob", "forced_entropy"):
            np.testing.assert_allclose(getattr(one, signal), getattr(other, signal), atol=1e-4)
        # T5's states grow large.
        np.testing.assert_allclose(one.hidden, other.hidden, atol=1e-4, rtol=1e-5 if name == "t5" else 0)


def test_texts_are_the_hosts(case: tuple[str, Any, list[Any]]) -> None:
    name, model, alone = case
    if name == "t5":
        # Of an encoder-decoder model the host counts the prompt's tokens (less one) as room
        # for the response; asked for as many fewer, it gives the limit that was asked for.
        lm = tiny.host(model, WORDS, batch_size=1)
        for text, response in zip(LONG, alone, strict=True):
            fewer = {**GEN, "max_gen_toks": 8 + 1 - len(WORDS(text)["input_ids"])}
            assert [response.text] == host_texts(lm, [text], fewer)
        return
    for batch_size in (1, 3):
        lm = tiny.host(model, WORDS, batch_size=batch_size)
        assert [response.text for response in alone] == host_texts(lm, LONG, GEN)


def test_log_probabilities_equal_an_unpadded_pass(case: tuple[str, Any, list[Any]]) -> None:
    _, model, alone = case
    for text, response in zip(LONG, alone, strict=True):
        ids = WORDS(text)["input_ids"]
        logprob, entropy, _ = forced(model, ids, alone[0].kept_ids)
        np.testing.assert_allclose(response.forced_logprob, logprob, atol=1e-4)
        np.testing.assert_allclose(response.forced_entropy, entropy, atol=1e-4)
        logprob, entropy, _ = forced(model, ids, response.kept_ids)
        np.testing.assert_allclose(response.own_logprob, logprob, atol=1e-4)
        np.testing.assert_allclose(response.own_entropy, entropy, atol=1e-4)


def test_states_are_the_librarys(case: tuple[str, Any, list[Any]]) -> None:
    name, model, alone = case
    layers = 3
    norm = final_norm(model, tiny.ARCHITECTURES[name][3])
    for text, response in zip(LONG, alone, strict=True):
        states = library_states(model, WORDS(text)["input_ids"])
        assert response.hidden.shape == (layers + 1, 32)
        assert len(states) == layers + 1
        if name == "mamba":
            # The library gives the blocks' outputs and then the last one again, after the norm.
            states = [model.backbone.embeddings.weight[WORDS(text)["input_ids"]].detach(), *states]
            del states[-2]
        for layer in range(layers):
            expected = states[layer][-1].numpy()
            np.testing.assert_allclose(response.hidden[layer], expected, atol=1e-4, rtol=1e-5)
        with torch.no_grad():
            normed = norm(torch.tensor(response.hidden[layers]))
        np.testing.assert_allclose(normed.numpy(), states[layers][-1].numpy(), atol=1e-4, rtol=1e-5)


#: Where each architecture keeps the attention (or mixer) of block ``{}``.
_ATTENTION = {
    "gpt2": "transformer.h.{}.attn",
    "gpt_neox": "gpt_neox.layers.{}.attention",
    "mamba": "backbone.layers.{}.mixer",
    "t5": "encoder.block.{}.layer.0.SelfAttention",
}


def test_attention_sub_blocks(case: tuple[str, Any, list[Any]]) -> None:
    name, model, alone = case
    found = answer(tiny.host(model, WORDS, batch_size=3), LONG, GEN, layers="attention")
    for position in (0, 3):
        outputs: list[np.ndarray] = []

        def keep(_module: Any, _args: Any, out: Any, outputs: list[np.ndarray] = outputs) -> None:
            outputs.append((out[0] if isinstance(out, tuple) else out)[0, -1].numpy())

        path = _ATTENTION.get(name, "model.layers.{}.self_attn")
        hooks = [model.get_submodule(path.format(layer)).register_forward_hook(keep) for layer in range(3)]
        library_states(model, WORDS(LONG[position])["input_ids"])
        for hook in hooks:
            hook.remove()
        np.testing.assert_allclose(found[position].hidden[1:], outputs, atol=1e-4, rtol=1e-5)
        np.testing.assert_allclose(found[position].hidden[0], alone[position].hidden[0], atol=1e-4)
