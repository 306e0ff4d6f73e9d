"""The fast path gives what the plain path gives, on every kind of model that may take it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from sago_harness.backends.base import Prompt, Wanted
from sago_harness.engine import path
from tests import tiny
from tests.backends.plain import PROMPTS, document, forced, library_states
from tests.engine.compare import GEN, WORDS, equal, fast, lm_of, plain, same

FAST = ("llama", "qwen2", "qwen3", "phi3", "gpt2", "gpt_neox", "mistral", "gemma3")

#: No window, and one that is longer than every row.
WINDOWS = {"mistral": None, "gemma3": 64}


def bundle(gen_kwargs: dict[str, Any]) -> list[list[Prompt]]:
    """Three documents with variants, two controls and a repeat."""
    texts = ("Name a river in the south", "Hi", "List three round red fruits please")
    made = [document([text + end for end in ("", "?", " please")], gen_kwargs) for text in texts]
    made[0].append(Prompt(texts[2], "control", gen_kwargs))
    made[1].append(Prompt(texts[0], "control", gen_kwargs))
    made[2].append(Prompt(texts[2], "repeat", gen_kwargs, repeat=1))
    return made


def model_of(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    if name in WINDOWS:
        kind = tiny.ARCHITECTURES[name]
        changed = {**kind[2], "sliding_window": WINDOWS[name]}
        monkeypatch.setitem(tiny.ARCHITECTURES, name, (kind[0], kind[1], changed, kind[3]))
    model = tiny.architecture(name, len(WORDS), seed)
    if name in WINDOWS:
        # The library reads a left-out window as its default.
        model.config.sliding_window = WINDOWS[name]
    return model


@pytest.mark.parametrize(("batch_size", "seed"), [(1, 0), (3, 1), (8, 2)])
@pytest.mark.parametrize("name", FAST)
def test_every_architecture(name: str, batch_size: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = tiny.host(model_of(name, seed, monkeypatch), WORDS, batch_size=batch_size)
    equal(lm, bundle({**GEN, "until": ["\n", "\u00e9"]}))


@pytest.mark.parametrize("name", FAST)
def test_values_are_those_of_an_unpadded_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = tiny.host(model_of(name, 3, monkeypatch), WORDS, batch_size=4)
    documents = bundle(GEN)
    found, _ = fast(lm, documents)
    for prompts, responses in zip(documents, found.values(), strict=True):
        reference = None
        for prompt, response in zip(prompts, responses, strict=True):
            ids = WORDS(prompt.text)["input_ids"]
            logprob, entropy, log_p = forced(lm.model, ids, responses[0].kept_ids)
            np.testing.assert_allclose(response.forced_logprob, logprob, atol=1e-4)
            np.testing.assert_allclose(response.forced_entropy, entropy, atol=1e-4)
            reference = log_p if reference is None else reference
            # What the pass says is most likely is what was written.
            own, spread, said = forced(lm.model, ids, response.kept_ids)
            assert said.argmax(-1).tolist() == list(response.kept_ids)
            np.testing.assert_allclose(response.own_logprob, own, atol=1e-4)
            np.testing.assert_allclose(response.own_entropy, spread, atol=1e-4)
            states = library_states(lm.model, ids)
            np.testing.assert_allclose(response.hidden[1], states[1][-1].numpy(), atol=1e-4)
            p, q = np.exp(log_p), np.exp(reference)
            np.testing.assert_allclose(response.forced_jsd, jensenshannon(p, q, 2, axis=1) ** 2, atol=1e-4)


def test_a_batch_size_that_is_found_out() -> None:
    equal(lm_of("auto"), bundle(GEN))


@pytest.mark.parametrize("layers", ["blocks", "attention"])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_states_over_a_span(batch_size: int, layers: str) -> None:
    spans = ["a river", "three round red fruits", "elsewhere"]
    texts = [f"Question: {span}\nAnswer:" for span in spans[:2]] + ["Question: a river\nAnswer:"]
    # Two prompts of one text with different spans are not the same prompt.
    documents = [
        document([*texts, texts[0]], GEN, [*spans, "Question"]),
        document([texts[1], texts[0]], GEN, ["three", "Answer"]),
    ]
    lm = lm_of(batch_size)
    found, _ = equal(lm, documents, Wanted(pooling="span", layers=layers))
    assert found[0][2].reasons == {"hidden": "span_not_found"}
    if layers == "blocks":
        coded = WORDS(texts[0], return_offsets_mapping=True)
        columns = [k for k, (a, b) in enumerate(coded["offset_mapping"]) if a < len("Question") and b > a]
        states = library_states(lm.model, coded["input_ids"])
        np.testing.assert_allclose(found[0][3].hidden[1], states[1][columns].mean(0).numpy(), atol=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "qwen3"])
def test_attention_outputs_as_states(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = tiny.host(model_of(name, 1, monkeypatch), WORDS, batch_size=3)
    equal(lm, bundle(GEN), Wanted(layers="attention"))


def test_bfloat16() -> None:
    lm = tiny.host(tiny.llama(len(WORDS)).to(torch.bfloat16), WORDS, batch_size=3)
    documents = bundle(GEN)
    found, _ = fast(lm, documents)
    for responses in found.values():
        for response in responses:
            assert response.reasons == {}
            assert response.own_logprob.shape == response.own_entropy.shape == (len(response.kept_ids),)
            for name in ("forced_logprob", "forced_entropy", "forced_jsd"):
                assert getattr(response, name).shape == (len(responses[0].kept_ids),)
                assert np.all(np.isfinite(getattr(response, name)))
            assert response.hidden.shape == (3, 32)
            assert response.hidden.dtype == np.float32
            assert np.all(np.isfinite(response.hidden))
            assert np.all(response.own_logprob <= 0)


def test_mixed_precision() -> None:
    lm = lm_of(3, options={"mixed_precision_dtype": "bfloat16"})
    found, _ = fast(lm, bundle(GEN))
    assert all(response.reasons == {} for responses in found.values() for response in responses)


def test_an_adapter_acts(tiny_folder: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    from lm_eval.models.huggingface import HFLM
    from transformers import AutoModelForCausalLM

    config = peft.LoraConfig(
        r=4, lora_alpha=16, target_modules=["q_proj", "v_proj", "lm_head"], init_lora_weights=False
    )
    torch.manual_seed(1)
    peft.get_peft_model(AutoModelForCausalLM.from_pretrained(tiny_folder), config).save_pretrained(tmp_path)
    lm = HFLM(pretrained=str(tiny_folder), peft=str(tmp_path), device="cpu", dtype="float32", batch_size=3)
    found, _ = equal(lm, bundle(GEN))
    without = HFLM(pretrained=str(tiny_folder), device="cpu", dtype="float32", batch_size=3)
    assert [r.text for r in found[0]] != [r.text for r in fast(without, bundle(GEN))[0][0]]


def test_the_order_changes_nothing() -> None:
    lm = lm_of(3)
    documents = bundle(GEN)
    found, _ = fast(lm, documents)
    turned = [[prompts[0], *reversed(prompts[1:])] for prompts in reversed(documents)]
    other, _ = fast(lm, turned)
    back = {2 - d: [responses[0], *reversed(responses[1:])] for d, responses in other.items()}
    same(found, back, atol=1e-5)


def test_twice_the_same_to_the_last_digit() -> None:
    first, _ = fast(lm_of(3), bundle(GEN))
    again, _ = fast(lm_of(3), bundle(GEN))
    same(first, again, atol=0.0)


def test_a_window_of_documents_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = lm_of(3)
    expected = plain(lm, bundle(GEN))
    monkeypatch.setattr(path, "HELD_BUDGET", {"cpu": 4 * path.FORCED_TOKENS * len(WORDS)})
    windows: list[Any] = []
    real = path._Window.phases

    def watched(window: Any) -> Any:
        windows.append(window)
        return real(window)

    monkeypatch.setattr(path._Window, "phases", watched)
    same(expected, fast(lm, bundle(GEN))[0])
    assert len(windows) == 3


_PIECES = ("Name", " a", " river", " the", "?", " please", " fruits", " List", "\n", " red", " é", " 河")


@pytest.mark.parametrize("seed", range(20))
def test_random_bundles(seed: int) -> None:
    draw = random.Random(seed)
    model = tiny.llama(len(WORDS), layers=1 + seed % 2, seed=seed)
    if seed % 3 == 0:
        for layer in model.model.layers:
            # Nearer to what models do: variants mostly say the same.
            layer.self_attn.o_proj.weight.data *= 0.05
    lm = tiny.host(model, WORDS, batch_size=draw.choice([1, 2, 3, 5, 8, 16]))
    stops = [
        "".join(draw.choices("abcdefghe \n", k=draw.choice([1, 1, 2]))) for _ in range(draw.randrange(4))
    ]
    kwargs = {**GEN, "until": stops, "max_gen_toks": draw.choice([1, 2, 5, 14])}

    def text(begin: str) -> str:
        return begin + "".join(draw.choices(_PIECES, k=draw.randrange(1, 9)))

    documents: list[list[Prompt]] = []
    for _ in range(draw.randrange(1, 5)):
        begin = draw.choice(["", "Question: Name a river\n", "What is"])
        texts = [text(begin) for _ in range(draw.randrange(1, 5))]
        texts += draw.sample(texts, draw.randrange(2))
        if documents and draw.random() < 0.3:
            texts[0] = documents[-1][0].text
        made = document(texts, kwargs)
        made += [Prompt(p[0].text, "control", kwargs) for p in documents if draw.random() < 0.6]
        if draw.random() < 0.5:
            made.append(Prompt(texts[0], "repeat", kwargs, repeat=1))
        documents.append(made)
    equal(lm, documents, one_by_one=True)


def test_prompts_of_the_shared_list() -> None:
    equal(lm_of(4), [document(PROMPTS, GEN), document(tuple(reversed(PROMPTS)), GEN)])
