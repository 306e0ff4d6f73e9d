"""The two sides of the engine's benchmark, and the same signals from three plain passes.

All get the same list of prompts, equal ones included, and the same loaded model.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from sago_harness.backends.hf import HFBackend
from sago_harness.data import Prompt, Response, Wanted

#: Kind of prompt -> (few-shot examples, chat template?).
KINDS = {"5 examples": (5, False), "chat template": (0, True)}

Documents = list[list[Prompt]]

#: Signals that are compared with the plain path.
SIGNALS = ("own_logprob", "own_entropy", "forced_logprob", "forced_entropy", "forced_jsd", "hidden")


def load(folder: str, batch: int) -> Any:
    """Load a model folder with the host's own class, in float32 on the processor."""
    from lm_eval.models.huggingface import HFLM

    return HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=batch)


def render(lm: Any, kind: str, *, task: str, recipe: str, documents: int, tokens: int) -> Documents:
    """Return each document's prompts as a run sends them: canonical, variants, two chance controls.

    ``task`` may name several, joined by a comma: documents of the next one follow where one
    has not as many as are asked for.

    Raises
    ------
    SystemExit
        If the tasks have fewer documents.
    """
    found: Documents = []
    for name in task.split(","):
        if len(found) < documents:
            found += _rendered(lm, kind, name, recipe, documents - len(found), tokens)
    if len(found) < documents:
        raise SystemExit(f"{task}: {len(found)} documents, {documents} were asked for")
    return found


def _rendered(lm: Any, kind: str, task: str, recipe: str, documents: int, tokens: int) -> Documents:
    from lm_eval.tasks import TaskManager

    from sago_harness.taskfiles import task_folder

    shots, template = KINDS[kind]
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata={"recipe": recipe, "controls": 2}
    )
    loaded = manager.load([task])["tasks"][task]
    loaded.set_config("generation_kwargs", {"max_gen_toks": tokens}, update=True)
    loaded.set_config("num_fewshot", shots)
    loaded.set_fewshot_seed(1234)
    loaded.build_all_requests(
        limit=documents,
        apply_chat_template=template,
        chat_template=lm.apply_chat_template if template else None,
        tokenizer_name="",
    )
    found: dict[int, list[Prompt]] = {}
    for request in loaded.instances:
        text, gen_kwargs, about = request.arguments
        prompt = Prompt(text, about["role"], gen_kwargs, span=about["text"])
        found.setdefault(request.doc_id, []).append(prompt)
    return list(found.values())


def without_controls(documents: Documents) -> Documents:
    """Leave the chance controls out."""
    return [[prompt for prompt in prompts if prompt.role != "control"] for prompts in documents]


def flat(documents: Documents) -> list[Prompt]:
    """All prompts, document by document."""
    return [prompt for prompts in documents for prompt in prompts]


def to_json(documents: Documents) -> str:
    """Prompts as text, for another process."""
    return json.dumps([[asdict(prompt) for prompt in prompts] for prompts in documents])


def from_json(text: str) -> Documents:
    """The prompts again."""
    return [[Prompt(**prompt) for prompt in prompts] for prompts in json.loads(text)]


@contextmanager
def batch_size(lm: Any, size: int) -> Iterator[None]:
    """Let a loaded model work with another batch size."""
    before = lm.batch_size_per_gpu
    lm.batch_size_per_gpu = size
    try:
        yield
    finally:
        lm.batch_size_per_gpu = before


@contextmanager
def plain_engine(lm: Any) -> Iterator[None]:
    """Let the backend take its plain path."""
    lm.sago_engine = "plain"
    try:
        yield
    finally:
        del lm.sago_engine


# ---------------------------------------------------------------------- ours


def ours(lm: Any, documents: Documents) -> tuple[list[list[Response]], HFBackend]:
    """All signals of all prompts by the backend's default path."""
    backend = HFBackend(lm)
    found = dict(backend.run(documents, Wanted(), lambda *_: None))
    return [found[index] for index in range(len(documents))], backend


def ours_plain(lm: Any, documents: Documents) -> tuple[list[list[Response]], HFBackend]:
    """All signals of all prompts by the plain path."""
    with plain_engine(lm):
        return ours(lm, documents)


def reason_for_plain(lm: Any, documents: Documents) -> str:
    """Why the backend takes its plain path for these prompts, "" if it takes the fast one."""
    return HFBackend(lm).reason_for_plain(documents)


# ---------------------------------------------------------------------- stock


def stock(lm: Any, prompts: Sequence[Prompt]) -> list[str]:
    """Text only, by the host's own ``generate_until``: every prompt of the list, equal ones too."""
    from lm_eval.api.instance import Instance

    requests = [
        Instance("generate_until", {}, (prompt.text, dict(prompt.gen_kwargs)), index)
        for index, prompt in enumerate(prompts)
    ]
    return lm.generate_until(requests, disable_tqdm=True)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- three passes


@dataclass(slots=True)
class Passes:
    """What three passes give: a list item a prompt; forced ones are empty for an empty canonical text."""

    texts: list[str]
    hidden: list[np.ndarray]
    logprob: list[np.ndarray]
    entropy: list[np.ndarray]


def three_passes(lm: Any, documents: Documents) -> Passes:
    """Take the signals as one would with library calls: generate, then read states, then force.

    Batches by length, as the host makes them. Neither pass makes logits that are not asked
    for. The canonical response is its text, encoded again. No divergences are computed.
    """
    prompts = flat(documents)
    texts = stock(lm, prompts)
    ids = [lm.tok_encode(prompt.text) for prompt in prompts]
    canonical, at = [], 0
    for of_document in documents:
        canonical += [lm.tok_encode(texts[at], add_special_tokens=False)] * len(of_document)
        at += len(of_document)
    found = Passes(texts, [], [], [])
    found.hidden = _in_order(_hidden_states(lm, part, ids) for part in _batches(lm, ids))
    whole = [[*prompt, *response] for prompt, response in zip(ids, canonical, strict=True)]
    forced = _in_order(_forced(lm, part, whole, canonical) for part in _batches(lm, whole))
    found.logprob, found.entropy = [values for values, _ in forced], [values for _, values in forced]
    return found


def _batches(lm: Any, rows: Sequence[Sequence[int]]) -> list[list[int]]:
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    size = lm.batch_size_per_gpu
    return [order[first : first + size] for first in range(0, len(order), size)]


def _in_order(parts: Iterator[dict[int, Any]]) -> list[Any]:
    merged: dict[int, Any] = {}
    for part in parts:
        merged |= part
    return [merged[index] for index in range(len(merged))]


def _padded(lm: Any, rows: Sequence[Sequence[int]]) -> dict[str, torch.Tensor]:
    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), lm.tokenizer.pad_token_id or 0)
    mask = torch.zeros_like(ids)
    for row, tokens in enumerate(rows):
        ids[row, width - len(tokens) :] = torch.tensor(tokens)
        mask[row, width - len(tokens) :] = 1
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    return {"input_ids": ids, "attention_mask": mask, "position_ids": positions}


@torch.inference_mode()
def _hidden_states(lm: Any, part: Sequence[int], ids: Sequence[Sequence[int]]) -> dict[int, np.ndarray]:
    inputs = _padded(lm, [ids[index] for index in part])
    made = lm.model(**inputs, output_hidden_states=True, use_cache=False, logits_to_keep=1)
    states = torch.stack([state[:, -1] for state in made.hidden_states], dim=1).numpy()
    return {index: states[row] for row, index in enumerate(part)}


@torch.inference_mode()
def _forced(
    lm: Any, part: Sequence[int], whole: Sequence[Sequence[int]], canonical: Sequence[Sequence[int]]
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    inputs = _padded(lm, [whole[index] for index in part])
    most = max(len(canonical[index]) for index in part)
    logits = lm.model(**inputs, use_cache=False, logits_to_keep=most + 1).logits
    found = {}
    for row, index in enumerate(part):
        length = len(canonical[index])
        log_p = logits[row, most - length : most].float().log_softmax(-1)
        targets = torch.tensor(canonical[index], dtype=torch.long).unsqueeze(-1)
        values = log_p.gather(-1, targets).squeeze(-1).numpy()
        found[index] = (values, (-(log_p.exp() * log_p).sum(-1)).numpy())
    return found


# ---------------------------------------------------------------------- the same numbers?


def differences(
    first: Sequence[Sequence[Response]], second: Sequence[Sequence[Response]]
) -> dict[str, dict[str, float]]:
    """Largest absolute difference of each signal, and how many prompts could be compared.

    Own values are compared where both wrote the same tokens, forced ones where the canonical
    tokens are the same; hidden states relative to the largest state of the prompt's layer.
    """
    found: dict[str, dict[str, float]] = {}
    for name in SIGNALS:
        largest, compared, left_out = 0.0, 0, 0
        for a_set, b_set in zip(first, second, strict=True):
            for a, b in zip(a_set, b_set, strict=True):
                same = (
                    name == "hidden"
                    or (name.startswith("own") and a.kept_ids == b.kept_ids)
                    or (name.startswith("forced") and a_set[0].kept_ids == b_set[0].kept_ids)
                )
                one, other = getattr(a, name), getattr(b, name)
                if not same or one is None or other is None:
                    left_out += 1
                    continue
                gap = np.abs(np.asarray(one, dtype=np.float64) - other)
                if name == "hidden":
                    gap = gap / np.abs(other).max(axis=-1, keepdims=True)
                largest, compared = max(largest, float(gap.max(initial=0.0))), compared + 1
        found[name] = {"largest": largest, "compared": compared, "left_out": left_out}
    return found
