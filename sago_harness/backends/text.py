"""The backend for any model that can only generate: text measures, nothing else."""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
import os
import random
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from sago_harness.backends.base import Backend, Progress, Prompt, Response, Wanted


class TextBackend(Backend):
    """Answers through the host's own ``generate_until``; identical prompts are sent once."""

    signals: ClassVar[tuple[str, ...]] = ("text",)

    def __init__(self, lm: Any) -> None:
        self.lm = lm
        # Over all bundles: a request that is paid for is sent once.
        self._texts: dict[str, str | None] = {}

    @classmethod
    def accepts(cls, lm: Any) -> bool:
        """Any model of the host generates."""
        return hasattr(lm, "generate_until")

    def run(
        self, documents: Sequence[Sequence[Prompt]], wanted: Wanted, progress: Progress
    ) -> Iterator[tuple[int, list[Response]]]:
        """Send every distinct prompt once, then yield the documents in order."""
        keys: dict[str, Prompt] = {}
        for prompts in documents:
            for prompt in prompts:
                keys.setdefault(_key(prompt), prompt)
        texts = self._texts
        order = [key for key in keys if key not in texts]
        # Repeats go in a call of their own and in another order, so that they meet other batches.
        for repeats in (False, True):
            part = [key for key in order if (keys[key].repeat > 0) == repeats]
            if repeats:
                random.Random(wanted.seed).shuffle(part)
            if part:
                instances = [_instance(keys[key], index) for index, key in enumerate(part)]
                # Its own bar would begin anew with every bundle.
                parameters = inspect.signature(self.lm.generate_until).parameters
                quiet = {"disable_tqdm": True} if "disable_tqdm" in parameters else {}
                answers = self.lm.generate_until(instances, **quiet)
                texts.update(zip(part, map(_answer, answers), strict=True))
        for index, prompts in enumerate(documents):
            responses = []
            for prompt in prompts:
                key = _key(prompt)
                reasons = {"own": "no_logprobs", "forced": "no_logprobs", "hidden": "no_hidden_states"}
                if texts[key] is None:
                    # A request that failed must not pass for the same answer again and again.
                    reasons["text"] = "no_response"
                responses.append(Response(text=texts[key] or "", prompt_ids_digest=key, reasons=reasons))
            progress(len(prompts), "generate")
            yield index, responses

    def describe(self) -> dict[str, Any]:
        """Return the host's model class; nothing else is known of it."""
        return {"class": type(self.lm).__name__, "backend": "text"}


def _answer(answer: Any) -> str | None:
    """Return the text of an answer, None where the host's model had none to give."""
    placeholder = os.environ.get("LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER")
    if answer is None or (placeholder and answer == placeholder):
        return None
    return str(answer)


def _key(prompt: Prompt) -> str:
    """Hash of everything that makes two requests identical."""
    text = prompt.text if isinstance(prompt.text, str) else json.dumps(prompt.text, default=str)
    kwargs = json.dumps(dict(prompt.gen_kwargs), sort_keys=True, default=str)
    content = json.dumps([text, kwargs, prompt.repeat])
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _instance(prompt: Prompt, index: int) -> Instance:
    return Instance(
        request_type="generate_until",
        doc={},
        # Some models add their end-of-sequence to the stop strings they are given.
        arguments=(prompt.text, copy.deepcopy(dict(prompt.gen_kwargs))),
        idx=index,
        metadata=("sago", index, 1),
    )
