"""What cannot be measured has a reason, and the run goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from sago_harness.axes.base import Context
from sago_harness.axes.measures import Act, Ent, Jsd, Prob
from sago_harness.backends.base import Wanted
from sago_harness.backends.hf import HFBackend
from tests import tiny
from tests.backends.plain import PROMPTS, answer, document, host_texts, silent, swap_with_end

WORDS = tiny.tokenizer()
GEN = {"until": [], "max_gen_toks": 8}


def fresh(batch_size: int = 3) -> Any:
    return tiny.host(tiny.llama(len(WORDS)), WORDS, batch_size=batch_size)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_e02_an_empty_canonical_response(batch_size: int) -> None:
    lm = fresh(batch_size)
    free = answer(lm, PROMPTS, GEN)
    swap_with_end(lm.model, free[0].kept_ids[0])
    found = answer(lm, PROMPTS, GEN)
    assert found[0].text == ""
    assert found[0].kept_ids == ()
    assert any(response.text for response in found)
    for response in found:
        assert response.reasons == {"forced": "empty_canonical"}
        assert response.forced_logprob is response.forced_entropy is response.forced_jsd is None
        assert response.hidden is not None
    assert found[0].own_logprob.shape == (0,)
    for measure in (Prob(), Ent(), Jsd()):
        scored = measure.distances([(found[0], found[1])], Context())[0]
        assert np.isnan(scored.value)
        assert scored.reason == "empty_canonical"
    assert Act().distances([(found[0], found[1])], Context())[0].value > 0


def test_e02_a_stop_string_that_the_response_begins_with() -> None:
    free = answer(fresh(), PROMPTS, GEN)
    gen_kwargs = {**GEN, "until": [free[0].text[:1]]}
    lm = fresh()
    found = answer(lm, PROMPTS, gen_kwargs)
    assert found[0].text == "" == host_texts(lm, PROMPTS, gen_kwargs)[0]
    assert found[0].kept_ids == ()
    assert found[0].reasons == {"forced": "empty_canonical"}


@pytest.mark.parametrize("sampled", [False, True])
def test_nan_weights(sampled: bool) -> None:
    lm = fresh()
    with torch.no_grad():
        lm.model.lm_head.weight[300] = float("nan")
    gen_kwargs = {**GEN, "do_sample": True, "temperature": 1.0} if sampled else GEN
    found = answer(lm, PROMPTS, gen_kwargs)
    assert len(found) == len(PROMPTS)
    for response in found:
        assert response.reasons == {"own": "nan_logits", "forced": "nan_logits"}
        assert response.own_logprob is response.forced_logprob is response.forced_entropy is None
        assert np.all(np.isfinite(response.hidden))


def _spoil(lm: Any, token: int, value: float, *, states: bool = False) -> None:
    """Make every prompt that holds ``token`` give logits, or states, that are not finite.

    Row by row of a batch, so on the plain path; packed passes have tests of their own.
    """
    model, lm.sago_engine = lm.model, "plain"

    def spoil(_module: Any, _args: Any, kwargs: dict[str, Any], output: Any) -> Any:
        rows = (kwargs["input_ids"] == token).any(dim=1)
        output.logits[rows] = value
        return output

    def spoil_states(_module: Any, args: Any, output: Any) -> Any:
        rows = (args[0] == token).any(dim=1)
        output[rows] = value
        return output

    if states:
        model.model.embed_tokens.register_forward_hook(spoil_states)
    else:
        model.register_forward_hook(spoil, with_kwargs=True)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_one_prompt_with_nan_logits_leaves_the_others_alone(value: float) -> None:
    # Token 3 is <|user|>: a prompt can hold it, and the models does not write it here.
    texts = [PROMPTS[0], "<|user|>" + PROMPTS[1], PROMPTS[2]]
    clean = answer(fresh(), texts, GEN)
    assert all(3 not in response.kept_ids for response in clean)
    lm = fresh()
    _spoil(lm, 3, value)
    found = answer(lm, texts, GEN)
    assert found[1].reasons == {"own": "nan_logits", "forced": "nan_logits"}
    for position in (0, 2):
        assert found[position].reasons == {}
        assert found[position].text == clean[position].text
        np.testing.assert_allclose(found[position].forced_logprob, clean[position].forced_logprob, atol=1e-4)
    scored = Prob().distances([(found[0], found[1])], Context())[0]
    assert scored.reason == "nan_logits"


def test_a_canonical_prompt_with_nan_logits_unscores_its_document_alone() -> None:
    lm = fresh()
    _spoil(lm, 3, float("nan"))
    documents = [document(["<|user|>Hi", "Hi there"], GEN), document(PROMPTS[:2], GEN)]
    found = dict(HFBackend(lm).run(documents, Wanted(), silent))
    for measure in (Prob(), Ent(), Jsd()):
        assert measure.distances([(found[0][0], found[0][1])], Context())[0].reason == "nan_logits"
        assert measure.distances([(found[1][0], found[1][1])], Context())[0].value > 0


def test_states_that_are_not_finite() -> None:
    lm = fresh()
    _spoil(lm, 3, float("nan"), states=True)
    found = answer(lm, [PROMPTS[0], "<|user|>" + PROMPTS[1]], GEN)
    assert found[0].reasons == {}
    assert found[1].reasons["hidden"] == "nan_hidden"
    assert found[1].hidden is None


def test_a_model_without_blocks_gives_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = fresh()
    whole = answer(lm, PROMPTS, GEN)
    monkeypatch.setattr(lm.model.config, "num_hidden_layers", 7)
    # The library's cache reads the number too: one for each block, at least.
    found = answer(lm, PROMPTS, GEN)
    for one, other in zip(whole, found, strict=True):
        assert other.hidden is None
        assert other.reasons == {"hidden": "no_hidden_states"}
        np.testing.assert_allclose(one.forced_logprob, other.forced_logprob, atol=1e-4)


def test_beams() -> None:
    for where in ("arguments", "model"):
        lm = fresh()
        gen_kwargs: dict[str, Any] = dict(GEN)
        if where == "arguments":
            gen_kwargs["num_beams"] = 2
        else:
            lm.model.generation_config.num_beams = 2
        found = answer(lm, PROMPTS, gen_kwargs)
        assert [response.text for response in found] == host_texts(lm, PROMPTS, gen_kwargs)
        for response in found:
            assert response.reasons == {"own": "own_beams"}
            assert response.own_logprob is response.own_entropy is None
            assert np.all(np.isfinite(response.forced_logprob))
            assert response.forced_logprob.shape == (len(found[0].kept_ids),)
