"""The plain path for Hugging Face models: stock generation plus one forward pass a prompt.

Straightforward on purpose. Generation is the library's own ``generate``, under the host's
stop criteria, so the texts are those of stock ``hf``. One forward pass over prompt +
canonical response then gives the forced log-probabilities and entropies and, through
hooks, the hidden states. Faster paths are tested against this one.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from accelerate.utils.memory import should_reduce_batch_size
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils import handle_stop_sequences, has_bos_prefix, normalize_gen_kwargs
from lm_eval.models.utils_hf import stop_sequences_criteria

from sago_harness.axes.confidence import FORCED_TOKENS
from sago_harness.backends.base import Backend, Progress, Prompt, Response, Wanted
from sago_harness.backends.blocks import NoBlocks, Pool, collecting
from sago_harness.backends.cut import Cut, cut_response
from sago_harness.backends.forced import Forced, divergence, reduce_row
from sago_harness.backends.own import OwnSignals
from sago_harness.errors import SagoError
from sago_harness.logs import warn_once

log = logging.getLogger(__name__)

#: Bytes of float32 logits that one forward pass may make; bounds memory, not results.
LOGITS_BUDGET = 64 * 2**20

#: Prompts of one window of documents: what is held before documents are handed on.
WINDOW = 256

#: Bytes of canonical distributions that one window may hold, for the divergences.
HELD_BUDGET = 256 * 2**20


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt as token ids, as sent."""

    ids: tuple[int, ...]
    truncated: bool
    span: tuple[int, ...]  # columns of the varied span, counted from the first id
    span_reason: str = ""


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated response."""

    cut: Cut
    kept_ids: tuple[int, ...]
    own_logprob: npt.NDArray[np.float32] | None
    own_entropy: npt.NDArray[np.float32] | None
    full: bool  # ran into the token limit


class HFBackend(Backend):
    """All signals of an ``HFLM``, weights shared.

    Parameters
    ----------
    lm : HFLM
        The host's model (stock ``hf`` or a subclass).

    Notes
    -----
    ``lm.sago_padding_side`` (``"left"`` by default) is the side that the forward pass pads
    on; generation always pads left.
    """

    signals: ClassVar[tuple[str, ...]] = ("text", "own", "forced", "hidden")

    def __init__(self, lm: HFLM) -> None:
        self.lm = lm
        self.model = lm.model
        self.seq2seq = lm.backend == "seq2seq"
        self.padding_side: str = getattr(lm, "sago_padding_side", "left")
        self.batch_size = lm.max_batch_size if lm.batch_size == "auto" else int(lm.batch_size)
        parameters = inspect.signature(self._inner().forward).parameters
        self._takes = {name for name in ("position_ids", "logits_to_keep", "use_cache") if name in parameters}

    @classmethod
    def accepts(cls, lm: Any) -> bool:
        """Any Hugging Face text model of the host; multimodal ones give text only.

        So do adapters that set virtual tokens before the prompt: generation and a forward pass
        place them differently, so that forced values would not be those of the generated text.
        """
        if not isinstance(lm, HFLM) or getattr(lm, "MULTIMODAL", False):
            return False
        adapter = getattr(lm.model, "active_peft_config", None)
        return not getattr(adapter, "is_prompt_learning", False)

    def _inner(self) -> Any:
        """The module whose ``generate`` runs: under an adapter, the base model."""
        return self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model

    def describe(self) -> dict[str, Any]:
        """Return what the numbers depend on beside the weights."""
        config = self.model.config
        return {
            "backend": "hf",
            "class": type(self._inner()).__name__,
            "dtype": str(getattr(self.model, "dtype", "")).removeprefix("torch."),
            "attention": str(getattr(config, "_attn_implementation", "")),
            "batch_size": str(self.lm.batch_size),
            "padding_side": self.padding_side,
            "device": str(self.lm.device.type),
            "mixed_precision": str(self.lm.mixed_precision_dtype or ""),
            "quantised": getattr(config, "quantization_config", None) is not None,
            "adapter": str(self.lm.peft or ""),
            "revision": str(self.lm.revision or ""),
        }

    # ------------------------------------------------------------------ the flow

    def run(
        self, documents: Sequence[Sequence[Prompt]], wanted: Wanted, progress: Progress
    ) -> Iterator[tuple[int, list[Response]]]:
        """Generate once per distinct request, then force the canonical response everywhere."""
        encoded = [[self._encode(prompt, wanted) for prompt in prompts] for prompts in documents]
        generated = self._generate_all(documents, encoded, wanted, progress)
        # Longest first: an out-of-memory batch shows at once, and padding is little.
        order = sorted(range(len(documents)), key=lambda d: -max((len(e.ids) for e in encoded[d]), default=0))
        most = max(1, HELD_BUDGET // (4 * FORCED_TOKENS * self._vocabulary()))
        window: list[int] = []
        for position, index in enumerate(order):
            window.append(index)
            last = position == len(order) - 1
            if last or len(window) >= most or sum(len(documents[d]) for d in window) >= WINDOW:
                yield from self._force_window(window, documents, encoded, generated, wanted, progress)
                window = []

    # ------------------------------------------------------------------ prompts

    def _encode(self, prompt: Prompt, wanted: Wanted) -> Encoded:
        """Tokenise as the host's ``generate_until`` does, one prompt at a time."""
        text = prompt.text
        kwargs: dict[str, Any] = {}
        if not self.seq2seq:
            if has_bos_prefix(text, getattr(self.lm.tokenizer, "bos_token", None)):
                kwargs["add_special_tokens"] = False
            elif self.lm.add_bos_token is not None:
                kwargs["add_special_tokens"] = self.lm.add_bos_token
        if self.lm.truncation:
            kwargs["truncation"] = True
        # No model reads nothing: an empty prompt is what the host begins any text with.
        ids: list[int] = self.lm.tokenizer(text, **kwargs)["input_ids"] or [self.lm.prefix_token_id]
        room = self.lm.max_length
        if not self.seq2seq:
            room -= self._limits(prompt)[1]
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
        if not getattr(self.lm.tokenizer, "is_fast", False):
            return (), "span_needs_fast_tokenizer"
        encoding = self.lm.tokenizer(prompt.text, return_offsets_mapping=True, **kwargs)
        if encoding["input_ids"] != ids:
            return (), "span_not_found"
        end = start + len(prompt.span)
        columns = [
            k - dropped
            for k, (a, b) in enumerate(encoding["offset_mapping"])
            if a < end and b > start and b > a and k >= dropped
        ]
        return tuple(columns), "" if columns else "span_not_found"

    def _limits(self, prompt: Prompt) -> tuple[dict[str, Any], int, list[str]]:
        """Return the host's reading of the generation arguments: rest, token limit, stop strings."""
        kwargs = dict(normalize_gen_kwargs(dict(prompt.gen_kwargs), self.lm.max_gen_toks))
        eos = self.lm.tok_decode(self.lm.eot_token_id, skip_special_tokens=False)
        stops = handle_stop_sequences(kwargs.pop("until", None), eos=eos)
        limit = int(kwargs.pop("max_gen_toks"))
        if not self.seq2seq and limit >= self.lm.max_length:
            raise SagoError(
                f"max_gen_toks={limit} in the generation arguments leaves no room for a prompt in the "
                f"model's context of {self.lm.max_length} tokens: ask for fewer"
            )
        return kwargs, limit, stops

    # ------------------------------------------------------------------ generation

    def _generate_all(
        self,
        documents: Sequence[Sequence[Prompt]],
        encoded: Sequence[Sequence[Encoded]],
        wanted: Wanted,
        progress: Progress,
    ) -> dict[str, Generated]:
        """Generate every distinct request once; repeats apart, in other batches."""
        requests: dict[str, tuple[Prompt, Encoded]] = {}
        waiting: dict[str, int] = {}
        for prompts, codes in zip(documents, encoded, strict=True):
            for prompt, code in zip(prompts, codes, strict=True):
                key = request_key(prompt, code)
                requests.setdefault(key, (prompt, code))
                waiting[key] = waiting.get(key, 0) + 1
        done: dict[str, Generated] = {}
        for repeats in (False, True):
            groups: dict[str, list[str]] = {}
            for key, (prompt, _) in requests.items():
                if (prompt.repeat > 0) == repeats:
                    kwargs = json.dumps(dict(prompt.gen_kwargs), sort_keys=True, default=str)
                    groups.setdefault(kwargs, []).append(key)
            for keys in groups.values():
                keys.sort(key=lambda k: (-len(requests[k][1].ids), k))
                if repeats:
                    # Other neighbours and other draws than the first time: what repeats are for.
                    random.Random(wanted.seed + 1).shuffle(keys)
                if requests[keys[0]][0].gen_kwargs.get("do_sample", True):
                    torch.manual_seed(wanted.seed + repeats)
                work = [requests[key] for key in keys]

                def tell(first: int, count: int, keys: list[str] = keys) -> None:
                    progress(sum(waiting[key] for key in keys[first : first + count]), "generate")

                results = self._in_batches(work, self._generate_batch, self.batch_size, tell)
                done.update(zip(keys, results, strict=True))
        return done

    def _in_batches(
        self,
        work: Sequence[Any],
        call: Callable[[Sequence[Any]], list[Any]],
        size: int,
        tell: Callable[[int, int], None],
    ) -> list[Any]:
        """Call over slices of ``work``; an out-of-memory slice is halved and tried again."""
        results: list[Any] = []
        at = 0
        while at < len(work):
            part = work[at : at + size]
            try:
                # As the host does: inference mode would mark what the model keeps between calls.
                with torch.no_grad(), self._autocast():
                    results.extend(call(part))
            except Exception as error:
                # Only memory is worth another try, and only while there is something to halve.
                if len(part) == 1 or not _out_of_memory(error):
                    raise
                size = len(part) // 2
            else:
                tell(at, len(part))
                at += len(part)
                continue
            # Out here the error is gone, and with it the tensors that its traceback held.
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            log.warning("out of memory: going on with batches of %d", size)
        return results

    def _autocast(self) -> torch.autocast:
        dtype = self.lm.mixed_precision_dtype
        return torch.autocast(device_type=self.lm.device.type, dtype=dtype, enabled=dtype is not None)

    def _generate_batch(self, part: Sequence[tuple[Prompt, Encoded]]) -> list[Generated]:
        kwargs, limit, stops = self._limits(part[0][0])
        ids, mask = self._pad([code.ids for _, code in part], "right" if self.seq2seq else "left")
        width = 1 if self.seq2seq else ids.shape[1]
        if kwargs.get("temperature") == 0.0 and not kwargs.get("do_sample"):
            kwargs.pop("temperature")
        if kwargs.pop("max_length", None) is not None:
            warn_once("`max_length` in the generation arguments is ignored: use `max_gen_toks`")
        defaults = self._inner().generation_config
        beams = kwargs.get("num_beams", defaults.num_beams) or 1
        if kwargs.get("do_sample"):
            # A NaN would end the run in the draw; finite logits are left as they are.
            kwargs.setdefault("remove_invalid_values", True)
        collector = OwnSignals(self._inner()) if beams == 1 else None
        with collector or nullcontext():
            sequences = self.model.generate(
                input_ids=ids,
                attention_mask=mask,
                # As the host says it; a model's own max_new_tokens would win over it.
                max_length=width + limit,
                max_new_tokens=None,
                stopping_criteria=stop_sequences_criteria(self.lm.tokenizer, stops, width, len(part)),
                pad_token_id=self.lm.tokenizer.pad_token_id,
                use_cache=True,
                **kwargs,
            )
        new = sequences[:, width:].tolist()
        logprob, entropy = collector.values(sequences) if collector else (None, None)
        results = []
        for row, tokens in enumerate(new):
            if self.lm.think_end_token is not None:
                tokens = self._stopped_alone(tokens, stops)
            end = self._end(tokens)
            # The host reads the end-of-sequence as text too, where it is no special token.
            cut = cut_response(tokens[: end + 1], self._decode, stops, self.lm.think_end_token)
            kept = min(cut.kept, end)
            results.append(
                Generated(
                    cut,
                    tuple(tokens[:kept]),
                    None if logprob is None else logprob[row, :kept],
                    None if entropy is None else entropy[row, :kept],
                    full=end >= limit and kept == end,
                )
            )
        return results

    def _decode(self, ids: Sequence[int]) -> str:
        return self.lm.tok_decode(list(ids))  # type: ignore[no-any-return]

    def _end(self, tokens: list[int]) -> int:
        """Find the end-of-sequence; what follows it is padding, or text that the batch went on with."""
        ends = self._inner().generation_config.eos_token_id
        stop = set(ends if isinstance(ends, list) else [ends]) | {self.lm.eot_token_id}
        return next((at for at, token in enumerate(tokens) if token in stop), len(tokens))

    def _stopped_alone(self, tokens: list[int], stops: list[str]) -> list[int]:
        """Drop what was generated after a stop string while other rows of the batch went on.

        Without reasoning the cut drops it. With reasoning it could hold a later end of
        reasoning, and the response would depend on the batch.
        """
        alone = stop_sequences_criteria(self.lm.tokenizer, stops, 0, 1)
        for count in range(1, len(tokens)):
            row = torch.tensor([tokens[:count]])
            if any(criterion(row, None) for criterion in alone):
                return tokens[:count]
        return tokens

    # ------------------------------------------------------------------ forced pass

    def _force_window(
        self,
        window: Sequence[int],
        documents: Sequence[Sequence[Prompt]],
        encoded: Sequence[Sequence[Encoded]],
        generated: dict[str, Generated],
        wanted: Wanted,
        progress: Progress,
    ) -> Iterator[tuple[int, list[Response]]]:
        responses: dict[tuple[int, int], Response] = {}
        rows: list[tuple[int, int]] = []
        repeats: list[tuple[int, int]] = []
        canonical: dict[int, tuple[int, ...]] = {}
        for d in window:
            for p, prompt in enumerate(documents[d]):
                code = encoded[d][p]
                responses[d, p] = self._response(generated[request_key(prompt, code)], code)
                (repeats if prompt.repeat else rows).append((d, p))
            canonical[d] = responses[d, 0].kept_ids
        reference: dict[int, torch.Tensor] = {}
        # Repeats in batches of their own: other neighbours than the canonical prompt had.
        for part in (rows, repeats):
            tokens = self._logit_columns([(encoded[d][p], canonical[d]) for d, p in part])
            size = max(1, min(self.batch_size, LOGITS_BUDGET // (4 * tokens * self._vocabulary())))

            def force(batch: Sequence[tuple[int, int]]) -> list[None]:
                for (d, p), found in zip(
                    batch,
                    self._forward([(encoded[d][p], canonical[d]) for d, p in batch], wanted),
                    strict=True,
                ):
                    self._keep_forced(responses[d, p], found, reference, d, is_canonical=p == 0)
                return [None] * len(batch)

            self._in_batches(part, force, size, lambda _first, count: progress(count, "force"))
        for d in window:
            yield d, [responses[d, p] for p in range(len(documents[d]))]

    def _response(self, made: Generated, code: Encoded) -> Response:
        flags = []
        if made.full:
            flags.append("truncated")
        if made.cut.straddles:
            flags.append("straddle")
        if code.truncated:
            flags.append("prompt_truncated")
        response = Response(
            text=made.cut.text,
            kept_ids=made.kept_ids,
            own_logprob=made.own_logprob,
            own_entropy=made.own_entropy,
            prompt_ids_digest=digest(code.ids),
            prompt_tokens=len(code.ids),
            flags=tuple(flags),
        )
        if made.own_logprob is None or made.own_entropy is None:
            response.reasons["own"] = "own_beams"
        elif not (np.all(np.isfinite(made.own_logprob)) and np.all(np.isfinite(made.own_entropy))):
            response.own_logprob = response.own_entropy = None
            response.reasons["own"] = "nan_logits"
        if code.span_reason:
            response.reasons["hidden"] = code.span_reason
        return response

    def _keep_forced(
        self,
        response: Response,
        found: Forced,
        reference: dict[int, torch.Tensor],
        document: int,
        *,
        is_canonical: bool,
    ) -> None:
        """Reduce one row's distributions to the numbers that are kept."""
        if found.hidden is None:
            response.reasons.setdefault("hidden", found.hidden_reason)
        elif not np.all(np.isfinite(found.hidden)):
            response.reasons.setdefault("hidden", "nan_hidden")
        else:
            response.hidden = found.hidden
        if is_canonical:
            reference[document] = found.head
        if found.logprob.size == 0:
            response.reasons["forced"] = "empty_canonical"
            return
        if not (np.all(np.isfinite(found.logprob)) and np.all(np.isfinite(found.entropy))):
            response.reasons["forced"] = "nan_logits"
            return
        response.forced_logprob, response.forced_entropy = found.logprob, found.entropy
        if document in reference:
            response.forced_jsd = divergence(found.head, reference[document])

    def _vocabulary(self) -> int:
        config = self.model.config
        text = config.get_text_config() if hasattr(config, "get_text_config") else config
        return int(getattr(text, "vocab_size", len(self.lm.tokenizer)))

    def _logit_columns(self, rows: Sequence[tuple[Encoded, tuple[int, ...]]]) -> int:
        """Return for how many positions a row the forced pass makes logits, at most."""
        forced = max((len(canon) for _, canon in rows), default=0)
        if self.seq2seq:
            return max(1, forced)
        prompts = [len(code.ids) for code, _ in rows] or [0]
        if "logits_to_keep" not in self._takes:
            return max(1, forced + max(prompts))
        # Padded on the right, responses begin as far apart as their prompts are long.
        apart = max(prompts) - min(prompts) if self.padding_side == "right" else 0
        return max(1, forced + apart)

    def _forward(self, rows: Sequence[tuple[Encoded, tuple[int, ...]]], wanted: Wanted) -> list[Forced]:
        """One forward pass over prompt + canonical ids, reduced row by row."""
        if self.seq2seq:
            return self._forward_seq2seq(rows, wanted)
        # The last canonical token predicts nothing that is asked for.
        sequences = [(*code.ids, *canon[:-1]) for code, canon in rows]
        ids, mask = self._pad(sequences, self.padding_side)
        width = ids.shape[1]
        starts = [width - len(s) if self.padding_side == "left" else 0 for s in sequences]
        last = [start + len(code.ids) - 1 for start, (code, _) in zip(starts, rows, strict=True)]
        kwargs: dict[str, Any] = {}
        if "position_ids" in self._takes:
            kwargs["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
        if "use_cache" in self._takes:
            kwargs["use_cache"] = False
        first = 0
        if "logits_to_keep" in self._takes:
            first = min(last)
            kwargs["logits_to_keep"] = width - first
        columns = [
            [start + c for c in code.span] if wanted.pooling == "span" else [end]
            for start, end, (code, _) in zip(starts, last, rows, strict=True)
        ]
        states, reason, logits = self._with_states(
            columns, wanted, lambda: self.model(input_ids=ids, attention_mask=mask, **kwargs).logits
        )
        found = []
        for row, (_, canon) in enumerate(rows):
            at = last[row] - first
            found.append(reduce_row(logits[row, at : at + len(canon)], canon, _row(states, row), reason))
        return found

    def _forward_seq2seq(
        self, rows: Sequence[tuple[Encoded, tuple[int, ...]]], wanted: Wanted
    ) -> list[Forced]:
        """The prompt is read by the encoder, the canonical response forced in the decoder."""
        ids, mask = self._pad([code.ids for code, _ in rows], "right")
        begin = self._decoder_start()
        decoder, decoder_mask = self._pad([(begin, *canon[:-1]) for _, canon in rows], "right")
        columns = [list(code.span) if wanted.pooling == "span" else [len(code.ids) - 1] for code, _ in rows]
        states, reason, logits = self._with_states(
            columns,
            wanted,
            lambda: (
                self.model(
                    input_ids=ids,
                    attention_mask=mask,
                    decoder_input_ids=decoder,
                    decoder_attention_mask=decoder_mask,
                ).logits
            ),
        )
        return [
            reduce_row(logits[row, : len(canon)], canon, _row(states, row), reason)
            for row, (_, canon) in enumerate(rows)
        ]

    def _decoder_start(self) -> int:
        """Return the id that the library's ``generate`` begins the decoder with."""
        defaults = self._inner().generation_config
        begin = defaults.decoder_start_token_id
        return int(defaults.bos_token_id if begin is None else begin)

    def _with_states(
        self, columns: Sequence[Sequence[int]], wanted: Wanted, call: Callable[[], torch.Tensor]
    ) -> tuple[npt.NDArray[np.float32] | None, str, torch.Tensor]:
        """Run a forward pass with the state hooks on, if the model has blocks to hook."""
        pool = Pool(columns)
        try:
            with collecting(self.model, pool, wanted.layers):
                logits = call()
        except NoBlocks as error:
            warn_once(f"no hidden states: {error}")
            return None, "no_hidden_states", call()
        return pool.states(), "", logits

    def _pad(self, sequences: Sequence[Sequence[int]], side: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Pad to one width, the mask apart: a pad id may be a real token's id as well."""
        pad = self.lm.tokenizer.pad_token_id or 0
        width = max(1, *(len(s) for s in sequences))
        ids = torch.full((len(sequences), width), pad, dtype=torch.long)
        mask = torch.zeros((len(sequences), width), dtype=torch.long)
        for row, sequence in enumerate(sequences):
            place = slice(width - len(sequence), width) if side == "left" else slice(0, len(sequence))
            ids[row, place] = torch.tensor(list(sequence), dtype=torch.long)
            mask[row, place] = 1
        return ids.to(self.lm.device), mask.to(self.lm.device)


def _out_of_memory(error: Exception) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or should_reduce_batch_size(error)


def _row(states: npt.NDArray[np.float32] | None, row: int) -> npt.NDArray[np.float32] | None:
    return None if states is None else states[row]


def request_key(prompt: Prompt, code: Encoded) -> str:
    """Hash of what makes two requests identical: ids, generation arguments, repeat."""
    content = json.dumps(
        [list(code.ids), dict(prompt.gen_kwargs), prompt.repeat], sort_keys=True, default=str
    )
    return hashlib.sha256(content.encode()).hexdigest()


def digest(ids: Sequence[int]) -> str:
    """Short hash of token ids."""
    return hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()[:16]
