"""A real model on demo documents: batch size changes no number and no text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lm_eval.models.huggingface import HFLM

from sago_harness.axes.base import Context
from sago_harness.axes.measures import Act, Ent, Jsd, Prob
from sago_harness.backends.base import Prompt, Wanted
from sago_harness.backends.hf import HFBackend
from sago_harness.data import Document
from sago_harness.variants.build import build
from sago_harness.variants.recipe import load_recipe
from tests.backends.plain import silent

GEN = {"until": ["\n\n"], "max_gen_toks": 8, "do_sample": False}
_DEMO = Path(__file__).parents[2] / "task_configs" / "demo"


def documents(lm: Any) -> list[list[Prompt]]:
    """The variants of the first demo documents, under the model's chat template."""
    lines = sorted(_DEMO.glob("*.jsonl"))[0].read_text(encoding="utf-8").splitlines()[:6]
    found = []
    for line in lines:
        row = json.loads(line)
        text = str(row.get("question") or row.get("instruction"))
        made = build(
            Document(text, {"question": text}, str(row.get("language", "en"))), load_recipe("quick"), seed=0
        )
        found.append(
            [
                Prompt(
                    lm.apply_chat_template([{"role": "user", "content": variant.text}]),
                    "variant" if index else "canonical",
                    GEN,
                    span=variant.text,
                )
                for index, variant in enumerate(made.variants[:6])
            ]
        )
    return found


@pytest.mark.models
def test_batch_sizes_1_3_8(smollm2: Path) -> None:
    runs: dict[int, dict[int, list[Any]]] = {}
    for batch_size in (1, 3, 8):
        lm = HFLM(pretrained=str(smollm2), device="cpu", dtype="float32", batch_size=batch_size)
        runs[batch_size] = dict(HFBackend(lm).run(documents(lm), Wanted(), silent))
    assert len(runs[1]) == 6
    assert all(len(responses) == 6 for responses in runs[1].values())
    measures = (Act(), Prob(), Ent(), Jsd())
    for batch_size in (3, 8):
        for index, alone in runs[1].items():
            together = runs[batch_size][index]
            assert [response.text for response in alone] == [response.text for response in together]
            for one, other in zip(alone, together, strict=True):
                assert one.reasons == other.reasons == {}
                for name in ("own_logprob", "own_entropy", "forced_logprob", "forced_entropy"):
                    np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-4)
            for measure in measures:
                values = [
                    measure.distances([(found[0], other) for other in found], Context())
                    for found in (alone, together)
                ]
                a, b = ([scored.value for scored in side] for side in values)
                np.testing.assert_allclose(a, b, atol=1e-4)
                assert a[0] == 0.0
                assert min(a[1:]) > 0.0
