"""Memory that runs out, errors, and numbers that are not finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from sago_harness.engine.draft import Odds, Phrases
from sago_harness.engine.schedule import Schedule
from tests import tiny
from tests.backends.plain import PROMPTS, document
from tests.engine.compare import GEN, SIGNALS, WORDS, Answers, Passes, equal, fast, lm_of, plain, run, same

DOCUMENTS = [document([text + end for end in ("", "?", " now")], GEN) for text in PROMPTS[:3]]


@pytest.fixture(scope="module")
def expected() -> Answers:
    with tiny.one_thread():
        return plain(lm_of(4), DOCUMENTS)


@pytest.mark.parametrize(
    ("fail", "sizes"), [((1,), [4, 2]), ((3,), [4, 2]), ((9,), [4, 2]), ((12, 15), [4, 2, 1])]
)
def test_memory_that_runs_out(
    fail: Sequence[int],
    sizes: list[int],
    expected: Answers,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    lm = lm_of(4)
    lm.sago_probed = ""
    seen = Passes(monkeypatch, fail, torch.OutOfMemoryError("out of memory"))
    found, spent = fast(lm, DOCUMENTS)
    same(expected, found)
    assert list(dict.fromkeys(seen.counts)) == sizes
    told = [r.getMessage() for r in caplog.records if "out of memory" in r.getMessage()]
    assert told == [f"out of memory: going on with {size} rows at a time" for size in sizes[1:]]
    for pieces, count in zip(seen.pieces, seen.counts, strict=True):
        assert len(pieces) <= count
    assert spent.passes == len(seen.pieces) - len(fail)


def test_memory_that_runs_out_behind_a_pass(expected: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    # Between two rows of one pass: some have ended in it already, and are not told of twice.
    real, calls = Schedule._write, []

    def write(schedule: Any, *args: Any) -> None:
        calls.append(1)
        if len(calls) in (20, 31, 44):
            raise torch.OutOfMemoryError("out of memory")
        real(schedule, *args)

    monkeypatch.setattr(Schedule, "_write", write)
    same(expected, fast(lm_of(9), DOCUMENTS)[0])


def test_one_row_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = lm_of(4)
    lm.sago_probed = ""
    seen = Passes(monkeypatch, range(100), torch.OutOfMemoryError("out of memory"))
    same(plain(lm_of(4), DOCUMENTS), run(lm, DOCUMENTS)[0])
    assert seen.counts == [4, 2, 1]


def test_other_errors_are_no_matter_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = lm_of(4)
    lm.sago_probed = ""
    seen = Passes(monkeypatch, (5,), RuntimeError("shapes do not fit"))
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        run(lm, DOCUMENTS)
    assert len(seen.pieces) == 5
    # The model is left as it was.
    assert lm.model.config._attn_implementation == "sdpa"


def test_the_model_is_left_as_it_was() -> None:
    lm = lm_of(4)

    def fail(*_: Any) -> None:
        raise RuntimeError("broken")

    handle = lm.model.model.norm.register_forward_hook(fail)
    lm.sago_probed = ""
    with pytest.raises(RuntimeError, match="broken"):
        run(lm, DOCUMENTS)
    handle.remove()
    assert lm.model.config._attn_implementation == "sdpa"
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in lm.model.modules())


# ---------------------------------------------------------------------- not finite

#: <|user|>: a prompt can hold it.
MARK = 3


def spoilt(token: int, batch_size: int, value: float = float("nan")) -> Any:
    """A model that reads one token as something that is not finite."""
    lm = lm_of(batch_size)
    with torch.no_grad():
        lm.model.model.embed_tokens.weight[token] = value
    return lm


@pytest.mark.parametrize("batch_size", [1, 2, 8])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_prompt_that_is_not_finite(batch_size: int, value: float) -> None:
    documents = [
        document(["Hi", "<|user|>Name a river", "Name a river", "<|user|>Hi", "Hi?", "Name"], GEN),
        document(["Name a river", "Name a<|user|> river", "Hi", "List"], GEN),
    ]
    # Without a batch: padded rows of the plain path spoil nothing then.
    clean = plain(lm_of(1), documents)
    assert all(MARK not in response.kept_ids for responses in clean.values() for response in responses)
    found, _ = fast(spoilt(MARK, batch_size, value), documents)
    bad = {(0, 1), (0, 3), (1, 1)}
    for d, responses in found.items():
        for p, response in enumerate(responses):
            if (d, p) in bad:
                # The most likely of no numbers is token 0, which has no text.
                assert response.kept_ids == ()
                assert response.reasons == {"forced": "nan_logits", "hidden": "nan_hidden"}
                assert response.hidden is response.forced_logprob is response.forced_jsd is None
            else:
                same({0: [clean[d][p]]}, {0: [response]})


@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_canonical_prompt_that_is_not_finite(batch_size: int) -> None:
    begin = "Question: Name a river in the south of"
    documents = [
        # What is read before the mark is shared by nobody: masked, it is not finite either.
        document([begin + "<|user|>", begin + " it", begin + " here", begin], GEN),
        document([begin + " it", begin + "?"], GEN),
    ]
    found, _ = equal(spoilt(MARK, batch_size), documents)
    assert found[0][0].reasons == {"forced": "empty_canonical", "hidden": "nan_hidden"}
    for response in (*found[0][1:], *found[1]):
        assert "own" not in response.reasons
        assert np.all(np.isfinite(response.hidden))


@pytest.mark.parametrize("step", [1, 4, 7])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_a_response_that_is_not_finite_behind_a_token(batch_size: int, step: int) -> None:
    clean = plain(lm_of(1), [document(PROMPTS, GEN), document(PROMPTS[1:], GEN)])
    token = clean[0][0].kept_ids[step]
    prompts = [text for text in PROMPTS if token not in WORDS(text)["input_ids"]]
    assert prompts[0] == PROMPTS[0]
    documents = [document(prompts, GEN), document(prompts[1:], GEN)]
    lm = spoilt(token, batch_size)
    expected = plain(lm, documents)
    found, _ = fast(lm, documents)
    for d, responses in expected.items():
        for p, (one, other) in enumerate(zip(responses, found[d], strict=True)):
            assert one.kept_ids == other.kept_ids, (d, p)
            # The plain path reads a prompt's states in one pass with the canonical response,
            # whose end, if it is not finite, spoils them; here they are read without it.
            for kind in ("own", "forced"):
                assert one.reasons.get(kind) == other.reasons.get(kind), (d, p, kind)
            assert other.hidden is not None
            for name in SIGNALS[:5]:
                a, b = getattr(one, name), getattr(other, name)
                assert (a is None) == (b is None)
                if a is not None:
                    np.testing.assert_allclose(a, b, atol=1e-4)
    if step < 7:
        assert found[0][0].reasons["own"] == "nan_logits"
    assert any("own" not in response.reasons for response in found[0])


def test_a_guess_that_is_not_finite_costs_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Phrases, "after", lambda *_: ([MARK, 7], 6))
    monkeypatch.setattr(Odds, "length", lambda _self, _fit, available, _rows: available)
    found, _ = equal(spoilt(MARK, 3), [document(PROMPTS, GEN)])
    assert all(response.reasons == {} for response in found[0])


def test_weights_that_are_not_finite() -> None:
    lm = lm_of(3)
    with torch.no_grad():
        lm.model.lm_head.weight[300] = float("nan")
    found, _ = equal(lm, [document(PROMPTS, GEN)])
    for response in found[0]:
        assert response.reasons == {"own": "nan_logits", "forced": "nan_logits"}


def test_logits_of_minus_infinity() -> None:
    lm = lm_of(3)

    def forbid(_module: Any, _args: Any, output: Any) -> Any:
        output.logits[..., 100:120] = float("-inf")
        return output

    lm.model.register_forward_hook(forbid)
    found, _ = equal(lm, [document(PROMPTS, GEN)])
    assert all(response.reasons == {} for response in found[0])
