"""Flags of the host: predict only, write out, generation arguments."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.hooks.hosts import Scripted, evaluate, records, values

TASK = "sago_demo_facts"


def test_predict_only_keeps_responses_and_measures_nothing(
    no_encoder: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        found = evaluate(Scripted(str.upper), TASK, limit=2, predict_only=True)
    assert set(values(found, TASK)) <= {"bypass", "bypass_stderr"}
    for sample in found["samples"][TASK]:
        assert len(sample["filtered_resps"]) == 1 + 6 + 1
        assert sample["filtered_resps"] == [resp[0] for resp in sample["resps"]]
        assert sample["filtered_resps"][0] == sample["arguments"][0][0].upper()
        assert not any(name.startswith(("x_", "sago")) for name in sample)
    assert not [r for r in caplog.records if "encoder" in r.getMessage()], "no encoder is needed"


def test_write_out_shows_the_first_prompts(caplog: pytest.LogCaptureFixture) -> None:
    host = logging.getLogger("lm_eval")
    propagate, host.propagate = host.propagate, True
    try:
        with caplog.at_level(logging.INFO, logger="lm_eval"):
            found = evaluate(Scripted(str.upper), TASK, limit=1, write_out=True)
    finally:
        host.propagate = propagate
    prompt = found["samples"][TASK][0]["arguments"][0][0]
    assert any(prompt in record.getMessage() for record in caplog.records)


def test_generation_arguments_reach_the_model(english_lm: Any, no_encoder: None) -> None:
    found = evaluate(english_lm, TASK, limit=2, gen_kwargs={"max_gen_toks": 5})
    for rows in records(found, TASK).values():
        assert all(row["tokens"]["response"] <= 5 for row in rows)
        assert any(row["tokens"]["response"] == 5 for row in rows)
    for sample in found["samples"][TASK]:
        assert {kwargs["max_gen_toks"] for _, kwargs, _ in sample["arguments"]} == {5}
    assert found["configs"][TASK]["metadata"]["sago"]["signature"]["generation"]["max_gen_toks"] == 5


def test_a_stop_string_from_the_command_line_cuts(english_lm: Any, no_encoder: None) -> None:
    free = evaluate(english_lm, TASK, limit=2)
    texts = [resp[0] for sample in free["samples"][TASK] for resp in sample["resps"]]
    stop = max("etaoin", key=lambda letter: sum(letter in text for text in texts))
    cut = evaluate(english_lm, TASK, limit=2, gen_kwargs={"max_gen_toks": 12, "until": [stop]})
    found = [str(resp[0]) for sample in cut["samples"][TASK] for resp in sample["resps"]]
    assert found == [str(text).split(stop)[0] for text in texts]
    assert found != [str(text) for text in texts]


def test_sampling_is_reproducible_with_the_hosts_seed(english_lm: Any, no_encoder: None) -> None:
    def texts() -> list[Any]:
        arguments = {"max_gen_toks": 8, "do_sample": True, "temperature": 1.0}
        found = evaluate(english_lm, TASK, {"canonical_repeats": 1}, limit=2, gen_kwargs=arguments)
        return [sample["resps"] for sample in found["samples"][TASK]]

    first = texts()
    assert texts() == first
    canonical, repeat = first[0][0], first[0][-1]
    assert canonical != repeat, "a repeat draws anew"


def test_a_chat_template_is_used_when_asked_for(english_lm: Any, no_encoder: None) -> None:
    found = evaluate(english_lm, TASK, limit=1, apply_chat_template=True)
    for prompt, _, _ in found["samples"][TASK][0]["arguments"]:
        assert prompt.startswith("<|user|>\nQ: ")
        assert prompt.endswith("<|assistant|>\n")
    assert found["configs"][TASK]["metadata"]["sago"]["signature"]["template"] is True


def test_the_hosts_response_cache_is_left_alone(english_lm: Any, tmp_path: Any, no_encoder: None) -> None:
    found = evaluate(english_lm, TASK, limit=1, use_cache=str(tmp_path / "cache"))
    again = evaluate(
        english_lm, TASK, limit=1, use_cache=str(tmp_path / "cache"), gen_kwargs={"max_gen_toks": 3}
    )
    (fresh,) = records(again, TASK).values()
    (old,) = records(found, TASK).values()
    assert max(row["tokens"]["response"] for row in fresh) == 3
    assert max(row["tokens"]["response"] for row in old) > 3
