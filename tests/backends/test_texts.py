"""The texts are those of the host's own ``generate_until`` for the same prompts and arguments."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests import tiny
from tests.backends.plain import PROMPTS, answer, host_texts, swap_with_end

WORDS = tiny.tokenizer()


def fresh(batch_size: int | str = 2, **options: Any) -> Any:
    return tiny.host(tiny.llama(len(WORDS)), WORDS, batch_size=batch_size, **options)


def free_ids(lm: Any, length: int = 16) -> list[tuple[int, ...]]:
    """What the model says when nothing stops it."""
    return [response.kept_ids for response in answer(lm, PROMPTS, {"until": [], "max_gen_toks": length})]


@pytest.mark.parametrize("batch_size", [1, 2, 3])
@pytest.mark.parametrize(
    "gen_kwargs",
    [
        {"max_gen_toks": 12},
        {"until": [], "max_gen_toks": 12, "do_sample": False},
        {"until": "\n", "max_gen_toks": 12},
        {"until": ["o", "\n\n"], "max_gen_toks": 12, "temperature": 0},
        {"max_new_tokens": 7, "temperature": 0.0, "do_sample": False},
        {"max_tokens": 7},
        {"max_completion_tokens": 7},
        {"max_gen_toks": 5, "max_tokens": 9},
        {"max_gen_toks": 9, "repetition_penalty": 1.5},
    ],
)
def test_same_texts_as_the_host(batch_size: int, gen_kwargs: dict[str, Any]) -> None:
    lm = fresh(batch_size)
    expected = host_texts(lm, PROMPTS, gen_kwargs)
    assert [response.text for response in answer(lm, PROMPTS, gen_kwargs)] == expected
    assert any(expected)


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_stops_across_token_borders(batch_size: int) -> None:
    lm = fresh(batch_size)
    for ids in free_ids(lm):
        text = WORDS.decode(ids)
        border = len(WORDS.decode(ids[:4]))
        stops = [text[border - 1 : border + 1], text[border - 2 : border + 3]]
        gen_kwargs = {"until": stops, "max_gen_toks": 16}
        # One by one: where a special token's name holds the stop, a row of a larger batch goes on
        # behind it for as long as its neighbours do.
        expected = host_texts(fresh(1), PROMPTS, gen_kwargs)
        assert [response.text for response in answer(lm, PROMPTS, gen_kwargs)] == expected
        assert min(map(len, expected)) < len(text)


@pytest.mark.parametrize("batch_size", [1, 2, 3])
@pytest.mark.parametrize("step", [0, 3])
def test_end_of_sequence_at_different_steps(batch_size: int, step: int) -> None:
    lm = fresh(batch_size)
    free = free_ids(lm)
    token = free[0][step]
    swap_with_end(lm.model, token)
    gen_kwargs = {"until": [], "max_gen_toks": 16}
    responses = answer(lm, PROMPTS, gen_kwargs)
    assert [response.text for response in responses] == host_texts(lm, PROMPTS, gen_kwargs)
    for ids, response in zip(free, responses, strict=True):
        length = ids.index(token) if token in ids else len(ids)
        assert response.kept_ids == ids[:length]
        assert ("truncated" in response.flags) == (token not in ids)
    assert len(responses[0].kept_ids) == free[0].index(token)
    if step == 0:
        assert responses[0].text == ""


@pytest.mark.parametrize("batch_size", [1, 3])
def test_several_ends_that_are_no_special_tokens(batch_size: int) -> None:
    # The host shows the text of such an end; its token is never counted.
    lm = fresh(batch_size)
    free = free_ids(lm)
    ends = [1, free[0][4], free[2][2]]
    lm.model.generation_config.eos_token_id = ends
    gen_kwargs = {"until": [], "max_gen_toks": 16}
    responses = answer(lm, PROMPTS, gen_kwargs)
    assert [response.text for response in responses] == host_texts(lm, PROMPTS, gen_kwargs)
    for ids, response in zip(free, responses, strict=True):
        stop = next((at for at, token in enumerate(ids) if token in ends), len(ids))
        assert response.kept_ids == ids[:stop]
    assert len(responses[2].kept_ids) <= 2


def test_an_end_that_only_the_tokenizer_knows_does_not_depend_on_the_batch() -> None:
    # The model's configuration knows no end here, so that a batch goes on behind it.
    alone = fresh(1)
    token = free_ids(alone)[0][3]
    gen_kwargs = {"until": [], "max_gen_toks": 16}
    found = []
    for batch_size in (1, 3):
        lm = fresh(batch_size)
        swap_with_end(lm.model, token)
        lm.model.generation_config.eos_token_id = None
        found.append([response.text for response in answer(lm, PROMPTS, gen_kwargs)])
        if batch_size == 1:
            assert found[0] == host_texts(lm, PROMPTS, gen_kwargs)
    assert found[0] == found[1]


@pytest.mark.parametrize("mark", ["string", "id"])
def test_reasoning_is_removed_as_the_host_does(mark: str) -> None:
    for index, ids in enumerate(free_ids(fresh(1))):
        end: Any = ids[5] if mark == "id" else WORDS.decode(ids[5:7])
        lm = fresh(1, think_end_token=end)
        gen_kwargs = {"until": [], "max_gen_toks": 16}
        expected = host_texts(lm, PROMPTS, gen_kwargs)
        responses = answer(lm, PROMPTS, gen_kwargs)
        assert [response.text for response in responses] == expected
        assert len(expected[index]) < len(WORDS.decode(ids))
        assert responses[index].kept_ids == ids[: len(responses[index].kept_ids)]
        assert len(responses[index].kept_ids) > 5


def test_reasoning_with_stop_strings_does_not_depend_on_the_batch() -> None:
    free = free_ids(fresh(1))
    # Row 0 stops early; in a batch it would go on and meet an end of reasoning later.
    gen_kwargs = {"until": [WORDS.decode(free[0][2:3])], "max_gen_toks": 16}
    found = []
    for batch_size in (1, 3):
        lm = fresh(batch_size, think_end_token=int(free[0][8]))
        found.append([(r.text, r.kept_ids) for r in answer(lm, PROMPTS, gen_kwargs)])
        if batch_size == 1:
            assert [text for text, _ in found[0]] == host_texts(lm, PROMPTS, gen_kwargs)
    assert found[0] == found[1]


def test_the_limit_of_the_request_wins_over_the_models_own() -> None:
    lm = fresh()
    lm.model.generation_config.max_new_tokens = 3
    lm.model.generation_config.max_length = 20
    responses = answer(lm, PROMPTS, {"until": [], "max_gen_toks": 12})
    assert max(len(response.kept_ids) for response in responses) == 12


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.mark.parametrize("sampled", [False, True])
def test_the_library_has_nothing_to_warn_of(sampled: bool) -> None:
    lm = fresh()
    # As instruction models are shipped: their own sampling values, limit and several ends.
    defaults = lm.model.generation_config
    defaults.do_sample, defaults.temperature, defaults.top_p = True, 0.6, 0.9
    defaults.max_length, defaults.eos_token_id = 100, [1, 6]
    arguments: dict[str, Any] = {"do_sample": True, "temperature": 0.7} if sampled else {"do_sample": False}
    handler = _Records()
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answer(lm, PROMPTS[:3], {"until": ["\n"], "max_gen_toks": 5, **arguments})
    finally:
        logger.removeHandler(handler)
    assert handler.lines == []


@pytest.mark.models
def test_smollm2_says_what_the_host_says(smollm2: Path) -> None:
    from lm_eval.models.huggingface import HFLM

    lm = HFLM(pretrained=str(smollm2), device="cpu", dtype="float32", batch_size=3)
    prompts = [lm.apply_chat_template([{"role": "user", "content": text}]) for text in PROMPTS]
    gen_kwargs = {"until": ["\n\n", "."], "max_gen_toks": 16, "do_sample": False}
    expected = host_texts(lm, prompts, gen_kwargs)
    responses = answer(lm, prompts, gen_kwargs)
    assert [response.text for response in responses] == expected
    assert all(expected)


@pytest.mark.parametrize("engine", ["auto", "plain"])
def test_the_first_tokens_of_a_response(engine: str) -> None:
    lm = fresh()
    lm.sago_engine = engine
    gen_kwargs = {"until": ["\n\n"], "max_gen_toks": 24}
    responses = answer(lm, PROMPTS, gen_kwargs)
    for response in responses:
        assert response.head is not None
        said = WORDS.decode(response.kept_ids[:16], skip_special_tokens=True)
        shown = response.text[: response.head]
        # The last kept token may cross the stop string.
        assert shown == (said.rstrip("\ufffd") if len(response.kept_ids) > 16 else response.text)
    assert any((response.head or 0) < len(response.text) for response in responses)
