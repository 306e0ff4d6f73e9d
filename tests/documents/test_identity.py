"""Names of documents, and what is ordered by them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sago_harness.documents.identity import choose, content_id, hash_order, name_rows, partners

TEXTS = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=12)
NAMES = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=12, unique=True)


def test_content_id_is_the_first_half_of_a_sha256() -> None:
    expected = hashlib.sha256(b"What is ice?\x1fen").hexdigest()[:16]
    assert content_id(["What is ice?", "en"]) == expected
    assert content_id(["a", None]) == hashlib.sha256(b"a\x1f").hexdigest()[:16]


def test_fields_do_not_run_into_each_other() -> None:
    assert content_id(["ab", "c"]) != content_id(["a", "bc"])


def test_a_lone_surrogate_has_an_id() -> None:
    assert len(content_id(["\ud800"])) == 16


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"id": "a"}, {"id": "a"}, {"id": "a"}, {"id": "b"}], ["a", "a#2", "a#3", "b"]),
        ([{"id": 0}, {"id": 1}], ["0", "1"]),
    ],
)
def test_own_ids_and_duplicates(rows: list[dict[str, object]], expected: list[str]) -> None:
    assert name_rows(rows, ["q"], "id") == expected


def test_a_row_without_an_id_falls_back_on_its_fields() -> None:
    rows = [{"id": "", "q": "x"}, {"id": None, "q": "x"}, {"q": "y"}]
    names = name_rows(rows, ["q"], "id")
    assert names == [content_id(["x"]), content_id(["x"]) + "#2", content_id(["y"])]


@given(TEXTS)
def test_names_are_unique(texts: list[str]) -> None:
    names = name_rows([{"q": text} for text in texts], ["q"])
    assert len(set(names)) == len(texts)


def test_an_id_that_looks_like_a_numbered_one_does_not_clash() -> None:
    names = name_rows([{"id": "a#2"}, {"id": "a"}, {"id": "a"}], ["q"], "id")
    assert len(set(names)) == 3


@given(NAMES, st.integers(0, 99))
def test_hash_order_is_that_of_sha256(names: list[str], seed: int) -> None:
    order = hash_order(names, seed)
    keys = [hashlib.sha256(f"{seed}|{names[k]}".encode()).hexdigest() for k in order]
    assert sorted(order) == list(range(len(names)))
    assert keys == sorted(keys)


@given(NAMES, st.integers(0, 99), st.data())
def test_a_subset_keeps_its_order(names: list[str], seed: int, data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.sampled_from(names), unique=True))
    full = [names[k] for k in hash_order(names, seed)]
    assert [kept[k] for k in hash_order(kept, seed)] == [name for name in full if name in kept]


@given(NAMES, st.integers(1, 12), st.integers(0, 99))
def test_more_documents_only_add(names: list[str], count: int, seed: int) -> None:
    few, more = choose(names, count, seed), choose(names, count + 1, seed)
    assert len(few) == min(count, len(names))
    assert set(few) <= set(more)
    assert few == sorted(few)
    assert choose(names, None, seed) == list(range(len(names)))


@given(NAMES, st.integers(0, 3), st.integers(0, 99), st.data())
@settings(max_examples=60)
def test_partners_are_others_with_other_texts_and_clusters(
    names: list[str], k: int, seed: int, data: st.DataObject
) -> None:
    size = len(names)
    texts = data.draw(st.lists(st.sampled_from(["", "x", "y", "z"]), min_size=size, max_size=size))
    clusters = data.draw(st.lists(st.sampled_from([None, "p", "q"]), min_size=size, max_size=size))
    found = partners(names, texts, clusters, k, seed)
    place = {name: index for index, name in enumerate(names)}
    order = [names[i] for i in hash_order(names, seed) if texts[i]]
    for name, others in found.items():
        me = place[name]
        if not texts[me]:
            assert others == []
            continue
        # By hand: walk on from the document, round the end, over what does not count.
        at = order.index(name)
        expected: list[str] = []
        seen = {texts[me]}
        for other in order[at + 1 :] + order[:at]:
            it = place[other]
            related = clusters[me] is not None and clusters[me] == clusters[it]
            if len(expected) < k and texts[it] not in seen and not related:
                expected.append(other)
                seen.add(texts[it])
        assert others == expected


def test_no_other_document_means_no_partner() -> None:
    assert partners(["a"], ["x"], [None], 2, 0) == {"a": []}
    assert partners(["a", "b"], ["x", "x"], [None, None], 2, 0) == {"a": [], "b": []}


def test_the_order_does_not_depend_on_the_interpreters_hash_seed() -> None:
    code = "from sago_harness.documents.identity import hash_order; print(hash_order(list('abcdefgh'), 7))"
    root = Path(__file__).parents[2]
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "random")
    }
    assert found == {f"{hash_order(list('abcdefgh'), 7)}\n"}
