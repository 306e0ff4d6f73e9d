"""From a GGUF file to an ordinary model folder (config, safetensors, tokenizer).

Reading a GGUF file takes transformers 20 to 50 s, and the object it returns
refuses to be saved. Doing it once makes every later start a matter of a second.
"""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import SagoError

_PROBE = (5, 17, 256, 1023, 31, 2, 700, 64)
"""Token ids on which the saved model must agree with the one read; any valid ids do."""


def gguf_to_folder(gguf: Path, out: Path, *, pre_tokenizer: str | None = None) -> dict[str, str]:
    """Convert a GGUF language model to a folder that `from_pretrained` takes.

    Weights are de-quantised to float32. The tokenizer is saved with its special
    tokens and, where the file has one, its chat template. The folder is read
    back and must give the same logits bit for bit. It is written so that
    transformers 4 and 5 read the same model from it, whichever wrote it.

    Parameters
    ----------
    gguf : pathlib.Path
        The file to read.
    out : pathlib.Path
        The folder to write; made if missing.
    pre_tokenizer : {"smollm"} or None
        ``"smollm"``: single digits are split off before the byte-level split.
        The GGUF file names this rule (``tokenizer.ggml.pre``), but transformers'
        reader sets the plain byte-level split, which gives other tokens for
        blank lines or several blanks before a number. Source of the rule:
        llama.cpp's ``smollm`` pre-tokenizer (each digit first, then GPT-2's split).

    Returns
    -------
    dict of str to str
        Versions of the packages that did the work.

    Raises
    ------
    SagoError
        transformers is older than 5, or the saved folder does not give the same logits as the file.
    ValueError
        ``pre_tokenizer`` is not a known rule.

    Notes
    -----
    Memory: about twice the float32 weights plus the GGUF file (2.6 GB for
    gemma3-270m); the first model is let go before the folder is read back.
    """
    if pre_tokenizer not in (None, "smollm"):
        raise ValueError(f"unknown pre-tokenizer {pre_tokenizer!r}")
    check_reader()
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    with _no_bars():
        # First, since reading a large vocabulary needs as much memory for a while as the weights do.
        tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **source)
        if pre_tokenizer == "smollm":
            _split_digits(tokenizer)

        model = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **source).eval()
        before = _logits(model)
        # save_pretrained refuses while the model believes itself quantised.
        model.hf_quantizer = None
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(out)
        # safetensors writes files that only their owner can read; a shared cache needs the usual mode.
        for weights in out.glob("*.safetensors"):
            shutil.copymode(out / "config.json", weights)
        tokenizer.model_max_length = int(model.config.max_position_embeddings)
        tokenizer.save_pretrained(out)
        _write_for_both(out)
        del model, tokenizer
        gc.collect()

        again = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32, local_files_only=True).eval()
        if not torch.equal(before, _logits(again)):
            raise SagoError(
                f"conversion of {gguf.name} failed: the saved model does not give the same logits; "
                f"try another version of transformers (this is {version('transformers')})"
            )
    names = ("transformers", "torch", "safetensors", "gguf")
    return {name: version(name) for name in names}


def check_reader() -> None:
    """Refuse a transformers that reads a GGUF file's tokenizer wrongly.

    Version 4 (seen with 4.56) takes the beginning-of-sequence token for the end of sequence and
    puts it before every text, whatever the file says; the logits do not show it.

    Raises
    ------
    SagoError
        transformers is older than 5.
    """
    found = version("transformers")
    if int(found.partition(".")[0]) < 5:
        raise SagoError(
            f"converting a GGUF file needs transformers 5 (this is {found}, which reads its tokenizer "
            "wrongly): run `sago models get` once with transformers 5, the folder then works with both"
        )


def _write_for_both(folder: Path) -> None:
    """Add to the settings what the other major version of transformers looks for."""
    config = _settings(folder / "config.json")
    rope = config.get("rope_parameters")
    if isinstance(rope, dict) and "rope_theta" in rope:
        # Version 4 reads it here alone, and takes 10000 without a word where it is missing.
        config["rope_theta"] = rope["rope_theta"]
        _write_settings(folder / "config.json", config)
    words = _settings(folder / "tokenizer_config.json")
    # The one class that either version takes tokenizer.json as it is with; version 4 has no
    # TokenizersBackend, and its other classes put a split of their own in place of the file's.
    words["tokenizer_class"] = "PreTrainedTokenizerFast"
    _write_settings(folder / "tokenizer_config.json", words)


def _settings(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _write_settings(path: Path, settings: dict[str, Any]) -> None:
    text = json.dumps(settings, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def _logits(model: Any) -> Any:
    import torch

    ids = torch.tensor([_PROBE]) % int(model.config.vocab_size)
    with torch.no_grad():
        return model(ids).logits


def _split_digits(tokenizer: Any) -> None:
    from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence

    tokenizer.backend_tokenizer.pre_tokenizer = Sequence(
        [Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)]
    )


@contextmanager
def _no_bars() -> Iterator[None]:
    """Turn transformers' own progress bars off: the caller says what is going on."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
