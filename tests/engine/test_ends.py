"""Where responses end, and prompts of every length: as on the plain path."""

from __future__ import annotations

from typing import Any

import pytest

from tests import tiny
from tests.backends.plain import PROMPTS, document, host_texts, swap_with_end
from tests.engine.compare import GEN, WORDS, against, equal, fast, lm_of, plain, run, same

LONG = {**GEN, "max_gen_toks": 14}


def said(lm: Any, texts: Any = PROMPTS, gen_kwargs: dict[str, Any] = LONG) -> list[Any]:
    return plain(lm, [document(texts, gen_kwargs)])[0]


@pytest.mark.parametrize(("batch_size", "row"), [(1, 0), (3, 2)])
def test_stops_across_token_borders(batch_size: int, row: int) -> None:
    lm = lm_of(batch_size)
    ids = said(lm)[row].kept_ids
    text, border = WORDS.decode(ids), len(WORDS.decode(ids[:5]))
    stops = [text[border - 1 : border + 2], text[border - 2 : border + 4], "nowhere to be found"]
    for until in (stops[:1], stops):
        gen_kwargs = {**LONG, "until": until}
        found, _ = equal(lm, [document(PROMPTS, gen_kwargs)], one_by_one=True)
        assert [response.text for response in found[0]] == host_texts(lm_of(1), PROMPTS, gen_kwargs)
        assert len(found[0][row].text) < len(text)


@pytest.mark.parametrize("until", ["e", ["e", "a", "i"], ["\n\n", "."], [" "]])
def test_frequent_stops(until: Any) -> None:
    lm = lm_of(3)
    gen_kwargs = {**LONG, "until": until}
    documents = [document(PROMPTS, gen_kwargs), document(PROMPTS[1:], gen_kwargs)]
    found, _ = equal(lm, documents, one_by_one=True)
    assert [response.text for response in found[0]] == host_texts(lm_of(1), PROMPTS, gen_kwargs)


@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("step", [0, 1, 4])
def test_end_of_sequence(batch_size: int, step: int) -> None:
    lm = lm_of(batch_size)
    free = said(lm)
    swap_with_end(lm.model, free[0].kept_ids[step])
    found, _ = equal(lm, [document(PROMPTS, LONG), document(PROMPTS[1:], LONG)])
    assert len(found[0][0].kept_ids) == step
    assert "truncated" not in found[0][0].flags
    assert any("truncated" in response.flags for response in found[0])
    if step == 0:
        assert found[0][0].text == ""
        assert all(response.reasons == {"forced": "empty_canonical"} for response in found[0])


def test_a_stop_that_the_canonical_response_begins_with() -> None:
    lm = lm_of(3)
    found, _ = equal(lm, [document(PROMPTS, {**LONG, "until": [said(lm)[0].text[:1]]})])
    assert found[0][0].kept_ids == ()
    assert found[0][0].reasons == {"forced": "empty_canonical"}


def test_an_empty_response_of_a_variant() -> None:
    lm = lm_of(3)
    swap_with_end(lm.model, said(lm)[1].kept_ids[0])
    found, _ = equal(lm, [document(PROMPTS, LONG)])
    assert found[0][1].kept_ids == ()
    assert found[0][1].own_logprob.shape == (0,)
    assert found[0][1].forced_logprob.shape == (len(found[0][0].kept_ids),)


def test_several_ends_that_are_no_special_tokens() -> None:
    lm = lm_of(3)
    free = said(lm)
    lm.model.generation_config.eos_token_id = [1, free[0].kept_ids[4], free[2].kept_ids[2]]
    found, _ = equal(lm, [document(PROMPTS, LONG)])
    assert len(found[0][2].kept_ids) <= 2


def test_an_end_that_only_the_tokenizer_knows() -> None:
    lm = lm_of(1)
    swap_with_end(lm.model, said(lm)[0].kept_ids[3])
    lm.model.generation_config.eos_token_id = None
    equal(lm, [document(PROMPTS, LONG)])


@pytest.mark.parametrize("limit", [1, 2, 40])
def test_limits(limit: int) -> None:
    # 40 is more than the 32 tokens whose distributions are kept.
    found, _ = equal(lm_of(4), [document(PROMPTS[:4], {**GEN, "max_gen_toks": limit})])
    assert max(len(response.kept_ids) for response in found[0]) == limit
    assert all("truncated" in response.flags for response in found[0])
    assert len(found[0][1].forced_jsd) == min(32, len(found[0][0].kept_ids))


@pytest.mark.parametrize("mark", ["string", "id"])
@pytest.mark.parametrize("until", [[], ["e"]])
def test_reasoning_is_removed(mark: str, until: list[str]) -> None:
    ids = said(lm_of(1))[0].kept_ids
    end: Any = ids[4] if mark == "id" else WORDS.decode(ids[4:6])
    lm = lm_of(3, options={"think_end_token": end})
    gen_kwargs = {**LONG, "until": until}
    found, _ = equal(lm, [document(PROMPTS, gen_kwargs)], one_by_one=bool(until))
    if not until:
        assert [response.text for response in found[0]] == host_texts(lm, PROMPTS, gen_kwargs)
        assert len(found[0][0].text) < len(WORDS.decode(ids))


@pytest.mark.parametrize("batch_size", [1, 3])
def test_prompts_longer_than_the_context(batch_size: int) -> None:
    lm = lm_of(batch_size, context=24)
    texts = ["Hi", " ".join(PROMPTS), "Name a river " * 9, "Name a river"]
    found, _ = equal(lm, [document(texts, GEN), document([texts[2], texts[0]], GEN)])
    flags = ["prompt_truncated" in response.flags for response in found[0]]
    assert flags == [False, True, True, False]
    assert found[0][1].prompt_tokens == 16


@pytest.mark.parametrize("add_bos", [False, True])
def test_short_empty_and_foreign_prompts(add_bos: bool) -> None:
    words = tiny.tokenizer(add_bos=add_bos)
    lm = tiny.host(tiny.llama(len(words)), words, batch_size=3)
    texts = ["a", "", "<s>", "<s>Hi", "b", "河流？", "naïve 🙂", "Hi"]
    documents = [document(texts, GEN), document(["", "a", "河流？"], GEN)]
    found, _ = equal(lm, documents)
    assert found[0][1].text == found[0][2].text
    # The host asks only the first prompt of a batch whether it has its own bos.
    alone = tiny.host(lm.model, words, batch_size=1)
    assert [response.text for response in found[0][3:]] == host_texts(alone, texts[3:], GEN)


def test_bytes_that_are_no_whole_characters() -> None:
    lm = lm_of(4, seed=5)
    found, _ = equal(lm, [document(PROMPTS, {**GEN, "max_gen_toks": 20})])
    assert any("\ufffd" in response.text for response in found[0])


def test_other_limits_in_one_bundle_are_plain() -> None:
    lm = lm_of(3)
    documents = [document(PROMPTS, GEN), document(PROMPTS, LONG)]
    assert against(lm, documents) == "prompts with different generation arguments"
    expected = {0: fast(lm, documents[:1])[0][0], 1: fast(lm, documents[1:])[0][0]}
    found, spent = run(lm, documents)
    assert spent.passes == 0
    same(expected, found)
