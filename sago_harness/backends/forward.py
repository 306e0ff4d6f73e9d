"""The forced pass: one forward pass over prompt + canonical response, reduced row by row.

Gives the forced log-probabilities and entropies and, through hooks, the hidden states.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from lm_eval.models.huggingface import HFLM

from sago_harness.backends.batches import pad
from sago_harness.backends.blocks import NoBlocks, Pool, collecting
from sago_harness.backends.encode import Encoded
from sago_harness.backends.forced import Forced, reduce_row
from sago_harness.data import Wanted
from sago_harness.logs import warn_once


class ForcedPass:
    """Runs the model over prompts with the canonical ids behind them.

    Parameters
    ----------
    lm : HFLM
    inner : Module
        Under an adapter, the base model: its ``forward`` says which arguments it takes.
    side : {"left", "right"}
        Side that is padded.
    """

    def __init__(self, lm: HFLM, inner: Any, side: str) -> None:
        self._lm = lm
        self._inner = inner
        self._side = side
        self._seq2seq = lm.backend == "seq2seq"
        parameters = inspect.signature(inner.forward).parameters
        self._takes = {name for name in ("position_ids", "logits_to_keep", "use_cache") if name in parameters}

    def logit_columns(self, rows: Sequence[tuple[Encoded, tuple[int, ...]]]) -> int:
        """Return for how many positions a row the forced pass makes logits, at most."""
        forced = max((len(canon) for _, canon in rows), default=0)
        if self._seq2seq:
            return max(1, forced)
        prompts = [len(code.ids) for code, _ in rows] or [0]
        if "logits_to_keep" not in self._takes:
            return max(1, forced + max(prompts))
        # Padded on the right, responses begin as far apart as their prompts are long.
        apart = max(prompts) - min(prompts) if self._side == "right" else 0
        return max(1, forced + apart)

    def rows(self, rows: Sequence[tuple[Encoded, tuple[int, ...]]], wanted: Wanted) -> list[Forced]:
        """One forward pass over prompt + canonical ids, reduced row by row."""
        if self._seq2seq:
            return self._forward_seq2seq(rows, wanted)
        # The last canonical token predicts nothing that is asked for.
        sequences = [(*code.ids, *canon[:-1]) for code, canon in rows]
        ids, mask = self._pad(sequences, self._side)
        width = ids.shape[1]
        starts = [width - len(s) if self._side == "left" else 0 for s in sequences]
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
            columns, wanted, lambda: self._lm.model(input_ids=ids, attention_mask=mask, **kwargs).logits
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
                self._lm.model(
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
        defaults = self._inner.generation_config
        begin = defaults.decoder_start_token_id
        return int(defaults.bos_token_id if begin is None else begin)

    def _with_states(
        self, columns: Sequence[Sequence[int]], wanted: Wanted, call: Callable[[], torch.Tensor]
    ) -> tuple[npt.NDArray[np.float32] | None, str, torch.Tensor]:
        """Run a forward pass with the state hooks on, if the model has blocks to hook."""
        pool = Pool(columns)
        try:
            with collecting(self._lm.model, pool, wanted.layers):
                logits = call()
        except NoBlocks as error:
            warn_once(f"no hidden states: {error}")
            return None, "no_hidden_states", call()
        return pool.states(), "", logits

    def _pad(self, sequences: Sequence[Sequence[int]], side: str) -> tuple[torch.Tensor, torch.Tensor]:
        return pad(sequences, side, self._lm.tokenizer.pad_token_id, self._lm.device)


def _row(states: npt.NDArray[np.float32] | None, row: int) -> npt.NDArray[np.float32] | None:
    return None if states is None else states[row]
