"""Which path is taken, and that the plain one says why."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest
import torch
import transformers

from sago_harness.backends import hf
from sago_harness.engine.path import FastPath
from tests import tiny
from tests.backends.plain import PROMPTS, document
from tests.engine.compare import GEN, WORDS, Answers, against, equal, lm_of, plain, run, same

SHORT = {**GEN, "max_gen_toks": 4}


@pytest.fixture
def never_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("the fast path is taken")

    monkeypatch.setattr(FastPath, "run", never)


def check_plain(
    lm: Any, gen_kwargs: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture
) -> Answers:
    documents = [document(PROMPTS[:3], gen_kwargs)]
    assert reason in against(lm, documents) != ""
    with caplog.at_level(logging.INFO, "sago_harness"):
        found, spent = run(lm, documents)
        run(lm, documents)
    lines = [r.getMessage() for r in caplog.records if "the plain path is taken" in r.getMessage()]
    assert lines == [f"the plain path is taken: {against(lm, documents)}"]
    assert spent.passes == 0
    same(plain(lm, documents), found)
    return found


@pytest.mark.usefixtures("never_fast")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        # By its soft caps (eager attention) or by its windows, whichever a version comes to first.
        ("gemma2", "attention 'eager'" if int(transformers.__version__.split(".")[0]) > 4 else "sliding"),
        ("gemma3", "a sliding window of 8 tokens"),
        ("mistral", "a sliding window of 8 tokens"),
        ("mamba", "attention"),
        ("t5", "an encoder-decoder model"),
    ],
)
def test_models(name: str, reason: str, caplog: pytest.LogCaptureFixture) -> None:
    check_plain(tiny.host(tiny.architecture(name, len(WORDS)), WORDS, batch_size=3), SHORT, reason, caplog)


@pytest.mark.usefixtures("never_fast")
@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"do_sample": True, "temperature": 0.7}, "sampling"),
        ({"num_beams": 2}, "num_beams=2"),
        ({"no_repeat_ngram_size": 2}, "no_repeat_ngram_size"),
        ({"min_new_tokens": 2}, "min_new_tokens"),
        ({"eos_token_id": 122}, "eos_token_id"),
    ],
)
def test_generation_arguments(changes: dict[str, Any], reason: str, caplog: pytest.LogCaptureFixture) -> None:
    check_plain(lm_of(3), {**SHORT, **changes}, reason, caplog)


@pytest.mark.usefixtures("never_fast")
@pytest.mark.parametrize(
    ("name", "value"), [("num_beams", 2), ("no_repeat_ngram_size", 2), ("suppress_tokens", [122])]
)
def test_the_models_own_settings(name: str, value: Any, caplog: pytest.LogCaptureFixture) -> None:
    lm = lm_of(3)
    setattr(lm.model.generation_config, name, value)
    check_plain(lm, SHORT, name, caplog)


@pytest.mark.usefixtures("never_fast")
def test_other_attention(caplog: pytest.LogCaptureFixture) -> None:
    lm = lm_of(3)
    lm.model.set_attn_implementation("eager")
    check_plain(lm, SHORT, "attention 'eager'", caplog)


@pytest.mark.parametrize("where", ["arguments", "model"])
@pytest.mark.parametrize("penalty", [1.3, 0.8])
def test_a_repetition_penalty(where: str, penalty: float) -> None:
    lm = lm_of(3)
    kwargs = {**GEN, "until": ["\n"], "max_gen_toks": 14}
    if where == "arguments":
        kwargs["repetition_penalty"] = penalty
    else:
        lm.model.generation_config.repetition_penalty = penalty
    documents = [document([*PROMPTS, PROMPTS[1]], kwargs), document([PROMPTS[1], PROMPTS[0]], kwargs)]
    equal(lm, documents)


@pytest.mark.usefixtures("never_fast")
def test_asked_for_it_is_not_said(caplog: pytest.LogCaptureFixture) -> None:
    lm = lm_of(3)
    with caplog.at_level(logging.INFO):
        plain(lm, [document(PROMPTS[:2], SHORT)])
    assert not [r for r in caplog.records if "plain path" in r.getMessage()]


# ---------------------------------------------------------------------- the probe


def test_what_happens_after_the_head_is_kept() -> None:
    lm = lm_of(3)

    def scale(_module: Any, _args: Any, output: Any) -> Any:
        output.logits = output.logits * 0.5 + 1
        return output

    lm.model.register_forward_hook(scale)
    documents = [document(PROMPTS[:4], GEN)]
    found, _ = equal(lm, documents)
    ordinary = plain(lm_of(3), documents)
    assert abs(found[0][0].own_entropy - ordinary[0][0].own_entropy).max() > 0.1


@pytest.mark.usefixtures("never_fast")
def test_rows_that_are_mixed_outside_attention(caplog: pytest.LogCaptureFixture) -> None:
    lm = lm_of(3)

    def mix(_module: Any, _args: Any, output: Any) -> Any:
        # The mean over the tokens so far: of whatever rows lie in a packed sequence.
        states = output[0]
        counts = torch.arange(1, states.shape[1] + 1).view(1, -1, 1)
        return (states + states.cumsum(1) / counts, *output[1:])

    lm.model.model.layers[0].self_attn.register_forward_hook(mix)
    check_plain(lm, SHORT, "packed passes are off by", caplog)


@pytest.mark.usefixtures("never_fast")
def test_attention_that_is_not_looked_up(caplog: pytest.LogCaptureFixture) -> None:
    lm = lm_of(3)
    layer = lm.model.model.layers[1].self_attn
    layer.config = copy.deepcopy(layer.config)
    check_plain(lm, SHORT, "packed passes do not work with this model", caplog)


@pytest.mark.usefixtures("never_fast")
def test_attention_with_a_part_that_is_not_known(caplog: pytest.LogCaptureFixture) -> None:
    lm = lm_of(3)
    layer = lm.model.model.layers[0].self_attn
    real = layer.forward

    def with_sinks(*args: Any, **kwargs: Any) -> Any:
        return real(*args, **kwargs, sinks=torch.zeros(4))

    layer.forward = with_sinks
    check_plain(lm, SHORT, "attention with sinks", caplog)


def test_an_output_layer_that_does_not_make_the_logits(caplog: pytest.LogCaptureFixture) -> None:
    lm = lm_of(3)
    head = lm.model.lm_head
    spare = torch.nn.Linear(*head.weight.shape[::-1], bias=False)
    # The layer that the model names is another than the one that is used.
    lm.model.get_output_embeddings = lambda: spare
    check_plain(lm, SHORT, "does not make the logits", caplog)


def test_a_model_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = hf.reason_against_passes

    def counted(*args: Any) -> str:
        asked.append(1)
        return real(*args)

    monkeypatch.setattr(hf, "reason_against_passes", counted)
    lm = lm_of(3)
    for _ in range(3):
        assert against(lm, [document(PROMPTS[:2], SHORT)]) == ""
    assert asked == [1]
    # A model that has been asked is left as it was.
    assert lm.model.config._attn_implementation == "sdpa"
    assert not lm.model.lm_head._forward_pre_hooks


@pytest.mark.parametrize("spare", [0, -1])
def test_a_window_that_holds_every_row(spare: int, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [document(PROMPTS[:3], SHORT)]
    longest = max(len(WORDS(text)["input_ids"]) for text in PROMPTS[:3]) + SHORT["max_gen_toks"]
    kind = tiny.ARCHITECTURES["gemma3"]
    changed = {**kind[2], "sliding_window": longest + spare}
    monkeypatch.setitem(tiny.ARCHITECTURES, "gemma3", (kind[0], kind[1], changed, kind[3]))
    lm = tiny.host(tiny.architecture("gemma3", len(WORDS)), WORDS, batch_size=3)
    if spare < 0:
        assert against(lm, documents) == (
            f"a sliding window of {longest - 1} tokens, shorter than a prompt with its response"
        )
    else:
        equal(lm, documents)
