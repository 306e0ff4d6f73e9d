"""Outside values: the same numbers from plain library calls, one prompt at a time, no padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from lm_eval.api.instance import Instance

from sago_harness.backends.base import Prompt, Response, Wanted
from sago_harness.backends.hf import HFBackend

#: The prompts of case M01, and two of other lengths.
PROMPTS = (
    "Hi",
    "Name a river",
    "List three round red fruits please",
    "What is the name of the long river that flows through Cairo?",
    "Why",
)


def silent(_count: int, _step: str) -> None:
    """A progress callback that shows nothing."""


def document(texts: Sequence[Any], gen_kwargs: dict[str, Any], spans: Sequence[str] = ()) -> list[Prompt]:
    """One document: the first text is the canonical prompt."""
    return [
        Prompt(
            text, "variant" if index else "canonical", gen_kwargs, span=spans[index] if spans else str(text)
        )
        for index, text in enumerate(texts)
    ]


def answer(lm: Any, texts: Sequence[Any], gen_kwargs: dict[str, Any], **wanted: Any) -> list[Response]:
    """Responses of the backend to one document."""
    spans = wanted.pop("spans", ())
    found = dict(HFBackend(lm).run([document(texts, gen_kwargs, spans)], Wanted(**wanted), silent))
    return found[0]


def host_texts(lm: Any, texts: Sequence[str], gen_kwargs: dict[str, Any]) -> list[str]:
    """Texts of the host's own ``generate_until``."""
    requests = [
        Instance("generate_until", {}, (text, dict(gen_kwargs)), index) for index, text in enumerate(texts)
    ]
    return lm.generate_until(requests, disable_tqdm=True)  # type: ignore[no-any-return]


def forced(model: Any, ids: Sequence[int], canonical: Sequence[int]) -> tuple[np.ndarray, np.ndarray, Any]:
    """Log-probabilities, entropies and distributions of ``canonical`` after ``ids``."""
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            begin = model.generation_config.decoder_start_token_id
            logits = model(
                input_ids=torch.tensor([list(ids)]),
                decoder_input_ids=torch.tensor([[begin, *canonical]]),
            ).logits[0, : len(canonical)]
        else:
            logits = model(torch.tensor([[*ids, *canonical]])).logits[0, len(ids) - 1 : -1]
    log_p = logits.float().log_softmax(-1)
    entropy = torch.distributions.Categorical(logits=logits.float()).entropy()
    return log_p[torch.arange(len(canonical)), list(canonical)].numpy(), entropy.numpy(), log_p.numpy()


def library_states(model: Any, ids: Sequence[int]) -> list[torch.Tensor]:
    """The library's own hidden states, each (tokens, D); the last one is after the final norm."""
    with torch.no_grad():
        reader = model.get_encoder() if model.config.is_encoder_decoder else model
        states = reader(torch.tensor([list(ids)]), output_hidden_states=True).hidden_states
    return [state[0] for state in states]


def final_norm(model: Any, path: str) -> Any:
    """The module at a dotted path."""
    return model.get_submodule(path)


def swap_with_end(model: Any, token: int, end: int = 1) -> None:
    """Make the model end where it would have written ``token``: their two output rows are exchanged."""
    with torch.no_grad():
        rows = model.lm_head.weight
        rows[[token, end]] = rows[[end, token]].clone()
