"""Each distinct request is generated once; batches shrink when memory runs out; draws are seeded."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import torch

from sago_harness.backends.base import Prompt, Wanted
from sago_harness.backends.hf import HFBackend
from tests import tiny
from tests.backends.plain import PROMPTS, answer, document, silent

WORDS = tiny.tokenizer()
GEN = {"until": [], "max_gen_toks": 8}
SAMPLED = {**GEN, "do_sample": True, "temperature": 1.0}


def fresh(batch_size: int | str = 3) -> Any:
    return tiny.host(tiny.llama(len(WORDS)), WORDS, batch_size=batch_size)


def counted(model: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows of each call of ``generate``."""
    rows: list[int] = []
    generate = model.generate

    def counting(*args: Any, **kwargs: Any) -> Any:
        rows.append(len(kwargs["input_ids"]))
        return generate(*args, **kwargs)

    monkeypatch.setattr(model, "generate", counting)
    return rows


def test_identical_requests_are_generated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = fresh()
    lm.sago_engine = "plain"
    rows = counted(lm.model, monkeypatch)
    first, second = document(PROMPTS[:3], GEN), document(PROMPTS[2:5], GEN)
    # Each document's chance control is the other one's canonical prompt.
    first.append(Prompt(second[0].text, "control", GEN))
    second.append(Prompt(first[0].text, "control", GEN))
    found = dict(HFBackend(lm).run([first, second], Wanted(), silent))
    assert sum(rows) == len(set(PROMPTS)) == 5
    assert found[0][3].text == found[1][0].text
    assert found[1][3].text == found[0][0].text
    # The forced pass is the document's own.
    assert found[0][3].forced_logprob.shape == (len(found[0][0].kept_ids),)


def test_other_arguments_are_another_request(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = fresh()
    rows = counted(lm.model, monkeypatch)
    prompts = [Prompt("Hi", "canonical", GEN), Prompt("Hi", "variant", {**GEN, "max_gen_toks": 4})]
    found = dict(HFBackend(lm).run([prompts], Wanted(), silent))[0]
    assert sum(rows) == 2
    assert found[0].kept_ids[:4] == found[1].kept_ids


def test_repeats_are_generated_again_and_equal_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = fresh()
    lm.sago_engine = "plain"
    rows = counted(lm.model, monkeypatch)
    prompts = document(PROMPTS, GEN)
    prompts += [Prompt(PROMPTS[0], "repeat", GEN, repeat=k) for k in (1, 2)]
    found = dict(HFBackend(lm).run([prompts], Wanted(), silent))[0]
    assert sum(rows) == len(PROMPTS) + 2
    for response in found[-2:]:
        assert response.text == found[0].text
        np.testing.assert_allclose(response.forced_logprob, found[0].forced_logprob, atol=1e-4)
        assert response.forced_jsd.max() < 1e-6


def test_progress_counts_every_prompt_once_a_step() -> None:
    told: dict[str, int] = {}

    def progress(count: int, step: str) -> None:
        told[step] = told.get(step, 0) + count

    documents = [document(PROMPTS[:3], GEN), document(PROMPTS[:2], GEN)]
    list(HFBackend(fresh()).run(documents, Wanted(), progress))
    assert told == {"generate": 5, "force": 5}


def test_every_document_comes_once_and_in_its_own_order(monkeypatch: pytest.MonkeyPatch) -> None:
    # Windows of two documents: what is held is little, what comes back is the same.
    monkeypatch.setattr("sago_harness.backends.hf.WINDOW", 4)
    documents = [document([text, text + " please"], GEN) for text in PROMPTS]
    found = list(HFBackend(fresh()).run(documents, Wanted(), silent))
    assert sorted(index for index, _ in found) == list(range(len(PROMPTS)))
    for index, responses in found:
        alone = answer(fresh(), [prompt.text for prompt in documents[index]], GEN)
        assert [r.text for r in responses] == [r.text for r in alone]
        for one, other in zip(responses, alone, strict=True):
            np.testing.assert_allclose(one.forced_logprob, other.forced_logprob, atol=1e-4)


_NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    torch.OutOfMemoryError("the device said no"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
]


@pytest.mark.parametrize("error", _NO_MEMORY, ids=["cuda", "device", "cpu"])
@pytest.mark.parametrize("only_forced", [False, True])
def test_out_of_memory_halves_the_batch_and_loses_nothing(
    error: Exception, only_forced: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = answer(fresh(5), PROMPTS, GEN)
    lm = fresh(5)
    lm.sago_engine = "plain"
    forward = lm.model.forward

    @functools.wraps(forward)
    def small(*args: Any, **kwargs: Any) -> Any:
        generating = kwargs.get("use_cache")
        if len(kwargs["input_ids"]) > 2 and not (only_forced and generating):
            raise error
        return forward(*args, **kwargs)

    monkeypatch.setattr(lm.model, "forward", small)
    found = answer(lm, PROMPTS, GEN)
    assert "batches of 2" in caplog.text
    assert [response.text for response in found] == [response.text for response in expected]
    for one, other in zip(expected, found, strict=True):
        for name in ("own_logprob", "forced_logprob", "forced_jsd", "hidden"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-4)
    # No hook of an attempt that failed stays behind.
    assert not lm.model._forward_hooks
    assert not any(block._forward_hooks or block._forward_pre_hooks for block in lm.model.model.layers)


@pytest.mark.parametrize(
    ("error", "batch_size"), [(_NO_MEMORY[0], 1), (RuntimeError("shapes cannot be multiplied"), 4)]
)
def test_an_error_that_a_smaller_batch_does_not_cure_is_raised(
    error: Exception, batch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = fresh(batch_size)

    @functools.wraps(lm.model.forward)
    def failing(*args: Any, **kwargs: Any) -> Any:
        raise error

    monkeypatch.setattr(lm.model, "forward", failing)
    with pytest.raises(type(error), match=str(error)[:12]):
        answer(lm, PROMPTS, GEN)


def test_batch_size_auto_on_the_cpu() -> None:
    expected = answer(fresh(1), PROMPTS, GEN)
    found = answer(fresh("auto"), PROMPTS, GEN)
    assert [response.text for response in found] == [response.text for response in expected]


def test_sampling_is_reproducible_under_one_seed() -> None:
    lm = fresh()
    texts = []
    for seed in (1, 1, 2):
        torch.manual_seed(len(texts))  # whatever was drawn before
        texts.append([response.text for response in answer(lm, PROMPTS, SAMPLED, seed=seed)])
    assert texts[0] == texts[1] != texts[2]


def test_sampled_repeats_are_other_draws() -> None:
    prompts = document(PROMPTS[:1], SAMPLED)
    prompts += [Prompt(PROMPTS[0], "repeat", SAMPLED, repeat=k) for k in (1, 2, 3)]
    found = dict(HFBackend(fresh()).run([prompts], Wanted(), silent))[0]
    assert len({response.text for response in found}) == 4


def test_greedy_runs_leave_the_generator_alone() -> None:
    lm = fresh()
    torch.manual_seed(5)
    before = torch.get_rng_state()
    answer(lm, PROMPTS[:2], {**GEN, "do_sample": False})
    assert torch.equal(before, torch.get_rng_state())


def test_the_callers_arguments_are_left_alone() -> None:
    gen_kwargs = {"until": ["\n"], "max_gen_toks": 4}
    answer(fresh(), PROMPTS[:2], gen_kwargs)
    assert gen_kwargs == {"until": ["\n"], "max_gen_toks": 4}
