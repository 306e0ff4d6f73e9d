"""A backend of another package: all signals for the host's dummy model."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from sago_harness.backends.base import Backend, Progress, Prompt, Response, Wanted


class Parrot(Backend):
    """Repeats the end of the prompt; its states are numbers read off the text."""

    signals: ClassVar[tuple[str, ...]] = ("text", "forced", "hidden")

    def __init__(self, lm: Any) -> None:
        self.lm = lm

    @classmethod
    def accepts(cls, lm: Any) -> bool:
        """The host's dummy model only."""
        return type(lm).__name__ == "DummyLM"

    def run(
        self, documents: Sequence[Sequence[Prompt]], wanted: Wanted, progress: Progress
    ) -> Iterator[tuple[int, list[Response]]]:
        """Answer at once."""
        for index, prompts in enumerate(documents):
            responses = []
            for prompt in prompts:
                digest = hashlib.sha256(str(prompt.text).encode()).digest()
                numbers = np.frombuffer(digest, dtype=np.uint8).astype(np.float32) + 1
                responses.append(
                    Response(
                        text=str(prompt.text)[-60:],
                        kept_ids=(1, 2),
                        forced_logprob=-numbers[:2] / 64,
                        forced_entropy=numbers[2:4] / 64,
                        hidden=numbers.reshape(2, 16),
                        prompt_ids_digest=digest.hex(),
                        prompt_tokens=len(str(prompt.text)),
                    )
                )
            progress(2 * len(prompts), "parrot")
            yield index, responses

    def describe(self) -> dict[str, Any]:
        """Say who it is."""
        return {"backend": "parrot", "class": "DummyLM"}
