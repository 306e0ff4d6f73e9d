"""Stock generation: the library's own ``generate`` under the host's stop criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from lm_eval.models.huggingface import HFLM
from lm_eval.models.utils_hf import stop_sequences_criteria

from sago_harness.backends.batches import pad
from sago_harness.backends.cut import Cut, cut_response
from sago_harness.backends.encode import Encoded, PromptEncoder
from sago_harness.backends.own import OwnSignals
from sago_harness.data import Prompt
from sago_harness.logs import warn_once


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated response."""

    cut: Cut
    kept_ids: tuple[int, ...]
    own_logprob: npt.NDArray[np.float32] | None
    own_entropy: npt.NDArray[np.float32] | None
    full: bool  # ran into the token limit


class Generator:
    """Generates responses, with their own log-probabilities and entropies.

    Parameters
    ----------
    lm : HFLM
    inner : Module
        The module whose ``generate`` runs: under an adapter, the base model.
    encoder : PromptEncoder
    """

    def __init__(self, lm: HFLM, inner: Any, encoder: PromptEncoder) -> None:
        self._lm = lm
        self._inner = inner
        self._encoder = encoder
        self._seq2seq = lm.backend == "seq2seq"

    def batch(self, part: Sequence[tuple[Prompt, Encoded]]) -> list[Generated]:
        """Generate one batch; all requests have the same generation arguments."""
        kwargs, limit, stops = self._encoder.limits(part[0][0])
        ids, mask = pad(
            [code.ids for _, code in part],
            "right" if self._seq2seq else "left",
            self._lm.tokenizer.pad_token_id,
            self._lm.device,
        )
        width = 1 if self._seq2seq else ids.shape[1]
        if kwargs.get("temperature") == 0.0 and not kwargs.get("do_sample"):
            kwargs.pop("temperature")
        if kwargs.pop("max_length", None) is not None:
            warn_once("`max_length` in the generation arguments is ignored: use `max_gen_toks`")
        defaults = self._inner.generation_config
        beams = kwargs.get("num_beams", defaults.num_beams) or 1
        if kwargs.get("do_sample"):
            # A NaN would end the run in the draw; finite logits are left as they are.
            kwargs.setdefault("remove_invalid_values", True)
        collector = OwnSignals(self._inner) if beams == 1 else None
        with collector or nullcontext():
            sequences = self._lm.model.generate(
                input_ids=ids,
                attention_mask=mask,
                # As the host says it; a model's own max_new_tokens would win over it.
                max_length=width + limit,
                max_new_tokens=None,
                stopping_criteria=stop_sequences_criteria(self._lm.tokenizer, stops, width, len(part)),
                pad_token_id=self._lm.tokenizer.pad_token_id,
                use_cache=True,
                **kwargs,
            )
        new = sequences[:, width:].tolist()
        logprob, entropy = collector.values(sequences) if collector else (None, None)
        results = []
        for row, tokens in enumerate(new):
            if self._lm.think_end_token is not None:
                tokens = self._stopped_alone(tokens, stops)
            of_row = [None if values is None else values[row] for values in (logprob, entropy)]
            results.append(self.finish(tokens, of_row[0], of_row[1], limit, stops))
        return results

    def finish(
        self,
        tokens: Sequence[int],
        logprob: npt.NDArray[np.float32] | None,
        entropy: npt.NDArray[np.float32] | None,
        limit: int,
        stops: Sequence[str],
    ) -> Generated:
        """Put a response together from what was generated.

        Parameters
        ----------
        tokens : sequence of int
            Up to the end of the sequence or further.
        logprob, entropy : ndarray of shape (T,) or None
            Of these tokens.
        limit : int
            Tokens that were allowed.
        stops : sequence of str
        """
        tokens = list(tokens)
        end = self._end(tokens)
        # The host reads the end-of-sequence as text too, where it is no special token.
        cut = cut_response(tokens[: end + 1], self._decode, stops, self._lm.think_end_token)
        kept = min(cut.kept, end)
        return Generated(
            cut,
            tuple(tokens[:kept]),
            None if logprob is None else logprob[:kept],
            None if entropy is None else entropy[:kept],
            full=end >= limit and kept == end,
        )

    @property
    def tokenizer(self) -> Any:
        """The host's tokenizer."""
        return self._lm.tokenizer

    def repetition_penalty(self, gen_kwargs: Mapping[str, Any]) -> float:
        """Return the repetition penalty of a request, else the model's own, else 1."""
        own = self._inner.generation_config.repetition_penalty
        return float(gen_kwargs.get("repetition_penalty") or own or 1.0)

    def ends(self) -> set[int]:
        """Return the ids that end a sequence."""
        ends = self._inner.generation_config.eos_token_id
        return set(ends if isinstance(ends, list) else [ends]) | {self._lm.eot_token_id}

    def _decode(self, ids: Sequence[int]) -> str:
        return self._lm.tok_decode(list(ids))  # type: ignore[no-any-return]

    def _end(self, tokens: list[int]) -> int:
        """Find the end-of-sequence; what follows it is padding, or text that the batch went on with."""
        stop = self.ends()
        return next((at for at, token in enumerate(tokens) if token in stop), len(tokens))

    def _stopped_alone(self, tokens: list[int], stops: list[str]) -> list[int]:
        """Drop what was generated after a stop string while other rows of the batch went on.

        Without reasoning the cut drops it. With reasoning it could hold a later end of
        reasoning, and the response would depend on the batch.
        """
        alone = stop_sequences_criteria(self._lm.tokenizer, stops, 0, 1)
        for count in range(1, len(tokens)):
            row = torch.tensor([tokens[:count]])
            if any(criterion(row, None) for criterion in alone):
                return tokens[:count]
        return tokens
