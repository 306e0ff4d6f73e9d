"""Tiny random models with a real tokenizer, built on the spot: no download, seconds to run."""

from __future__ import annotations

import json
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
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="<pad>", model_max_length=10**30
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
