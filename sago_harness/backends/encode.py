"""Prompts as token ids, and the generation arguments as the host reads them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils import handle_stop_sequences, has_bos_prefix, normalize_gen_kwargs

from sago_harness.data import Prompt, Wanted
from sago_harness.errors import SagoError


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt as token ids, as sent."""

    ids: tuple[int, ...]
    truncated: bool
    span: tuple[int, ...]  # columns of the varied span, counted from the first id
    span_reason: str = ""


class PromptEncoder:
    """Tokenises prompts as one of the host's models sends them.

    Parameters
    ----------
    lm : HFLM
    """

    def __init__(self, lm: HFLM) -> None:
        self._lm = lm
        self._seq2seq = lm.backend == "seq2seq"

    def encode(self, prompt: Prompt, wanted: Wanted) -> Encoded:
        """Tokenise as the host's ``generate_until`` does, one prompt at a time."""
        text = prompt.text
        kwargs: dict[str, Any] = {}
        if not self._seq2seq:
            if has_bos_prefix(text, getattr(self._lm.tokenizer, "bos_token", None)):
                kwargs["add_special_tokens"] = False
            elif self._lm.add_bos_token is not None:
                kwargs["add_special_tokens"] = self._lm.add_bos_token
        if self._lm.truncation:
            kwargs["truncation"] = True
        # No model reads nothing: an empty prompt is what the host begins any text with.
        ids: list[int] = self._lm.tokenizer(text, **kwargs)["input_ids"] or [self._lm.prefix_token_id]
        room = self._lm.max_length
        if not self._seq2seq:
            room -= self.limits(prompt)[1]
        kept = ids[-room:] if len(ids) > room else ids
        span: tuple[int, ...] = ()
        reason = ""
        if wanted.pooling == "span":
            span, reason = self._span_columns(prompt, kwargs, ids, len(ids) - len(kept))
        return Encoded(tuple(kept), len(kept) < len(ids), span, reason)

    def _span_columns(
        self, prompt: Prompt, kwargs: dict[str, Any], ids: list[int], dropped: int
    ) -> tuple[tuple[int, ...], str]:
        """Find the tokens that touch the varied span (its last occurrence in the prompt)."""
        start = prompt.text.rfind(prompt.span) if prompt.span else -1
        if start < 0:
            return (), "span_not_found"
        if not getattr(self._lm.tokenizer, "is_fast", False):
            return (), "span_needs_fast_tokenizer"
        encoding = self._lm.tokenizer(prompt.text, return_offsets_mapping=True, **kwargs)
        if encoding["input_ids"] != ids:
            return (), "span_not_found"
        end = start + len(prompt.span)
        columns = [
            k - dropped
            for k, (a, b) in enumerate(encoding["offset_mapping"])
            if a < end and b > start and b > a and k >= dropped
        ]
        return tuple(columns), "" if columns else "span_not_found"

    def limits(self, prompt: Prompt) -> tuple[dict[str, Any], int, list[str]]:
        """Return the host's reading of the generation arguments: rest, token limit, stop strings."""
        kwargs = dict(normalize_gen_kwargs(dict(prompt.gen_kwargs), self._lm.max_gen_toks))
        eos = self._lm.tok_decode(self._lm.eot_token_id, skip_special_tokens=False)
        stops = handle_stop_sequences(kwargs.pop("until", None), eos=eos)
        limit = int(kwargs.pop("max_gen_toks"))
        if not self._seq2seq and limit >= self._lm.max_length:
            raise SagoError(
                f"max_gen_toks={limit} in the generation arguments leaves no room for a prompt in the "
                f"model's context of {self._lm.max_length} tokens: ask for fewer"
            )
        return kwargs, limit, stops


def request_key(prompt: Prompt, code: Encoded) -> str:
    """Hash of what makes two requests identical: ids, generation arguments, repeat."""
    content = json.dumps(
        [list(code.ids), dict(prompt.gen_kwargs), prompt.repeat], sort_keys=True, default=str
    )
    return hashlib.sha256(content.encode()).hexdigest()


def digest(ids: Sequence[int]) -> str:
    """Short hash of token ids."""
    return hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()[:16]


def draw_seed(seed: int, keys: Sequence[str]) -> int:
    """Seed of a sampling call: other requests draw otherwise, in whatever order bundles come.

    Examples
    --------
    >>> draw_seed(1, ["a", "b"]) == draw_seed(1, ["b", "a"]), draw_seed(1, ["a"]) == draw_seed(2, ["a"])
    (True, False)
    """
    content = json.dumps([seed, sorted(keys)])
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[:7], "big")
