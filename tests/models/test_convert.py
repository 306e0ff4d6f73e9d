"""GGUF to safetensors, on a tiny file written by the gguf library."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from sago_harness.models.convert import gguf_to_folder

torch = pytest.importorskip("torch")
gguf = pytest.importorskip("gguf")
transformers = pytest.importorskip("transformers")

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}{% endfor %}"
)


def byte_alphabet() -> list[str]:
    """Give the 256 printable stand-ins of byte-level BPE, as the tokenizers library lists them."""
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def write_gguf(path: Path, template: str | None) -> None:
    """Write a one-layer Llama with a byte-level vocabulary of a few merges."""
    width, heads, hidden, context = 16, 2, 32, 64
    merged = ["ĊĊ", "ĠĠ", "he"]
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *byte_alphabet(), *merged]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(width // heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3] + [1] * (len(tokens) - 3))
    writer.add_token_merges(["Ċ Ċ", "Ġ Ġ", "h e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    if template is not None:
        writer.add_chat_template(template)
    rng = np.random.default_rng(0)
    shapes = {
        "token_embd.weight": (len(tokens), width),
        "output_norm.weight": (width,),
        "output.weight": (len(tokens), width),
        "blk.0.attn_norm.weight": (width,),
        "blk.0.attn_q.weight": (width, width),
        "blk.0.attn_k.weight": (width, width),
        "blk.0.attn_v.weight": (width, width),
        "blk.0.attn_output.weight": (width, width),
        "blk.0.ffn_norm.weight": (width,),
        "blk.0.ffn_gate.weight": (hidden, width),
        "blk.0.ffn_up.weight": (hidden, width),
        "blk.0.ffn_down.weight": (width, hidden),
    }
    for name, shape in shapes.items():
        writer.add_tensor(name, rng.standard_normal(shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp("gguf")
    write_gguf(base / "tiny.gguf", TEMPLATE)
    versions = gguf_to_folder(base / "tiny.gguf", base / "out", pre_tokenizer="smollm")
    assert versions["transformers"] == transformers.__version__
    return base, base / "out"


def test_same_logits_as_the_file(folders: tuple[Path, Path]) -> None:
    base, out = folders
    ids = torch.arange(40)[None]
    read = transformers.AutoModelForCausalLM.from_pretrained(base, gguf_file="tiny.gguf", dtype=torch.float32)
    saved = transformers.AutoModelForCausalLM.from_pretrained(out)
    with torch.no_grad():
        assert torch.equal(read.eval()(ids).logits, saved.eval()(ids).logits)
    assert saved.dtype == torch.float32


def test_no_trace_of_quantisation(folders: tuple[Path, Path]) -> None:
    config = json.loads((folders[1] / "config.json").read_text())
    assert "quantization_config" not in config
    assert config["model_type"] == "llama"


def test_file_modes_follow_the_umask(folders: tuple[Path, Path]) -> None:
    out = folders[1]
    assert (out / "model.safetensors").stat().st_mode == (out / "config.json").stat().st_mode


def test_special_tokens_and_template(folders: tuple[Path, Path]) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders[1])
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id) == (1, 2, 2)
    assert tokenizer.model_max_length == 64
    chat = [{"role": "user", "content": "Hi"}]
    assert tokenizer.apply_chat_template(chat, tokenize=False) == "<|im_start|>user\nHi"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Derived by hand from the rule: split every digit off, then GPT-2's split of what is left,
        # where a run of white space at the end of a piece stays together.
        ("he 12", ["he", "Ġ", "1", "2"]),
        ("he\n\n1", ["he", "ĊĊ", "1"]),
        ("he  1", ["he", "ĠĠ", "1"]),
        ("he  he", ["he", "Ġ", "Ġ", "he"]),
    ],
)
def test_digits_are_split_first(folders: tuple[Path, Path], text: str, expected: list[str]) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders[1])
    assert tokenizer.convert_ids_to_tokens(tokenizer(text).input_ids) == expected


def test_base_model_has_no_template(tmp_path: Path) -> None:
    write_gguf(tmp_path / "base.gguf", None)
    gguf_to_folder(tmp_path / "base.gguf", tmp_path / "out")
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "out").chat_template is None


def test_unknown_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown pre-tokenizer 'other'"):
        gguf_to_folder(tmp_path / "x.gguf", tmp_path / "out", pre_tokenizer="other")
