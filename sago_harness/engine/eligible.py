"""May a model, with these generation arguments, take the fast path? If not, why not.

The fast path verifies greedy decoding and keeps keys and values of its own. Whatever could
make greedy decoding choose other than the most likely token, or needs another kind of cache,
takes the plain path; so does what is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import GenerationConfig

from sago_harness.backends.blocks import NoBlocks, attention_of, find_blocks, text_config

#: Settings of a model's generation defaults, or of a request, that greedy decoding does not read.
_HARMLESS = frozenset(
    {
        *("do_sample", "temperature", "top_k", "top_p", "min_p", "typical_p", "top_h"),
        *("epsilon_cutoff", "eta_cutoff", "renormalize_logits", "use_cache"),
        *("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"),
        *("max_length", "max_new_tokens", "transformers_version", "return_dict_in_generate"),
        *("output_attentions", "output_hidden_states", "output_scores", "output_logits"),
        # Taken into account (penalty.py).
        "repetition_penalty",
        *("early_stopping", "length_penalty", "num_beams", "num_return_sequences", "disable_compile"),
    }
)

#: Settings of which only 1 is harmless.
_ONE = (
    "num_beams",
    "num_return_sequences",
    "encoder_repetition_penalty",
    "guidance_scale",
)

#: Position codes that change with the longest row of a batch.
_LENGTH_BOUND = ("dynamic", "longrope")


def reason_against(lm: Any, inner: Any, gen_kwargs: Mapping[str, Any], longest: int) -> str:
    """Return why the plain path is taken, "" if the fast one can be.

    Parameters
    ----------
    lm : HFLM
    inner : Module
        The causal language model, an adapter's wrapper taken off.
    gen_kwargs : mapping
        As the host reads them, limit and stop strings apart.
    longest : int
        Tokens of the longest prompt with a response of full length: within a sliding window, attention
        is what it is without.

    Returns
    -------
    str
        Short, for one line of the log.
    """
    if getattr(lm, "sago_engine", "auto") == "plain":
        return "engine=plain"
    if lm.backend != "causal":
        return "an encoder-decoder model"
    return _generation(inner, gen_kwargs) or _architecture(inner, longest)


def _generation(inner: Any, gen_kwargs: Mapping[str, Any]) -> str:
    if gen_kwargs.get("do_sample"):
        return "sampling"
    if gen_kwargs.get("eos_token_id") is not None:
        return "eos_token_id in the generation arguments"
    defaults = inner.generation_config.to_dict()
    plain = GenerationConfig().to_dict()
    changed = {key: value for key, value in defaults.items() if value is not None and value != plain.get(key)}
    for key, value in {**changed, **gen_kwargs}.items():
        if key in _ONE and value not in (None, 1):
            return f"{key}={value}"
        if (
            key not in (*_HARMLESS, *_ONE)
            and value
            and not key.startswith(("_", "assistant", "num_assistant"))
        ):
            return f"{key} in the generation settings"
    return ""


def _architecture(inner: Any, longest: int) -> str:
    config = inner.config
    text = text_config(config)
    if getattr(text, "_attn_implementation", None) != "sdpa":
        return f"attention {getattr(text, '_attn_implementation', None)!r} (sdpa is needed)"
    if reason := _layers(text, longest):
        return reason
    ropes = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {}
    bound = sorted(_rope_kinds(ropes) & set(_LENGTH_BOUND))
    if bound:
        return f"position codes of kind {', '.join(bound)}"
    if inner.get_output_embeddings() is None:
        return "no output layer that could be found"
    try:
        attention_of(find_blocks(inner)[0])
    except NoBlocks as error:
        return str(error)
    return ""


def _layers(text: Any, longest: int) -> str:
    """Return why layers of these kinds are in the way."""
    kinds = set(getattr(text, "layer_types", None) or ())
    others = sorted(map(str, kinds - {"full_attention", "sliding_attention"}))
    if others:
        return f"layers of kind {', '.join(others)}"
    window = getattr(text, "sliding_window", None)
    slides = "sliding_attention" in kinds if kinds else window and getattr(text, "use_sliding_window", True)
    if slides and longest > (window or 0):
        return f"a sliding window of {window or 0} tokens, shorter than a prompt with its response"
    return ""


def _rope_kinds(ropes: Any) -> set[str]:
    """Return the kinds of position codes: one for all layers, or one a kind of layer."""
    if not isinstance(ropes, Mapping):
        return set()
    kind = ropes.get("rope_type", ropes.get("type"))
    if kind is not None:
        return {str(kind)}
    return {found for part in ropes.values() for found in _rope_kinds(part)}
