"""All signals of Hugging Face models: the fast path where it can be taken, else the plain one.

The plain path is straightforward on purpose. Generation is the library's own ``generate``,
under the host's stop criteria, so the texts are those of stock ``hf``. One forward pass over
prompt + canonical response then gives the forced log-probabilities and entropies and,
through hooks, the hidden states. The fast path (``engine/``) is tested against it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from lm_eval.models.huggingface import HFLM

from sago_harness.axes.confidence import FORCED_TOKENS
from sago_harness.backends.base import Backend, Progress, Prompt, Response, Wanted
from sago_harness.backends.batches import in_batches, out_of_memory
from sago_harness.backends.blocks import text_config
from sago_harness.backends.encode import Encoded, PromptEncoder, digest, draw_seed, request_key
from sago_harness.backends.forced import Forced, divergence
from sago_harness.backends.forward import ForcedPass
from sago_harness.backends.generate import Generated, Generator
from sago_harness.engine.eligible import reason_against
from sago_harness.engine.path import FastPath
from sago_harness.engine.probe import reason_against_passes
from sago_harness.engine.ragged import RaggedPass
from sago_harness.logs import say_once, warn_once

#: Bytes of float32 logits that one forward pass may make; bounds memory, not results.
LOGITS_BUDGET = 64 * 2**20

#: Prompts of one window of documents: what is held before documents are handed on.
WINDOW = 256

#: Bytes of canonical distributions that one window may hold, for the divergences.
HELD_BUDGET = 256 * 2**20


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
        self.padding_side: str = getattr(lm, "sago_padding_side", "left")
        self.batch_size = lm.max_batch_size if lm.batch_size == "auto" else int(lm.batch_size)
        self._encoder = PromptEncoder(lm)
        self._generator = Generator(lm, self._inner(), self._encoder)
        self._forced = ForcedPass(lm, self._inner(), self.padding_side)

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

    def identify(self, prompt: Prompt, wanted: Wanted) -> str:
        """Return a hash of the prompt's token ids, and of the columns that are pooled over."""
        code = self._encoder.encode(prompt, wanted)
        content = json.dumps([code.ids, code.truncated, code.span, code.span_reason])
        return hashlib.sha256(content.encode()).hexdigest()

    # ------------------------------------------------------------------ the flow

    def run(
        self, documents: Sequence[Sequence[Prompt]], wanted: Wanted, progress: Progress
    ) -> Iterator[tuple[int, list[Response]]]:
        """Take the fast path, or generate once per distinct request and then force everywhere."""
        encoded = [[self._encoder.encode(prompt, wanted) for prompt in prompts] for prompts in documents]
        reason = self.reason_for_plain(documents, encoded)
        if not reason:
            yield from self._run_fast(documents, encoded, wanted, progress)
            return
        if reason != "engine=plain":
            say_once(f"the plain path is taken: {reason}")
        yield from self._run_plain(documents, encoded, wanted, progress)

    def _run_plain(
        self,
        documents: Sequence[Sequence[Prompt]],
        encoded: Sequence[Sequence[Encoded]],
        wanted: Wanted,
        progress: Progress,
    ) -> Iterator[tuple[int, list[Response]]]:
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

    # ------------------------------------------------------------------ fast path

    def reason_for_plain(
        self, documents: Sequence[Sequence[Prompt]], encoded: Sequence[Sequence[Encoded]] | None = None
    ) -> str:
        """Return why these prompts take the plain path, "" if they take the fast one."""
        prompts = [prompt for document in documents for prompt in document]
        if not prompts or any(prompt.gen_kwargs != prompts[0].gen_kwargs for prompt in prompts):
            return "prompts with different generation arguments"
        gen_kwargs, limit, _ = self._encoder.limits(prompts[0])
        if limit < 1:
            return "no token to generate"
        if encoded is None:
            encoded = [[self._encoder.encode(prompt, Wanted()) for prompt in prompts]]
        longest = limit + max(len(code.ids) for codes in encoded for code in codes)
        reason = reason_against(self.lm, self._inner(), gen_kwargs, longest)
        if reason:
            return reason
        if getattr(self.lm, "sago_probed", None) is None:
            # Once a model: the next bundle, or task, need not ask again.
            self.lm.sago_probed = reason_against_passes(self.lm, self._passes, self._vocabulary())
        return str(self.lm.sago_probed)

    def _passes(self) -> RaggedPass:
        return RaggedPass(self.lm.model, self._inner(), self.lm.device)

    @functools.cached_property
    def _fast(self) -> FastPath:
        return FastPath(self.lm, self._passes(), self._encoder, self._generator, self.spent)

    def _run_fast(
        self,
        documents: Sequence[Sequence[Prompt]],
        encoded: Sequence[Sequence[Encoded]],
        wanted: Wanted,
        progress: Progress,
    ) -> Iterator[tuple[int, list[Response]]]:
        try:
            found = self._fast.run(documents, encoded, wanted, self._vocabulary(), progress)
        except Exception as error:
            if not out_of_memory(error):
                raise
            found = {}
        if not found:
            # Out here the error is gone, and with it the tensors that its traceback held.
            warn_once("the plain path is taken where memory ran out with one row at a time")
            yield from self._run_plain(documents, encoded, wanted, progress)
            return
        for d, prompts in enumerate(documents):
            responses = []
            for p in range(len(prompts)):
                one = found[d, p]
                response = self._response(one.generated, encoded[d][p])
                self._keep_states(response, one.states, one.states_reason)
                self._keep_values(response, one.logprob, one.entropy)
                if "forced" not in response.reasons:
                    response.forced_jsd = one.jsd
                responses.append(response)
            yield d, responses

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
                    torch.manual_seed(draw_seed(wanted.seed + repeats, keys))
                work = [requests[key] for key in keys]

                def tell(first: int, count: int, keys: list[str] = keys) -> None:
                    progress(sum(waiting[key] for key in keys[first : first + count]), "generate")

                results = self._in_batches(work, self._generator.batch, self.batch_size, tell)
                done.update(zip(keys, results, strict=True))
        return done

    def _in_batches(
        self,
        work: Sequence[Any],
        call: Callable[[Sequence[Any]], list[Any]],
        size: int,
        tell: Callable[[int, int], None],
    ) -> list[Any]:
        dtype = self.lm.mixed_precision_dtype
        return in_batches(work, call, size, tell, device=self.lm.device.type, autocast=dtype)

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
            tokens = self._forced.logit_columns([(encoded[d][p], canonical[d]) for d, p in part])
            size = max(1, min(self.batch_size, LOGITS_BUDGET // (4 * tokens * self._vocabulary())))

            def force(batch: Sequence[tuple[int, int]]) -> list[None]:
                for (d, p), found in zip(
                    batch,
                    self._forced.rows([(encoded[d][p], canonical[d]) for d, p in batch], wanted),
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
            head=made.cut.head,
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
        self._keep_states(response, found.hidden, found.hidden_reason)
        if is_canonical:
            reference[document] = found.head
        self._keep_values(response, found.logprob, found.entropy)
        if "forced" not in response.reasons and document in reference:
            response.forced_jsd = divergence(found.head, reference[document])

    def _keep_states(self, response: Response, states: npt.NDArray[np.float32] | None, reason: str) -> None:
        if states is None:
            response.reasons.setdefault("hidden", reason)
        elif not np.all(np.isfinite(states)):
            response.reasons.setdefault("hidden", "nan_hidden")
        else:
            response.hidden = states

    def _keep_values(
        self, response: Response, logprob: npt.NDArray[np.float32], entropy: npt.NDArray[np.float32]
    ) -> None:
        if logprob.size == 0:
            response.reasons["forced"] = "empty_canonical"
        elif not (np.all(np.isfinite(logprob)) and np.all(np.isfinite(entropy))):
            response.reasons["forced"] = "nan_logits"
        else:
            response.forced_logprob, response.forced_entropy = logprob, entropy

    def _vocabulary(self) -> int:
        config = self.model.config
        text = text_config(config)
        return int(getattr(text, "vocab_size", len(self.lm.tokenizer)))
