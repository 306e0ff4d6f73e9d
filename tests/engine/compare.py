"""The fast path beside the plain one, on the same model and the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sago_harness.backends.base import Prompt, Response, Spent, Wanted
from sago_harness.backends.hf import HFBackend
from sago_harness.engine.ragged import Piece, RaggedPass
from tests import tiny

WORDS = tiny.tokenizer()
GEN: dict[str, Any] = {"until": [], "max_gen_toks": 8, "do_sample": False}
SIGNALS = ("own_logprob", "own_entropy", "forced_logprob", "forced_entropy", "forced_jsd", "hidden")

Documents = Sequence[Sequence[Prompt]]
Answers = dict[int, list[Response]]


def lm_of(batch_size: int | str = 3, *, options: dict[str, Any] | None = None, **model: Any) -> Any:
    """A tiny Llama under the host."""
    return tiny.host(tiny.llama(len(WORDS), **model), WORDS, batch_size=batch_size, **(options or {}))


def against(lm: Any, documents: Documents) -> str:
    """Why the plain path is taken; "" for the fast one."""
    return HFBackend(lm).reason_for_plain(documents)


def run(lm: Any, documents: Documents, wanted: Wanted | None = None) -> tuple[Answers, Spent]:
    """Run, and check that every prompt is told of once a step."""
    backend = HFBackend(lm)
    told: list[int] = []
    found = dict(backend.run(documents, wanted or Wanted(), lambda count, _step: told.append(count)))
    assert sum(told) == 2 * sum(map(len, documents))
    assert sorted(found) == list(range(len(documents)))
    return found, backend.spent


def plain(
    lm: Any, documents: Documents, wanted: Wanted | None = None, *, one_by_one: bool = False
) -> Answers:
    """The plain path's answers.

    Where a special token's name holds a stop string, the host's text depends on the batch: a
    row goes on while its neighbours do. One by one it does not.
    """
    size = lm.batch_size_per_gpu
    lm.sago_engine = "plain"
    lm.batch_size_per_gpu = 1 if one_by_one else size
    try:
        found, spent = run(lm, documents, wanted)
    finally:
        lm.sago_engine, lm.batch_size_per_gpu = "auto", size
    assert spent.passes == 0  # counted by the fast path alone
    return found


def fast(lm: Any, documents: Documents, wanted: Wanted | None = None) -> tuple[Answers, Spent]:
    """The fast path's answers; it must have been taken."""
    assert against(lm, documents) == ""
    found, spent = run(lm, documents, wanted)
    assert spent.passes > 0
    return found, spent


def same(expected: Answers, found: Answers, atol: float = 1e-4) -> None:
    """Texts, ids, flags and reasons are equal; signals are close."""
    assert expected.keys() == found.keys()
    for document, responses in expected.items():
        for place, (one, other) in enumerate(zip(responses, found[document], strict=True)):
            at = f"document {document}, prompt {place}"
            for name in ("text", "kept_ids", "flags", "reasons", "prompt_ids_digest", "prompt_tokens"):
                assert getattr(one, name) == getattr(other, name), f"{name} of {at}"
            for name in SIGNALS:
                a, b = getattr(one, name), getattr(other, name)
                assert (a is None) == (b is None), f"{name} of {at}"
                if a is not None:
                    assert a.dtype == b.dtype
                    assert a.shape == b.shape
                    np.testing.assert_allclose(b, a, atol=atol, err_msg=f"{name} of {at}")


def equal(
    lm: Any, documents: Documents, wanted: Wanted | None = None, *, one_by_one: bool = False
) -> tuple[Answers, Spent]:
    """Check that both paths give the same, and return what the fast one gives."""
    expected = plain(lm, documents, wanted, one_by_one=one_by_one)
    found, spent = fast(lm, documents, wanted)
    same(expected, found)
    return found, spent


def forget_the_prompt(model: Any) -> Any:
    """Let a Llama's next token depend on the last one alone: what it says goes round and round."""
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.data.zero_()
    return model


class Passes:
    """Records the pieces of every pass; may fail at chosen ones, counted from 1."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, fail: Sequence[int] = (), error: Exception | None = None
    ) -> None:
        self.pieces: list[list[Piece]] = []
        self.counts: list[int] = []
        real = RaggedPass.run

        def watched(passes: Any, slots: Any, pieces: Sequence[Piece], layers: str, *, together: int) -> Any:
            self.pieces.append(list(pieces))
            self.counts.append(slots.count)
            if len(self.pieces) in fail:
                assert error is not None
                raise error
            return real(passes, slots, pieces, layers, together=together)

        monkeypatch.setattr(RaggedPass, "run", watched)
