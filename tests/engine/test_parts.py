"""The engine's parts by themselves, against plain library calls."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from lm_eval.models.utils_hf import stop_sequences_criteria
from scipy.spatial.distance import jensenshannon

from sago_harness.backends.forced import divergence_of
from sago_harness.engine import attention
from sago_harness.engine.attention import (
    NO_MASK,
    Attended,
    CannotAttend,
    _current,
    attending,
    ragged_attention,
)
from sago_harness.engine.draft import MOST, Odds, Phrases
from sago_harness.engine.prompts import Prompts, shared_length
from sago_harness.engine.ragged import Piece, group
from sago_harness.engine.room import Room, _free_bytes, room_for
from sago_harness.engine.rows import Row
from sago_harness.engine.schedule import order
from sago_harness.engine.signals import read
from sago_harness.engine.slots import Slots
from sago_harness.engine.stops import Stops
from tests.backends.plain import PROMPTS, document
from tests.engine.compare import GEN, WORDS, Passes, fast, lm_of, plain, same

UNMASKED = torch.ones(NO_MASK, dtype=torch.bool)

# ---------------------------------------------------------------------- stops


@pytest.mark.parametrize("seed", range(8))
def test_stops_are_the_hosts(seed: int) -> None:
    draw = random.Random(seed)
    strings = ["e", "\n\n", " the", "</s>", "河", "a river"][seed % 3 :]
    strings.append(WORDS.decode([draw.randrange(7, len(WORDS)) for _ in range(3)]))
    ours = Stops(WORDS, {1}, strings)
    seen = 0
    for _ in range(40):
        ids = [draw.randrange(2, len(WORDS)) for _ in range(draw.randrange(1, 12))]
        if draw.random() < 0.4:
            ids += WORDS.encode(draw.choice(strings))
        before = [9, 8, 7]
        host = stop_sequences_criteria(WORDS, strings, len(before), 1)
        expected = any(bool(criterion(torch.tensor([before + ids]), None)) for criterion in host)
        assert ours.over(ids) == (expected or ids[-1] == 1)
        seen += expected
    assert 0 < seen < 40


def test_an_end_ends_without_strings() -> None:
    stops = Stops(WORDS, {1, 40}, [])
    assert [stops.over(ids) for ids in ([5, 1], [40], [1, 5], [5])] == [True, True, False, False]


# ---------------------------------------------------------------------- drafts


def test_phrases_come_from_the_place_that_agrees_most() -> None:
    said = Phrases()
    said.open([1, 2, 3, 10, 11])
    said.open([7, 2, 3, 20, 21])
    row = said.open([9, 1, 2, 3])
    assert said.after(row) == ([10, 11], 3)
    other = said.open([8, 7, 2, 3])
    assert said.after(other) == ([20, 21], 3)
    said.add(other, [20])
    assert said.after(other)[0] == [21]


def test_phrases_of_a_text_itself() -> None:
    said = Phrases()
    row = said.open([5, 6, 7, 5, 6])
    assert said.after(row) == ([7, 5, 6], 2)
    assert said.after(said.open()) == ([], 0)
    assert said.after(said.open([99])) == ([], 0)


@pytest.mark.parametrize("seed", range(5))
def test_phrases_are_what_followed(seed: int) -> None:
    draw = random.Random(seed)
    said, texts = Phrases(), [[] for _ in range(4)]  # type: tuple[Phrases, list[list[int]]]
    for text in texts:
        said.open()
        assert text == []
    for _ in range(200):
        number = draw.randrange(4)
        more = [draw.randrange(6) for _ in range(draw.randrange(1, 4))]
        texts[number] += more
        said.add(number, more)
        found, fit = said.after(number)
        assert len(found) <= MOST
        assert bool(found) == (fit > 0)
        if found:
            context = texts[number][-fit:]
            places = [
                text[k : k + len(found)]
                for text in texts
                for k in range(fit, len(text))
                if text[k - fit : k] == context
            ]
            assert found in places


def test_odds_learn() -> None:
    odds = Odds(60.0)
    begin = odds.length(3, 8, 8)
    for _ in range(50):
        odds.learn(3, 8, 8)
    assert odds.length(3, 8, 8) == 8 >= begin
    for _ in range(5000):
        odds.learn(3, 8, 0)
    assert odds.length(3, 8, 8) == 0
    # With few rows a pass costs so much more than a token that nearly any guess pays.
    assert odds.length(3, 8, 1) <= odds.length(6, 8, 1)
    assert odds.length(0, 8, 1) == odds.length(6, 0, 1) == 0


# ---------------------------------------------------------------------- signals


def logits_of(seed: int, scale: float, *, holes: bool) -> torch.Tensor:
    made = torch.Generator().manual_seed(seed)
    logits = torch.randn(7, 211, generator=made) * scale
    if holes:
        logits[1, ::2] = float("-inf")
        logits[2, 1:] = float("-inf")
        logits[3, :5] = float("-inf")
    return logits


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_values_of_logits(scale: float, holes: bool) -> None:
    logits = logits_of(int(scale), scale, holes=holes)
    found = read(logits)
    log_p = logits.double().log_softmax(-1)
    assert found.best == logits.argmax(-1).tolist()
    np.testing.assert_allclose(found.best_logprob, log_p.max(-1).values, atol=2e-5)
    np.testing.assert_allclose(found.entropy, torch.special.entr(log_p.exp()).sum(-1), atol=5e-5)
    if not holes:
        by_torch = torch.distributions.Categorical(logits=logits).entropy()
        np.testing.assert_allclose(found.entropy, by_torch, atol=5e-5)
    np.testing.assert_allclose(found.p(slice(0, 7)), log_p.exp(), atol=1e-5)
    tokens = [4, 6, 0, 1]
    expected = log_p[1:5].gather(-1, torch.tensor(tokens).unsqueeze(-1)).squeeze(-1)
    np.testing.assert_allclose(found.logprob(slice(1, 6), tokens), expected, atol=2e-5)
    assert found.finite(slice(0, 7))
    assert found.logprob(slice(1, 1), []).shape == (0,)


@pytest.mark.parametrize("offset", [-1000.0, 100.0, 1000.0])
def test_logits_that_lie_high_or_low(offset: float) -> None:
    logits = logits_of(1, 5.0, holes=False) + offset
    found = read(logits)
    log_p = logits.double().log_softmax(-1)
    np.testing.assert_allclose(found.best_logprob, log_p.max(-1).values, atol=1e-5)
    np.testing.assert_allclose(found.entropy, torch.special.entr(log_p.exp()).sum(-1), atol=1e-5)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_logits_that_are_not_finite(value: float) -> None:
    logits = logits_of(0, 1.0, holes=False)
    logits[2, 5] = value
    logits[4] = float("-inf")
    found = read(logits)
    assert [found.finite(slice(k, k + 1)) for k in range(7)] == [True, True, False, True, False, True, True]
    clean = read(logits_of(0, 1.0, holes=False))
    np.testing.assert_array_equal(found.entropy[[0, 1, 3, 5]], clean.entropy[[0, 1, 3, 5]])


def divergence(p: torch.Tensor, q: torch.Tensor) -> Any:
    return divergence_of(zip(p, q, strict=True), len(p))


@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0])
def test_divergences(scale: float) -> None:
    p = logits_of(1, scale, holes=False).softmax(-1)
    q = logits_of(2, scale, holes=True).softmax(-1)
    found = divergence(p, q)
    np.testing.assert_allclose(found, jensenshannon(p.double(), q.double(), 2, axis=1) ** 2, atol=1e-6)
    assert divergence(p, p).tolist() == [0.0] * 7
    np.testing.assert_allclose(divergence(q, p), found, atol=1e-7)
    assert divergence(p[:0], q[:0]).shape == (0,)


# ---------------------------------------------------------------------- attention


def by_hand(
    query: torch.Tensor, slots: Slots, piece: Piece, at: int, shared: int, scale: float | None
) -> torch.Tensor:
    """Attention of one row, token by token and head by head."""
    heads, width = query.shape[1], query.shape[3]
    out = torch.empty(len(piece.tokens), heads, width)
    for k in range(len(piece.tokens)):
        end = piece.start + k + 1
        for head in range(heads):
            keys = slots.keys[0][piece.slot, :end, head // shared]
            values = slots.values[0][piece.slot, :end, head // shared]
            scores = keys @ query[0, head, at + k] * (width**-0.5 if scale is None else scale)
            out[k, head] = scores.softmax(0) @ values
    return out


@pytest.mark.parametrize("scale", [None, 0.2])
@pytest.mark.parametrize(("heads", "key_heads"), [(4, 4), (4, 2), (6, 1)])
@pytest.mark.parametrize(("seed", "places"), [(0, 2**25), (1, 2**25), (2, 2**25), (1, 40), (3, 1)])
def test_attention(
    seed: int, places: int, heads: int, key_heads: int, scale: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Few places of a mask at a time: a long prompt is attended from part by part.
    monkeypatch.setattr(attention, "_MASK", places)
    draw = random.Random(seed)
    torch.manual_seed(seed)
    slots = Slots(7, 24)
    taken = draw.sample(range(7), draw.randrange(1, 8))
    together = draw.randrange(len(taken) + 1)
    # Those that go on in the order of their slots, then those that begin.
    taken = [*sorted(taken[:together]), *sorted(taken[together:])]
    pieces = [
        Piece(slot, draw.randrange(0, 12), [0] * draw.randrange(1, 4 if k < together else 10))
        for k, slot in enumerate(taken)
    ]
    # Whatever lies in slots and columns that are not asked for, as long as it is finite.
    total = sum(len(piece.tokens) for piece in pieces)
    slots.write_at(torch.arange(0), torch.arange(0))
    slots.update(torch.zeros(1, key_heads, 0, 8), torch.zeros(1, key_heads, 0, 8), 0)
    slots.keys[0].normal_()
    slots.values[0].normal_()
    owners = torch.tensor([piece.slot for piece in pieces for _ in piece.tokens])
    columns = torch.tensor([piece.start + k for piece in pieces for k in range(len(piece.tokens))])
    slots.write_at(owners, columns)
    key, value = torch.randn(2, 1, key_heads, total, 8)
    slots.update(key, value, 0)
    query = torch.randn(1, heads, total, 8)
    offsets = np.cumsum([0, *(len(piece.tokens) for piece in pieces)]).tolist()
    token = _current.set(Attended(slots, group(pieces, offsets, together)))
    try:
        found, _ = ragged_attention(None, query, key, value, UNMASKED, scaling=scale)
    finally:
        _current.reset(token)
    assert found.shape == (1, total, heads, 8)
    for piece, at in zip(pieces, offsets, strict=False):
        expected = by_hand(query, slots, piece, at, heads // key_heads, scale)
        torch.testing.assert_close(found[0, at : at + len(piece.tokens)], expected, atol=1e-5, rtol=1e-5)


def test_attention_says_what_it_cannot_do() -> None:
    query = torch.zeros(1, 2, 1, 4)
    with pytest.raises(CannotAttend, match="outside a pass"):
        ragged_attention(None, query, query, query, UNMASKED)
    config = SimpleNamespace(_attn_implementation_internal="sdpa")
    with attending([config], Attended(Slots(1, 5), [])):
        assert config._attn_implementation_internal == "sago_ragged"
        with pytest.raises(CannotAttend, match="sliding_window"):
            ragged_attention(None, query, query, query, UNMASKED, sliding_window=4)
        with pytest.raises(CannotAttend, match="mask of the model's own"):
            ragged_attention(None, query, query, query, torch.zeros(1, 1, 1, 1))
    assert config._attn_implementation_internal == "sdpa"
    assert _current.get() is None


@pytest.mark.parametrize("seed", range(6))
def test_groups_hold_every_piece_once(seed: int) -> None:
    draw = random.Random(seed)
    slots = draw.sample(range(20), 9)
    together = draw.randrange(10)
    slots = [*sorted(slots[:together]), *sorted(slots[together:])]
    pieces = [Piece(slot, draw.randrange(5), [0] * draw.randrange(1, 9)) for slot in slots]
    offsets = np.cumsum([0, *(len(piece.tokens) for piece in pieces)]).tolist()
    groups = group(pieces, offsets, together)
    assert [g.tokens.start for g in groups] == [0, *(g.tokens.stop for g in groups[:-1])]
    assert groups[-1].tokens.stop == offsets[-1]
    held = []
    for made in groups:
        assert made.last - made.first == len(made.counts) == len(made.starts)
        assert made.width == max(made.counts)
        held += [
            (made.first + k, start, count)
            for k, (start, count) in enumerate(zip(made.starts, made.counts, strict=True))
            if count
        ]
    assert held == [(piece.slot, piece.start, len(piece.tokens)) for piece in pieces]
    for made in groups[bool(together) :]:
        assert max(made.counts) <= 1.3 * min(made.counts)


# ---------------------------------------------------------------------- slots and prompts


def filled(count: int = 3, columns: int = 5) -> Slots:
    slots = Slots(count, columns)
    for layer in range(2):
        total = count * columns
        slots.write_at(torch.arange(count).repeat_interleave(columns), torch.arange(columns).repeat(count))
        key, value = torch.randn(2, 1, 2, total, 4)
        slots.update(key, value, layer)
        expected = key[0].view(2, count, columns, 4).permute(1, 2, 0, 3)
        torch.testing.assert_close(slots.keys[layer], expected, atol=0, rtol=0)
    return slots


def test_slots() -> None:
    slots = filled()
    before = [store.clone() for store in (*slots.keys, *slots.values)]
    slots.copy(0, 2, 3)
    kept = slots.take(1, 4)
    slots.put(kept, 0, 2)
    slots.clear(1, 2)
    for store, was in zip((*slots.keys, *slots.values), before, strict=True):
        assert torch.equal(store[2, :3], was[0, :3])
        assert torch.equal(store[2, 3:], was[2, 3:])
        assert torch.equal(store[0, :2], was[1, :2])
        assert torch.equal(store[0, 2:], was[0, 2:])
        assert torch.equal(store[1, :2], was[1, :2])
        assert not store[1, 2:].any()
    # A copy, not a view.
    assert all(torch.equal(part, was[1, :4]) for part, was in zip(kept, before, strict=True))
    slots.clear(0)
    assert not slots.keys[0][0].any()
    assert len(slots) == 2


def row(key: str, ids: tuple[int, ...], **options: Any) -> Row:
    return Row(key, 0, ids, 4, **options)


def test_prompts_are_kept_as_long_as_somebody_needs_them() -> None:
    slots = filled()
    first = row("a", (1, 2, 3, 4), canonical=True)
    second, third = row("b", (1, 2, 9), donor="a"), row("c", (1, 2, 3, 4), donor="a", pooled=(1, 3))
    prompts = Prompts(slots, [first, second, third])
    assert prompts.best(second) == ("", 0)
    first.slot = 0
    prompts.begun(first)
    # Of a longer common beginning, neither the last token nor one whose state is wanted.
    assert prompts.best(second) == ("a", 2)
    assert prompts.best(third) == ("a", 1)
    assert prompts.most(row("d", (1, 2, 3))) == 2
    second.slot = 1
    prompts.fill(second, "a", 2)
    assert torch.equal(slots.keys[1][1, :2], slots.keys[1][0, :2])
    prompts.begun(second)
    kept = slots.keys[0][0, :1].clone()
    prompts.ended(first)
    slots.clear(0)
    assert prompts.best(third) == ("a", 1)
    third.slot = 2
    prompts.fill(third, "a", 1)
    assert torch.equal(slots.keys[0][2, :1], kept)
    prompts.begun(third)
    assert prompts.best(row("e", (1, 2, 3), donor="a")) == ("", 0)
    assert not prompts._aside


def test_common_beginnings() -> None:
    assert [shared_length(a, b) for a, b in (((), (1,)), ((1,), (1, 2)), ((2,), (1,)), ((1, 3), (1, 2)))] == [
        0,
        1,
        0,
        1,
    ]


def test_order() -> None:
    rows = [
        Row("c0", 0, (1,), 4, canonical=True),
        Row("a", 0, (1,), 4),
        Row("b", 0, (1,), 4),
        Row("c1", 1, (1,), 4, canonical=True),
        Row("d", 1, (1,), 4),
    ]
    number = {"c0": 0, "a": 1, "b": 2, "c1": 0, "d": 1}
    assert [made.key for made in order(rows, number)] == ["c0", "c1", "a", "d", "b"]


# ---------------------------------------------------------------------- room


def test_room() -> None:
    assert room_for(lm_of(5), 1000, 100).rows == 5
    found = room_for(lm_of("auto", options={"max_batch_size": 7}), 1000, 100)
    assert found.rows == 7
    assert found.positions == 64 * 2**20 // 4000
    room = Room(1, 1, 1, 60.0)
    assert room.halved() == room


#: Bytes of the tiny Llama's keys and values for a token: 2 layers, 2 key heads of width 8, float32.
TOKEN = 2 * 2 * 2 * 8 * 4


def leave_free(monkeypatch: pytest.MonkeyPatch, amount: int) -> None:
    """Let the machine have so many bytes free."""
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=amount))


@pytest.mark.parametrize(
    ("free", "rows"),
    [(0, 1), (2 * 100 * TOKEN, 1), (2 * 500 * TOKEN - 1, 4), (2 * 500 * TOKEN, 5), (2**40, 64)],
)
def test_rows_take_half_of_the_memory_that_is_free(
    free: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = lm_of("auto", options={"max_batch_size": 64})
    leave_free(monkeypatch, free)
    assert room_for(lm, 1000, 100).rows == rows
    # A number that the user gave stands, however little there is.
    assert room_for(lm_of(5), 1000, 100).rows == 5
    # Processes that share a model see different memory, and must agree.
    lm.model._tp_size = 2
    assert room_for(lm, 1000, 100).rows == 64


def test_memory_that_torch_holds_unused_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _device: (1000, 9000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _device: 700)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _device: 300)
    assert _free_bytes(torch.device("cuda")) == 1400


def test_little_memory_means_few_rows_and_the_same_results(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [document([text + end for end in ("", "?", " now")], GEN) for text in PROMPTS[:3]]
    longest = max(len(WORDS(prompt.text)["input_ids"]) for prompts in documents for prompt in prompts)
    columns = longest + GEN["max_gen_toks"]
    expected = plain(lm_of(4), documents)
    for fit, rows in ((0, 1), (1, 1), (3, 3), (1000, 9)):
        lm = lm_of("auto", options={"max_batch_size": 64})
        lm.sago_probed = ""
        with monkeypatch.context() as patched:
            leave_free(patched, 2 * fit * columns * TOKEN)
            seen = Passes(patched)
            found, _ = fast(lm, documents)
        same(expected, found)
        assert set(seen.counts) == {rows}
        assert all(len(pieces) <= rows for pieces in seen.pieces)
