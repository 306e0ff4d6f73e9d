"""Any model that can generate gives text, and says why it gives nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lm_eval.api.registry import get_model

from sago_harness.backends import adapt
from sago_harness.backends.base import Prompt, Wanted
from sago_harness.backends.text import TextBackend
from tests.backends.plain import silent

GEN = {"until": ["\n"], "max_gen_toks": 4}


class Echo:
    """Not one of the host's models: an object with ``generate_until``."""

    def __init__(self, reply: Callable[[Any], Any] = lambda context: f"re: {context}") -> None:
        self.reply = reply
        self.calls: list[list[Any]] = []
        self.metadata: list[Any] = []

    def generate_until(self, requests: list[Any]) -> list[Any]:
        self.calls.append([request.args for request in requests])
        # As several of the host's models do to the list that they are given.
        for request in requests:
            request.args[1]["until"].append("</s>")
        return [self.reply(request.args[0]) for request in requests]


def run(lm: Any, documents: list[list[Prompt]], seed: int = 0) -> dict[int, list[Any]]:
    return dict(TextBackend(lm).run(documents, Wanted(seed=seed), silent))


def test_order_is_kept_and_duplicates_are_sent_once() -> None:
    lm = Echo()
    first = [Prompt(text, "variant", GEN) for text in ("a", "b", "a")]
    second = [Prompt(text, "variant", GEN) for text in ("c", "b")]
    found = run(lm, [first, second])
    assert [[r.text for r in found[k]] for k in (0, 1)] == [["re: a", "re: b", "re: a"], ["re: c", "re: b"]]
    assert [[args[0] for args in call] for call in lm.calls] == [["a", "b", "c"]]
    assert found[0][0].prompt_ids_digest == found[0][2].prompt_ids_digest != found[0][1].prompt_ids_digest


def test_the_callers_arguments_are_left_alone() -> None:
    gen_kwargs = {"until": ["\n"], "max_gen_toks": 4}
    found = run(Echo(), [[Prompt("a", "canonical", gen_kwargs), Prompt("b", "variant", gen_kwargs)]])
    assert len(found[0]) == 2
    assert gen_kwargs == {"until": ["\n"], "max_gen_toks": 4}


def test_other_arguments_are_another_request() -> None:
    lm = Echo()
    run(lm, [[Prompt("a", "canonical", GEN), Prompt("a", "variant", {**GEN, "max_gen_toks": 5})]])
    assert len(lm.calls[0]) == 2


def test_repeats_are_sent_apart_and_each_of_them() -> None:
    counter = iter(range(100))
    lm = Echo(lambda context: f"{context}{next(counter)}")
    prompts = [Prompt("a", "canonical", GEN), Prompt("b", "variant", GEN)]
    prompts += [Prompt("a", "repeat", GEN, repeat=k) for k in (1, 2, 3)]
    found = run(lm, [prompts])[0]
    assert [len(call) for call in lm.calls] == [2, 3]
    assert [found[0].text, found[1].text] == ["a0", "b1"]
    assert sorted(response.text for response in found[2:]) == ["a2", "a3", "a4"]


def test_what_is_missing_has_a_reason() -> None:
    response = run(Echo(), [[Prompt("a", "canonical", GEN)]])[0][0]
    assert response.reasons == {"own": "no_logprobs", "forced": "no_logprobs", "hidden": "no_hidden_states"}
    assert response.own_logprob is response.forced_logprob is response.hidden is None
    assert TextBackend.signals == ("text",)
    assert TextBackend(Echo()).describe() == {"class": "Echo", "backend": "text"}


@pytest.mark.parametrize(
    "text",
    [
        [{"role": "user", "content": "Hi"}],
        {"messages": [{"role": "user", "content": "河流 😀"}]},
        ("user", {1, 2}),
        "half a pair \ud83d",
        "",
        None,
    ],
)
def test_prompts_that_are_no_plain_text(text: Any) -> None:
    found = run(Echo(), [[Prompt("a", "canonical", GEN), Prompt(text, "variant", GEN)]])[0]
    assert found[1].text == f"re: {text}"
    assert found[0].prompt_ids_digest != found[1].prompt_ids_digest


def test_replies_that_are_no_text() -> None:
    found = run(Echo(lambda context: None), [[Prompt("a", "canonical", GEN)]])[0]
    assert isinstance(found[0].text, str)


def test_a_reply_too_few_is_no_silent_shift() -> None:
    class Short(Echo):
        def generate_until(self, requests: list[Any]) -> list[Any]:
            return super().generate_until(requests)[:-1]

    with pytest.raises(ValueError):
        run(Short(), [[Prompt("a", "canonical", GEN), Prompt("b", "variant", GEN)]])


def test_progress() -> None:
    told: list[tuple[int, str]] = []
    documents = [
        [Prompt("a", "canonical", GEN)],
        [Prompt("b", "canonical", GEN), Prompt("c", "variant", GEN)],
    ]
    list(TextBackend(Echo()).run(documents, Wanted(), lambda *step: told.append(step)))
    assert told == [(1, "generate"), (2, "generate")]


def test_the_hosts_dummy_model() -> None:
    lm = get_model("dummy")()
    backend = adapt(lm)
    assert isinstance(backend, TextBackend)
    found = dict(backend.run([[Prompt("a", "canonical", GEN)]], Wanted(), silent))
    assert found[0][0].text == "lol"


def test_a_failed_request_is_no_response(monkeypatch: pytest.MonkeyPatch) -> None:
    """None, or the host's placeholder for it, must not pass for the same answer every time."""

    class Failing:
        def generate_until(self, requests: list[Any]) -> list[Any]:
            return [None, "[no content]", "fine"][: len(requests)]

    monkeypatch.setenv("LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER", "[no content]")
    prompts = [Prompt(text, "variant", {}) for text in ("a", "b", "c")]
    ((_, found),) = TextBackend(Failing()).run([prompts], Wanted(), lambda *_: None)
    assert [response.reasons.get("text", "") for response in found] == ["no_response", "no_response", ""]
    assert [response.text for response in found] == ["", "", "fine"]
