"""What is computed and what is not: counters by hand, and rows that take each other's slots."""

from __future__ import annotations

from typing import Any

import pytest

from sago_harness.backends.base import Prompt, Wanted
from sago_harness.backends.hf import HFBackend
from sago_harness.engine.draft import Odds, Phrases
from sago_harness.engine.path import _Window
from sago_harness.engine.rows import Row
from sago_harness.engine.schedule import Schedule
from tests import tiny
from tests.backends.plain import document
from tests.engine.compare import GEN, WORDS, Passes, equal, fast, forget_the_prompt, lm_of, plain, same

LIMIT = 8
BASE = "Question: Name a river in the south"


def length(text: str) -> int:
    return len(WORDS(text)["input_ids"])


def shared(one: str, other: str) -> int:
    """Tokens that a prompt may copy of another: never its own last one."""
    a, b = WORDS(one)["input_ids"], WORDS(other)["input_ids"]
    common = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return min(common, len(b) - 1)


def agreeing(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), len(a))


@pytest.fixture
def no_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odds, "length", lambda *_: 0)


def test_a_canonical_prompt_alone(no_guesses: None) -> None:
    found, spent = equal(lm_of(1), [document([BASE], GEN)])
    assert len(found[0][0].kept_ids) == LIMIT
    # The first pass reads the prompt and gives a token; each of the others reads and gives one.
    assert (spent.passes, spent.tokens, spent.shared, spent.verified) == (
        LIMIT,
        length(BASE) + LIMIT - 1,
        0,
        0,
    )


def test_prompts_that_equal_the_canonical_one_cost_nothing() -> None:
    _, alone = fast(lm_of(3), [document([BASE], GEN)])
    found, spent = equal(lm_of(3), [document([BASE] * 5, GEN), document([BASE] * 2, GEN)])
    assert spent == alone
    assert all(response.forced_jsd.max() == 0 for response in found[0])


def test_variants_that_equal_each_other_are_computed_once() -> None:
    _, alone = fast(lm_of(1), [document([BASE, BASE + "?"], GEN)])
    _, spent = equal(lm_of(1), [document([BASE, BASE + "?", BASE + "?"], GEN)])
    assert spent == alone


@pytest.mark.parametrize("end", ["?", " please", " now"])
def test_a_variant(end: str, no_guesses: None) -> None:
    lm = lm_of(1)
    texts = [BASE, BASE + end]
    expected = plain(lm, [document(texts, GEN)])[0]
    _, spent = fast(lm, [document(texts, GEN)])
    # Its first pass reads what it does not share, and the canonical response but its last
    # token; up to the first token that differs, and that one, its own response is known then.
    right = agreeing(expected[0].kept_ids, expected[1].kept_ids)
    known = min(right + 1, LIMIT)
    more = LIMIT - known
    assert spent.shared == shared(BASE, BASE + end) > 0
    assert spent.passes == LIMIT + 1 + more
    assert spent.tokens == (length(BASE) + LIMIT - 1) + (length(BASE + end) - spent.shared + LIMIT - 1) + more
    assert spent.verified == known - 1


def test_a_control_that_is_a_canonical_prompt_is_only_forced(no_guesses: None) -> None:
    lm = lm_of(1)
    other = "Hi"
    documents = [document([BASE], GEN), document([other], GEN)]
    _, before = fast(lm, documents)
    documents[1].append(Prompt(BASE, "control", GEN))
    told: list[str] = []
    backend = HFBackend(lm)
    list(backend.run(documents, Wanted(), lambda _count, step: told.append(step)))
    same(plain(lm, documents), fast(lm, documents)[0])
    spent = backend.spent
    assert told.count("generate") == told.count("force") == 3
    assert spent.passes == before.passes + 1
    # The prompt's last token, and the other's canonical response but its last.
    assert spent.tokens == before.tokens + 1 + LIMIT - 1
    assert spent.shared == before.shared + length(BASE) - 1
    assert spent.verified == before.verified


def test_a_response_that_equals_the_canonical_one_takes_one_pass() -> None:
    # Attention is cut off: prompts that end alike are answered alike.
    lm = tiny.host(forget_the_prompt(tiny.llama(len(WORDS))), WORDS, batch_size=1)
    texts = [BASE, "In short: " + BASE, BASE.replace("Name", "List")]
    _, alone = fast(lm, [document(texts[:1], GEN)])
    found, spent = equal(lm, [document(texts, GEN)])
    assert len({response.kept_ids for response in found[0]}) == 1
    assert spent.passes == alone.passes + 2
    assert spent.verified == alone.verified + 2 * (LIMIT - 1)


def test_a_repeat_is_computed_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = lm_of(2)
    documents = [document([BASE, BASE + "?"], GEN), document(["Hi"], GEN)]
    _, without = fast(lm, documents)
    for prompts in documents:
        prompts.append(Prompt(prompts[0].text, "repeat", GEN, repeat=1))
    seen = Passes(monkeypatch)
    found, spent = equal(lm, documents)
    assert spent.shared == without.shared
    # Both repeats begin in one pass, by themselves, and read their whole prompts.
    apart = [pieces for pieces in seen.pieces if len(pieces) == 2 and all(p.start == 0 for p in pieces)][-1]
    read = sorted(len(piece.tokens) for piece in apart)
    assert read == sorted(length(text) + LIMIT - 1 for text in (BASE, "Hi"))
    for responses in found.values():
        assert responses[-1].kept_ids == responses[0].kept_ids
        assert responses[-1].forced_jsd.max() < 1e-6


@pytest.mark.parametrize("until", [[], ["e"], ["ri", "a"]])
@pytest.mark.parametrize("batch_size", [1, 3])
def test_counts_are_exact(until: list[str], batch_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Responses that go round and round: many guesses are right, and some end within one.
    model = forget_the_prompt(tiny.llama(len(WORDS), seed=4))
    lm = tiny.host(model, WORDS, batch_size=batch_size)
    kwargs = {**GEN, "max_gen_toks": 23, "until": until}
    texts = ("Name a river", "Name a river please", "What is a river?", "List")
    documents = [document(texts, kwargs), document(texts[2:], kwargs)]
    lm.sago_probed = ""
    written: list[Row] = []
    real = _Window.ended

    def ended(window: Any, row: Row) -> None:
        written.append(row)
        real(window, row)

    monkeypatch.setattr(_Window, "ended", ended)
    # Guesses are as long as can be, so that ends lie within some that are right.
    monkeypatch.setattr(Odds, "length", lambda _self, _fit, available, _rows: available)
    seen = Passes(monkeypatch)
    _, spent = equal(lm, documents, one_by_one=True)
    assert spent.passes == len(seen.pieces)
    assert spent.tokens == sum(len(piece.tokens) for pieces in seen.pieces for piece in pieces)
    # Rows that generate get one token a pass; whatever they have beyond came from a draft.
    turns = sum(map(len, seen.pieces)) - sum(not row.generates for row in written)
    assert spent.verified == sum(len(row.out) for row in written if row.generates) - turns
    assert spent.verified > 0 or until == ["ri", "a"]


def test_fewer_passes_than_plain_steps() -> None:
    model = tiny.llama(len(WORDS))
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.data *= 0.02
    lm = tiny.host(model, WORDS, batch_size=4)
    kwargs = {**GEN, "max_gen_toks": 20}
    documents = [document([text + end for end in ("", "?", " now")], kwargs) for text in (BASE, "Hi", "Why")]
    fast(lm, documents)
    steps: list[int] = []
    handle = model.register_forward_hook(lambda *_: steps.append(1))
    expected = plain(lm, documents)
    made = len(steps)
    steps.clear()
    found, spent = fast(lm, documents)
    handle.remove()
    same(expected, found)
    assert spent.passes == len(steps) < made


def test_without_guesses_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = tiny.host(forget_the_prompt(tiny.llama(len(WORDS))), WORDS, batch_size=2)
    documents = [document([BASE, "Hi", "Why"], {**GEN, "max_gen_toks": 20})]
    found, spent = fast(lm, documents)
    monkeypatch.setattr(Odds, "length", lambda *_: 0)
    without, slow = fast(lm, documents)
    same(found, without)
    assert slow.verified < spent.verified
    assert slow.passes > spent.passes


def test_wrong_guesses_cost_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = lm_of(3)
    documents = [document([BASE, "Hi", "Why"], {**GEN, "max_gen_toks": 12, "until": ["\n"]})]
    monkeypatch.setattr(Phrases, "after", lambda *_: ([7, 300, 2, 9, 11], 6))
    monkeypatch.setattr(Odds, "length", lambda _self, _fit, available, _rows: available)
    equal(lm, documents)


def test_rows_take_the_slots_of_those_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    lm = lm_of(3)
    kwargs = {**GEN, "until": [" "], "max_gen_toks": 12}
    documents = [document([t + e for e in ("", "?", " now")], kwargs) for t in (BASE, "Hi", "Why", "List a")]
    lm.sago_probed = ""
    expected = plain(lm, documents, one_by_one=True)
    seen = Passes(monkeypatch)
    found, _ = fast(lm, documents)
    same(expected, found)
    assert max(map(len, seen.pieces)) == 3
    for pieces in seen.pieces:
        slots = [piece.slot for piece in pieces]
        assert len(set(slots)) == len(slots)
        assert set(slots) <= {0, 1, 2}
    begun = [piece for pieces in seen.pieces for piece in pieces if len(piece.pooled)]
    assert len(begun) == 12
    # A row that begins and rows that go on share a pass.
    assert any(0 < sum(bool(p.pooled) for p in pieces) < len(pieces) for pieces in seen.pieces)


def test_gaps_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    moves: list[tuple[int, int]] = []
    real = Schedule._close_gaps

    def watched(schedule: Any) -> None:
        before = {id(row): row.slot for row in schedule._active}
        real(schedule)
        after = {id(row): row.slot for row in schedule._active}
        moves.extend((slot, after[row]) for row, slot in before.items() if after[row] != slot)
        assert sorted([*schedule._free, *after.values()]) == list(range(schedule._room.rows))

    monkeypatch.setattr(Schedule, "_close_gaps", watched)
    model = tiny.llama(len(WORDS), seed=2)
    lm = tiny.host(model, WORDS, batch_size=8)
    kwargs = {**GEN, "until": ["e", "a"], "max_gen_toks": 24}
    texts = [f"{word} a river" for word in ("Name", "List", "What", "Why", "How", "Is", "Say", "Draw")]
    equal(lm, [document(texts, kwargs), document(texts[1:], kwargs)], one_by_one=True)
    assert moves
    assert all(after < before for before, after in moves)
