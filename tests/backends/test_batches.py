"""Cases M01, M02, M05: batch size and padding change nothing, and there is one bos."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from sago_harness.backends import adapt
from sago_harness.backends.hf import HFBackend
from sago_harness.errors import SagoError
from tests import tiny
from tests.backends.plain import PROMPTS, answer, host_texts, library_states

WORDS = tiny.tokenizer()
GEN = {"until": [], "max_gen_toks": 10}


def lm_of(batch_size: int | str, padding_side: str = "left", **model: Any) -> Any:
    lm = tiny.host(tiny.llama(len(WORDS), **model), WORDS, batch_size=batch_size)
    lm.sago_padding_side = padding_side
    return lm


@pytest.mark.parametrize("padding_side", ["left", "right"])
@pytest.mark.parametrize("batch_size", [2, 3, "auto"])
def test_m01_batches(batch_size: int | str, padding_side: str) -> None:
    alone = answer(lm_of(1), PROMPTS, GEN)
    lm = lm_of(batch_size, padding_side)
    together = answer(lm, PROMPTS, GEN)
    for one, other in zip(alone, together, strict=True):
        assert one.text == other.text
        assert one.kept_ids == other.kept_ids
        assert one.prompt_ids_digest == other.prompt_ids_digest
        for name in (
            "own_logprob",
            "own_entropy",
            "forced_logprob",
            "forced_entropy",
            "forced_jsd",
            "hidden",
        ):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-4)
    told = HFBackend(lm).describe()
    assert (told["dtype"], told["batch_size"]) == ("float32", str(batch_size))
    assert told["attention"] == lm.model.config._attn_implementation != ""
    assert told["padding_side"] == padding_side


@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_m02_padding(padding_side: str) -> None:
    prompts = ["Hi", "Name three rivers in one short line"]
    model = tiny.llama(len(WORDS))
    states = library_states(model, WORDS("Hi")["input_ids"])
    lm = tiny.host(model, WORDS, batch_size=2)
    lm.sago_padding_side = padding_side
    for pooling in ("last", "span"):
        found = answer(lm, prompts, GEN, pooling=pooling)[0].hidden
        for layer in (0, 1):
            expected = states[layer][-1] if pooling == "last" else states[layer].mean(0)
            np.testing.assert_allclose(found[layer], expected.numpy(), atol=1e-4)
    alone = answer(tiny.host(model, WORDS, batch_size=1), prompts, GEN)[0]
    np.testing.assert_allclose(answer(lm, prompts, GEN)[0].hidden, alone.hidden, atol=1e-4)


@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_span_pooling_reads_the_span_alone(padding_side: str) -> None:
    spans = ["a river", "three round red fruits"]
    prompts = [f"Question: {span}\nAnswer:" for span in spans]
    model = tiny.llama(len(WORDS))
    lm = tiny.host(model, WORDS, batch_size=2)
    lm.sago_padding_side = padding_side
    found = answer(lm, prompts, GEN, pooling="span", spans=spans)
    for prompt, span, response in zip(prompts, spans, found, strict=True):
        coded = WORDS(prompt, return_offsets_mapping=True)
        begin = prompt.index(span)
        inside = [
            k for k, (a, b) in enumerate(coded["offset_mapping"]) if b > begin and a < begin + len(span)
        ]
        assert 0 < len(inside) < len(coded["input_ids"])
        states = library_states(model, coded["input_ids"])
        np.testing.assert_allclose(response.hidden[1], states[1][inside].mean(0).numpy(), atol=1e-4)


def test_a_span_that_is_not_there_is_unscored() -> None:
    found = answer(lm_of(2), PROMPTS[:2], GEN, pooling="span", spans=["Hi", "elsewhere"])
    assert found[0].hidden is not None
    assert found[1].hidden is None
    assert found[1].reasons == {"hidden": "span_not_found"}


class _Sent:
    """Records the ids that reach ``generate`` and every forward pass, on the plain path."""

    def __init__(self, lm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        model, lm.sago_engine = lm.model, "plain"
        self.generated: list[list[int]] = []
        self.forwarded: list[list[int]] = []
        generate = model.generate

        def recorded(*args: Any, **kwargs: Any) -> Any:
            self.generated.extend(kwargs["input_ids"].tolist())
            return generate(*args, **kwargs)

        monkeypatch.setattr(model, "generate", recorded)
        model.register_forward_pre_hook(self._before, with_kwargs=True)

    def _before(self, _module: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        if "input_ids" in kwargs:
            self.forwarded.extend(kwargs["input_ids"].tolist())


@pytest.mark.parametrize("templated", [False, True])
@pytest.mark.parametrize("batch_size", [1, 2])
def test_m05_one_bos(templated: bool, batch_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = tiny.tokenizer("{{ bos_token }}" + tiny.CHAT_TEMPLATE, add_bos=True)
    lm = tiny.host(tiny.llama(len(words)), words, batch_size=batch_size)
    texts = ["Hi", "Name a river"]
    if templated:
        texts = [lm.apply_chat_template([{"role": "user", "content": text}]) for text in texts]
        assert texts[0].startswith("<s>")
    expected = host_texts(lm, texts, GEN)
    sent = _Sent(lm, monkeypatch)
    found = answer(lm, texts, GEN)
    assert [response.text for response in found] == expected
    assert sent.generated
    assert [row.count(0) for row in sent.generated] == [1] * len(texts)
    # Whole prompts go through the model twice: to generate, and to be forced.
    whole = [row for row in sent.forwarded if len(row) > 1]
    assert len(whole) == 2 * len(texts)
    assert [row.count(0) - _written(row, found) for row in whole] == [1] * len(whole)


def _written(row: list[int], found: list[Any]) -> int:
    """How many of a row's ids 0 the model wrote itself."""
    canonical = list(found[0].kept_ids[:-1])
    return canonical.count(0) if canonical and row[-len(canonical) :] == canonical else 0


def test_add_bos_token_is_the_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    words = tiny.tokenizer(add_bos=True)
    lm = tiny.host(tiny.llama(len(words)), words, add_bos_token=False)
    sent = _Sent(lm, monkeypatch)
    answer(lm, ["Name a river"], GEN)
    assert sent.generated[0].count(0) == 0


@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_long_prompt_loses_its_start_as_the_host_cuts_it(
    batch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = lm_of(batch_size, context=24)
    texts = ["Hi", " ".join(PROMPTS), "Name a river " * 9]
    sent = _Sent(lm, monkeypatch)
    expected = host_texts(lm, texts, GEN)
    by_host, sent.generated = sorted(sent.generated), []
    found = answer(lm, texts, GEN)
    assert [response.text for response in found] == expected
    assert sorted(sent.generated) == by_host
    assert ["prompt_truncated" in response.flags for response in found] == [False, True, True]
    assert [response.prompt_tokens for response in found][1:] == [14, 14]
    for text, response in zip(texts[1:], found[1:], strict=True):
        states = library_states(lm.model, WORDS(text)["input_ids"][-14:])
        np.testing.assert_allclose(response.hidden[1], states[1][-1].numpy(), atol=1e-4)


@pytest.mark.parametrize("limit", [24, 300])
def test_no_room_for_a_prompt_is_one_line(limit: int) -> None:
    with pytest.raises(SagoError, match=rf"max_gen_toks={limit} .* context of 24 tokens") as caught:
        answer(lm_of(1, context=24), PROMPTS, {"max_gen_toks": limit})
    assert "\n" not in str(caught.value)


def test_an_empty_prompt_is_what_the_host_begins_with() -> None:
    found = answer(lm_of(3), ["", "Hi", "<s>"], GEN)
    assert found[0].text == found[2].text
    assert found[0].prompt_ids_digest == found[2].prompt_ids_digest
    np.testing.assert_array_equal(found[0].hidden, found[2].hidden)


def test_bfloat16_runs() -> None:
    model = tiny.llama(len(WORDS)).to(torch.bfloat16)
    lm = tiny.host(model, WORDS, batch_size=3)
    found = answer(lm, PROMPTS, GEN)
    assert HFBackend(lm).describe()["dtype"] == "bfloat16"
    for response in found:
        assert response.reasons == {}
        assert np.all(np.isfinite(response.forced_logprob))
        assert np.all(np.isfinite(response.forced_entropy))
        assert response.hidden.dtype == np.float32
    # A sum over distributions that were rounded to 8 bits would be far from normalised.
    exact = answer(tiny.host(model.float(), WORDS, batch_size=3), PROMPTS[:1], GEN)[0]
    assert abs(found[0].forced_entropy[0] - exact.forced_entropy[0]) < 0.2


def test_adapt_takes_the_hosts_model() -> None:
    assert isinstance(adapt(lm_of(1)), HFBackend)
