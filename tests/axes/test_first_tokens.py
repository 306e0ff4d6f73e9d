"""Text distances over the first tokens alone, as records hold them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import sacrebleu

from sago_harness.axes import record as module
from sago_harness.axes.base import Context, Measure, Scored
from sago_harness.axes.condense import FIRST_TOKENS, condense, unsent
from sago_harness.axes.measures import Bert, Bleu
from sago_harness.axes.record import Reading, make_records
from sago_harness.data import Response
from sago_harness.scores.versions import migrated
from tests.axes.test_generation import LetterEncoder

RIVER = "The river Seine flows through the city of Paris and then on to the sea near Le Havre"
MOVED = "The river Seine flows by the old city of Paris and then it goes to the sea near Rouen"

Payloads = list[dict[str, Any]]


def payloads(count: int, document: str = "d") -> Payloads:
    """The first one canonical, the last one a chance control."""
    roles = ["canonical", *["variant"] * (count - 2), "control"]
    return [
        {
            "document": document,
            "variant": f"v{place}",
            "role": role,
            "family": {"canonical": "canonical", "variant": "noise", "control": "control"}[role],
            "operator": "",
            "strength": None,
            "feature": None,
            "language": "en",
            "text": f"a prompt, said in way {place}",
        }
        for place, role in enumerate(roles)
    ]


def measured(texts: Sequence[str], heads: Sequence[int | None], document: str = "d") -> Payloads:
    """What is read off a model that gives text and token ids."""
    responses = [
        Response(text=text, head=head, prompt_ids_digest=str(place), reasons={"forced": "no", "hidden": "no"})
        for place, (text, head) in enumerate(zip(texts, heads, strict=True))
    ]
    return condense(responses, payloads(len(texts), document))


def records(
    texts: Sequence[str], heads: Sequence[int | None], measures: Sequence[Measure] = (Bleu(),)
) -> list[dict[str, Any]]:
    return make_records(
        texts, measured(texts, heads), payloads(len(texts)), [()] * len(texts), Reading(tuple(measures))
    )


def bleu(a: str, b: str) -> float:
    """sacrebleu itself."""
    forth = float(sacrebleu.sentence_bleu(a, [b], use_effective_order=True).score)
    back = float(sacrebleu.sentence_bleu(b, [a], use_effective_order=True).score)
    return 1.0 - (forth + back) / 200.0


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> type[LetterEncoder]:
    monkeypatch.setattr(module, "load_encoder", lambda spec, language: LetterEncoder())
    monkeypatch.setattr(module, "baseline", lambda encoder, language: 0.5)
    return LetterEncoder


def test_it_is_bleu_of_the_texts_cut_by_hand() -> None:
    cut = ["The river Seine flows through the", "The river Seine flows by the", "Blue is a"]
    texts = [RIVER, MOVED, "Blue is a colour of the sky on a clear day"]
    found = records(texts, [len(text) for text in cut])
    for record, head, text in zip(found, cut, texts, strict=True):
        assert record["first"]["x_bleu"] == pytest.approx(bleu(head, cut[0]), abs=1e-12)
        assert record["distances"]["x_bleu"] == pytest.approx(bleu(text, RIVER), abs=1e-12)
        assert record["first"]["characters"] == len(head)
    assert found[1]["first"]["x_bleu"] != pytest.approx(found[1]["distances"]["x_bleu"], abs=1e-3)


def test_whole_texts_are_measured_as_without_heads(letters: type[LetterEncoder]) -> None:
    texts = ["abcabca", "abbbbab", "ccc"]
    both = [Bleu(), Bert()]
    with_heads, without = records(texts, [3, 3, 3], both), records(texts, [None] * 3, both)
    for one, other in zip(with_heads, without, strict=True):
        assert {**one, "first": None} == {**other, "first": None}
        assert not {"x_bleu", "x_bert"} & set(other["first"])
        assert {"x_bleu", "x_bert"} <= set(one["first"])


def test_semantic_distances_are_those_of_the_heads(letters: type[LetterEncoder]) -> None:
    found = records(["aabbb", "abccc", "ccccc"], [2, 2, 2], [Bert()])
    # aa against ab: cosine 1 / sqrt 2, and b = 1/2; aa against cc: nothing in common.
    assert [r["first"]["x_bert"] for r in found] == pytest.approx([0.0, 2 - math.sqrt(2), 1.0], abs=1e-12)


class Counted(Bleu):
    """Notes the pairs that it is asked for."""

    def __init__(self) -> None:
        self.seen: list[list[tuple[str, str]]] = []

    def distances(self, pairs: Any, context: Context) -> list[Scored]:
        self.seen.append([(a.text, b.text) for a, b in pairs])
        return super().distances(pairs, context)


def test_a_head_that_is_the_whole_text_costs_nothing() -> None:
    short = ["Paris it is", "It is Paris", "Blue"]
    measure = Counted()
    found = records(short, [len(text) for text in short], [measure])
    assert len(measure.seen) == 1
    for record in found:
        assert record["first"]["x_bleu"] == record["distances"]["x_bleu"]
    # A short text against the head of a long one.
    measure = Counted()
    mixed = records(["Paris it is", RIVER, "Blue"], [11, 15, 4], [measure])
    assert measure.seen[1:] == [[("Paris it is", "The river Seine")]]
    assert mixed[1]["first"]["x_bleu"] == pytest.approx(bleu("The river Seine", "Paris it is"), abs=1e-12)
    assert mixed[2]["first"]["x_bleu"] == mixed[2]["distances"]["x_bleu"]


def test_equal_heads_of_different_texts_are_exactly_zero(letters: type[LetterEncoder]) -> None:
    found = records(["abcab", "abccc", "abcab"], [3, 3, 3], [Bleu(), Bert()])
    assert found[1]["distances"]["x_bert"] > 0.0
    assert (found[1]["first"]["x_bleu"], found[1]["first"]["x_bert"]) == (0.0, 0.0)


def test_each_distinct_head_is_read_once(
    letters: type[LetterEncoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[list[str]] = []
    plain = LetterEncoder.read

    def spied(self: LetterEncoder, texts: Sequence[str]) -> Any:
        read.append(list(texts))
        return plain(self, texts)

    monkeypatch.setattr(LetterEncoder, "read", spied)
    records(["aabbbb", "abcccc", "abaaaa", "aabbbb", "bbbbbb"], [2] * 5, [Bert()])
    whole, heads = read
    assert sorted(whole) == ["aabbbb", "abaaaa", "abcccc", "bbbbbb"]
    assert sorted(heads) == ["aa", "ab", "bb"]


@pytest.mark.parametrize("lacking", [(0,), (1,), (0, 1, 2)])
def test_where_no_token_ids_are_known_there_is_no_value(lacking: Sequence[int]) -> None:
    heads: list[int | None] = [9, 9, 9]
    for place in lacking:
        heads[place] = None
    found = records([RIVER, MOVED, "Blue is a colour"], heads)
    for place, record in enumerate(found):
        known = 0 not in lacking and place not in lacking
        assert ("x_bleu" in record["first"]) == known
        assert record["distances"]["x_bleu"] is not None


def test_what_does_not_count_has_no_value() -> None:
    texts = [RIVER, MOVED, "Blue is a colour"]
    read = measured(texts, [9, 9, 9])
    read[1]["text_reason"] = "noop_tokens"
    found = make_records(texts, read, payloads(3), [()] * 3, Reading((Bleu(),)))
    assert found[1]["first"]["x_bleu"] is None
    assert found[2]["first"]["x_bleu"] is not None
    lost = make_records([""], [unsent("empty_prompt")], payloads(2)[:1], [()], Reading((Bleu(),)))
    assert "first" not in lost[0]


def test_documents_together_are_documents_alone(letters: type[LetterEncoder]) -> None:
    texts = {"d": ["abcabc", "aabbcc", "cccaaa"], "e": ["bbbaca", "bbbaca", "acbacb"]}
    heads, reading = [3, 4, 2], Reading((Bleu(), Bert()))
    both = [text for of in texts.values() for text in of]
    read = [one for name, of in texts.items() for one in measured(of, heads, name)]
    sent = [one for name in texts for one in payloads(3, name)]
    together = make_records(both, read, sent, [()] * 6, reading)
    apart = [
        one
        for name, of in texts.items()
        for one in make_records(of, measured(of, heads, name), payloads(3, name), [()] * 3, reading)
    ]
    assert together == apart


def test_what_was_read_off_the_model_is_not_changed() -> None:
    """It may stand in a cache."""
    texts = [RIVER, MOVED, "Blue is a colour"]
    read = measured(texts, [9, 9, 9])
    before = [dict(one["first"]) for one in read]
    make_records(texts, read, payloads(3), [()] * 3, Reading((Bleu(),)))
    assert [one["first"] for one in read] == before


@pytest.mark.parametrize("leave", [lambda first: None, lambda first: first.pop("characters")])
def test_older_numbers_are_taken_as_they_are(leave: Callable[[dict[str, Any]], Any]) -> None:
    """A record of this version without the new parts is read, and lacks their values."""
    texts = [RIVER, MOVED, "Blue is a colour"]
    read = measured(texts, [None] * 3)
    for one in read:
        leave(one["first"])
    found = make_records(texts, read, payloads(3), [()] * 3, Reading((Bleu(),)))
    assert all("x_bleu" not in record["first"] for record in found)
    assert migrated(dict(found[0]), "here") == found[0]


def test_it_is_the_same_number_of_tokens_for_all_measures() -> None:
    assert FIRST_TOKENS == 16
