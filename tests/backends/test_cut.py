"""Where a response ends, checked token by token against the rule itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lm_eval.models.utils import postprocess_generated_text

from sago_harness.backends.cut import cut_response
from tests import tiny

WORDS = tiny.tokenizer()
#: No merges at all: one token a byte, so that characters come in pieces.
BYTES = tiny.tokenizer(vocab=0)

Decode = Callable[[Sequence[int]], str]


def reader(words: Any) -> Decode:
    return lambda ids: words.decode(list(ids), skip_special_tokens=True)


def as_the_host(ids: list[int], decode: Decode, stops: list[str], think_end: str | int | None) -> str:
    """The visible text, in the host's own steps (``HFLM.generate_until``)."""
    if isinstance(think_end, int):
        places = [at for at, token in enumerate(ids) if token == think_end]
        if places:
            ids = ids[places[-1] + 1 :]
    text = decode(ids)
    if isinstance(think_end, int):
        text = text.lstrip()
    mark = think_end if isinstance(think_end, str) else None
    return postprocess_generated_text(generation=text, stop=list(stops), think_end_token=mark)


def by_the_rule(
    ids: list[int], decode: Decode, visible: str, think_end: str | int | None
) -> tuple[int, bool]:
    """Token k is kept if text(ids[:k]), an incomplete character held back, is shorter than the cut."""
    skipped = 0
    if isinstance(think_end, int) and think_end in ids:
        skipped = max(at for at, token in enumerate(ids) if token == think_end) + 1
    rest = ids[skipped:]
    whole = decode(rest)
    if isinstance(think_end, str) and think_end:
        tail = whole.split(think_end)[-1].lstrip()
        cut = len(whole) - len(tail) + len(visible)
    elif isinstance(think_end, int):
        cut = len(whole) - len(whole.lstrip()) + len(visible)
    else:
        cut = len(visible)
    lengths = [len(decode(rest[:k]).rstrip("�")) for k in range(len(rest) + 1)]
    kept = sum(length < cut for length in lengths[:-1])
    straddles = kept > 0 and cut < len(whole) and lengths[kept] > cut
    return skipped + kept, straddles


def first_by_the_rule(
    ids: list[int], decode: Decode, visible: str, kept: int, think_end: str | int | None
) -> str:
    """What the first 16 of the visible text's own tokens say, an incomplete character held back."""
    skipped = 0
    if isinstance(think_end, int) and think_end in ids:
        skipped = max(at for at, token in enumerate(ids) if token == think_end) + 1
    whole = decode(ids[skipped:])
    tail = whole.split(think_end)[-1] if isinstance(think_end, str) else whole
    start = len(whole) - len(tail if think_end is None else tail.lstrip())
    own = ids[skipped:kept]
    lengths = [len(decode(own[:k]).rstrip("�")) for k in range(len(own) + 1)]
    before = next(k for k, length in enumerate(lengths) if length >= min(start, lengths[-1]))
    before -= lengths[before] > start
    if len(own) - before <= 16:
        return visible
    return whole[start : lengths[before + 16]][: len(visible)]


def check(ids: list[int], words: Any, stops: list[str], think_end: str | int | None = None) -> Any:
    decode = reader(words)
    cut = cut_response(ids, decode, stops, think_end)
    assert cut.text == as_the_host(ids, decode, stops, think_end)
    assert (cut.kept, cut.straddles) == by_the_rule(ids, decode, cut.text, think_end)
    assert cut.text[: cut.head] == first_by_the_rule(ids, decode, cut.text, cut.kept, think_end)
    return cut


def test_a_stop_inside_a_token_is_flagged() -> None:
    ids = WORDS("What is the name of the river")["input_ids"]
    pieces = [WORDS.decode([token]) for token in ids]
    at = next(k for k, piece in enumerate(pieces) if len(piece) >= 3)
    stop = pieces[at][1:]
    cut = check(ids, WORDS, [stop])
    assert cut.straddles
    assert cut.text.endswith(pieces[at][0])
    assert cut.kept == next(k for k in range(len(ids) + 1) if len("".join(pieces[:k])) >= len(cut.text))


def test_a_stop_at_a_border_straddles_nothing() -> None:
    ids = [*WORDS("river")["input_ids"], *WORDS("\n\n")["input_ids"], *WORDS("tail")["input_ids"]]
    cut = check(ids, WORDS, ["\n\n"])
    assert (cut.text, cut.kept, cut.straddles) == ("river", len(WORDS("river")["input_ids"]), False)


@pytest.mark.parametrize("stops", [["\n"], ["\nHi", "zzz"], ["\nHi there"]])
def test_e02_a_stop_at_the_very_beginning(stops: list[str]) -> None:
    cut = check(WORDS("\nHi there")["input_ids"], WORDS, stops)
    assert (cut.text, cut.kept, cut.straddles) == ("", 0, False)


def test_no_ids() -> None:
    assert check([], WORDS, ["\n"]).kept == 0


@pytest.mark.parametrize(
    ("text", "stop", "visible"),
    [
        ("né\nx", "\n", "né"),
        ("a😀b", "b", "a😀"),
        ("河流\n答", "\n", "河流"),
        ("a😀", "😀", "a"),
        ("é", "é", ""),
    ],
)
def test_characters_in_pieces(text: str, stop: str, visible: str) -> None:
    ids = BYTES(text)["input_ids"]
    assert len(ids) == len(text.encode())
    cut = check(ids, BYTES, [stop])
    assert cut.text == visible
    # One token a byte: what is kept is the visible text's bytes.
    assert cut.kept == len(visible.encode())


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_character_cut_in_half_by_the_token_limit(missing: int) -> None:
    ids = BYTES("ab😀")["input_ids"][:-missing]
    cut = check(ids, BYTES, ["\n"])
    assert cut.text == "ab�"
    assert cut.kept == len(ids)


def test_special_tokens_that_add_no_text_are_not_kept_at_the_end() -> None:
    ids = [*WORDS("river")["input_ids"], 4, 4]
    assert check(ids, WORDS, []).kept == len(ids) - 2
    inside = [4, *WORDS("river")["input_ids"]]
    assert check(inside, WORDS, []).kept == len(inside)


def test_reasoning_is_in_the_ids_and_not_in_the_text() -> None:
    thought, mark, said = (WORDS(text)["input_ids"] for text in ("I think so", "</t>", " Yes\nNo"))
    ids = [*thought, *mark, *said]
    cut = check(ids, WORDS, ["\n"], "</t>")
    assert cut.text == "Yes"
    assert WORDS.decode(ids[: cut.kept]) == "I think so</t> Yes"
    by_id = [*thought, 6, *said]
    cut = check(by_id, WORDS, ["\n"], 6)
    assert cut.text == "Yes"
    assert by_id[: cut.kept] == [*thought, 6, *WORDS(" Yes")["input_ids"]]


def test_the_first_tokens_of_a_text() -> None:
    ids = WORDS("What is the name of the river that flows through the city of Paris to the sea?")["input_ids"]
    assert len(ids) > 20
    cut = check(ids, WORDS, [])
    assert cut.text[: cut.head] == WORDS.decode(ids[:16])
    for count in (0, 1, 15, 16):
        short = check(ids[:count], WORDS, [])
        assert short.head == len(short.text), "all of it"
    stopped = check(ids, WORDS, [WORDS.decode(ids[12:14])])
    assert stopped.head == len(stopped.text) < cut.head
    # A special token is one of the sixteen and says nothing.
    special = check([4, *ids], WORDS, [])
    assert special.text[: special.head] == WORDS.decode(ids[:15])


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("abcdefghijkl😀zz", "abcdefghijkl😀"),
        ("abcdefghijklm😀z", "abcdefghijklm"),
        ("abcdefghijklmno河流", "abcdefghijklmno"),
        ("河流河流河流河流", "河流河流河"),
    ],
)
def test_the_first_tokens_end_before_a_character_in_pieces(text: str, head: str) -> None:
    """One token a byte: sixteen bytes, and no part of a character."""
    cut = check(BYTES(text)["input_ids"], BYTES, [])
    assert cut.text[: cut.head] == head


def test_the_first_tokens_are_those_of_the_answer() -> None:
    thought, said = "I think that it is so, because of this. " * 2, "Yes: the river flows through the city."
    ids = [*BYTES(thought)["input_ids"], *BYTES("</t>  " + said)["input_ids"]]
    assert check(ids, BYTES, [], "</t>").head == 16
    by_id = [*BYTES(thought)["input_ids"], 6, *BYTES(said)["input_ids"]]
    assert check(by_id, BYTES, [], 6).head == 16
    assert check(by_id, BYTES, [], None).head == 16
    # Whole words: the blank before the first one is stripped with the mark, its token counts.
    said = " the river flows through the city, and so on and so on."
    tokens = WORDS(said)["input_ids"]
    assert WORDS.decode(tokens[:1]).lstrip() not in ("", WORDS.decode(tokens[:1]))
    cut = check([*WORDS(thought)["input_ids"], 6, *tokens], WORDS, [], 6)
    assert " " + cut.text[: cut.head] == WORDS.decode(tokens[:16])


def test_reasoning_that_never_ends() -> None:
    ids = WORDS(" I think\nso")["input_ids"]
    # The host strips the start even where there is no mark.
    assert check(ids, WORDS, ["\n"], "</t>").text == "I think"
    assert check(ids, WORDS, ["\n"], 6).text == "I think"


def test_a_stop_string_inside_the_reasoning_does_not_cut() -> None:
    ids = WORDS("one\ntwo</t>three\nfour")["input_ids"]
    assert check(ids, WORDS, ["\n"], "</t>").text == "three"


def test_marks_that_overlap_themselves() -> None:
    assert check(WORDS("aXaXa")["input_ids"], WORDS, [], "aXa").text == "Xa"


_TEXT = st.text(alphabet="ab é😀河\n .", max_size=12)


@settings(max_examples=150, deadline=None)
@given(
    text=_TEXT,
    stops=st.lists(st.text(alphabet="ab é😀河\n", min_size=1, max_size=3), max_size=3),
    think_end=st.sampled_from([None, "b", "é\n", "aba", 4]),
    drop=st.integers(0, 3),
    byte_level=st.booleans(),
    seed=st.integers(0, 3),
)
def test_any_text_by_brute_force(
    text: str, stops: list[str], think_end: str | int | None, drop: int, byte_level: bool, seed: int
) -> None:
    words = BYTES if byte_level else WORDS
    ids = words(text)["input_ids"]
    ids = ids[: max(0, len(ids) - drop)]
    rng = random.Random(seed)
    for _ in range(seed):
        ids.insert(rng.randint(0, len(ids)), 4)
    check(ids, words, stops, think_end)


@settings(max_examples=150, deadline=None)
@given(
    ids=st.lists(st.integers(3, len(BYTES) - 1), max_size=22),
    stop=st.sampled_from(["a", "\n", " ", "�", "e"]),
    think_end=st.sampled_from([None, 4, "�"]),
)
def test_any_bytes_by_brute_force(ids: list[int], stop: str, think_end: str | int | None) -> None:
    check(ids, BYTES, [stop], think_end)
