"""Adapters, device maps and offloading, as the host takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lm_eval.models.huggingface import HFLM

from sago_harness.backends import adapt
from sago_harness.backends.base import Wanted
from sago_harness.backends.hf import HFBackend
from tests import tiny
from tests.backends.plain import PROMPTS, answer, document, forced, host_texts, library_states, silent

GEN = {"until": [], "max_gen_toks": 8}


def _adapter(folder: Path, into: Path, config: Any) -> Path:
    """Save a random adapter of the model in ``folder``."""
    from peft import get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(1)
    get_peft_model(AutoModelForCausalLM.from_pretrained(folder), config).save_pretrained(into)
    return into


@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_lora_equals_the_merged_model(tiny_folder: Path, tmp_path: Path, padding_side: str) -> None:
    peft = pytest.importorskip("peft")
    from transformers import AutoModelForCausalLM

    config = peft.LoraConfig(
        r=4, lora_alpha=16, target_modules=["q_proj", "v_proj", "up_proj"], init_lora_weights=False
    )
    adapter = _adapter(tiny_folder, tmp_path, config)
    base = AutoModelForCausalLM.from_pretrained(tiny_folder)
    merged = peft.PeftModel.from_pretrained(base, adapter).merge_and_unload().eval()
    lm = HFLM(pretrained=str(tiny_folder), peft=str(adapter), device="cpu", dtype="float32", batch_size=3)
    lm.sago_padding_side = padding_side
    found = answer(lm, PROMPTS, GEN)
    assert [response.text for response in found] == host_texts(lm, PROMPTS, GEN)
    plain = answer(HFLM(pretrained=str(tiny_folder), device="cpu", batch_size=3), PROMPTS, GEN)
    assert [response.text for response in found] != [response.text for response in plain]
    canonical = found[0].kept_ids
    for text, response in zip(PROMPTS, found, strict=True):
        ids = lm.tokenizer(text)["input_ids"]
        for tokens, names in (
            (response.kept_ids, ("own_logprob", "own_entropy")),
            (canonical, ("forced_logprob", "forced_entropy")),
        ):
            logprob, entropy, _ = forced(merged, ids, tokens)
            np.testing.assert_allclose(getattr(response, names[0]), logprob, atol=1e-4)
            np.testing.assert_allclose(getattr(response, names[1]), entropy, atol=1e-4)
        states = library_states(merged, ids)
        np.testing.assert_allclose(response.hidden[1], states[1][-1].numpy(), atol=1e-4)
    told = HFBackend(lm).describe()
    assert told["adapter"] == str(adapter)
    assert told["class"] == "LlamaForCausalLM"


@pytest.mark.filterwarnings("ignore:Position ids:UserWarning")
def test_virtual_tokens_give_text_only(tiny_folder: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4)
    adapter = _adapter(tiny_folder, tmp_path, config)
    lm = HFLM(pretrained=str(tiny_folder), peft=str(adapter), device="cpu", batch_size=1)
    backend = adapt(lm)
    assert backend.signals == ("text",)
    found = dict(backend.run([document(PROMPTS, GEN)], Wanted(), silent))[0]
    assert [response.text for response in found] == host_texts(lm, PROMPTS, GEN)
    assert all(response.reasons["forced"] for response in found)


@pytest.mark.parametrize(
    "options", [{"device_map": "cpu"}, {"device_map": {"": "cpu"}}, {"parallelize": True}]
)
def test_device_maps(tiny_folder: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    expected = answer(
        HFLM(pretrained=str(tiny_folder), device="cpu", dtype="float32", batch_size=2), PROMPTS, GEN
    )
    if "parallelize" in options:
        options = {**options, "offload_folder": str(tmp_path)}
    lm = HFLM(pretrained=str(tiny_folder), device="cpu", dtype="float32", batch_size=2, **options)
    _equal(expected, answer(lm, PROMPTS, GEN))


def test_weights_that_are_loaded_block_by_block(tiny_folder: Path) -> None:
    # Accelerate's hooks replace each module's forward and move weights in and out around it.
    from accelerate import cpu_offload

    expected = answer(
        HFLM(pretrained=str(tiny_folder), device="cpu", dtype="float32", batch_size=2), PROMPTS, GEN
    )
    lm = HFLM(pretrained=str(tiny_folder), device="cpu", dtype="float32", batch_size=2)
    cpu_offload(lm.model, execution_device=torch.device("cpu"))
    assert lm.model.lm_head.weight.device.type == "meta"
    _equal(expected, answer(lm, PROMPTS, GEN))


def test_mixed_precision_runs(tiny_folder: Path) -> None:
    lm = HFLM(pretrained=str(tiny_folder), device="cpu", batch_size=2, mixed_precision_dtype="bfloat16")
    found = answer(lm, PROMPTS, GEN)
    assert [response.text for response in found] == host_texts(lm, PROMPTS, GEN)
    assert HFBackend(lm).describe()["mixed_precision"] == "torch.bfloat16"
    assert all(np.all(np.isfinite(response.forced_logprob)) for response in found)


@pytest.mark.filterwarnings("ignore:.*(deprecated|quantized tensor creation)")
def test_a_dynamically_quantised_model() -> None:
    words = tiny.tokenizer()
    model = tiny.llama(len(words))
    try:
        quantised = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    except (AttributeError, NotImplementedError, RuntimeError) as error:
        pytest.skip(f"this torch has no dynamic quantisation on this processor: {error}")
    lm = tiny.host(quantised, words, batch_size=1)
    found = answer(lm, PROMPTS, GEN)
    assert [response.text for response in found] == host_texts(lm, PROMPTS, GEN)
    for text, response in zip(PROMPTS, found, strict=True):
        logprob, _, _ = forced(quantised, words(text)["input_ids"], found[0].kept_ids)
        # Activations are quantised by the range of a whole call, which differs by one token.
        np.testing.assert_allclose(response.forced_logprob, logprob, atol=0.5)
        assert response.reasons == {}


def _equal(expected: list[Any], found: list[Any]) -> None:
    assert [response.text for response in found] == [response.text for response in expected]
    for one, other in zip(expected, found, strict=True):
        for name in (
            "own_logprob",
            "own_entropy",
            "forced_logprob",
            "forced_entropy",
            "forced_jsd",
            "hidden",
        ):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-4)
