"""Log-probabilities, entropies, states and the distances made of them equal a few plain lines."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from sago_harness.axes.base import Context
from sago_harness.axes.measures import Act, Ent, Jsd, Prob
from sago_harness.backends.forced import divergence
from tests import tiny
from tests.backends.plain import PROMPTS, answer, forced, host_texts, library_states, swap_with_end

WORDS = tiny.tokenizer()
GEN = {"until": [], "max_gen_toks": 12}
MODEL = tiny.llama(len(WORDS), layers=3)


@pytest.fixture(scope="module")
def responses() -> list[Any]:
    torch.set_num_threads(1)
    return answer(tiny.host(MODEL, WORDS, batch_size=3), PROMPTS, GEN)


def test_own_values_equal_a_teacher_forced_pass(responses: list[Any]) -> None:
    for text, response in zip(PROMPTS, responses, strict=True):
        logprob, entropy, _ = forced(MODEL, WORDS(text)["input_ids"], response.kept_ids)
        np.testing.assert_allclose(response.own_logprob, logprob, atol=1e-4)
        np.testing.assert_allclose(response.own_entropy, entropy, atol=1e-4)


def test_forced_values_equal_a_teacher_forced_pass(responses: list[Any]) -> None:
    canonical = responses[0].kept_ids
    for text, response in zip(PROMPTS, responses, strict=True):
        logprob, entropy, _ = forced(MODEL, WORDS(text)["input_ids"], canonical)
        np.testing.assert_allclose(response.forced_logprob, logprob, atol=1e-4)
        np.testing.assert_allclose(response.forced_entropy, entropy, atol=1e-4)
        assert response.forced_logprob.dtype == np.float32


def test_the_canonical_response_is_forced_after_its_own_prompt(responses: list[Any]) -> None:
    np.testing.assert_allclose(responses[0].forced_logprob, responses[0].own_logprob, atol=1e-4)
    np.testing.assert_allclose(responses[0].forced_entropy, responses[0].own_entropy, atol=1e-4)
    assert responses[0].forced_jsd.tolist() == [0.0] * len(responses[0].kept_ids)


def test_distances_equal_a_separate_computation(responses: list[Any]) -> None:
    ids = [WORDS(text)["input_ids"] for text in PROMPTS]
    canonical = responses[0].kept_ids
    base = forced(MODEL, ids[0], canonical)
    base_states = _blocks(ids[0])
    for position in range(1, len(PROMPTS)):
        pair = [(responses[0], responses[position])]
        logprob, entropy, distributions = forced(MODEL, ids[position], canonical)
        x_prob = np.mean(1 - np.exp(-np.abs(logprob - base[0])))
        x_ent = np.mean(1 - np.exp(-np.abs(entropy - base[1])))
        x_jsd = np.mean(jensenshannon(np.exp(distributions), np.exp(base[2]), axis=1) ** 2 / math.log(2))
        cosines = torch.cosine_similarity(_blocks(ids[position]), base_states, dim=-1)
        x_act = (torch.arccos(cosines.clamp(-1, 1)) * 2 / math.pi).clamp(0, 1).mean()
        for measure, expected in ((Prob, x_prob), (Ent, x_ent), (Jsd, x_jsd), (Act, float(x_act))):
            value = measure().distances(pair, Context())[0].value
            assert value == pytest.approx(expected, abs=1e-4), measure.name
            assert value > 0.01


def _blocks(ids: list[int]) -> torch.Tensor:
    """Outputs of the blocks at the last prompt token, (L, D), in float64."""
    found: list[torch.Tensor] = []
    hooks = [
        block.register_forward_hook(
            lambda _module, _args, out: found.append(
                (out[0] if isinstance(out, tuple) else out)[0, -1].double()
            )
        )
        for block in MODEL.model.layers
    ]
    with torch.no_grad():
        MODEL(torch.tensor([ids]))
    for hook in hooks:
        hook.remove()
    return torch.stack(found)


def test_layers_are_the_librarys(responses: list[Any]) -> None:
    for text, response in zip(PROMPTS, responses, strict=True):
        states = library_states(MODEL, WORDS(text)["input_ids"])
        assert response.hidden.shape == (4, 32)
        for layer in range(3):
            np.testing.assert_allclose(response.hidden[layer], states[layer][-1].numpy(), atol=1e-4)
        normed = MODEL.model.norm(torch.tensor(response.hidden[3]))
        np.testing.assert_allclose(normed.detach().numpy(), states[3][-1].numpy(), atol=1e-4)
        # Layer 0 is the embedding itself.
        embedded = MODEL.model.embed_tokens.weight[WORDS(text)["input_ids"][-1]]
        np.testing.assert_array_equal(response.hidden[0], embedded.detach().numpy())


@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_finished_rows_leak_no_padding(padding_side: str) -> None:
    # Pad equals end-of-sequence, as in many models: only the mask can tell them apart.
    words = tiny.tokenizer()
    words.pad_token = words.eos_token
    model = tiny.llama(len(words))
    free = answer(tiny.host(model, words, batch_size=1), PROMPTS, GEN)
    swap_with_end(model, free[0].kept_ids[3])
    lm = tiny.host(model, words, batch_size=5)
    lm.sago_padding_side = padding_side
    found = answer(lm, PROMPTS, GEN)
    assert [response.text for response in found] == host_texts(lm, PROMPTS, GEN)
    assert len({len(response.kept_ids) for response in found}) > 1
    for text, response in zip(PROMPTS, found, strict=True):
        ids = words(text)["input_ids"]
        logprob, entropy, _ = forced(model, ids, response.kept_ids)
        assert response.own_logprob.shape == (len(response.kept_ids),)
        np.testing.assert_allclose(response.own_logprob, logprob, atol=1e-4)
        np.testing.assert_allclose(response.own_entropy, entropy, atol=1e-4)
        logprob, _, _ = forced(model, ids, found[0].kept_ids)
        np.testing.assert_allclose(response.forced_logprob, logprob, atol=1e-4)


def test_values_come_from_raw_logits() -> None:
    # Penalties and temperature change what is said, never what is read off.
    arguments = {"do_sample": True, "temperature": 0.4, "top_k": 5, "repetition_penalty": 1.3}
    found = answer(tiny.host(MODEL, WORDS, batch_size=2), PROMPTS, {**GEN, **arguments})
    for text, response in zip(PROMPTS, found, strict=True):
        logprob, entropy, _ = forced(MODEL, WORDS(text)["input_ids"], response.kept_ids)
        np.testing.assert_allclose(response.own_logprob, logprob, atol=1e-4)
        np.testing.assert_allclose(response.own_entropy, entropy, atol=1e-4)


def test_divergence_against_scipy() -> None:
    generator = torch.Generator().manual_seed(0)
    p, q = (torch.randn(6, 4000, generator=generator) * 3 for _ in range(2))
    p, q = p.log_softmax(-1), q.log_softmax(-1)
    p[:, 7], q[:, 9] = float("-inf"), float("-inf")
    p, q = p.log_softmax(-1), q.log_softmax(-1)
    expected = jensenshannon(p.exp().double().numpy(), q.exp().double().numpy(), axis=1) ** 2 / math.log(2)
    np.testing.assert_allclose(divergence(p, q), expected, atol=1e-6)
    assert divergence(p, p).tolist() == [0.0] * 6
    assert divergence(p, q).tolist() == divergence(q, p).tolist()


def test_only_the_first_positions_have_a_divergence() -> None:
    found = answer(tiny.host(MODEL, WORDS), PROMPTS[:2], {"until": [], "max_gen_toks": 40})
    assert len(found[0].kept_ids) == 40
    assert found[1].forced_logprob.shape == (40,)
    assert found[1].forced_jsd.shape == (32,)
    _, _, base = forced(MODEL, WORDS(PROMPTS[0])["input_ids"], found[0].kept_ids)
    logprob, entropy, other = forced(MODEL, WORDS(PROMPTS[1])["input_ids"], found[0].kept_ids)
    np.testing.assert_allclose(found[1].forced_logprob, logprob, atol=1e-4)
    np.testing.assert_allclose(found[1].forced_entropy, entropy, atol=1e-4)
    expected = jensenshannon(np.exp(other[:32]), np.exp(base[:32]), axis=1) ** 2 / math.log(2)
    np.testing.assert_allclose(found[1].forced_jsd, expected, atol=1e-4)
