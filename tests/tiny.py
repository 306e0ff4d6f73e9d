"""Tiny random models with a real tokenizer, built on the spot: no download, seconds to run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)

#: A template that refuses a system turn, as Gemma's does.
NO_SYSTEM_TEMPLATE = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    + CHAT_TEMPLATE
)


def corpus() -> list[str]:
    """The shipped demo texts: enough to train a small byte-level tokenizer on."""
    folder = Path(__file__).parents[1] / "task_configs" / "demo"
    texts = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            texts.append(str(row.get("question") or row.get("instruction")))
    return texts


def tokenizer(template: str | None = CHAT_TEMPLATE, *, add_bos: bool = False, vocab: int = 512) -> Any:
    """Train a byte-level BPE tokenizer; ``<s>`` begins and ``</s>`` ends a sequence."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE(unk_token=None))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<pad>", "<|user|>", "<|assistant|>", "<|system|>", "<|end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=special,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(corpus(), trainer)
    if add_bos:
        made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=int(1e30),
    )
    if template:
        fast.chat_template = template
    return fast


def llama(vocab: int, *, layers: int = 2, context: int = 512, seed: int = 0) -> Any:
    """Make a random Llama in float32; its weights are large enough to give varied text."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=2,
        tie_word_embeddings=False,
    )
    return LlamaForCausalLM(config).eval()


def save(folder: Path, **options: Any) -> Path:
    """Write a tiny Llama and its tokenizer as a model folder."""
    template = options.pop("template", CHAT_TEMPLATE)
    words = tokenizer(template, add_bos=options.pop("add_bos", False))
    model = llama(len(words), **options)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


_SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.3,
}

#: Name -> model class, config class, what differs from ``_SIZES`` (None = left out), where
#: its final norm is. Windows are shorter than the prompts that the tests use.
ARCHITECTURES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", {}, "model.norm"),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", {}, "model.norm"),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {"head_dim": 8}, "model.norm"),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {"head_dim": 8, "sliding_window": 8}, "model.norm"),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {"head_dim": 8, "sliding_window": 8}, "model.norm"),
    "mistral": ("MistralForCausalLM", "MistralConfig", {"sliding_window": 8}, "model.norm"),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", {}, "model.norm"),
    "gpt2": (
        "GPT2LMHeadModel",
        "GPT2Config",
        {"num_key_value_heads": None, "intermediate_size": None},
        "transformer.ln_f",
    ),
    "gpt_neox": (
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        {"num_key_value_heads": None},
        "gpt_neox.final_layer_norm",
    ),
    "mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        {
            "state_size": 8,
            "num_attention_heads": None,
            "num_key_value_heads": None,
            "max_position_embeddings": None,
            "intermediate_size": None,
        },
        "backbone.norm_f",
    ),
    "t5": (
        "T5ForConditionalGeneration",
        "T5Config",
        {
            "d_model": 32,
            "d_ff": 64,
            "d_kv": 8,
            "num_layers": 3,
            "num_heads": 4,
            "n_positions": 512,
            "initializer_factor": 1.5,
            "decoder_start_token_id": 2,
            **dict.fromkeys(_SIZES),
        },
        "encoder.final_layer_norm",
    ),
}


def architecture(name: str, vocab: int, seed: int = 0) -> Any:
    """Make a random model of one of ``ARCHITECTURES``, in float32."""
    import torch
    import transformers

    model_class, config_class, changes, _ = ARCHITECTURES[name]
    options = {key: value for key, value in {**_SIZES, **changes}.items() if value is not None}
    torch.manual_seed(seed)
    config = getattr(transformers, config_class)(
        vocab_size=vocab, bos_token_id=0, eos_token_id=1, pad_token_id=2, **options
    )
    return getattr(transformers, model_class)(config).eval()


def host(model: Any, words: Any, *, batch_size: int | str = 2, **options: Any) -> Any:
    """Hand a model that is in memory to the host's ``HFLM``."""
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=model, tokenizer=words, batch_size=batch_size, device="cpu", **options)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run tiny models on one thread: more threads only wait for each other on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
